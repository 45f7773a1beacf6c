//! Continuous collision detection: when do moving spheres and molecules touch?
//!
//! Choose a module by what is known about the trajectories:
//!
//! | known | module | result |
//! |---|---|---|
//! | straight lines; radii may grow | [`time_of_impact`] | first contact of two spheres, or of a sphere and a wall |
//! | current position and velocity, and a bound on the acceleration | [`unknown_trajectories`] | all contacts of spheres, in order of time |
//! | poses before and after each step of a physics engine, and a bound on the acceleration | [`molecule_collisions`] | pairs of molecules whose atoms come into contact, with the time |
//! | diffusion coefficients | [`brownian`] | spheres or molecules that diffuse and bounce, stick, react or pass |
//!
//! None of them needs Bevy or Rapier. The detectors find collisions, and the caller resolves them.
//! [`brownian`] also moves the bodies; the caller picks a [`CollisionOutcome`] for each collision.
//!
//! # Units
//!
//! Positions are in nm in the world frame, times in s, velocities in nm/s, accelerations in
//! nm/s², all in `f64`. Molecules have `f32` poses; [`brownian`] accumulates them in `f64`.
//!
//! # Guarantees
//!
//! - *Spheres never tunnel*, at any speed. A contact is reported before the spheres overlap
//!   by more than a tolerance ([`OVERLAP_TOLERANCE_NM`] by default).
//! - *Molecules never jump through each other*, at any speed. Atoms are tested along the whole
//!   step, not only at its end ([`first_impact`](crate::search::first_impact)): no overlap deeper
//!   than [`IMPACT_TOLERANCE_NM`](crate::search::IMPACT_TOLERANCE_NM) is missed. In
//!   [`molecule_collisions`], a molecule may rotate by at most half a turn per step.
//! - *Determinism*: results are ordered by time, then by index, and bitwise identical on any
//!   number of threads for the same input and seed.
//!
//! # Errors
//!
//! All modules return [`MotionError`], which names the sphere or molecule and the invalid
//! value. Trajectories are checked too: a sphere that accelerates beyond its bound is a
//! [`MotionError::BoundViolated`].
//!
//! # References
//!
//! - C. G. Johnson and J. L. Whalley, *Detecting collisions in sets of moving particles: a
//!   survey and some experiments*, University of Kent, 2002: section 3.3 in
//!   [`time_of_impact`], section 4.1 in [`brownian`].
//! - H. K. Kim, L. J. Guibas and S. Y. Shin, *Efficient Collision Detection among Moving
//!   Spheres with Unknown Trajectories*, Algorithmica 43, 2005: [`unknown_trajectories`];
//!   equations 7, 9 and 10 in [`time_of_impact`].
//! - P. M. Hubbard, *Collision Detection for Interactive Graphics Applications*, IEEE TVCG 1,
//!   1995: [`HubbardDetector`](unknown_trajectories::HubbardDetector).

pub mod brownian;
mod collision;
mod error;
pub mod molecule_collisions;
mod overlap_shape;
mod reaction;
mod reaction_products;
pub mod time_of_impact;
pub mod unknown_trajectories;

pub use collision::{CollisionOutcome, CollisionPartner};
pub use error::MotionError;
pub use overlap_shape::OverlapShape;
pub use reaction::{FoundReaction, MAX_PRODUCTS, Reaction, ReactionError, Reactions};
pub use reaction_products::{MoleculeMotion, place_products};

/// Default overlap at which spheres count as touching, nm: below anything visible, above
/// the rounding of `f64`.
pub const OVERLAP_TOLERANCE_NM: f64 = 1.0e-6;
