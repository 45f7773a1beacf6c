// Directions of vectors.

/// Minimum squared length of a vector with a direction; smaller squares lose precision.
const MIN_SQUARED_LENGTH: f32 = 1.0e-36;

/// Whether a vector has a direction.
fn has_direction(vector: vec3<f32>) -> bool {
    return dot(vector, vector) > MIN_SQUARED_LENGTH;
}

/// Normalizes a vector that has a direction.
fn direction_of(vector: vec3<f32>) -> vec3<f32> {
    return vector * (1.0 / sqrt(dot(vector, vector)));
}

/// Whether all components are finite. Tests the bits, since compilers may assume finite
/// values.
fn is_finite(vector: vec3<f32>) -> bool {
    let bits = bitcast<vec3<u32>>(vector) & vec3(0x7f800000u);
    return all(bits != vec3(0x7f800000u));
}
