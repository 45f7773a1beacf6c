// 64-bit sum and maximum, and the limit on the occupancy of bins.

/// A 64-bit sum and the maximum.
struct SumMax {
    /// Lower half of the sum.
    low: u32,
    /// Upper half of the sum.
    high: u32,
    /// The maximum.
    max: u32,
}

/// Whether comparing all items of each bin with each other would take too long.
fn is_overcrowded(squares: SumMax) -> bool {
    return squares.high > MAX_COMPARISONS_HIGH
        || (squares.high == MAX_COMPARISONS_HIGH && squares.low > MAX_COMPARISONS_LOW);
}
