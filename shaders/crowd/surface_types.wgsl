// Surfaces of molecules, and reports of touching pairs.

/// Surface of an owner.
struct CrowdSurface {
    /// Coefficient of restitution.
    restitution: f32,
    /// Coefficient of friction.
    friction: f32,
    /// Frequency of the contact spring, Hz.
    frequency_hz: f32,
    /// Damping ratio of the contact spring.
    damping_ratio: f32,
    /// Rule that combines two coefficients of restitution.
    restitution_rule: u32,
    /// Rule that combines two coefficients of friction.
    friction_rule: u32,
    /// Groups that it belongs to, one bit each.
    memberships: u32,
    /// Groups that it touches, one bit each.
    filter_mask: u32,
    /// Groups of the solver that it belongs to, one bit each.
    solver_memberships: u32,
    /// Groups of the solver that it pushes, one bit each.
    solver_filter_mask: u32,
    /// 1 if its touches are only reported.
    sensor: u32,
    /// The type of its body, one bit.
    body_type: u32,
    /// Types of bodies that it meets, one bit each.
    meets: u32,
    padding: u32,
}

/// Two owners that touch or are within the prediction distance.
struct CrowdTouch {
    a: u32,
    b: u32,
    /// Number of pairs of spheres that overlap, plus `REPORT_ONLY` if the two do not push each
    /// other; `IGNORED` if nothing happens.
    overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    penetration: f32,
}

/// The touch is ignored.
const IGNORED: u32 = 0xffffffffu;
/// The touch is reported, but the two do not push each other.
const REPORT_ONLY: u32 = 0x80000000u;
