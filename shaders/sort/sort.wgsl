// Items to their bins, in the order of their indices.

/// First item of each bin, and one entry more.
@group(0) @binding(3) var<storage, read> starts: array<u32>;
/// How many items of its bin were counted before each item.
@group(0) @binding(4) var<storage, read> places: array<u32>;
/// Items by bin, in any order within a bin.
@group(0) @binding(5) var<storage, read_write> scattered: array<u32>;
/// Items by bin, in the order of their indices.
@group(0) @binding(6) var<storage, read_write> order: array<u32>;
/// See `measure`: whether bins are too full to be compared.
@group(0) @binding(7) var<storage, read> measured: array<Measure>;

@compute @workgroup_size(GROUP_THREADS)
fn scatter_items(here: Invocation) {
    let item = thread_number(here.group, here.groups, here.thread);
    if item < lengths[params.item_slot] {
        scattered[starts[keys[item]] + places[item]] = item;
    }
}

/// Moves each item behind those of its bin that have smaller indices.
@compute @workgroup_size(GROUP_THREADS)
fn rank_items(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at >= lengths[params.item_slot] || is_crowded(measured[CROWDING_SLOT]) {
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
