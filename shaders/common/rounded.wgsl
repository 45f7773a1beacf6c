// Prevents fused multiply-adds.

/// Rounds a product to 32 bits, as on the CPU. Otherwise, compilers may fuse it with a
/// following addition. `opaque_zero` returns a 0 that the compiler does not know.
fn rounded(product: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(product) | vec3(opaque_zero()));
}
