// What a contact makes of its two bodies, and of what it was before.

/// Mobility of a body along and across the normal at a lever, 1/Da.
///
/// Across there are two directions; their sum is an upper bound for either. The mobilities
/// along any three directions at right angles add up to tr M⁻¹ + r² tr I⁻¹ − r·I⁻¹r.
fn mobilities(body: CrowdBody, lever: vec3<f32>, normal: vec3<f32>) -> vec2<f32> {
    if is_asleep(body.state) {
        return vec2(0.0);
    }
    let turn = cross(lever, normal);
    let along = dot(normal, body.inverse_mass * normal)
        + dot(turn, symmetric_times(body.diagonal, body.beside, turn));
    let trace = body.diagonal.x + body.diagonal.y + body.diagonal.z;
    let turning = dot(lever, lever) * trace
        - dot(lever, symmetric_times(body.diagonal, body.beside, lever));
    let mass = body.inverse_mass;
    let all = mass.x + mass.y + mass.z + turning;
    return vec2(along, max(all - along, 0.0));
}

/// Lets the contact take part, unless nothing can move either side. The masses are divided
/// later.
fn take_part(contact: ptr<function, CrowdContact>) {
    let movable = (*contact).mobility.x + (*contact).mobility.z > 0.0;
    (*contact).normal_mass = select(0.0, 1.0, movable);
}

/// Computes mobilities and bounce, and takes part if the surfaces overlap or are about to.
fn look_at(
    contact: ptr<function, CrowdContact>,
    a: CrowdBody,
    b: CrowdBody,
    restitution: f32,
) {
    let normal = (*contact).normal;
    let lever_a = (*contact).lever_a;
    let lever_b = (*contact).lever_b;
    (*contact).mobility = vec4(
        mobilities(a, lever_a, normal),
        mobilities(b, lever_b, normal),
    );
    let velocity = velocity_at(b.velocity, b.angular_velocity, lever_b)
        - velocity_at(a.velocity, a.angular_velocity, lever_a);
    let approach = dot(velocity, normal);
    if approach < -params.restitution_threshold {
        (*contact).restitution_speed = -restitution * approach;
    }
    if (*contact).gap <= 0.0 || (*contact).gap + approach * params.dt < 0.0 {
        take_part(contact);
    }
}

/// Begins with the impulses that it had in the substep before.
fn carry_on(contact: ptr<function, CrowdContact>, impulse: f32, friction: vec3<f32>) {
    take_part(contact);
    if (*contact).normal_mass > 0.0 {
        let normal = (*contact).normal;
        let across = friction - normal * dot(friction, normal);
        (*contact).normal_impulse = impulse;
        (*contact).friction_impulse = shortened(across, (*contact).friction * impulse);
    }
}
