// The pairs of spheres that the contact solver needs.

/// A pair of spheres, and where they are.
struct KeptPair {
    /// Center and radius of both, nm.
    first: vec4<f32>,
    second: vec4<f32>,
    /// Indices of both.
    spheres: vec2<u32>,
    padding: vec2<u32>,
}
