// Items per bin. The rank of an item depends on the order of the threads; `rank_items`
// reranks it.

/// Number of items in each bin, and one entry more.
@group(0) @binding(3) var<storage, read_write> bins: array<atomic<u32>>;
/// Provisional rank of each item in its bin.
@group(0) @binding(4) var<storage, read_write> ranks: array<u32>;

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
        ranks[item] = atomicAdd(&bins[keys[item]], 1u);
    }
}
