// The groups of each body in ascending order, and mass splitting.
//
// A group has two sides, `a` and `b`. Sides are listed, sorted by body, and each body finds its
// range in the sorted list.

@group(0) @binding(1) var<storage, read_write> groups: array<CrowdGroup>;
/// Body of each side.
@group(0) @binding(2) var<storage, read_write> side_keys: array<u32>;
/// Twice the index of a group, plus one for side `b`.
@group(0) @binding(3) var<storage, read_write> sides: array<u32>;
/// First side of each body, and one entry more.
@group(0) @binding(4) var<storage, read_write> side_starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> contacts: array<CrowdContact>;
/// Current body of each previous external body, or `NO_BODY`.
@group(0) @binding(6) var<storage, read> relabeled: array<u32>;

/// The external body is gone.
const NO_BODY: u32 = 0xffffffffu;

@compute @workgroup_size(GROUP_THREADS)
fn list_sides(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let group = groups[index];
    // Sides of inactive groups, and of bodies that dominate the other, sort behind all bodies.
    let has_contacts = group.active_contacts > 0u;
    var dominance = 0;
    if has_contacts {
        dominance = contacts[group.start].dominance;
    }
    side_keys[2u * index] = select(params.bodies, group.a, has_contacts && dominance <= 0);
    side_keys[2u * index + 1u] = select(params.bodies, group.b, has_contacts && dominance >= 0);
    sides[2u * index] = 2u * index;
    sides[2u * index + 1u] = 2u * index + 1u;
}

@compute @workgroup_size(GROUP_THREADS)
fn find_sides(here: Invocation) {
    let body = thread_number(here.group, here.groups, here.thread);
    if body > params.bodies {
        return;
    }
    var first = 0u;
    var end = 2u * params.groups;
    while first < end {
        let middle = (first + end) / 2u;
        if side_keys[middle] < body {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    side_starts[body] = first;
}

@compute @workgroup_size(GROUP_THREADS)
fn split_masses(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let group = groups[index];
    if group.active_contacts == 0u {
        return;
    }
    let shares_a = shares_of(group.a);
    let shares_b = shares_of(group.b);
    for (var k = 0u; k < group.contacts; k++) {
        let slot = slot_of(group, k);
        if is_active(contacts[slot]) {
            let masses = split_masses_of(contacts[slot].mobility, shares_a, shares_b);
            contacts[slot].normal_mass = masses.x;
            contacts[slot].friction_mass = masses.y;
        }
    }
}

fn current_body(body: u32) -> u32 {
    if body < params.owners {
        return body;
    }
    return relabeled[body - params.owners];
}

/// Gives the external bodies of the previous substep their current indices. Groups whose body is
/// gone become empty.
@compute @workgroup_size(GROUP_THREADS)
fn relabel_externals(here: Invocation) {
    let index = params.member_groups + thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let a = current_body(groups[index].a);
    let b = current_body(groups[index].b);
    if a == NO_BODY || b == NO_BODY {
        groups[index].contacts = 0u;
        groups[index].active_contacts = 0u;
        groups[index].a = 0u;
        groups[index].b = 0u;
    } else {
        groups[index].a = a;
        groups[index].b = b;
    }
}
