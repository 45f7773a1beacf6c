// Sorts the groups of the search and applies the collision filters: one thread per pair of
// molecules.

@group(0) @binding(1) var<storage, read> found: array<PairGroup>;
/// Group of each pair of molecules, or `NO_GROUP`.
@group(0) @binding(6) var<storage, read> group_of: array<u32>;
/// Number of the group of each pair.
@group(0) @binding(7) var<storage, read> numbers: array<u32>;
/// Number of pairs of molecules.
@group(0) @binding(8) var<storage, read> search_counts: array<u32>;
@group(0) @binding(2) var<storage, read> surfaces: array<CrowdSurface>;
/// Pairs of owners that never touch, sorted, the smaller index first.
@group(0) @binding(3) var<storage, read> ignored: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> groups: array<CrowdGroup>;
@group(0) @binding(5) var<storage, read_write> touches: array<CrowdTouch>;

/// Binary search in the ignored pairs.
fn is_ignored(a: u32, b: u32) -> bool {
    var first = 0u;
    var end = params.ignored_pairs;
    while first < end {
        let middle = (first + end) / 2u;
        let pair = ignored[middle];
        if pair.x < a || (pair.x == a && pair.y < b) {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first < params.ignored_pairs && all(ignored[first] == vec2(a, b));
}

@compute @workgroup_size(GROUP_THREADS)
fn filter_groups(here: Invocation) {
    let pair = thread_number(here.group, here.groups, here.thread);
    if pair >= search_counts[COMPARED_PAIRS_SLOT] {
        return;
    }
    let slot = group_of[pair];
    let index = numbers[pair];
    if slot == NO_GROUP || index >= params.member_groups {
        return;
    }
    let pairs = found[slot];
    let one = surfaces[pairs.a];
    let other = surfaces[pairs.b];
    let touches_other = (one.memberships & other.filter_mask) != 0u
        && (other.memberships & one.filter_mask) != 0u
        && ((one.meets & other.body_type) | (other.meets & one.body_type)) != 0u
        && !is_ignored(pairs.a, pairs.b);
    let pushes = touches_other
        && (one.sensor | other.sensor) == 0u
        && (one.solver_memberships & other.solver_filter_mask) != 0u
        && (other.solver_memberships & one.solver_filter_mask) != 0u;
    groups[index] = CrowdGroup(
        pairs.a,
        pairs.b,
        slot,
        params.member_groups,
        pairs.kept,
        0u,
        select(0u, 1u, pushes),
        pairs.max_penetration,
    );
    let reported = select(pairs.overlaps | REPORT_ONLY, pairs.overlaps, pushes);
    let overlaps = select(IGNORED, reported, touches_other);
    touches[index] = CrowdTouch(pairs.a, pairs.b, overlaps, pairs.max_penetration);
}
