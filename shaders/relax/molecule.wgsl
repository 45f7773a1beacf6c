// Mass and placement of a molecule.

/// Mass, inertia and placement of a molecule.
struct Molecule {
    /// Inverse principal inertia, 1/(Da·nm²).
    inverse_inertia: vec3<f32>,
    /// Inverse mass, 1/Da.
    inverse_mass: f32,
    /// Rotation of the principal axes in the body frame.
    principal_axes: vec4<f32>,
    /// Index of its placement, or NO_PLACEMENT.
    placement: u32,
    /// Padding.
    spare: array<u32, 3>,
}

/// The product of two quaternions.
fn quaternion_product(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return vec4(
        a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz),
        a.w * b.w - dot(a.xyz, b.xyz),
    );
}
