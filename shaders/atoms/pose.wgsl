// Poses and rotations.

/// Position and rotation of a molecule.
struct Pose {
    /// Center of mass, nm.
    position: vec3<f32>,
    /// Padding.
    spare: f32,
    /// Rotation as a unit quaternion: x, y, z, w.
    rotation: vec4<f32>,
}

/// The matrix of a unit quaternion, rounded as on the CPU.
fn rotation_matrix(rotation: vec4<f32>) -> mat3x3<f32> {
    let twice = rotation.xyz + rotation.xyz;
    // xx, yy, zz; xy, yz, zx; wx, wy, wz.
    let squares = rounded(rotation.xyz * twice);
    let mixed = rounded(rotation.xyz * twice.yzx);
    let real = rounded(rotation.www * twice);
    return mat3x3(
        vec3(1.0 - (squares.y + squares.z), mixed.x + real.z, mixed.z - real.y),
        vec3(mixed.x - real.z, 1.0 - (squares.x + squares.z), mixed.y + real.x),
        vec3(mixed.z + real.y, mixed.y - real.x, 1.0 - (squares.x + squares.y)),
    );
}

/// Rotates a vector, rounded as on the CPU.
fn rotate(matrix: mat3x3<f32>, vector: vec3<f32>) -> vec3<f32> {
    let xy = rounded(matrix[0] * vector.x) + rounded(matrix[1] * vector.y);
    return xy + rounded(matrix[2] * vector.z);
}
