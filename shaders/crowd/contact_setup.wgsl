// Mobility, restitution and warm start of a contact.

/// Mobility of a body along and perpendicular to the normal at a lever, 1/Da.
///
/// There are two perpendicular directions; the sum of their mobilities is an upper bound for
/// either. The mobilities along any three orthogonal directions add up to
/// tr M⁻¹ + r² tr I⁻¹ − r·I⁻¹r.
fn mobilities(body: CrowdBody, lever: vec3<f32>, normal: vec3<f32>) -> vec2<f32> {
    if is_asleep(body.state) {
        return vec2(0.0);
    }
    let torque = cross(lever, normal);
    let along = dot(normal, body.inverse_mass * normal)
        + dot(torque, symmetric_times(body.diagonal, body.off_diagonal, torque));
    let trace = body.diagonal.x + body.diagonal.y + body.diagonal.z;
    let angular = dot(lever, lever) * trace
        - dot(lever, symmetric_times(body.diagonal, body.off_diagonal, lever));
    let mass = body.inverse_mass;
    let total = mass.x + mass.y + mass.z + angular;
    return vec2(along, max(total - along, 0.0));
}

/// Mobilities of `a`, then of `b`. A body that dominates the other is immovable.
fn mobilities_of_both(
    contact: CrowdContact,
    a: CrowdBody,
    b: CrowdBody,
) -> vec4<f32> {
    let of_a = mobilities(a, contact.lever_a, contact.normal);
    let of_b = mobilities(b, contact.lever_b, contact.normal);
    return vec4(
        select(of_a, vec2(0.0), contact.dominance > 0),
        select(of_b, vec2(0.0), contact.dominance < 0),
    );
}

/// Activates a contact unless both sides are immovable. Mass splitting sets the real masses
/// later.
fn activate(contact: ptr<function, CrowdContact>) {
    let movable = (*contact).mobility.x + (*contact).mobility.z > 0.0;
    (*contact).normal_mass = select(0.0, 1.0, movable);
}

/// Computes mobilities and restitution, and activates the contact if the surfaces overlap or
/// would at the end of the substep.
fn set_up(
    contact: ptr<function, CrowdContact>,
    a: CrowdBody,
    b: CrowdBody,
    restitution: f32,
) {
    let normal = (*contact).normal;
    let lever_a = (*contact).lever_a;
    let lever_b = (*contact).lever_b;
    (*contact).dominance = relative_dominance(a, b);
    (*contact).mobility = mobilities_of_both(*contact, a, b);
    let velocity = velocity_at(b.velocity, b.angular_velocity, lever_b)
        - velocity_at(a.velocity, a.angular_velocity, lever_a);
    let approach = dot(velocity, normal);
    if approach < -params.restitution_threshold {
        (*contact).restitution_speed = -restitution * approach;
    }
    if (*contact).gap <= 0.0 || (*contact).gap + approach * params.dt < 0.0 {
        activate(contact);
    }
}

/// Starts from the impulses of the same contact in the previous substep.
fn warm_start(contact: ptr<function, CrowdContact>, impulse: f32, friction: vec3<f32>) {
    activate(contact);
    if (*contact).normal_mass > 0.0 {
        let normal = (*contact).normal;
        let tangential = friction - normal * dot(friction, normal);
        (*contact).normal_impulse = impulse;
        (*contact).friction_impulse = clamp_length(tangential, (*contact).friction * impulse);
    }
}
