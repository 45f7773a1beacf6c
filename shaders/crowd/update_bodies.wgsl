// Bodies before, between and after iterations: one thread for each, and each adds up its
// own groups in rising order.

@group(0) @binding(1) var<storage, read_write> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read> side_starts: array<u32>;
/// Twice the number of a group, plus one if the body is its `b`.
@group(0) @binding(3) var<storage, read> sides: array<u32>;
@group(0) @binding(4) var<storage, read> changes: array<CrowdImpulseDelta>;
@group(0) @binding(5) var<storage, read_write> impulses: array<CrowdImpulse>;
/// Whether something acts on a body that wakes it.
@group(0) @binding(6) var<storage, read> woken: array<u32>;

/// Those that were woken answer what woke them in this very substep.
@compute @workgroup_size(GROUP_THREADS)
fn begin_bodies(here: Invocation) {
    let body = thread_number(here.group, here.groups, here.thread);
    if body >= params.bodies {
        return;
    }
    let awake = woken[body];
    impulses[body] = CrowdImpulse(vec3(0.0), awake, vec3(0.0), 0u);
    if awake != 0u {
        bodies[body].state &= ~ASLEEP;
    }
}

/// Velocities as forces will have them at the end of the substep.
@compute @workgroup_size(GROUP_THREADS)
fn predict_bodies(here: Invocation) {
    let body = thread_number(here.group, here.groups, here.thread);
    if body < params.bodies && !is_asleep(bodies[body].state) {
        bodies[body].velocity += bodies[body].acceleration * params.dt;
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn add_up(here: Invocation) {
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
        let second = (side & 1u) != 0u;
        linear += select(-change.linear, change.linear, second);
        angular += select(change.angular_a, change.angular_b, second);
    }
    let own = bodies[body];
    bodies[body].velocity = own.velocity + own.inverse_mass * linear;
    bodies[body].angular_velocity =
        own.angular_velocity + symmetric_times(own.diagonal, own.beside, angular);
    impulses[body].linear += linear;
    impulses[body].angular += angular;
}
