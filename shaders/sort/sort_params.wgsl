// What the two halves of a counting sort share: how much there is to sort, and by what.

/// Where in `lengths` the numbers of items and of bins are.
struct SortParams {
    /// Slot of the number of items.
    item_slot: u32,
    /// Slot of the number of bins plus one.
    bin_slot: u32,
}

@group(0) @binding(0) var<uniform> params: SortParams;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
/// Bin of each item.
@group(0) @binding(2) var<storage, read> keys: array<u32>;
