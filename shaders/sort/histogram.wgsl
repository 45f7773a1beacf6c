// How many items each bin has. The place that an item gets inside its bin depends on which
// thread came first; the ranks of the sort undo that.

/// Number of items in each bin, and one entry more.
@group(0) @binding(3) var<storage, read_write> bins: array<atomic<u32>>;
/// How many items of its bin were counted before each item.
@group(0) @binding(4) var<storage, read_write> places: array<u32>;

@compute @workgroup_size(GROUP_THREADS)
fn clear_bins(here: Invocation) {
    let bin = thread_number(here.group, here.groups, here.thread);
    if bin < lengths[params.bin_slot] {
        atomicStore(&bins[bin], 0u);
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn count_items(here: Invocation) {
    let item = thread_number(here.group, here.groups, here.thread);
    if item < lengths[params.item_slot] {
        places[item] = atomicAdd(&bins[keys[item]], 1u);
    }
}
