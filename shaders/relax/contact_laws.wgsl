// The correction of one contact to one of its molecules.
//
// Both sides evaluate the same expressions with negated vectors, so that the corrections of the
// two molecules are exactly opposite.

/// A contact from the side of one of its molecules.
struct Contact {
    /// Molecules: the own one, and the other.
    owners: vec2<u32>,
    /// Centers of the spheres in the world, nm.
    own: vec3<f32>,
    other: vec3<f32>,
    /// Sum of the radii and the gap, nm.
    reach: f32,
}

/// Unit vector from the center of the other molecule to the own one.
fn direction_between(own: vec3<f32>, other: vec3<f32>, owners: vec2<u32>) -> vec3<f32> {
    let apart = own - other;
    if has_direction(apart) {
        return direction_of(apart);
    }
    return arbitrary_direction(owners);
}

/// Displacement along `normal` at `lever` per unit of impulse along `normal`, 1/Da.
fn mobility(body: Body, lever: vec3<f32>, normal: vec3<f32>) -> f32 {
    let turn = cross(lever, normal);
    return body.inverse_mass + dot(turn, body.inverse_inertia * turn);
}

/// Projection law: the shift and rotation that would separate the spheres; no contact without a
/// direction.
fn projection_push(contact: Contact, own_body: Body, other_body: Body) -> Push {
    var push: Push;
    let between = direction_between(own_body.center, other_body.center, contact.owners);
    let apart = contact.own - contact.other;
    let is_apart = has_direction(apart);
    var atom = vec3(0.0);
    if is_apart {
        atom = direction_of(apart);
    }
    var normal = atom + between * law.center_weight;
    if has_direction(normal) {
        normal = direction_of(normal);
    } else if is_apart {
        normal = atom;
    } else {
        return push;
    }
    let along = dot(apart, normal);
    let discriminant = along * along + contact.reach * contact.reach - dot(apart, apart);
    let shift = sqrt(max(discriminant, 0.0)) - along;
    let own_lever = contact.own - own_body.center;
    let other_lever = contact.other - other_body.center;
    let sum = mobility(own_body, own_lever, normal) + mobility(other_body, other_lever, normal);
    let impulse = normal * (shift / sum);
    push.linear = impulse * own_body.inverse_mass;
    push.angular = own_body.inverse_inertia * cross(own_lever, impulse);
    push.contacts = 1.0;
    return push;
}

/// Law of the thesis (algorithm 4.4).
fn thesis_push(contact: Contact, own_body: Body, other_body: Body) -> Push {
    var push: Push;
    let apart = contact.own - contact.other;
    let local = contact.own - own_body.center;
    var direction: vec3<f32>;
    if has_direction(apart) {
        direction = direction_of(apart);
    } else {
        direction = direction_between(own_body.center, other_body.center, contact.owners);
    }
    let squares = dot(apart, apart) + dot(local, local);
    let strength = 1.0 / max(squares, MIN_SQUARES_NM2);
    push.linear = direction * strength * law.force;
    push.angular = cross(local, direction) * law.torque;
    push.contacts = 1.0;
    return push;
}
