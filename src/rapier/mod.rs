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
//! No Bevy is needed. A lipid falls onto a floor, in a plain Rapier world:
//!
//! ```
//! use std::sync::Arc;
//! use bevy_rapier_molecules::prelude::*;
//! use bevy_rapier_molecules::rapier::{MoleculePairFilter, MoleculeDispatcher, MoleculeShape};
//! use glam::Vec3;
//! use rapier3d::parry::query::{DefaultQueryDispatcher, QueryDispatcher, Ray};
//! use rapier3d::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
//! // One shape for all molecules of a kind; clones share it.
//! let shape = MoleculeShape::new(Arc::clone(&template));
//! let dispatcher = MoleculeDispatcher::new(MoleculePairFilter::default());
//! let mut narrow_phase =
//!     NarrowPhase::with_query_dispatcher(dispatcher.chain(DefaultQueryDispatcher));
//!
//! let (mut bodies, mut colliders) = (RigidBodySet::new(), ColliderSet::new());
//! colliders.insert(ColliderBuilder::cuboid(20.0, 1.0, 20.0).translation(Vec3::NEG_Y));
//! let body = bodies.insert(RigidBodyBuilder::dynamic().translation(4.0 * Vec3::Y));
//! // Its mass is the template's: density counts real molecules.
//! let collider = ColliderBuilder::new(SharedShape::new(shape.clone())).density(1.0);
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
//! let lipid = &bodies[body];
//! assert!((lipid.mass() - template.mass()).abs() < 1.0e-3 * template.mass());
//! let height = lipid.translation().y;
//! assert!(height > 0.1 && height < template.bounding_radius(), "{height} nm");
//!
//! // Queries in the body frame tell the atom.
//! let target = template.positions()[5];
//! let ray = Ray::new(target + 10.0 * Vec3::Z, Vec3::NEG_Z);
//! let hit = shape.atom_hit_by_ray(&ray, 20.0, true).ok_or("it meets nothing")?;
//! assert!(hit.time < 10.0 && hit.normal.z > 0.0);
//! # Ok(())
//! # }
//! ```
//!
//! The crate's plugin does all of that for a Bevy app.
//!
//! # How an atom meets another shape
//!
//! An atom is a ball, so all that is asked of the other shape is the point of it
//! that is nearest to the atom's center, which every parry shape can tell. The same
//! question, asked at the middle of a node of the molecule's tree, says that no atom
//! of the node is near. So one walk (in `distance.rs`) serves all shapes of parry, those of
//! other crates, and half-spaces, whose bounding box has no end.
//!
//! # Contract
//!
//! - *Units and frames*: lengths are nm, masses Da. Shapes are in the body frame, about the
//!   center of mass. `pos12` is the pose of the second shape in the frame of the first, as
//!   everywhere in parry; inside this room the molecule is the first.
//! - *In*: a template; the other shape may be any of parry's, another molecule, or a custom
//!   one. *Out*: manifolds, hits and distances, whose features name the atom.
//! - *Determinism*: answers depend on shapes and poses only, and are the same on any thread.
//! - *Bad input*: poses that are not finite give no contacts; a molecule without atoms
//!   touches nothing; a scale other than one is refused.
//!
//! [`RapierBvh`] is Rapier's own broad phase, in the form of our searches: a rival to compare
//! with. Nothing in this room is from a paper.

mod bvh;
mod convex_parts;
mod dispatcher;
mod distance;
mod manifolds;
mod molecule_shape;
mod nonlinear_cast;
mod pair_filter;
mod shape_cast;
mod shape_queries;

pub use bvh::RapierBvh;
pub use dispatcher::MoleculeDispatcher;
pub use molecule_shape::{AtomHit, MoleculeShape};
pub use pair_filter::MoleculePairFilter;
