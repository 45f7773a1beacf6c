//! Molecules as citizens of a Bevy + Rapier world.
//!
//! Add [`MoleculePlugins`] beside Rapier's plugin, and spawn [`Molecule`]s. They fall, turn
//! and collide by their atoms, with each other and with ordinary colliders.
//!
//! # What goes in, what comes out
//!
//! | component | in or out | what it says |
//! |---|---|---|
//! | [`Molecule`] | in | the structure file; brings all that a body needs |
//! | `Transform` | both | pose of the center of mass, world frame, nm; its scale must be 1 |
//! | `Velocity` (Rapier) | both | nm/s and radian/s |
//! | [`MoleculeMaterial`] | in | restitution, friction, stiffness, groups |
//! | [`MoleculeDetail`] | in | which spheres stand for the molecule among others: atoms, residues, proxies, one |
//! | [`StaticMolecule`], [`CrowdOnly`] | in | nothing moves it; it has no Rapier collider |
//! | [`Compartment`], [`InCompartment`] | in | what holds molecules, and who is held where |
//! | [`BrownianMotion`] | in | it diffuses |
//! | [`AccelerationBound`] | in | it is watched, and told when it meets another |
//! | [`CollisionOutcome`] | in | what it does then: bounce, stick or pass |
//! | [`Colliding`] | out | how many molecules it touches: red or green |
//! | [`PreparedMolecule`] | out | its file is loaded: template, shape, proxies |
//! | [`CompartmentSurface`] | out | the surface of a compartment where it is now |
//! | [`MoleculeWorld`] | out | on each Rapier context: its contacts, clock and times |
//!
//! Resources: [`ContactModel`], [`MoleculeBackend`], [`BrownianMotionConfig`],
//! [`CollisionRule`]. Messages, in the same order from run to run:
//! [`MoleculeContactStarted`], [`MoleculeContactStopped`] and [`MoleculeCollision`], which are
//! entity events as well; [`MoleculeLoadFailed`], [`MoleculeStateError`] and
//! [`MoleculeBackendFailed`] where something is wrong. To ask: [`TouchingMolecules`] tells
//! who touches whom, [`MoleculeQueries`] which atom a ray or a moving shape meets and which
//! is near a point.
//!
//! One unit of length is a nanometer, masses are dalton, times seconds, angles radian:
//! Rapier's gravity of 9.81 then is 9.81 nm/s².
//!
//! # One frame
//!
//! Rapier's sets and ours, from top to bottom, in the schedule that Rapier runs in:
//!
//! ```text
//! MoleculeSystems::Prepare     files that have arrived → bodies and colliders
//! PhysicsSet::SyncBackend      bodies and colliders from components   (Rapier)
//! MoleculeSystems::Collect     the molecules of each context, in the order of entities
//! PhysicsSet::StepSimulation   for each substep: schedule MoleculeSubstep, see below
//! MoleculeSystems::Publish     messages, entity events, Colliding
//! PhysicsSet::Writeback        components from bodies                 (Rapier)
//! ```
//!
//! The plugin takes the place of Rapier's own step system, so that contacts are
//! fresh in every substep, for every [`TimestepMode`](bevy_rapier3d::prelude::TimestepMode),
//! in every context, and in whatever schedule Rapier was put.
//!
//! # One substep
//!
//! The sets of [`MoleculeSubstep`] run one after the other; systems of an app may stand
//! before, between and after them:
//!
//! ```text
//!              Rapier's bodies: poses, velocities, masses
//!                │                                   ▲
//!  Diffuse       │ those with BrownianMotion ────────┤ new poses ──────▶ MoleculeCollision
//!                ▼                                   │
//!  Gather     world-space spheres, one array         │
//!                ▼                                   │
//!  Detect     pairs of spheres, by molecule ─────────┼────────▶ TouchingMolecules,
//!                ▼                                   │          MoleculeContactStarted
//!  Respond    contacts, what they lean on, springs   │
//!                ▼                                   │
//!  Apply      one impulse for each molecule ─────────┤
//!                                                    │
//!  Step       Rapier: its own contacts, joints, time ┘
//!                ▼
//!  Watch      those with an AccelerationBound, before and after ──▶ MoleculeCollision
//! ```
//!
//! In [`ContactModel::Rapier`] Rapier finds and solves contacts between molecules itself, in
//! `Step`; `Gather`, `Respond` and `Apply` then have only springs to see to.
//!
//! # Who does the work
//!
//! [`MoleculeBackend`] says whether the processor or a GPU finds and solves the contacts of
//! crowds. To a GPU go the bodies, from it come one impulse for each and who touches whom;
//! atoms, pairs and contacts stay there. A GPU that fails costs nothing but its speed: the
//! processor solves the same substep, and a [`MoleculeBackendFailed`] tells.
//!
//! # Words
//!
//! Two molecules *touch* while atoms of theirs overlap; each such overlap is a *contact*.
//! [`MoleculeContactStarted`] and [`MoleculeContactStopped`] tell the beginning and the end,
//! as of the substep, and a molecule that touches others is [`Colliding`]. They *meet* at a
//! time: [`MoleculeCollision`] tells when, for those that diffuse or are watched. A *member* is a
//! molecule as its Rapier context knows it, a *fault* something that is wrong and was put
//! right as well as can be.
//!
//! # Determinism
//!
//! The same app gives the same bits on any number of threads, messages included: members
//! are sorted by entity, pairs by members. A GPU gives the same from run to run; where it
//! [only searches](MoleculeBackend::search_only), the same as the processor.
//!
//! # Bad input
//!
//! Nothing here panics, and nothing takes others along. A file that is missing or broken
//! leaves its molecules without bodies ([`MoleculeLoadFailed`]); poses and velocities that
//! are not finite are put back, scales are ignored, and heaps in one point take no part in
//! contacts ([`MoleculeStateError`]); impossible numbers in a component or a resource are
//! answered by the default or by leaving it out, and the log says so once.
//!
//! # Papers
//!
//! Springs that hold molecules in their compartment, and red and green for those that
//! collide and those that do not, are those of J. Pauschenwein's thesis (*Real-Time
//! Collision Detection and Handling of Molecules for Animation and Modelling*, TU Wien,
//! 2022, chapters 3 and 4); contacts are solved by [`dynamics`](crate::dynamics). Diffusion
//! and meetings come from [`motion`](crate::motion), which names its own.
//!
//! # Seeing
//!
//! With the feature `gizmos`, the config group `MoleculeGizmos` shows cells, contacts,
//! spheres, compartments and springs. With the feature `draw` molecules are drawn atom by
//! atom, and `MoleculePicker` tells which atom is under the cursor.

