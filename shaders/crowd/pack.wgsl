// What contacts carry to the next substep, packed: from that and from the bodies they can
// be made anew, should the device be lost.

/// What a contact carries.
struct CrowdCarried {
    /// The spheres, or the two halves of the key of a support.
    spheres: vec2<u32>,
    /// Impulse along the normal, Da·nm/s.
    normal_impulse: f32,
    /// Speed at which the bodies should part after a bounce, nm/s.
    restitution_speed: f32,
    /// Impulse of friction, Da·nm/s.
    friction_impulse: vec3<f32>,
    /// 1 if it takes part, and 2 more if it is a support.
    state: u32,
}

@group(0) @binding(1) var<storage, read> groups: array<CrowdGroup>;
@group(0) @binding(2) var<storage, read> contacts: array<CrowdContact>;
/// How many contacts of each group carry something; after the prefix sum, of those before.
@group(0) @binding(3) var<storage, read_write> places: array<u32>;
@group(0) @binding(4) var<storage, read_write> carried: array<CrowdCarried>;

/// Number of contacts of a group that are packed: supports are all of them.
fn packed(index: u32) -> u32 {
    return select(groups[index].rows, groups[index].contacts, index >= params.touching);
}

@compute @workgroup_size(GROUP_THREADS)
fn count_carried(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index < params.groups {
        places[index] = packed(index);
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn pack_carried(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.groups || packed(index) == 0u {
        return;
    }
    let own = groups[index];
    let support = index >= params.touching;
    var place = places[index];
    for (var k = 0u; k < own.contacts; k++) {
        let slot = slot_of(own, k);
        let part = is_active(contacts[slot]);
        if part || support {
            carried[place] = CrowdCarried(
                contacts[slot].spheres,
                contacts[slot].normal_impulse,
                contacts[slot].restitution_speed,
                contacts[slot].friction_impulse,
                select(0u, 1u, part) + select(0u, 2u, support),
            );
            place += 1u;
        }
    }
}
