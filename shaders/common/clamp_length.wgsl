// Vectors of limited length.

/// Shortens a vector to a maximum length.
fn clamp_length(vector: vec3<f32>, max_length: f32) -> vec3<f32> {
    let squared = dot(vector, vector);
    return select(vector, vector * (max_length / sqrt(squared)), squared > max_length * max_length);
}
