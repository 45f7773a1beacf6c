//! Fibers: chains of rigid links such as DNA, along random or given paths.
//!
//! A [`FiberLink`] is a template with an axis: a structure such as a dodecamer of DNA, or a rod of
//! spheres. A [`FiberPath`] is where the ends of the links are. A [`Fiber`] puts links along a path
//! into a [`Crowd`](crate::crowd::Crowd) and connects them with
//! [joints](crate::crowd::CrowdJoint), whose limits a [`Relaxer`](crate::relax::Relaxer) keeps while
//! it resolves overlaps. Lengths are nm, angles radian.
//!
//! ```
//! use std::{ops::ControlFlow, sync::Arc};
//! use bevy_rapier_molecules::fiber::{Fiber, FiberLink, RandomWalk};
//! use bevy_rapier_molecules::prelude::*;
//!
//! // Twelve base pairs; atoms closer than 0.2 nm overlap.
//! let dna = load("assets/molecules/4c64_dna.pdb", &LoadOptions::default())?;
//! let link = FiberLink::from_template(Arc::new(dna.with_uniform_radius(0.1)?))?;
//! let walk = RandomWalk { links: 20, persistence_length: 50.0, ..RandomWalk::along(&link) };
//! let fiber = Fiber::new(link, walk.path(None)?);
//!
//! let mut crowd = Crowd::new();
//! let members = fiber.add_to(&mut crowd)?;
//! assert_eq!((members, crowd.joints().len()), (0..20, 19));
//! let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
//! assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Worm-like chains
//!
//! The direction of a worm-like chain of persistence length P forgets itself along its contour: two
//! tangents at a distance s have ⟨cos θ⟩ = e^(−s/P). The mean squared distance of the ends of a piece
//! of length L is then
//!
//! ⟨R²⟩ = 2 P L (1 − P/L (1 − e^(−L/P))),
//!
//! see [`worm_like_mean_square`]. [`RandomWalk`] draws the bends θ between links of rise b from the
//! density e^(κ cos θ) on the sphere (von Mises–Fisher), cut off at a largest bend, with uniform
//! azimuth. With u = 1 − cos θ and its largest value w, its mean is
//!
//! ⟨u⟩ = 1/κ − w/(e^(κw) − 1),
//!
//! and κ is solved from ⟨u⟩ = 1 − e^(−b/P). Without a cut-off, w = 2 and this is
//! coth κ − 1/κ = e^(−b/P). Since ⟨R²⟩ of a chain with independent bends depends on ⟨cos θ⟩ only, the
//! cut-off does not change it.
//!
//! # Frames
//!
//! The frames of the links are transported along the path by the smallest rotations that take each
//! tangent to the next one (rotation minimizing), and turned about the tangent by the twist of the
//! links before. In a closed fiber, all links share what is left of a full turn.

mod assembly;
mod avoided_links;
mod bends;
mod error;
mod even_steps;
mod interior;
mod link;
mod midpoint;
mod path;
mod random_walk;
mod spline;

pub use assembly::Fiber;
pub use avoided_links::AvoidedLinks;
pub use error::FiberError;
pub use interior::Interior;
pub use link::FiberLink;
pub use midpoint::MidpointPath;
pub use path::{FiberPath, worm_like_mean_square};
pub use random_walk::RandomWalk;
pub use spline::SplinePath;

/// Largest number of links of a fiber.
pub const MAX_LINKS: u32 = 10_000_000;
