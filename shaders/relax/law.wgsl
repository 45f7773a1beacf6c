// What molecules answer to contacts and springs; see the laws of the processor.

/// The law of a relaxation. Parameters of the other law are zero.
struct LawParams {
    /// Number of molecules.
    molecules: u32,
    /// Which law: PROJECTION_LAW or the thesis's.
    law: u32,
    /// Gap that contacts are parted to, nm.
    gap: f32,
    /// Gap that counts as resolved, nm.
    clearance: f32,
    /// Weight of the direction between centers.
    center_weight: f32,
    /// Projection: over-relaxation.
    relaxation: f32,
    /// Projection: fraction of the last push that goes on.
    momentum: f32,
    /// Projection: longest shift, nm.
    max_shift: f32,
    /// Projection: largest turn, radian.
    max_turn: f32,
    /// Projection: fraction of an excess that a spring takes back.
    spring: f32,
    /// Thesis: scale of the reaction force, nm³.
    force: f32,
    /// Thesis: scale of the reaction torque, 1/nm.
    torque: f32,
    /// Thesis: scale of the spring force.
    spring_force: f32,
    /// Thesis: scale of the spring torque.
    spring_torque: f32,
    /// Zero, which the compiler cannot know.
    zero: u32,
}

@group(0) @binding(1) var<uniform> law: LawParams;
