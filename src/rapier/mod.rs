//! Molecules in a Rapier world: shape, queries and contact manifolds.
//!
//! Rapier accepts foreign shapes in two places, and this module fills both:
//! - [`MoleculeShape`] is a custom parry shape and also a composite one: atoms as balls
//!   over a BVH. It serves wherever Rapier uses parry's own dispatcher: scene queries,
//!   picking, the character controller.
//! - [`MoleculeDispatcher`] serves the narrow phase, where parry would build one manifold
//!   for each pair of atoms. It finds the atom contacts near the other shape, groups them
//!   by direction and passes a few well-spread points per direction to Rapier's solver.
//!
//! No Bevy is needed. A lipid falls onto a floor in a plain Rapier world:
//!
//! ```
//! use std::sync::Arc;
//! use bevy_rapier_molecules::prelude::*;
//! use bevy_rapier_molecules::rapier::{MoleculeDispatcher, MoleculePairFilter, MoleculeShape};
//! use glam::Vec3;
//! use rapier3d::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
//! use rapier3d::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
//! // One shape per template; clones share it.
//! let shape = MoleculeShape::new(Arc::clone(&template));
//! let dispatcher = MoleculeDispatcher::new(MoleculePairFilter::default());
//! let mut narrow_phase =
//!     NarrowPhase::with_query_dispatcher(dispatcher.chain(DefaultQueryDispatcher));
//!
//! let (mut bodies, mut colliders) = (RigidBodySet::new(), ColliderSet::new());
//! colliders.insert(ColliderBuilder::cuboid(20.0, 1.0, 20.0).translation(Vec3::NEG_Y));
//! let body = bodies.insert(RigidBodyBuilder::dynamic().translation(4.0 * Vec3::Y));
//! // With density 1 the collider has the mass of the template.
//! let collider = ColliderBuilder::new(SharedShape::new(shape)).density(1.0);
//! colliders.insert_with_parent(collider, body, &mut bodies);
//!
//! let mut pipeline = PhysicsPipeline::new();
//! let (mut islands, mut broad_phase) = (IslandManager::new(), BroadPhaseBvh::new());
//! let (mut joints, mut multibodies) = (ImpulseJointSet::new(), MultibodyJointSet::new());
//! let (parameters, mut ccd) = (IntegrationParameters::default(), CCDSolver::new());
//! for _ in 0..180 {
//!     pipeline.step(
//!         Vec3::NEG_Y * 9.81,
//!         &parameters,
//!         &mut islands,
//!         &mut broad_phase,
//!         &mut narrow_phase,
//!         &mut bodies,
//!         &mut colliders,
//!         &mut joints,
//!         &mut multibodies,
//!         &mut ccd,
//!         &(),
//!         &(),
//!     );
//! }
//! let height = bodies[body].translation().y;
//! assert!(height > 0.1 && height < template.bounding_radius(), "{height} nm");
//! # Ok(())
//! # }
//! ```
//!
//! The crate's plugin does all of that for a Bevy app.
//!
//! # Atoms against other shapes
//!
//! An atom is a ball, so a contact needs only the point of the other shape that is nearest to the
//! atom's center, which every parry shape can compute. The same query at the center of a BVH node
//! shows that no atom of the node is near. One traversal (`distance.rs`) therefore serves all
//! shapes of parry, custom shapes, and half-spaces, whose bounding box is infinite.
//!
//! # Contract
//!
//! - *Units and frames*: lengths are nm, masses Da. Shapes are in the body frame, centered
//!   on the center of mass. As in parry, `pos12` is the pose of the second shape in the
//!   frame of the first; inside this module the molecule is the first.
//! - *Determinism*: results depend on shapes and poses only, on any thread.
//! - *Invalid input*: non-finite poses give no contacts; a molecule without atoms touches
//!   nothing; a scale other than one is rejected.
//!
//! [`RapierBvh`] wraps Rapier's own broad phase as one of the crate's searches, for comparison.

mod bvh;
mod convex_parts;
mod dispatcher;
mod distance;
mod manifolds;
mod molecule_shape;
mod nonlinear_cast;
mod ray_entry;
mod shape_cast;

pub use bvh::RapierBvh;
pub use dispatcher::{MoleculeDispatcher, MoleculePairFilter};
pub use molecule_shape::{AtomHit, MoleculeShape};
#[cfg(feature = "draw")]
pub(crate) use ray_entry::ball_entry;
