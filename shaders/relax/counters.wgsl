// Counters that are read back after an iteration.

/// Counters of an iteration. 64-bit sums are stored in halves, the lower first.
struct RelaxCounters {
    /// Pairs of atoms that overlap.
    overlaps: atomic<u32>,
    overlaps_high: atomic<u32>,
    /// Pairs with a gap below the clearance.
    unresolved: atomic<u32>,
    unresolved_high: atomic<u32>,
    /// Bits of the maximum penetration, nm. Non-negative floats sort like their bits.
    deepest: atomic<u32>,
    /// Molecules that exceed their leeway.
    out_of_place: atomic<u32>,
    /// 0xffffffff minus the first molecule that would move out of range; 0 if there is none.
    diverged: atomic<u32>,
    /// Padding.
    spare: u32,
}
