//! Collisions in time: spheres and molecules that move, and meet.
//!
//! | room | what it does | paper |
//! |---|---|---|
//! | [`time_of_impact`] | when two moving, growing spheres touch, or a sphere and a wall | Johnson and Whalley, section 3.3; Kim, Guibas and Shin, equations 7, 9 and 10 |
//! | [`unknown_trajectories`] | spheres whose ways nobody knows, but for a bound on their acceleration: event after event, no collision missed | Kim, Guibas and Shin |
//! | [`brownian`] | particles and molecules that diffuse, collide, and may stick together | Johnson and Whalley, section 4.1 |
//! | [`molecule_collisions`] | molecules that an engine moves step by step: when their atoms meet | ours, on top of [`unknown_trajectories`] |
//!
//! The papers: H. K. Kim, L. J. Guibas and S. Y. Shin, *Efficient Collision Detection among
//! Moving Spheres with Unknown Trajectories*; C. G. Johnson and J. L. Whalley, *Detecting
//! collisions in sets of moving particles: a survey and some experiments* (Kent, 2002). Where
//! we differ, the rooms say so.
//!
//! # Contract
//!
//! - *In*: places (nm, world frame), velocities (nm/s), radii (nm) and times (s), in 64
//!   bits; of molecules, poses in 32 bits, which are kept in 64 where little adds up.
//! - *Out*: who meets whom, and when, in the order of time, then of indices. Whoever moves
//!   them decides what happens then.
//! - *Exactness*: no meeting is missed, however fast things are; spheres are said to touch
//!   when they overlap by less than a tolerance. Molecules are compared by their atoms at
//!   the ends of steps, which must be short against the molecules.
//! - *Determinism*: the same input and seed give the same bits on any number of threads.
//! - *Bad input*: [`MotionError`] or [`MotionError`] say which number of whom is wrong.
//!   A promise that is broken, such as an acceleration beyond its bound, is an error too.
//!
//! # Words
//!
//! Spheres, particles and molecules *meet* where they touch and did not before: a
//! [`Contact`](unknown_trajectories::Contact) of spheres whose ways are unknown, a
//! [`ParticleCollision`](brownian::ParticleCollision) of particles, a
//! [`PairCollision`](molecule_collisions::PairCollision) of molecules. That they approach each other
//! and have to be answered is a *collision*; what the answer is, an
//! [`CollisionOutcome`].

pub mod brownian;
mod collision_outcome;
mod error;
pub mod molecule_collisions;
mod overlap_shape;
pub mod time_of_impact;
pub mod unknown_trajectories;

pub use collision_outcome::CollisionOutcome;
pub use error::{CollisionPartner, MotionError};
pub use overlap_shape::OverlapShape;

/// How deep spheres may overlap before they are said to touch, nm, unless told otherwise: far
/// less than is seen, far more than 64 bits round off.
pub const OVERLAP_TOLERANCE_NM: f64 = 1.0e-6;
