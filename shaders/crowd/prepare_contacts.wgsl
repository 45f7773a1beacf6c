// Pairs of spheres become contacts, with the impulses that they carried: one thread for
// each group.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read_write> groups: array<CrowdGroup>;
/// Pairs that are kept, `MAX_CONTACTS_PER_PAIR` places for each group.
@group(0) @binding(3) var<storage, read> kept: array<vec2<u32>>;
/// Center and radius of each sphere, nm.
@group(0) @binding(4) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> surfaces: array<CrowdSurface>;
@group(0) @binding(6) var<storage, read_write> contacts: array<CrowdContact>;
@group(0) @binding(8) var<storage, read> contacts_before: array<CrowdContact>;

/// The surface between two members: means, and the softer of the two springs.
fn combined(one: CrowdSurface, other: CrowdSurface) -> CrowdSurface {
    return CrowdSurface(
        0.5 * (one.restitution + other.restitution),
        0.5 * (one.friction + other.friction),
        min(one.frequency_hz, other.frequency_hz),
        0.5 * (one.damping_ratio + other.damping_ratio),
        0u,
        0u,
    );
}

/// The spring of a surface over a substep, integrated implicitly: see `Softness`.
fn set_spring(contact: ptr<function, CrowdContact>, surface: CrowdSurface) {
    let omega = 2.0 * PI * min(surface.frequency_hz, 0.25 / params.dt);
    let a1 = 2.0 * surface.damping_ratio + params.dt * omega;
    let a2 = params.dt * omega * a1;
    let a3 = 1.0 / (1.0 + a2);
    (*contact).bias_rate = omega / a1;
    (*contact).mass_scale = a2 * a3;
    (*contact).impulse_scale = a3;
}

/// Direction from `a` to `b`: between the spheres, and for deep overlaps more and more
/// between the molecules.
fn normal_of(difference: vec3<f32>, depth: f32, deep: f32, own: CrowdGroup) -> vec3<f32> {
    let apart = has_direction(difference);
    var direction = vec3(0.0);
    if apart {
        direction = direction_of(difference);
    }
    if apart && depth <= 0.0 {
        return direction;
    }
    let line = bodies[own.b].center - bodies[own.a].center;
    var between: vec3<f32>;
    if has_direction(line) {
        between = direction_of(line);
    } else {
        between = arbitrary_direction(vec2(own.b, own.a));
    }
    let weight = clamp(depth / max(deep, LEAST_RADIUS_NM), 0.0, 1.0);
    let mixed = direction + between * weight;
    if has_direction(mixed) {
        return direction_of(mixed);
    }
    return between;
}

fn prepared(pair: vec2<u32>, own: CrowdGroup, surface: CrowdSurface) -> CrowdContact {
    var contact: CrowdContact;
    contact.spheres = pair;
    let first = spheres[pair.x];
    let second = spheres[pair.y];
    let difference = second.xyz - first.xyz;
    let distance = sqrt(dot(difference, difference));
    contact.gap = distance - first.w - second.w;
    let deep = DEEP_SHARE * min(first.w, second.w);
    contact.normal = normal_of(difference, -contact.gap - deep, deep, own);
    let point = first.xyz + contact.normal * (first.w + 0.5 * contact.gap);
    contact.lever_a = point - bodies[own.a].center;
    contact.lever_b = point - bodies[own.b].center;
    contact.friction = surface.friction;
    set_spring(&contact, surface);
    look_at(&contact, bodies[own.a], bodies[own.b], surface.restitution);
    return contact;
}

/// Finds the contact in the substep before, and carries its impulses on.
fn carry_from(contact: ptr<function, CrowdContact>, before: CrowdGroup) {
    let pair = (*contact).spheres;
    for (var k = 0u; k < before.contacts; k++) {
        let slot = slot_of(before, k);
        if all(contacts_before[slot].spheres == pair) {
            let impulse = contacts_before[slot].normal_impulse;
            if impulse > 0.0 {
                carry_on(contact, impulse, contacts_before[slot].friction_impulse);
            }
            return;
        }
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn prepare_contacts(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.touching {
        return;
    }
    let own = groups[index];
    if own.may_touch == 0u {
        groups[index].contacts = 0u;
        return;
    }
    let surface = combined(surfaces[own.a], surfaces[own.b]);
    let before = group_before(own.a, own.b);
    var rows = 0u;
    for (var k = 0u; k < own.contacts; k++) {
        var contact = prepared(kept[index * MAX_CONTACTS_PER_PAIR + k], own, surface);
        if before != NO_GROUP {
            carry_from(&contact, groups_before[before]);
        }
        rows += select(0u, 1u, is_active(contact));
        contacts[slot_of(own, k)] = contact;
    }
    groups[index].rows = rows;
}
