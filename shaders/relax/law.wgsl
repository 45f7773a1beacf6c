// Parameters of the law. CPU reference: `force`.

/// The law of a relaxation. Parameters of the other law are zero.
struct LawParams {
    /// Number of molecules.
    molecules: u32,
    /// Which law: PROJECTION_LAW, or 0 for that of the thesis.
    law: u32,
    /// Gap to which contacts are pushed apart, nm.
    gap: f32,
    /// Gap from which a pair is resolved, nm.
    clearance: f32,
    /// Weight of the direction between centers.
    center_weight: f32,
    /// Projection: over-relaxation.
    relaxation: f32,
    /// Projection: fraction of the last push added to the next (heavy-ball momentum).
    momentum: f32,
    /// Projection: maximum shift, nm.
    max_shift: f32,
    /// Projection: maximum rotation, radian.
    max_turn: f32,
    /// Projection: fraction of an excess that a spring corrects.
    spring: f32,
    /// Thesis: scale of the reaction force, nm³.
    force: f32,
    /// Thesis: scale of the reaction torque, 1/nm.
    torque: f32,
    /// Thesis: scale of the spring force.
    spring_force: f32,
    /// Thesis: scale of the spring torque.
    spring_torque: f32,
    /// Always 0, opaque to the compiler.
    zero: u32,
}

@group(0) @binding(1) var<uniform> law: LawParams;
