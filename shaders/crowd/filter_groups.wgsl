// The groups of the search as the solver has them: one thread for each.

@group(0) @binding(1) var<storage, read> found: array<PairGroup>;
@group(0) @binding(2) var<storage, read> surfaces: array<CrowdSurface>;
/// Pairs of members that do not touch, sorted, the smaller one first.
@group(0) @binding(3) var<storage, read> exempt: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> groups: array<CrowdGroup>;
@group(0) @binding(5) var<storage, read_write> touches: array<CrowdTouch>;

/// Whether two members are among those that do not touch.
fn is_exempt(a: u32, b: u32) -> bool {
    var first = 0u;
    var end = params.exempt;
    while first < end {
        let middle = (first + end) / 2u;
        let pair = exempt[middle];
        if pair.x < a || (pair.x == a && pair.y < b) {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first < params.exempt && all(exempt[first] == vec2(a, b));
}

@compute @workgroup_size(GROUP_THREADS)
fn meet_groups(here: Invocation) {
    let own = thread_number(here.group, here.groups, here.thread);
    if own >= params.touching {
        return;
    }
    let pairs = found[own];
    let one = surfaces[pairs.a];
    let other = surfaces[pairs.b];
    let meet = (one.memberships & other.filter_mask) != 0u
        && (other.memberships & one.filter_mask) != 0u
        && !is_exempt(pairs.a, pairs.b);
    let may_touch = select(0u, 1u, meet);
    groups[own] = CrowdGroup(
        pairs.a, pairs.b, own, params.touching, pairs.kept, 0u, may_touch, pairs.deepest,
    );
    let contacts = select(NO_TOUCH, pairs.overlaps, meet);
    touches[own] = CrowdTouch(pairs.a, pairs.b, contacts, pairs.deepest);
}
