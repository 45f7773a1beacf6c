//! Bevy plugins for molecules in a Rapier world.
//!
//! Add [`MoleculePlugins`] after Rapier's plugin and spawn [`Molecule`]s. They fall, rotate
//! and collide atom by atom, with each other and with ordinary colliders.
//!
//! # Components, resources, messages
//!
//! | component | written by | content |
//! |---|---|---|
//! | [`Molecule`] | app | the structure file; requires all other components of a body |
//! | `Transform` | both | pose of the center of mass, world frame, nm; the scale must be 1 |
//! | `Velocity` (Rapier) | both | nm/s and rad/s |
//! | [`MoleculeMaterial`] | app | stiffness of contacts with other molecules; Rapier's components set the [rest](#components-of-rapier) |
//! | [`MoleculeEventsEnabled`] | app | triggers entity events on the molecule |
//! | [`MoleculeDetail`] | app | spheres used in contacts with other molecules: atoms, residues, proxies, one |
//! | [`StaticMolecule`] | app | a molecule with a fixed body |
//! | [`CrowdOnly`] | app | a molecule without a Rapier collider |
//! | [`Compartment`], [`InCompartment`] | app | a surface or volume, and the molecules confined to it |
//! | `PackedRecipe` | app | a recipe, which becomes molecules (feature `recipe`) |
//! | `RecipeState` | plugin | how far a recipe is: loading, packing, ready, failed |
//! | `InRecipe`, `RecipeMembers` | plugin | which molecules and compartments are those of a recipe |
//! | [`BrownianMotion`] | app | the molecule diffuses |
//! | [`AccelerationBound`] | app | collisions are reported with their time of impact |
//! | [`CollisionOutcome`] | app | bounce, stick, react or pass in such a collision |
//! | [`StickJoint`] | both | on an entity of its own: the joint of two molecules that stick |
//! | [`MoleculeJoint`] | both | on an entity of its own: a joint with limits, as between links of a fiber |
//! | [`TrajectoryRecorder`] | app | records all molecules in a file |
//! | [`RecordingState`] | plugin | how far a recording is |
//! | [`Colliding`] | plugin | number of molecules that it touches |
//! | [`PreparedMolecule`] | plugin | the file is loaded: its template |
//! | [`CompartmentSurface`] | plugin | the surface of a compartment in the world frame |
//! | [`MoleculeWorld`] | plugin | contacts, clock and timings, on each Rapier context |
//!
//! - Resources: [`ContactModel`], [`MoleculeBackend`], [`BrownianMotionConfig`], [`CollisionRule`],
//!   [`MoleculeReactions`].
//! - Messages in a deterministic order, also entity events of molecules with
//!   [`MoleculeEventsEnabled`]: [`MoleculeContactStarted`], [`MoleculeContactStopped`],
//!   [`MoleculeCollision`]. Rapier's `CollisionEvent` and `ContactForceEvent` are sent, too, if
//!   `ActiveEvents` requests them.
//! - Messages of reactions: [`MoleculesReacted`].
//! - Messages about errors: [`MoleculeLoadFailed`], [`MoleculeStateError`],
//!   [`MoleculeBackendFailed`].
//! - Messages and entity events of recipes: `RecipePacked`, `RecipeFailed`; of recorders:
//!   [`TrajectoryFailed`].
//! - Commands: [`SpawnCrowd`] spawns a whole [`Crowd`](crate::crowd::Crowd), such as a relaxed
//!   vesicle or a fiber; `Crowd::from_world` is the inverse.
//! - System parameters: [`TouchingMolecules`] lists touching molecules and their contacts; [`MoleculeQueries`]
//!   finds atoms by rays, moving shapes and points.
//!
//! Lengths are nm, masses Da, times s, angles radians. Rapier's gravity of 9.81 is then 9.81 nm/s².
//!
//! # Files and scenes
//!
//! [`MoleculeLoader`] loads structure files, and chains, models and assemblies of them by label:
//! `1gzx.pdb#ChainA`. All components, resources and configurations implement `Reflect`. With
//! [`molecule_scene_filter`], molecules are saved in a scene file and loaded from it.
//!
//! `RecipeLoader` loads recipes of cellPACK and bentopy with all their files, and an entity with a
//! `PackedRecipe` gets its molecules (feature `recipe`). They follow the file when it changes.
//!
//! # System sets
//!
//! The sets of [`MoleculeSystems`] and Rapier run in this order, in the schedule of Rapier:
//!
//! ```text
//! MoleculeSystems::Prepare     completes the bodies of loaded molecules
//! PhysicsSet::SyncBackend      components to bodies and colliders     (Rapier)
//! MoleculeSystems::Collect     collects the molecules of each context
//! PhysicsSet::StepSimulation   runs the schedule MoleculeSubstep for each substep
//! MoleculeSystems::Publish     messages, entity events, Colliding
//! PhysicsSet::Writeback        bodies to components                   (Rapier)
//! MoleculeSystems::React       reactants to products
//! MoleculeSystems::Record      frames of trajectories
//! ```
//!
//! The plugin replaces Rapier's step system, so that contacts are up to date in every
//! substep, for every [`TimestepMode`](bevy_rapier3d::prelude::TimestepMode), in every
//! context and whatever the schedule of Rapier.
//!
//! The sets of [`MoleculeSubstep`] run in this order. Systems of the app may run before,
//! between and after them:
//!
//! ```text
//!                   Rapier bodies: poses, velocities, masses
//!                     │                                   ▲
//!  Diffuse            │ Brownian steps ───────────────────┤ poses ─▶ MoleculeCollision
//!                     ▼                                   │
//!  Gather          poses and velocities of the bodies     │
//!                     ▼                                   │
//!  Detect          pairs of spheres ──────────────────────┼───▶ TouchingMolecules,
//!                     ▼                                   │     MoleculeContactStarted
//!  Respond         contacts, external contacts, springs   │
//!                     ▼                                   │
//!  Apply           one impulse per molecule ──────────────┤
//!                                                         │
//!  Step            Rapier: its contacts, joints, motion ──┘
//!                     ▼
//!  TrackCollisions molecules with an AccelerationBound ───▶ MoleculeCollision
//! ```
//!
//! In [`ContactModel::Solver`], Rapier finds and solves contacts between molecules in `Step`;
//! `Gather`, `Respond` and `Apply` then handle only springs.
//!
//! # Molecules as colliders
//!
//! A molecule has a Rapier collider, so ordinary colliders and Rapier's queries find it, and
//! Rapier's debug renderer draws its bounding sphere. In
//! [`ContactModel::Crowd`], Rapier does no work for pairs of molecules: their colliders have no
//! [`ActiveCollisionTypes`](bevy_rapier3d::prelude::ActiveCollisionTypes), so its broad phase drops
//! the pairs, while the types of ordinary colliders keep theirs with molecules. Types that the app
//! sets on a molecule are kept. What remains is the update of Rapier's tree, which follows large
//! bodies less closely than by default
//! (`adaptive_change_detection_margin`); [`CrowdOnly`] molecules save that, too.
//!
//! # Components of Rapier
//!
//! Molecules obey Rapier's components as ordinary colliders do. In contacts with ordinary colliders,
//! Rapier applies all of them. The table is about contacts between molecules: in
//! [`ContactModel::Crowd`], in [`ContactModel::Solver`], and for [`CrowdOnly`] molecules. The tests
//! in `tests/plugin` check each row in all three.
//!
//! | component | Crowd | Solver | `CrowdOnly` | test |
//! |---|---|---|---|---|
//! | `CollisionGroups` | yes | yes | yes | `collision_groups_keep_molecules_apart` |
//! | `SolverGroups` | yes | yes | yes | `solver_groups_keep_molecules_from_pushing` |
//! | `Sensor` | yes | yes | yes | `sensors_are_reported_and_do_not_push` |
//! | `ColliderDisabled` | yes | yes | yes | `disabled_colliders_pass` |
//! | `RigidBodyDisabled` | yes | yes | yes | `disabled_bodies_neither_move_nor_collide` |
//! | `ActiveCollisionTypes` | yes | yes | yes | `collision_types_select_pairs_by_their_bodies` |
//! | `ActiveHooks`: filters | yes, on the CPU | yes | no: hooks get colliders | `hooks_filter_pairs_of_molecules`, `contexts_with_hooks_use_the_cpu` |
//! | `ActiveHooks`: `MODIFY_SOLVER_CONTACTS` | no: only Rapier can construct its solver contacts | yes | no | `contacts_are_modified_by_hooks_only_in_the_solver_model` |
//! | `ActiveEvents`, `CollidingEntities` | yes | yes | yes | `collision_events_and_colliding_entities_work_as_for_colliders`, `sensors_and_removed_molecules_flag_their_collision_events` |
//! | `ContactForceEventThreshold` | yes | yes | yes | `contact_force_events_respect_their_threshold` |
//! | `Friction` | yes | yes | yes | `friction_is_combined_by_its_rule` |
//! | `Restitution` | yes | yes | yes | `restitution_is_combined_by_its_rule` |
//! | `AdditionalMassProperties` | yes | yes | yes | `mass_properties_of_the_app_are_kept` |
//! | `Dominance` | yes | yes | yes | `a_dominating_molecule_goes_on_as_if_alone` |
//! | `LockedAxes` | yes | yes | yes | `locked_axes_keep_a_molecule_in_place`, `gravity_does_not_act_along_locked_axes` |
//! | `GravityScale` | yes | yes | yes | `gravity_scales_apply` |
//! | `Ccd` | yes | yes | yes | `a_fast_molecule_with_ccd_does_not_pass_a_thin_one` |
//! | `RigidBody`: kinematic | yes | yes | yes | `kinematic_molecules_push_others` |
//! | `ImpulseJoint` | yes | yes | yes | `jointed_molecules_collide_unless_contacts_are_disabled`, `joints_without_contacts_let_molecules_pass` |
//! | `ExternalForce`, `ExternalImpulse`, `Damping` | yes | yes | yes | `forces_impulses_and_damping_act_on_molecules` |
//! | `ContactSkin` | no: contacts are those of the atoms | yes | no | `contact_skins_apply_only_in_the_solver_model` |
//!
//! Removing `CollisionGroups` or `SolverGroups` resets them between molecules in `Crowd`. Rapier
//! itself ignores the removal: insert the default instead.
//!
//! # Backends
//!
//! [`MoleculeBackend`] selects the CPU or a GPU for contacts. A GPU receives the bodies and returns
//! one impulse per molecule and the touching pairs; atoms, pairs and contacts stay on the device.
//! If a GPU fails, the CPU solves the same substep and a [`MoleculeBackendFailed`] is written.
//!
//! # Contacts and collisions
//!
//! Two molecules *touch* while atoms of theirs overlap or push each other, which they do before
//! they overlap (a GPU reports only overlaps); each such pair of atoms is a *contact*.
//! [`MoleculeContactStarted`] and [`MoleculeContactStopped`] report start and end, by
//! substep. A *collision* has a time of impact; [`MoleculeCollision`] reports it for
//! molecules with [`BrownianMotion`] or an [`AccelerationBound`]. [`CollisionOutcome`] decides what
//! follows; molecules of the kinds in [`MoleculeReactions`] can react (A + B → C).
//!
//! # Determinism
//!
//! Results and messages are bit for bit the same on any number of threads: molecules are
//! sorted by entity and pairs by molecule. A GPU gives the same results from run to run; as a
//! [search only](MoleculeBackend::search_only), those of the CPU.
//!
//! # Errors
//!
//! Nothing panics, and an invalid molecule does not affect others. Molecules whose file is
//! missing or invalid have no body ([`MoleculeLoadFailed`]). Non-finite poses and velocities
//! are reset, scales are ignored, and molecules piled up in one place are excluded from
//! contacts ([`MoleculeStateError`]). Invalid values in a component or resource are replaced
//! by the default or ignored, and an error is logged once.
//!
//! # Papers
//!
//! The springs of compartments and the red and green of colliding molecules are from J.
//! Pauschenwein's thesis (*Real-Time Collision Detection and Handling of Molecules for Animation
//! and Modelling*, TU Wien, 2022, chapters 3 and 4). For contacts see
//! [`dynamics`](crate::dynamics), for Brownian motion and collisions [`motion`](crate::motion).
//!
//! # Rendering
//!
//! With the feature `gizmos`, the config group `MoleculeGizmos` shows cells, contacts,
//! spheres, compartments and springs. With the feature `draw`, molecules are drawn atom by
//! atom; `MoleculeTint` and `MoleculeHighlight` set the look of single ones. With the feature
//! `picking`, pointer events of `bevy_picking` have the atom under the pointer (`PickedAtom`).

