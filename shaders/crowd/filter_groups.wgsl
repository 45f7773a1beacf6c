// Applies the collision filters to the groups of the search: one thread per group.

@group(0) @binding(1) var<storage, read> found: array<PairGroup>;
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
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.member_groups {
        return;
    }
    let pairs = found[index];
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
        index,
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
