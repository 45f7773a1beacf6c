// What was measured about many numbers, and when bins are too full.

/// A sum of 64 bits, and the largest number.
struct Measure {
    /// Lower half of the sum.
    low: u32,
    /// Upper half of the sum.
    high: u32,
    /// The largest number.
    most: u32,
}

/// Whether comparing all items of each bin with each other would take too long.
fn is_crowded(squares: Measure) -> bool {
    return squares.high > MOST_COMPARISONS_HIGH
        || (squares.high == MOST_COMPARISONS_HIGH && squares.low > MOST_COMPARISONS_LOW);
}
