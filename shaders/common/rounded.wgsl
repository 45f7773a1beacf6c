// Products that are rounded before they are added up.

/// A product rounded to 32 bits, as on the processor: compilers may otherwise join it with the
/// addition that follows, and round only once. `unknown_zero` is a zero that the compiler
/// cannot know.
fn rounded(product: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(product) | vec3(unknown_zero()));
}
