// A contact between two bodies, and the contacts of two bodies together.

/// A contact as the solver keeps it from substep to substep.
struct CrowdContact {
    /// Unit vector from `a` to `b`.
    normal: vec3<f32>,
    /// Impulse along the normal so far, Da·nm/s; never negative.
    normal_impulse: f32,
    /// From the center of mass of `a` to the contact point, nm.
    lever_a: vec3<f32>,
    /// Effective mass along the normal with split masses, Da; zero if the contact does not
    /// take part.
    normal_mass: f32,
    /// From the center of mass of `b` to the contact point, nm.
    lever_b: vec3<f32>,
    /// Effective mass across the normal, Da.
    friction_mass: f32,
    /// Impulse of friction so far, across the normal, Da·nm/s.
    friction_impulse: vec3<f32>,
    /// Coefficient of friction.
    friction: f32,
    /// Mobility of `a` along and across the normal, then of `b`, before splitting.
    mobility: vec4<f32>,
    /// The spheres; the first belongs to `a`. Of a support, the two halves of its key.
    spheres: vec2<u32>,
    /// Distance of the surfaces, nm; negative where they overlap.
    gap: f32,
    /// Speed at which the bodies should part after a bounce, nm/s.
    restitution_speed: f32,
    /// The spring: share of the separation that is taken back each second, 1/s.
    bias_rate: f32,
    /// The spring: factor on the effective mass.
    mass_scale: f32,
    /// The spring: share of the impulse so far that is given back.
    impulse_scale: f32,
    /// Not used.
    spare: f32,
}

/// The contacts of two bodies. Those of many pairs lie side by side, so that threads that
/// work on neighboring groups read neighboring memory.
struct CrowdGroup {
    a: u32,
    b: u32,
    /// Its first contact.
    start: u32,
    /// How far its next contact is.
    stride: u32,
    /// Number of its contacts.
    contacts: u32,
    /// How many of them take part.
    rows: u32,
    /// Whether they may touch.
    may_touch: u32,
    /// Deepest overlap, nm; negative is a gap.
    deepest: f32,
}

/// Where contact `k` of a group is.
fn slot_of(group: CrowdGroup, k: u32) -> u32 {
    return group.start + k * group.stride;
}

fn is_active(contact: CrowdContact) -> bool {
    return contact.normal_mass > 0.0;
}
