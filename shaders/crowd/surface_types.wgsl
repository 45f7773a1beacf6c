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
    /// Groups that it belongs to, one bit each.
    memberships: u32,
    /// Groups that it collides with, one bit each.
    filter_mask: u32,
}

/// Two owners that touch or are within the prediction distance.
struct CrowdTouch {
    a: u32,
    b: u32,
    /// Number of pairs of spheres that overlap; `FILTERED` if the two may not touch.
    overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    penetration: f32,
}

/// The collision filter keeps the two apart.
const FILTERED: u32 = 0xffffffffu;
