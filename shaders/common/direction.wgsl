// Directions of vectors.

/// Least square of a length whose direction is known: squares of shorter ones lose their
/// digits. Such vectors have no direction.
const LEAST_SQUARE: f32 = 1.0e-36;

/// Whether a vector has a direction.
fn has_direction(vector: vec3<f32>) -> bool {
    return dot(vector, vector) > LEAST_SQUARE;
}

/// The direction of a vector that has one.
fn direction_of(vector: vec3<f32>) -> vec3<f32> {
    return vector * (1.0 / sqrt(dot(vector, vector)));
}

/// Whether no component is infinite or not a number. Compilers may assume that there are no
/// such, so that only the bits tell.
fn is_finite(vector: vec3<f32>) -> bool {
    let bits = bitcast<vec3<u32>>(vector) & vec3(0x7f800000u);
    return all(bits != vec3(0x7f800000u));
}
