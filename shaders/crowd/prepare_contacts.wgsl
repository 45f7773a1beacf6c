// Makes contacts of the kept pairs of spheres: one thread per group.

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read_write> groups: array<CrowdGroup>;
/// The pairs kept by the search, `MAX_CONTACTS_PER_PAIR` places per group.
@group(0) @binding(3) var<storage, read> kept: array<KeptPair>;
@group(0) @binding(5) var<storage, read> surfaces: array<CrowdSurface>;
@group(0) @binding(6) var<storage, read_write> contacts: array<CrowdContact>;
@group(0) @binding(8) var<storage, read> previous_contacts: array<CrowdContact>;

/// Combines the coefficients of two owners: see `CombineRule`.
fn combine(rule: u32, one: f32, other: f32) -> f32 {
    switch rule {
        case 1u: {
            return min(one, other);
        }
        case 2u: {
            return one * other;
        }
        case 3u: {
            return max(one, other);
        }
        default: {
            return 0.5 * (one + other);
        }
    }
}

/// The material between two owners: see `ContactMaterial::combine`.
fn combined(one: CrowdSurface, other: CrowdSurface) -> CrowdSurface {
    var surface: CrowdSurface;
    let restitution_rule = max(one.restitution_rule, other.restitution_rule);
    surface.restitution = combine(restitution_rule, one.restitution, other.restitution);
    let friction_rule = max(one.friction_rule, other.friction_rule);
    surface.friction = combine(friction_rule, one.friction, other.friction);
    surface.frequency_hz = min(one.frequency_hz, other.frequency_hz);
    surface.damping_ratio = 0.5 * (one.damping_ratio + other.damping_ratio);
    return surface;
}

/// The contact spring over one substep, integrated implicitly: see `Softness`.
fn set_softness(contact: ptr<function, CrowdContact>, surface: CrowdSurface) {
    let omega = 2.0 * PI * min(surface.frequency_hz, 0.25 / params.dt);
    let a1 = 2.0 * surface.damping_ratio + params.dt * omega;
    let a2 = params.dt * omega * a1;
    let a3 = 1.0 / (1.0 + a2);
    (*contact).bias_rate = omega / a1;
    (*contact).mass_scale = a2 * a3;
    (*contact).impulse_scale = a3;
}

/// Unit vector from `a` to `b`: between the spheres, blended with the direction between the
/// molecules for deep overlaps.
fn normal_of(difference: vec3<f32>, depth: f32, deep: f32, group: CrowdGroup) -> vec3<f32> {
    let distinct = has_direction(difference);
    var direction = vec3(0.0);
    if distinct {
        direction = direction_of(difference);
    }
    if distinct && depth <= 0.0 {
        return direction;
    }
    let centers = bodies[group.b].center - bodies[group.a].center;
    var between: vec3<f32>;
    if has_direction(centers) {
        between = direction_of(centers);
    } else {
        between = arbitrary_direction(vec2(group.b, group.a));
    }
    let weight = clamp(depth / max(deep, MIN_RADIUS_NM), 0.0, 1.0);
    let blended = direction + between * weight;
    if has_direction(blended) {
        return direction_of(blended);
    }
    return between;
}

fn contact_between(pair: KeptPair, group: CrowdGroup, surface: CrowdSurface) -> CrowdContact {
    var contact: CrowdContact;
    contact.spheres = pair.spheres;
    let first = pair.first;
    let second = pair.second;
    let difference = second.xyz - first.xyz;
    let distance = sqrt(dot(difference, difference));
    contact.gap = distance - first.w - second.w;
    let deep = DEEP_SHARE * min(first.w, second.w);
    contact.normal = normal_of(difference, -contact.gap - deep, deep, group);
    let point = first.xyz + contact.normal * (first.w + 0.5 * contact.gap);
    contact.lever_a = point - bodies[group.a].center;
    contact.lever_b = point - bodies[group.b].center;
    contact.friction = surface.friction;
    set_softness(&contact, surface);
    set_up(&contact, bodies[group.a], bodies[group.b], surface.restitution);
    return contact;
}

/// Finds the contact in its previous group, and starts from its impulses.
fn warm_start_from(contact: ptr<function, CrowdContact>, previous: CrowdGroup) {
    let pair = (*contact).spheres;
    for (var k = 0u; k < previous.contacts; k++) {
        let slot = slot_of(previous, k);
        if all(previous_contacts[slot].spheres == pair) {
            let impulse = previous_contacts[slot].normal_impulse;
            if impulse > 0.0 {
                warm_start(contact, impulse, previous_contacts[slot].friction_impulse);
            }
            return;
        }
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn prepare_contacts(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.member_groups {
        return;
    }
    let group = groups[index];
    if group.pushes == 0u {
        groups[index].contacts = 0u;
        return;
    }
    let surface = combined(surfaces[group.a], surfaces[group.b]);
    let previous = previous_group(group.a, group.b);
    var active_contacts = 0u;
    for (var k = 0u; k < group.contacts; k++) {
        var contact = contact_between(kept[group.start * MAX_CONTACTS_PER_PAIR + k], group, surface);
        if previous != NO_GROUP {
            warm_start_from(&contact, previous_groups[previous]);
        }
        active_contacts += select(0u, 1u, is_active(contact));
        contacts[slot_of(group, k)] = contact;
    }
    groups[index].active_contacts = active_contacts;
}
