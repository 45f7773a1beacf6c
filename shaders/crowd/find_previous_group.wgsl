// Where the group of two molecules was in the substep before.

@group(0) @binding(7) var<storage, read> groups_before: array<CrowdGroup>;

/// No such group.
const NO_GROUP: u32 = 0xffffffffu;

/// The group of molecules `a` and `b` in the substep before.
fn group_before(a: u32, b: u32) -> u32 {
    var first = 0u;
    var end = params.touching_before;
    while first < end {
        let middle = (first + end) / 2u;
        let at = groups_before[middle].a;
        if at < a || (at == a && groups_before[middle].b < b) {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    if first < params.touching_before {
        if groups_before[first].a == a && groups_before[first].b == b {
            return first;
        }
    }
    return NO_GROUP;
}
