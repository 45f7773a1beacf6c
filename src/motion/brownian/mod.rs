//! Brownian motion of hard spheres and molecules.
//!
//! Each step displaces and rotates every particle at random (H. C. Berg, *Random Walks in Biology*:
//! the mean squared displacement is 6 D t, and an orientation decays as exp(−2 Dᵣ t)).
//!
//! - [`BrownianParticles`]: hard spheres that collide on their straight paths within a step.
//!   The fine-grained timesteps of Johnson and Whalley (section 4.1) miss no collision:
//!   advance to the earliest collision, respond, and search again, until the end of the step.
//!   Both refinements of the paper are available, see [`EventSearch`].
//!   Kinds that meet can react (A + B → C), see [`BrownianConfig::reactions`].
//! - [`BrownianMolecules`]: molecules with atoms. In [coarse](BrownianSteps::Coarse) steps, moves
//!   that end in an overlap are rejected. [Fine](BrownianSteps::Fine) steps are the fine-grained
//!   timesteps of the paper for atoms: from collision to collision. Coarse steps are faster, and
//!   fine ones depend less on the length of the step.
//!
//! The caller chooses a [`CollisionOutcome`](super::CollisionOutcome) for each collision. Bouncing
//! particles collide elastically with masses 1 / D, and molecules in fine steps with moments of
//! inertia 1 / Dᵣ, which preserves the thermal distribution. Bodies that stick form a cluster that
//! diffuses as one sphere of their total volume: D is proportional to 1 / r and Dᵣ to 1 / r³, so
//! 1 / D³ and, for molecules, 1 / Dᵣ are the sums over the members.
//!
//! Lengths are in nm in the world frame, times in s, diffusion coefficients in nm²/s and rad²/s.
//! Random numbers depend only on the seed, the step and the particle, so results are bitwise
//! identical on any number of threads. Invalid input is an error before anything moves.

mod diffusion;
mod fine_steps;
mod molecules;
mod neighbors;
mod noise;
mod particles;

#[cfg(feature = "plugin")]
pub(crate) use noise::random_number;

pub use diffusion::{BrownianParticle, Medium, hydrodynamic_radius, protein_volume};
pub use molecules::{
    BrownianMolecule, BrownianMolecules, BrownianState, BrownianSteps, MoleculeStepReport,
    MoveRules,
};
pub use particles::{
    BrownianConfig, BrownianParticles, EventSearch, ParticleCollision, ParticleReaction,
    ParticleStepReport,
};
