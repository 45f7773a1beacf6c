// Leaves external contacts to the physics engine where no members touch each other.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read_write> groups: array<CrowdGroup>;
@group(0) @binding(3) var<storage, read_write> contacts: array<CrowdContact>;
/// 1 for bodies with contacts in the crowd, and external bodies that support them. Threads
/// write in any order, but all write the same value.
@group(0) @binding(4) var<storage, read_write> crowded: array<atomic<u32>>;

fn mark(body: u32) {
    if is_movable(bodies[body]) {
        atomicStore(&crowded[body], 1u);
    }
}

/// Whether a group has contacts in the crowd, or is between two members.
fn is_crowded(group: CrowdGroup) -> bool {
    let between_members = group.a < params.owners && group.b < params.owners;
    return between_members || atomicLoad(&crowded[group.a]) != 0u || atomicLoad(&crowded[group.b]) != 0u;
}

/// Marks members that touch each other.
@compute @workgroup_size(GROUP_THREADS)
fn mark_touching(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.member_groups || groups[index].active_contacts == 0u {
        return;
    }
    mark(groups[index].a);
    mark(groups[index].b);
}

/// Marks the external bodies that support them, one after the other as on the CPU: there are
/// few.
@compute @workgroup_size(1)
fn mark_supporting() {
    for (var index = params.member_groups; index < params.groups; index++) {
        let group = groups[index];
        if group.active_contacts > 0u && is_crowded(group) {
            mark(group.a);
            mark(group.b);
        }
    }
}

/// Deactivates the other external contacts.
@compute @workgroup_size(GROUP_THREADS)
fn skip_isolated_externals(here: Invocation) {
    let index = params.member_groups + thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let group = groups[index];
    if is_crowded(group) {
        return;
    }
    for (var k = 0u; k < group.contacts; k++) {
        let slot = slot_of(group, k);
        contacts[slot].normal_mass = 0.0;
        contacts[slot].normal_impulse = 0.0;
        contacts[slot].friction_impulse = vec3(0.0);
    }
    groups[index].active_contacts = 0u;
}
