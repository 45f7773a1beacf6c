// Items sorted by bin, and by index within each bin.

/// Start of each bin, and one entry more.
@group(0) @binding(3) var<storage, read> starts: array<u32>;
/// Provisional rank of each item in its bin.
@group(0) @binding(4) var<storage, read> ranks: array<u32>;
/// Items by bin, in arbitrary order within each bin.
@group(0) @binding(5) var<storage, read_write> scattered: array<u32>;
/// Items by bin, sorted by index.
@group(0) @binding(6) var<storage, read_write> order: array<u32>;
/// Occupancy of the bins; see `is_overcrowded`.
@group(0) @binding(7) var<storage, read> totals: array<SumMax>;

@compute @workgroup_size(GROUP_THREADS)
fn scatter_items(here: Invocation) {
    let item = thread_number(here.group, here.groups, here.thread);
    if item < lengths[params.item_slot] {
        scattered[starts[keys[item]] + ranks[item]] = item;
    }
}

/// Sorts the items of each bin by index.
@compute @workgroup_size(GROUP_THREADS)
fn rank_items(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at >= lengths[params.item_slot] || is_overcrowded(totals[OCCUPANCY_SLOT]) {
        return;
    }
    let item = scattered[at];
    let first = starts[keys[item]];
    let end = starts[keys[item] + 1u];
    var rank = 0u;
    for (var other = first; other < end; other++) {
        rank += u32(scattered[other] < item);
    }
    order[first + rank] = item;
}
