// Makes contacts of the external contacts: one thread per group.

/// A contact with an external body.
struct CrowdExternal {
    /// Unit vector from `a` to `b`.
    normal: vec3<f32>,
    /// Distance between the surfaces, nm; not negative, because the physics engine pushes
    /// overlaps out itself.
    gap: f32,
    /// Contact point, nm.
    point: vec3<f32>,
    /// Coefficient of friction.
    friction: f32,
    /// Coefficient of restitution.
    restitution: f32,
    /// Index of the same contact among the external ones of the previous substep, or `NO_CONTACT`.
    previous: u32,
    /// Identifies the contact from substep to substep.
    key: vec2<u32>,
}

/// The contact is new.
const NO_CONTACT: u32 = 0xffffffffu;

@group(0) @binding(1) var<storage, read> bodies: array<CrowdBody>;
@group(0) @binding(2) var<storage, read_write> groups: array<CrowdGroup>;
@group(0) @binding(3) var<storage, read> externals: array<CrowdExternal>;
/// The groups of external contacts; `start` is an index of `externals`.
@group(0) @binding(4) var<storage, read> external_groups: array<CrowdGroup>;
@group(0) @binding(6) var<storage, read_write> contacts: array<CrowdContact>;
@group(0) @binding(8) var<storage, read> previous_contacts: array<CrowdContact>;

@compute @workgroup_size(GROUP_THREADS)
fn prepare_externals(here: Invocation) {
    let number = thread_number(here.group, here.groups, here.thread);
    let index = params.member_groups + number;
    if index >= params.groups {
        return;
    }
    var group = external_groups[number];
    group.start += params.member_groups * MAX_CONTACTS_PER_PAIR;
    var active_contacts = 0u;
    for (var k = 0u; k < group.contacts; k++) {
        let slot = slot_of(group, k);
        let source = externals[slot - params.member_groups * MAX_CONTACTS_PER_PAIR];
        var contact: CrowdContact;
        contact.spheres = source.key;
        contact.normal = source.normal;
        contact.lever_a = source.point - bodies[group.a].center;
        contact.lever_b = source.point - bodies[group.b].center;
        contact.gap = source.gap;
        contact.friction = source.friction;
        contact.mass_scale = 1.0;
        set_up(&contact, bodies[group.a], bodies[group.b], source.restitution);
        if source.previous != NO_CONTACT {
            let previous = params.previous_member_groups * MAX_CONTACTS_PER_PAIR + source.previous;
            let impulse = previous_contacts[previous].normal_impulse;
            warm_start(&contact, impulse, previous_contacts[previous].friction_impulse);
        }
        active_contacts += select(0u, 1u, is_active(contact));
        contacts[slot] = contact;
    }
    group.active_contacts = active_contacts;
    groups[index] = group;
}
