// Inverse mass and inertia of a molecule in the world frame.

/// Inverse mass and inverse world inertia of a molecule at its pose.
struct Body {
    /// Center of mass in the world, nm.
    center: vec3<f32>,
    /// Inverse mass, 1/Da.
    inverse_mass: f32,
    /// Inverse inertia tensor in the world frame, 1/(Da·nm²).
    inverse_inertia: mat3x3<f32>,
}
