// One Jacobi iteration: one thread per group solves its contacts in turn. Both sides of a
// contact receive the same vector with opposite sign.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read> groups: array<CrowdGroup>;
@group(0) @binding(3) var<storage, read_write> contacts: array<CrowdContact>;
@group(0) @binding(4) var<storage, read> side_starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> changes: array<CrowdImpulseChange>;

/// The share of a body that belongs to one group.
struct SolverBody {
    velocity: vec3<f32>,
    angular_velocity: vec3<f32>,
    inverse_mass: vec3<f32>,
    diagonal: vec3<f32>,
    off_diagonal: vec3<f32>,
}

/// One of the equal shares of a body; sleeping and dominating bodies are immovable.
fn share_of(index: u32, dominates: bool) -> SolverBody {
    let body = bodies[index];
    let shares = select(shares_of(index), 0.0, dominates || is_asleep(body.state));
    return SolverBody(
        body.velocity,
        body.angular_velocity,
        body.inverse_mass * shares,
        body.diagonal * shares,
        body.off_diagonal * shares,
    );
}

/// Mass scale and impulse scale of the spring, and the velocity added to the approach.
fn softness_and_bias(contact: CrowdContact) -> vec3<f32> {
    if contact.gap > 0.0 {
        // Speculative: the gap may close, but not more.
        return vec3(1.0, 0.0, contact.gap / params.dt);
    }
    if params.push_out != 0u {
        let overlap = min(contact.gap + params.slop, 0.0);
        let push = max(contact.bias_rate * overlap, -params.max_push_speed);
        return vec3(contact.mass_scale, contact.impulse_scale, push);
    }
    return vec3(1.0, 0.0, 0.0);
}

/// Returns the impulse change on `b` that removes the velocity error.
fn solve_contact(
    contact: ptr<function, CrowdContact>,
    a: SolverBody,
    b: SolverBody,
) -> vec3<f32> {
    let normal = (*contact).normal;
    let spring = softness_and_bias(*contact);
    let bias = min(spring.z, -(*contact).restitution_speed);
    let mass = (*contact).normal_mass * spring.x;
    let velocity = velocity_at(b.velocity, b.angular_velocity, (*contact).lever_b)
        - velocity_at(a.velocity, a.angular_velocity, (*contact).lever_a);
    let speed = dot(velocity, normal);
    let previous = (*contact).normal_impulse;
    let impulse = max(previous - mass * (speed + bias) - spring.y * previous, 0.0);
    let sliding = velocity - normal * speed;
    let previous_friction = (*contact).friction_impulse;
    let unclamped = previous_friction - sliding * (*contact).friction_mass;
    let friction = clamp_length(unclamped, (*contact).friction * impulse);
    (*contact).normal_impulse = impulse;
    (*contact).friction_impulse = friction;
    return normal * (impulse - previous) + (friction - previous_friction);
}

@compute @workgroup_size(GROUP_THREADS)
fn solve_groups(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let group = groups[index];
    if group.active_contacts == 0u {
        return;
    }
    let dominance = contacts[group.start].dominance;
    var a = share_of(group.a, dominance > 0);
    var b = share_of(group.b, dominance < 0);
    var change: CrowdImpulseChange;
    for (var k = 0u; k < group.contacts; k++) {
        let slot = slot_of(group, k);
        var contact = contacts[slot];
        if !is_active(contact) {
            continue;
        }
        let impulse = solve_contact(&contact, a, b);
        contacts[slot].normal_impulse = contact.normal_impulse;
        contacts[slot].friction_impulse = contact.friction_impulse;
        let torque_a = cross(contact.lever_a, impulse);
        let torque_b = cross(contact.lever_b, impulse);
        a.velocity -= a.inverse_mass * impulse;
        a.angular_velocity -= symmetric_times(a.diagonal, a.off_diagonal, torque_a);
        b.velocity += b.inverse_mass * impulse;
        b.angular_velocity += symmetric_times(b.diagonal, b.off_diagonal, torque_b);
        change.linear += impulse;
        change.angular_a -= torque_a;
        change.angular_b += torque_b;
    }
    changes[index] = change;
}

/// The accumulated impulses as changes.
@compute @workgroup_size(GROUP_THREADS)
fn apply_warm_start(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let group = groups[index];
    var change: CrowdImpulseChange;
    for (var k = 0u; k < group.contacts; k++) {
        let contact = contacts[slot_of(group, k)];
        if is_active(contact) {
            let impulse = contact.normal * contact.normal_impulse + contact.friction_impulse;
            change.linear += impulse;
            change.angular_a -= cross(contact.lever_a, impulse);
            change.angular_b += cross(contact.lever_b, impulse);
        }
    }
    changes[index] = change;
}

/// Moves the contacts of the previous substep along with their bodies: see
/// `ContactConstraint::follow_bodies`.
@compute @workgroup_size(GROUP_THREADS)
fn follow_bodies(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let group = groups[index];
    let a = bodies[group.a];
    let b = bodies[group.b];
    let centers = b.center - a.center;
    for (var k = 0u; k < group.contacts; k++) {
        let slot = slot_of(group, k);
        if !is_active(contacts[slot]) {
            continue;
        }
        let previous_a = contacts[slot].lever_a;
        let previous_b = contacts[slot].lever_b;
        let drift = centers - (previous_a - previous_b);
        let lever_a = previous_a + 0.5 * drift;
        let lever_b = previous_b - 0.5 * drift;
        contacts[slot].lever_a = lever_a;
        contacts[slot].lever_b = lever_b;
        let mobility = mobilities_of_both(contacts[slot], a, b);
        let masses = split_masses_of(mobility, shares_of(group.a), shares_of(group.b));
        contacts[slot].mobility = mobility;
        contacts[slot].normal_mass = masses.x;
        contacts[slot].friction_mass = masses.y;
    }
}
