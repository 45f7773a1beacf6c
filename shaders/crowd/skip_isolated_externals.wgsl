// Supports are left to the physics engine where no two molecules of the crowd touch.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read_write> groups: array<CrowdGroup>;
@group(0) @binding(3) var<storage, read_write> contacts: array<CrowdContact>;
/// Bodies that touch others of the crowd, or hold those that do.
@group(0) @binding(4) var<storage, read_write> crowded: array<atomic<u32>>;

/// Whether any push would move a body.
fn is_movable(body: u32) -> bool {
    return any(bodies[body].inverse_mass != vec3(0.0))
        || any(bodies[body].diagonal != vec3(0.0))
        || any(bodies[body].beside != vec3(0.0));
}

fn mark(body: u32) {
    if is_movable(body) {
        atomicStore(&crowded[body], 1u);
    }
}

fn is_crowded_group(own: CrowdGroup) -> bool {
    return atomicLoad(&crowded[own.a]) != 0u || atomicLoad(&crowded[own.b]) != 0u;
}

/// Bodies that touch in the crowd. Whoever comes first, all write the same.
@compute @workgroup_size(GROUP_THREADS)
fn mark_touching(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.touching || groups[index].rows == 0u {
        return;
    }
    mark(groups[index].a);
    mark(groups[index].b);
}

/// And then what these lean on, one after the other as on the processor: there are few.
@compute @workgroup_size(1)
fn mark_leaning() {
    for (var index = params.touching; index < params.groups; index++) {
        let own = groups[index];
        if own.rows > 0u && is_crowded_group(own) {
            mark(own.a);
            mark(own.b);
        }
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn leave_supports(here: Invocation) {
    let index = params.touching + thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let own = groups[index];
    if is_crowded_group(own) {
        return;
    }
    for (var k = 0u; k < own.contacts; k++) {
        let slot = slot_of(own, k);
        contacts[slot].normal_mass = 0.0;
        contacts[slot].normal_impulse = 0.0;
        contacts[slot].friction_impulse = vec3(0.0);
    }
    groups[index].rows = 0u;
}