mod acceleration_bound;
mod asset_labels;
mod assets;
mod backend;
mod brownian_motion;
mod collect_members;
mod collision_types;
mod collisions;
mod compartment;
mod compartment_springs;
mod components;
mod contact_events;
mod contact_rules;
mod contact_systems;
#[cfg_attr(not(feature = "gpu"), path = "device_stub.rs")]
mod device;
mod diagnostics;
mod external_contacts;
#[cfg(feature = "draw")]
mod extract;
#[cfg(feature = "gizmos")]
mod gizmos;
mod hooks;
mod molecule_joint;
mod molecule_world;
#[cfg(feature = "recipe")]
mod packed_recipe;
#[cfg(feature = "recipe")]
mod packing_task;
#[cfg(feature = "picking")]
mod picking;
mod plugins;
mod prepared_molecule;
mod queries;
mod rapier_body;
mod rapier_contacts;
mod rapier_events;
mod reactions;
#[cfg(feature = "recipe")]
mod recipe_assets;
mod scene_filter;
mod snapshot;
mod spawn_crowd;
mod state_errors;
mod stick_joint;
mod substep_loop;
mod trajectory_recorder;

pub use crate::molecule::AtomLabel;
pub use acceleration_bound::AccelerationBound;
pub use assets::{MoleculeAssetPlugin, MoleculeLoadFailed, MoleculeLoader};
pub use backend::{MoleculeBackend, MoleculeBackendFailed};
pub use brownian_motion::{BrownianMotion, BrownianMotionConfig};
pub use collisions::{CollisionOutcome, CollisionRule, MoleculeCollision};
pub use compartment::{
    Compartment, CompartmentRegion, CompartmentSurface, InCompartment, ParryShape, SharedSurface,
};
pub use components::{
    Colliding, CrowdOnly, Molecule, MoleculeDetail, MoleculeMaterial, StaticMolecule,
};
pub use contact_events::{
    MoleculeContact, MoleculeContactStarted, MoleculeContactStopped, MoleculeEventsEnabled,
    TouchingMolecules, TouchingPair,
};
pub use diagnostics::{MoleculeDiagnostics, MoleculeDiagnosticsPlugin};
#[cfg(feature = "draw")]
pub use extract::{MoleculeExtractPlugin, NoMoleculeRendering};
#[cfg(feature = "gizmos")]
pub use gizmos::{MoleculeGizmoPlugin, MoleculeGizmos};
pub use molecule_joint::MoleculeJoint;
pub use molecule_world::{ContactModel, MoleculeTimes, MoleculeWorld};
#[cfg(feature = "recipe")]
pub use packed_recipe::{
    InRecipe, PackedRecipe, RecipeFailed, RecipeMembers, RecipePacked, RecipeState,
};
#[cfg(feature = "picking")]
pub use picking::{
    MoleculePickingCamera, MoleculePickingPlugin, MoleculePickingSettings, PickedAtom,
};
pub use plugins::{MoleculePhysicsPlugin, MoleculePlugins};
pub use prepared_molecule::PreparedMolecule;
pub use queries::{MoleculeAtom, MoleculeHit, MoleculeQueries, MoleculeQueryFilter, NearestAtom};
pub use reactions::{MoleculeReactions, MoleculesReacted};
#[cfg(feature = "recipe")]
pub use recipe_assets::{MoleculeRecipePlugin, RecipeLoader};
pub use scene_filter::molecule_scene_filter;
pub use snapshot::{PhysicsSnapshot, SnapshotError};
pub use spawn_crowd::{CrowdEntities, CrowdFromWorldError, SpawnCrowd, SpawnCrowdError};
pub use state_errors::{MoleculeStateError, StateErrorKind};
pub use stick_joint::StickJoint;
pub use substep_loop::MoleculeSubstep;
pub use trajectory_recorder::{RecordEvery, RecordingState, TrajectoryFailed, TrajectoryRecorder};

