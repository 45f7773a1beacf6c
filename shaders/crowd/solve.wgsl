// All pairs of molecules at once, the contacts of each pair in turn: one thread for each
// group. Either side of a contact receives the same vector with opposite sign.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read> groups: array<CrowdGroup>;
@group(0) @binding(3) var<storage, read_write> contacts: array<CrowdContact>;
@group(0) @binding(4) var<storage, read> side_starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> changes: array<CrowdImpulseDelta>;

/// The part of a body that belongs to one group.
struct Part {
    velocity: vec3<f32>,
    angular_velocity: vec3<f32>,
    inverse_mass: vec3<f32>,
    diagonal: vec3<f32>,
    beside: vec3<f32>,
}

/// One of as many equal shares as the body has groups; sleepers do not give way.
fn part_of(body: u32) -> Part {
    let whole = bodies[body];
    let share = select(sharing(body), 0.0, is_asleep(whole.state));
    return Part(
        whole.velocity,
        whole.angular_velocity,
        whole.inverse_mass * share,
        whole.diagonal * share,
        whole.beside * share,
    );
}

/// Spring and velocity that is added to the approach: mass scale, give back, bias.
fn spring_of(contact: CrowdContact) -> vec3<f32> {
    if contact.gap > 0.0 {
        // Not there yet: may close the gap, and no more.
        return vec3(1.0, 0.0, contact.gap / params.dt);
    }
    if params.parting != 0u {
        let overlap = min(contact.gap + params.slop, 0.0);
        let push = max(contact.bias_rate * overlap, -params.max_push_speed);
        return vec3(contact.mass_scale, contact.impulse_scale, push);
    }
    return vec3(1.0, 0.0, 0.0);
}

/// The change of the impulses on `b` that takes the velocity errors out; that on `a` is
/// its negative.
fn solved(contact: ptr<function, CrowdContact>, a: Part, b: Part) -> vec3<f32> {
    let normal = (*contact).normal;
    let spring = spring_of(*contact);
    let bias = min(spring.z, -(*contact).restitution_speed);
    let mass = (*contact).normal_mass * spring.x;
    let velocity = velocity_at(b.velocity, b.angular_velocity, (*contact).lever_b)
        - velocity_at(a.velocity, a.angular_velocity, (*contact).lever_a);
    let speed = dot(velocity, normal);
    let before = (*contact).normal_impulse;
    let impulse = max(before - mass * (speed + bias) - spring.y * before, 0.0);
    let across = velocity - normal * speed;
    let friction_before = (*contact).friction_impulse;
    let wanted = friction_before - across * (*contact).friction_mass;
    let held = shortened(wanted, (*contact).friction * impulse);
    (*contact).normal_impulse = impulse;
    (*contact).friction_impulse = held;
    return normal * (impulse - before) + (held - friction_before);
}

@compute @workgroup_size(GROUP_THREADS)
fn solve_groups(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let own = groups[index];
    if own.rows == 0u {
        return;
    }
    var a = part_of(own.a);
    var b = part_of(own.b);
    var change: CrowdImpulseDelta;
    for (var k = 0u; k < own.contacts; k++) {
        let slot = slot_of(own, k);
        var contact = contacts[slot];
        if !is_active(contact) {
            continue;
        }
        let impulse = solved(&contact, a, b);
        contacts[slot].normal_impulse = contact.normal_impulse;
        contacts[slot].friction_impulse = contact.friction_impulse;
        let turn_a = cross(contact.lever_a, impulse);
        let turn_b = cross(contact.lever_b, impulse);
        a.velocity -= a.inverse_mass * impulse;
        a.angular_velocity -= symmetric_times(a.diagonal, a.beside, turn_a);
        b.velocity += b.inverse_mass * impulse;
        b.angular_velocity += symmetric_times(b.diagonal, b.beside, turn_b);
        change.linear += impulse;
        change.angular_a -= turn_a;
        change.angular_b += turn_b;
    }
    changes[index] = change;
}

/// What the impulses so far change.
@compute @workgroup_size(GROUP_THREADS)
fn start_warm(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let own = groups[index];
    var change: CrowdImpulseDelta;
    for (var k = 0u; k < own.contacts; k++) {
        let contact = contacts[slot_of(own, k)];
        if is_active(contact) {
            let impulse = contact.normal * contact.normal_impulse + contact.friction_impulse;
            change.linear += impulse;
            change.angular_a -= cross(contact.lever_a, impulse);
            change.angular_b += cross(contact.lever_b, impulse);
        }
    }
    changes[index] = change;
}

/// Lets contacts go along with their bodies. Brings the levers to one point again: a pair of
/// impulses that do not act in one point would change the angular momentum. And whoever was
/// asleep may be awake now: masses of before, in which it could not move, would fling it away.
@compute @workgroup_size(GROUP_THREADS)
fn follow_bodies(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let own = groups[index];
    let a = bodies[own.a];
    let b = bodies[own.b];
    let between = b.center - a.center;
    for (var k = 0u; k < own.contacts; k++) {
        let slot = slot_of(own, k);
        if !is_active(contacts[slot]) {
            continue;
        }
        let before_a = contacts[slot].lever_a;
        let before_b = contacts[slot].lever_b;
        let apart = between - (before_a - before_b);
        let lever_a = before_a + 0.5 * apart;
        let lever_b = before_b - 0.5 * apart;
        let normal = contacts[slot].normal;
        let mobility = vec4(mobilities(a, lever_a, normal), mobilities(b, lever_b, normal));
        let masses = split_masses_of(mobility, sharing(own.a), sharing(own.b));
        contacts[slot].lever_a = lever_a;
        contacts[slot].lever_b = lever_b;
        contacts[slot].mobility = mobility;
        contacts[slot].normal_mass = masses.x;
        contacts[slot].friction_mass = masses.y;
    }
}
