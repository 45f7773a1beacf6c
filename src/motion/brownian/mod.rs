//! Brownian motion of hard particles.
//!
//! In each step every particle is displaced and turned at random (Berg, *Random Walks in
//! Biology*: the mean squared displacement is 6 D t, a direction decays as exp(−2 Dᵣ t)).
//! On their straight ways particles meet. Johnson and Whalley's fine-grained timesteps
//! (*Detecting collisions in sets of moving particles*, section 4.1) miss none of it: go
//! on to the earliest collision, respond, look again, until the end of the step.
//! Both refinements that they propose are here:
//!
//! - [`EventSearch::Queue`], the miniature queue: collisions wait in the order of time, and
//!   only those whose ways a collision has changed are looked at again;
//! - [`EventSearch::Rescan`], the upper bound: everyone is looked at after each
//!   collision, but a pair that cannot reach each other before the earliest one known so
//!   far is passed over after a glance at its distance.
//!
//! Both find the same collisions. What a collision does is up to the caller, who sees each
//! [`ParticleCollision`] and answers with an [`CollisionOutcome`](super::CollisionOutcome): bounce, stick together, or pass through.
//! Collisions are elastic for masses 1 / D: then thermal motion stays thermal. Particles that
//! stick form a cluster, which diffuses as one particle of their volume (for D goes with
//! 1 / r: 1 / D³ is the sum of those of its members) and does not turn.
//!
//! [`BrownianMolecules`] does the same for molecules with atoms, step by step.
//!
//! # Contract
//!
//! Lengths are nm in the world frame, times s, diffusion coefficients nm²/s and rad²/s.
//! Random numbers depend on the seed, the step and the particle only, so that a run has the
//! same bits on any number of threads. Coefficients, radii and steps that are not what they
//! have to be are errors before anything moves.

mod diffusion;
mod fine_steps;
mod molecules;
mod neighbors;
mod noise;
mod particles;

pub use diffusion::{
    BOLTZMANN, BrownianParticle, Medium, PROTEIN_NM3_PER_DA, ROOM_TEMPERATURE_K, WATER_VISCOSITY,
    hydrodynamic_radius, protein_volume,
};
pub use molecules::{BrownianMolecule, BrownianMolecules, MoleculeStepReport, MoveRules};
pub use particles::{BrownianConfig, BrownianParticles};

use glam::DVec3;

use super::CollisionPartner;

/// How the collisions of a step are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventSearch {
    /// A queue of collisions, of which only those that a collision may have changed are
    /// looked for again. Default.
    #[default]
    Queue,
    /// Everyone is looked at again after each collision, with an upper bound.
    Rescan,
}

/// Two particles, or a particle and a wall, that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleCollision {
    /// When, s, from the start of the step.
    pub time: f64,
    /// The particle; the smaller index of two.
    pub particle: u32,
    /// What it touches.
    pub other: CollisionPartner,
    /// Unit vector from the particle to what it touches, world frame.
    pub normal: DVec3,
}

/// What happened in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParticleStepReport {
    /// Collisions of particles.
    pub collisions: u64,
    /// Collisions with walls.
    pub wall_collisions: u64,
    /// Pairs whose time of contact was computed.
    pub checks: u64,
    /// Pairs that the upper bound spared.
    pub spared: u64,
    /// Times that a particle needed more neighbors.
    pub widened: u64,
}
