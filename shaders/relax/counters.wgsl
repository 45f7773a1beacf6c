// What comes back from an iteration.

/// How molecules are doing. Sums of 64 bits are in halves, the lower first.
struct RelaxCounters {
    /// Pairs of atoms that overlap.
    overlaps: atomic<u32>,
    overlaps_high: atomic<u32>,
    /// Pairs that do not leave the clearance between them.
    unresolved: atomic<u32>,
    unresolved_high: atomic<u32>,
    /// Bits of the deepest overlap, nm. Numbers that are not negative have the order of
    /// their bits.
    deepest: atomic<u32>,
    /// Molecules out of their places.
    out_of_place: atomic<u32>,
    /// The first molecule that would leave the finite world, counted down from the largest
    /// number; 0 if there is none.
    diverged: atomic<u32>,
    /// Not used.
    spare: u32,
}
