// The pairs of spheres between two molecules.

struct PairGroup {
    a: u32,
    b: u32,
    /// Number of pairs that are kept.
    kept: u32,
    /// Number of pairs that overlap.
    overlaps: u32,
    /// Maximum penetration, nm; negative for a gap.
    max_penetration: f32,
}
