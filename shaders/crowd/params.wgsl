// Parameters of a substep.

/// Counts, and the parameters of the solver.
struct CrowdParams {
    /// Number of groups between owners. This and the next two are set on the device.
    member_groups: u32,
    /// Number of groups, including those with external bodies.
    groups: u32,
    /// Number of groups between owners in the previous substep.
    previous_member_groups: u32,
    unused: u32,
    /// Number of bodies: one per owner, then the external bodies.
    bodies: u32,
    /// Number of owners.
    owners: u32,
    /// Number of pairs of owners that never touch.
    ignored_pairs: u32,
    /// 1 if overlaps are pushed out.
    push_out: u32,
    /// Length of the substep, s.
    dt: f32,
    /// Overlap that is not pushed out, nm.
    slop: f32,
    /// Maximum speed at which overlaps are pushed out, nm/s.
    max_push_speed: f32,
    /// Approach speed below which restitution is ignored, nm/s.
    restitution_threshold: f32,
}

@group(0) @binding(0) var<uniform> params: CrowdParams;
