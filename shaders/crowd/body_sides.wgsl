// The groups of each body, in rising order, and how masses are divided among them.

@group(0) @binding(1) var<storage, read_write> groups: array<CrowdGroup>;
/// Body of each side of a group, and twice the number of the group, plus one for `b`.
@group(0) @binding(2) var<storage, read_write> side_keys: array<u32>;
@group(0) @binding(3) var<storage, read_write> sides: array<u32>;
/// First side of each body, and one entry more.
@group(0) @binding(4) var<storage, read_write> side_starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> contacts: array<CrowdContact>;
/// New number of each obstacle, or `NO_BODY`.
@group(0) @binding(6) var<storage, read> renamed: array<u32>;

/// An obstacle that is there no more.
const NO_BODY: u32 = 0xffffffffu;

@compute @workgroup_size(GROUP_THREADS)
fn list_sides(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let own = groups[index];
    // Groups without contacts belong to nobody.
    side_keys[2u * index] = select(params.bodies, own.a, own.rows > 0u);
    side_keys[2u * index + 1u] = select(params.bodies, own.b, own.rows > 0u);
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
    let own = groups[index];
    if own.rows == 0u {
        return;
    }
    let share_a = sharing(own.a);
    let share_b = sharing(own.b);
    for (var k = 0u; k < own.contacts; k++) {
        let slot = slot_of(own, k);
        if is_active(contacts[slot]) {
            let masses = split_masses_of(contacts[slot].mobility, share_a, share_b);
            contacts[slot].normal_mass = masses.x;
            contacts[slot].friction_mass = masses.y;
        }
    }
}

/// The number that a body has now.
fn renamed_body(body: u32) -> u32 {
    if body < params.members {
        return body;
    }
    return renamed[body - params.members];
}

/// Obstacles of the substep before get the numbers that they have now; groups with those
/// that are gone end.
@compute @workgroup_size(GROUP_THREADS)
fn rename_obstacles(here: Invocation) {
    let index = params.touching + thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let a = renamed_body(groups[index].a);
    let b = renamed_body(groups[index].b);
    if a == NO_BODY || b == NO_BODY {
        groups[index].contacts = 0u;
        groups[index].rows = 0u;
        groups[index].a = 0u;
        groups[index].b = 0u;
    } else {
        groups[index].a = a;
        groups[index].b = b;
    }
}
