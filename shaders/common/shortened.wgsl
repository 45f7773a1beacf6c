// Vectors that must not be too long.

/// A vector shortened to a length where it is longer.
fn shortened(vector: vec3<f32>, longest: f32) -> vec3<f32> {
    let squared = dot(vector, vector);
    return select(vector, vector * (longest / sqrt(squared)), squared > longest * longest);
}
