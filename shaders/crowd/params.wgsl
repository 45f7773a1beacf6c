// What is solved in a substep, and how.

/// How many there are of everything, and the numbers of the substep.
struct CrowdParams {
    /// Number of bodies: members, then obstacles.
    bodies: u32,
    /// Number of groups between members.
    touching: u32,
    /// Number of groups, those with obstacles included.
    groups: u32,
    /// Whether overlaps are pushed apart.
    parting: u32,
    /// Length of the substep, s.
    dt: f32,
    /// Overlap that is left alone, nm.
    slop: f32,
    /// Fastest that overlaps are pushed apart, nm/s.
    max_push_speed: f32,
    /// Approach below which nothing bounces, nm/s.
    restitution_threshold: f32,
    /// Number of groups between members in the substep before.
    touching_before: u32,
    /// Number of pairs of members that do not touch, whatever their groups.
    exempt: u32,
    /// Number of members.
    members: u32,
    /// Not used.
    spare: u32,
}

@group(0) @binding(0) var<uniform> params: CrowdParams;
