// What a search by molecules has found.

/// Counts of a search. Zero at its start.
struct MoleculesFound {
    /// Number of close pairs of molecules.
    pairs: atomic<u32>,
    /// Number of compared pairs: all, or none if there are too many.
    compared_pairs: atomic<u32>,
    /// Number of pairs of molecules with close spheres.
    groups: atomic<u32>,
    /// Number of close pairs of spheres: lower and upper half.
    candidates: atomic<u32>,
    candidates_high: atomic<u32>,
    /// Number of pairs of spheres that were compared: lower and upper half.
    compared: atomic<u32>,
    compared_high: atomic<u32>,
    /// 1 if too many molecules lie in one place to compare them.
    crowded: atomic<u32>,
}
