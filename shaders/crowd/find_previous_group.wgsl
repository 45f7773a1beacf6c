// Binary search for a group of the previous substep.

@group(0) @binding(7) var<storage, read> previous_groups: array<CrowdGroup>;

/// There is no such group.
const NO_GROUP: u32 = 0xffffffffu;

/// The group of owners `a` and `b` in the previous substep.
fn previous_group(a: u32, b: u32) -> u32 {
    var first = 0u;
    var end = params.previous_member_groups;
    while first < end {
        let middle = (first + end) / 2u;
        let middle_a = previous_groups[middle].a;
        if middle_a < a || (middle_a == a && previous_groups[middle].b < b) {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    if first < params.previous_member_groups {
        if previous_groups[first].a == a && previous_groups[first].b == b {
            return first;
        }
    }
    return NO_GROUP;
}
