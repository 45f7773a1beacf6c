// Updates of bodies before, between and after iterations: one thread per body, which adds the
// changes of its groups in ascending order.

@group(0) @binding(1) var<storage, read_write> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read> side_starts: array<u32>;
/// Sides by body: twice the index of a group, plus one for side `b`.
@group(0) @binding(3) var<storage, read> sides: array<u32>;
@group(0) @binding(4) var<storage, read> changes: array<CrowdImpulseChange>;
@group(0) @binding(5) var<storage, read_write> impulses: array<CrowdImpulse>;
/// 1 for bodies that wake up.
@group(0) @binding(6) var<storage, read> woken: array<u32>;

/// Resets the result and wakes bodies, which react within this substep.
@compute @workgroup_size(GROUP_THREADS)
fn begin_bodies(here: Invocation) {
    let body = thread_number(here.group, here.groups, here.thread);
    if body >= params.bodies {
        return;
    }
    let wake = woken[body];
    impulses[body] = CrowdImpulse(vec3(0.0), wake, vec3(0.0), 0u);
    if wake != 0u {
        bodies[body].state &= ~ASLEEP;
    }
}

/// Predicts the velocity at the end of the substep.
@compute @workgroup_size(GROUP_THREADS)
fn predict_velocities(here: Invocation) {
    let body = thread_number(here.group, here.groups, here.thread);
    if body < params.bodies && !is_asleep(bodies[body].state) {
        bodies[body].velocity += bodies[body].acceleration * params.dt;
    }
}

/// Applies the changes of an iteration.
@compute @workgroup_size(GROUP_THREADS)
fn apply_changes(here: Invocation) {
    let body = thread_number(here.group, here.groups, here.thread);
    if body >= params.bodies || is_asleep(bodies[body].state) {
        return;
    }
    var linear = vec3(0.0);
    var angular = vec3(0.0);
    let end = side_starts[body + 1u];
    for (var k = side_starts[body]; k < end; k++) {
        let side = sides[k];
        let change = changes[side / 2u];
        let is_b = (side & 1u) != 0u;
        linear += select(-change.linear, change.linear, is_b);
        angular += select(change.angular_a, change.angular_b, is_b);
    }
    let own = bodies[body];
    bodies[body].velocity = own.velocity + own.inverse_mass * linear;
    bodies[body].angular_velocity =
        own.angular_velocity + symmetric_times(own.diagonal, own.off_diagonal, angular);
    impulses[body].linear += linear;
    impulses[body].angular += angular;
}