mod acceleration_bound;
mod assets;
mod backend;
mod brownian_motion;
mod collisions;
mod compartment;
mod compartment_springs;
mod compartment_surface;
mod components;
mod contact_events;
mod contact_systems;
#[cfg_attr(not(feature = "gpu"), path = "no_device.rs")]
mod device;
mod diagnostics;
mod diffusion;
mod external_contacts;
#[cfg(feature = "draw")]
mod extract;
#[cfg(feature = "gizmos")]
mod gizmos;
mod hooks;
mod joints;
mod molecule_world;
#[cfg(feature = "draw")]
mod picking;
mod plugins;
mod prepared_molecule;
mod queries;
mod query_results;
#[cfg(feature = "gizmos")]
mod shape_outline;
mod state_errors;
mod substep_loop;

pub use crate::molecule::AtomLabel;
pub use acceleration_bound::AccelerationBound;
pub use assets::{MoleculeAssetPlugin, MoleculeLoadFailed, MoleculeLoader, MoleculeLoaderError};
pub use backend::{MoleculeAdapter, MoleculeBackend, MoleculeBackendFailed};
pub use brownian_motion::{BrownianMotion, BrownianMotionConfig};
pub use collisions::{CollisionOutcome, CollisionRule, MoleculeCollision};
pub use compartment::{Compartment, CompartmentRegion, InCompartment, ParryShape};
pub use compartment_surface::CompartmentSurface;
pub use components::{
    Colliding, CrowdOnly, Molecule, MoleculeDetail, MoleculeMaterial, StaticMolecule,
};
pub use contact_events::{
    MoleculeContactStarted, MoleculeContactStopped, Touching, TouchingMolecules,
};
pub use diagnostics::{MoleculeDiagnostics, MoleculeDiagnosticsPlugin};
#[cfg(feature = "draw")]
pub use extract::{MoleculeExtractPlugin, NoMoleculeRendering};
#[cfg(feature = "gizmos")]
pub use gizmos::{MoleculeGizmoPlugin, MoleculeGizmos};
pub use molecule_world::{ContactModel, MoleculeTimes, MoleculeWorld};
#[cfg(feature = "draw")]
pub use picking::{MoleculePicker, PickedAtom};
pub use plugins::{MoleculePhysicsPlugin, MoleculePlugins};
pub use prepared_molecule::{PreparedMolecule, PreparedTemplate};
pub use queries::MoleculeQueries;
pub use query_results::{MoleculeAtom, MoleculeHit, MoleculeQueryFilter, NearestAtom};
pub use state_errors::{MoleculeStateError, StateErrorKind};
pub use substep_loop::MoleculeSubstep;

use bevy::prelude::*;

/// Stages of the molecules in a frame, in their order, among the sets of Rapier
/// ([`PhysicsSet`](bevy_rapier3d::prelude::PhysicsSet)). The [module](self) page has a
/// picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, SystemSet)]
pub enum MoleculeSystems {
    /// In Rapier's schedule, before `PhysicsSet::SyncBackend`: gives loaded molecules
    /// their bodies, and compartments their surfaces.
    Prepare,
    /// In Rapier's schedule, after `PhysicsSet::SyncBackend` and before
    /// `PhysicsSet::StepSimulation`: collects the molecules of each context.
    Collect,
    /// In [`MoleculeSubstep`]: moves the molecules with [`BrownianMotion`].
    Diffuse,
    /// In [`MoleculeSubstep`]: reads the Rapier bodies, moves the spheres with them.
    Gather,
    /// In [`MoleculeSubstep`]: finds the molecules that touch.
    Detect,
    /// In [`MoleculeSubstep`]: turns contacts and springs into impulses.
    Respond,
    /// In [`MoleculeSubstep`]: gives the impulses to the Rapier bodies.
    Apply,
    /// In [`MoleculeSubstep`]: one step of Rapier.
    Step,
    /// In [`MoleculeSubstep`]: finds out which molecules with an [`AccelerationBound`] met.
    TrackCollisions,
    /// In Rapier's schedule, after `PhysicsSet::StepSimulation` and before
    /// `PhysicsSet::Writeback`: messages, entity events, [`Colliding`].
    Publish,
}
