// The pairs of spheres between two molecules.

struct PairGroup {
    a: u32,
    b: u32,
    /// How many of the pairs are kept.
    kept: u32,
    /// How many of the pairs overlap.
    overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    deepest: f32,
}