use bevy::prelude::*;

/// The system sets of molecules, in their order. `Prepare`, `Collect`, `Publish`, `React` and
/// `Record` run in the schedule of Rapier, among its [`PhysicsSet`](bevy_rapier3d::prelude::PhysicsSet)s; the
/// others run in [`MoleculeSubstep`]. See the [module docs](self) for a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, SystemSet)]
pub enum MoleculeSystems {
    /// Completes the bodies of loaded molecules and builds the surfaces of compartments.
    /// Before `PhysicsSet::SyncBackend`.
    Prepare,
    /// Collects the molecules of each context. After `PhysicsSet::SyncBackend` and before
    /// `PhysicsSet::StepSimulation`.
    Collect,
    /// In [`MoleculeSubstep`]: moves molecules with [`BrownianMotion`].
    Diffuse,
    /// In [`MoleculeSubstep`]: reads the Rapier bodies and moves the spheres with them.
    Gather,
    /// In [`MoleculeSubstep`]: finds the molecules that touch.
    Detect,
    /// In [`MoleculeSubstep`]: computes the impulses of contacts and springs.
    Respond,
    /// In [`MoleculeSubstep`]: applies the impulses to the Rapier bodies.
    Apply,
    /// In [`MoleculeSubstep`]: runs one step of Rapier.
    Step,
    /// In [`MoleculeSubstep`]: finds collisions of molecules with an [`AccelerationBound`].
    TrackCollisions,
    /// Writes messages, triggers entity events and updates [`Colliding`]. After
    /// `PhysicsSet::StepSimulation` and before `PhysicsSet::Writeback`.
    Publish,
    /// Replaces the reactants of [`MoleculeReactions`] by their products, and writes
    /// [`MoleculesReacted`]. After `PhysicsSet::Writeback`.
    React,
    /// Writes the frames of each [`TrajectoryRecorder`]. After [`React`](Self::React).
    Record,
}
