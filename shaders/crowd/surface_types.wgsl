// Which pairs of molecules may touch, and what is told of them.

/// Surface of a member.
struct CrowdSurface {
    restitution: f32,
    friction: f32,
    /// Frequency of the contact spring, Hz.
    frequency_hz: f32,
    /// Damping ratio of the contact spring.
    damping_ratio: f32,
    /// Groups that it is in, one bit each.
    memberships: u32,
    /// Groups that it touches, one bit each.
    filter_mask: u32,
}

/// Two molecules that touch or nearly do.
struct CrowdTouch {
    a: u32,
    b: u32,
    /// Pairs of spheres that overlap; `NO_TOUCH` if the two may not touch.
    contacts: u32,
    /// Deepest overlap, nm; negative is a gap.
    deepest: f32,
}

/// Says that two molecules may not touch.
const NO_TOUCH: u32 = 0xffffffffu;
