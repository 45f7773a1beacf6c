// Shift and rotation of a molecule in one iteration.

/// A shift of the center of mass, and a rotation about it.
struct Push {
    /// Shift, nm.
    linear: vec3<f32>,
    /// Number of contacts in a sum of contacts, else 0.
    contacts: f32,
    /// Rotation vector in the world frame, radian.
    angular: vec3<f32>,
    /// Padding.
    spare: f32,
}
