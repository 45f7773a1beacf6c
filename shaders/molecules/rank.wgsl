// Sorts the pairs of each molecule: one thread per pair. Also prepares the dispatches that depend
// on the number of pairs.

/// First pair of each molecule, and one entry more.
@group(0) @binding(1) var<storage, read> starts: array<u32>;
/// The pairs of each molecule in any order.
@group(0) @binding(2) var<storage, read> listed: array<vec2<u32>>;
/// All pairs, sorted.
@group(0) @binding(3) var<storage, read_write> pairs: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> found: MoleculesFound;
/// Workgroups of the indirect dispatches: one per pair, and one thread per pair.
@group(0) @binding(5) var<storage, read_write> dispatches: array<vec3<u32>>;

/// One workgroup of one thread. Without memory for all pairs nothing more is done.
@compute @workgroup_size(1)
fn plan_pairs() {
    let count = starts[params.molecules];
    let hopeless = count > params.max_pairs || atomicLoad(&found.crowded) > 0u;
    let compared = select(count, 0u, hopeless);
    atomicStore(&found.pairs, count);
    atomicStore(&found.compared_pairs, compared);
    dispatches[0] = dispatch_size(compared, params.max_dispatch);
    dispatches[1] = dispatch_size_of_threads(compared, params.max_dispatch);
}

@compute @workgroup_size(GROUP_THREADS)
fn rank_pairs(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at >= starts[params.molecules] {
        return;
    }
    let pair = listed[at];
    let first = starts[pair.x];
    let end = starts[pair.x + 1u];
    var rank = 0u;
    for (var other = first; other < end; other++) {
        rank += u32(listed[other].y < pair.y);
    }
    pairs[first + rank] = pair;
}
