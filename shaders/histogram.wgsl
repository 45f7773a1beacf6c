// How many items each bin has. The place that an item gets inside its bin depends on which
// thread came first; the ranks of the sort undo that.

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
/// Number of items in each bin, and one entry more.
@group(0) @binding(3) var<storage, read_write> bins: array<atomic<u32>>;
/// How many items of its bin were counted before each item.
@group(0) @binding(4) var<storage, read_write> places: array<u32>;

@compute @workgroup_size(GROUP_THREADS)
fn clear_bins(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let bin = thread_number(group, groups, thread);
    if bin < lengths[params.bin_slot] {
        atomicStore(&bins[bin], 0u);
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn count_items(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let item = thread_number(group, groups, thread);
    if item < lengths[params.item_slot] {
        places[item] = atomicAdd(&bins[keys[item]], 1u);
    }
}
