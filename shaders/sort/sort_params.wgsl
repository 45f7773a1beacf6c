// Bindings that the kernels of the counting sort share.

/// Indices of the number of items and of bins in `lengths`.
struct SortParams {
    /// Index of the number of items.
    item_slot: u32,
    /// Index of the number of bins plus one.
    bin_slot: u32,
}

@group(0) @binding(0) var<uniform> params: SortParams;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
/// Bin of each item.
@group(0) @binding(2) var<storage, read> keys: array<u32>;
