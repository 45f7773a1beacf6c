// Contacts that the physics engine answers become contacts of the solver: one thread for
// each group.

/// A contact with something outside the crowd.
struct CrowdExternal {
    /// Unit vector from `a` to `b`.
    normal: vec3<f32>,
    /// Distance of the surfaces, nm, not negative: the physics engine pushes overlaps apart
    /// itself.
    gap: f32,
    /// Where they touch, nm.
    point: vec3<f32>,
    /// Coefficient of friction.
    friction: f32,
    /// Fraction of the approach speed that is given back.
    restitution: f32,
    /// The same contact in the substep before, or `NO_SUPPORT`.
    before: u32,
    /// What tells it from others.
    key: vec2<u32>,
}

/// A support that was not there before.
const NO_SUPPORT: u32 = 0xffffffffu;

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read_write> groups: array<CrowdGroup>;
@group(0) @binding(3) var<storage, read> supports: array<CrowdExternal>;
@group(0) @binding(6) var<storage, read_write> contacts: array<CrowdContact>;
@group(0) @binding(8) var<storage, read> contacts_before: array<CrowdContact>;

@compute @workgroup_size(GROUP_THREADS)
fn prepare_supports(here: Invocation) {
    let index = params.touching + thread_number(here.group, here.groups, here.thread);
    if index >= params.groups {
        return;
    }
    let own = groups[index];
    var rows = 0u;
    for (var k = 0u; k < own.contacts; k++) {
        let slot = slot_of(own, k);
        let support = supports[slot - params.touching * MAX_CONTACTS_PER_PAIR];
        var contact: CrowdContact;
        contact.spheres = support.key;
        contact.normal = support.normal;
        contact.lever_a = support.point - bodies[own.a].center;
        contact.lever_b = support.point - bodies[own.b].center;
        contact.gap = support.gap;
        contact.friction = support.friction;
        contact.mass_scale = 1.0;
        look_at(&contact, bodies[own.a], bodies[own.b], support.restitution);
        if support.before != NO_SUPPORT {
            let impulse = contacts_before[support.before].normal_impulse;
            carry_on(&contact, impulse, contacts_before[support.before].friction_impulse);
        }
        rows += select(0u, 1u, is_active(contact));
        contacts[slot] = contact;
    }
    groups[index].rows = rows;
}
