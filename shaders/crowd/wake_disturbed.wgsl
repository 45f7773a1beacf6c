// Which sleepers are woken by whom.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read> groups: array<CrowdGroup>;
/// Pairs that are kept, `MAX_CONTACTS_PER_PAIR` places for each group.
@group(0) @binding(3) var<storage, read> kept: array<vec2<u32>>;
/// Center and radius of each sphere, nm.
@group(0) @binding(4) var<storage, read> spheres: array<vec4<f32>>;
/// Whoever comes first, all write the same.
@group(0) @binding(5) var<storage, read_write> woken: array<atomic<u32>>;

/// Whether two spheres approach in earnest and meet within the substep.
fn hits_hard(pair: vec2<u32>, own: CrowdGroup) -> bool {
    let one = spheres[pair.x];
    let other = spheres[pair.y];
    let difference = other.xyz - one.xyz;
    let a = bodies[own.a];
    let b = bodies[own.b];
    let velocity = velocity_at(b.velocity, b.angular_velocity, other.xyz - b.center)
        - velocity_at(a.velocity, a.angular_velocity, one.xyz - a.center);
    var normal = vec3(0.0);
    if has_direction(difference) {
        normal = direction_of(difference);
    }
    let approach = -dot(velocity, normal);
    let gap = sqrt(dot(difference, difference)) - one.w - other.w;
    return approach > WAKE_SPEED && gap < approach * params.dt;
}

/// Whether one of two molecules sleeps and ought not to.
fn disturbs_sleep(index: u32, own: CrowdGroup) -> bool {
    if !(is_asleep(bodies[own.a].state) || is_asleep(bodies[own.b].state)) {
        return false;
    }
    if own.deepest > WAKE_OVERLAP {
        return true;
    }
    for (var k = 0u; k < own.contacts; k++) {
        if hits_hard(kept[index * MAX_CONTACTS_PER_PAIR + k], own) {
            return true;
        }
    }
    return false;
}

/// Those that are hit or lie too deep.
@compute @workgroup_size(GROUP_THREADS)
fn wake_disturbed(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.touching {
        return;
    }
    let own = groups[index];
    if disturbs_sleep(index, own) {
        atomicStore(&woken[own.a], 1u);
        atomicStore(&woken[own.b], 1u);
    }
}
