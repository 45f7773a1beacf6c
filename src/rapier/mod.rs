//! Molecules inside a Rapier world: shape, queries, contact manifolds.
//!
//! Rapier knows two sockets for foreign shapes, and this room fills both:
//! - [`MoleculeShape`] is a custom parry shape, and also a composite one: atoms as
//!   balls over a tree. Wherever Rapier hard-codes parry's own dispatcher (scene
//!   queries, picking, the character controller) it works through that.
//! - [`MoleculeDispatcher`] answers for the narrow phase, where parry's own answer
//!   would be one manifold for each pair of atoms. It finds the atom contacts near
//!   the other shape only, bundles them by direction and hands Rapier's solver a few
//!   well-spread points for each direction.
//!
//! ```
//! use std::sync::Arc;
//! use bevy_rapier_molecules::prelude::*;
//! use bevy_rapier_molecules::rapier::{CrowdSwitch, MoleculeDispatcher, MoleculeShape};
//! use rapier3d::prelude::*;
//! use rapier3d::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
//! // One shape for all molecules of a kind; clones share it.
//! let shape = SharedShape::new(MoleculeShape::new(template));
//! let dispatcher = MoleculeDispatcher::new(CrowdSwitch::default());
//! let narrow_phase = NarrowPhase::with_query_dispatcher(dispatcher.chain(DefaultQueryDispatcher));
//! let collider = ColliderBuilder::new(shape).density(0.0).build();
//! # let _ = (narrow_phase, collider);
//! # Ok(())
//! # }
//! ```
//!
//! # How an atom meets another shape
//!
//! An atom is a ball, so all that is asked of the other shape is the point of it
//! that is nearest to the atom's centre, which every parry shape can tell. The same
//! question, asked at the middle of a node of the molecule's tree, says that no atom
//! of the node is near. So one walk (in `near.rs`) serves all shapes of parry, those of
//! other crates, and half-spaces, whose bounding box has no end.
//!
//! # Frames and units
//!
//! Lengths are nm. `pos12` is the pose of the second shape in the frame of the
//! first, as everywhere in parry; inside this room the molecule is the first.

mod bvh;
mod cast;
mod dispatcher;
mod manifolds;
mod near;
mod parts;
mod shape;
mod shape_queries;
mod sweep;
mod switch;

pub use bvh::RapierBvh;
pub use dispatcher::MoleculeDispatcher;
pub use shape::{AtomHit, MoleculeShape};
pub use switch::CrowdSwitch;
