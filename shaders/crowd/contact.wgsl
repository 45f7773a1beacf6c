// Contacts and groups of contacts.

/// A contact as the solver keeps it from substep to substep.
struct CrowdContact {
    /// Unit vector from `a` to `b`.
    normal: vec3<f32>,
    /// Accumulated impulse along the normal, Da·nm/s; never negative.
    normal_impulse: f32,
    /// From the center of mass of `a` to the contact point, nm.
    lever_a: vec3<f32>,
    /// Effective mass along the normal with split masses, Da; zero if inactive.
    normal_mass: f32,
    /// From the center of mass of `b` to the contact point, nm.
    lever_b: vec3<f32>,
    /// Effective mass perpendicular to the normal, Da.
    friction_mass: f32,
    /// Accumulated friction impulse, perpendicular to the normal, Da·nm/s.
    friction_impulse: vec3<f32>,
    /// Coefficient of friction.
    friction: f32,
    /// Mobility of `a` along and perpendicular to the normal, then of `b`, before mass
    /// splitting, 1/Da.
    mobility: vec4<f32>,
    /// The spheres; the first belongs to `a`. The two halves of its key if it is external.
    spheres: vec2<u32>,
    /// Distance between the surfaces, nm; negative where they overlap.
    gap: f32,
    /// Separation speed that restitution demands, nm/s.
    restitution_speed: f32,
    /// Softness: fraction of the separation that is removed per second, 1/s.
    bias_rate: f32,
    /// Softness: factor on the effective mass.
    mass_scale: f32,
    /// Softness: fraction of the accumulated impulse that is taken back.
    impulse_scale: f32,
    /// Positive if `a` dominates, negative if `b` does.
    dominance: i32,
}

/// The contacts between two bodies. The contacts of all groups are interleaved, so that threads
/// of neighboring groups access neighboring memory.
struct CrowdGroup {
    a: u32,
    b: u32,
    /// Slot of the first contact.
    start: u32,
    /// Distance between the slots of its contacts.
    stride: u32,
    /// Number of contacts.
    contacts: u32,
    /// Number of active contacts.
    active_contacts: u32,
    /// 1 if the two push each other.
    pushes: u32,
    /// Deepest overlap, nm; negative is a gap.
    penetration: f32,
}

/// Slot of contact `k` of a group.
fn slot_of(group: CrowdGroup, k: u32) -> u32 {
    return group.start + k * group.stride;
}

fn is_active(contact: CrowdContact) -> bool {
    return contact.normal_mass > 0.0;
}
