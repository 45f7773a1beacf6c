// Wakes sleeping bodies that are hit or overlap deeply.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read> groups: array<CrowdGroup>;
/// The pairs kept by the search, `MAX_CONTACTS_PER_PAIR` places per group.
@group(0) @binding(3) var<storage, read> kept: array<KeptPair>;
/// Threads write in any order, but all write the same value.
@group(0) @binding(5) var<storage, read_write> woken: array<atomic<u32>>;

/// Whether two spheres approach fast enough and meet within the substep.
fn is_hit(pair: KeptPair, group: CrowdGroup) -> bool {
    let first = pair.first;
    let second = pair.second;
    let difference = second.xyz - first.xyz;
    let a = bodies[group.a];
    let b = bodies[group.b];
    let velocity = velocity_at(b.velocity, b.angular_velocity, second.xyz - b.center)
        - velocity_at(a.velocity, a.angular_velocity, first.xyz - a.center);
    var normal = vec3(0.0);
    if has_direction(difference) {
        normal = direction_of(difference);
    }
    let approach = -dot(velocity, normal);
    let gap = sqrt(dot(difference, difference)) - first.w - second.w;
    return approach > WAKE_SPEED && gap < approach * params.dt;
}

/// Whether one of two bodies sleeps and should not.
fn is_disturbed(group: CrowdGroup) -> bool {
    if group.pushes == 0u {
        return false;
    }
    if !(is_asleep(bodies[group.a].state) || is_asleep(bodies[group.b].state)) {
        return false;
    }
    if group.penetration > WAKE_OVERLAP {
        return true;
    }
    for (var k = 0u; k < group.contacts; k++) {
        if is_hit(kept[group.start * MAX_CONTACTS_PER_PAIR + k], group) {
            return true;
        }
    }
    return false;
}

@compute @workgroup_size(GROUP_THREADS)
fn wake_disturbed(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.member_groups {
        return;
    }
    let group = groups[index];
    if is_disturbed(group) {
        atomicStore(&woken[group.a], 1u);
        atomicStore(&woken[group.b], 1u);
    }
}
