//! Molecules as citizens of a Bevy + Rapier world.
//!
//! Add [`MoleculePlugins`] beside Rapier's plugin, and spawn [`Molecule`]s.
//!
//! # One frame
//!
//! Rapier's sets and ours, in the schedule that Rapier runs in:
//!
//! ```text
//! PhysicsSet::SyncBackend      bodies and colliders from components   (Rapier)
//! PhysicsSet::StepSimulation   for each substep: schedule MoleculeSubstep
//!     MoleculeSystems::Diffuse     Brownian motion
//!     MoleculeSystems::Gather      bodies → spheres
//!     MoleculeSystems::Detect      spheres → pairs that touch
//!     MoleculeSystems::Respond     contacts and springs → impulses
//!     MoleculeSystems::Apply       impulses → bodies
//!     MoleculeSystems::Step        one step of Rapier
//!     MoleculeSystems::Watch       who met, of those with an acceleration bound
//! MoleculeSystems::Publish     messages, events, diagnostics
//! PhysicsSet::Writeback        components from bodies                 (Rapier)
//! ```
//!
//! The plugin takes the place of Rapier's own step system, so that contacts are
//! fresh in every substep, for every [`TimestepMode`](bevy_rapier3d::prelude::TimestepMode),
//! in every context, and in whatever schedule Rapier was put.
//!
//! # Who does the work
//!
//! [`MoleculeBackend`] says whether the processor or a GPU finds and solves the contacts of
//! crowds. To a GPU go the bodies, from it come one impulse for each and who touches whom;
//! atoms, pairs and contacts stay there. A GPU that fails costs nothing but its speed: the
//! processor solves the same substep, and a [`MoleculeBackendFault`] tells.
//!
//! # In a cell
//!
//! Molecules with [`BrownianMotion`] diffuse, and never overlap by an atom; what they
//! diffuse in, and how fast it is shown, is in [`BrownianSettings`]. Molecules with an
//! [`AccelerationBound`] move as Rapier says. Both are told by [`MoleculesMet`] when they
//! meet, and [`OnMeeting`] or a [`MeetingRule`] decide whether they bounce, stick or pass.
//!
//! # Asking and seeing
//!
//! [`TouchingMolecules`] tells who touches whom, [`MoleculeQueries`] which atom a ray or
//! a moving shape meets and which is near a point. With the feature `gizmos`, the
//! config group `MoleculeGizmos` shows cells, contacts, spheres, compartments and
//! springs.
//!
//! With the feature `draw` molecules are drawn atom by atom, and `MoleculePicker` tells
//! which atom is under the cursor.

mod assets;
mod backend;
mod bounds;
mod brownian;
mod compartments;
mod components;
#[cfg_attr(not(feature = "gpu"), path = "no_device.rs")]
mod device;
mod diagnostics;
mod diffusion;
#[cfg(feature = "draw")]
mod drawing;
mod drive;
mod events;
mod faults;
#[cfg(feature = "gizmos")]
mod gizmos;
mod hooks;
mod joints;
mod meetings;
#[cfg(feature = "gizmos")]
mod outline;
#[cfg(feature = "draw")]
mod picking;
mod prepare;
mod queries;
mod query_results;
mod springs;
mod substep;
mod supports;
mod surfaces;
mod world;

pub use crate::molecule::AtomLabel;
pub use assets::{MoleculeAssetPlugin, MoleculeLoadFailed, MoleculeLoader, MoleculeLoaderError};
pub use backend::{
    BackendReflection, DeviceFaultReflection, MoleculeAdapter, MoleculeBackend,
    MoleculeBackendFault,
};
pub use bounds::AccelerationBound;
pub use brownian::{BrownianMotion, BrownianSettings};
pub use compartments::{
    Compartment, CompartmentPlace, CompartmentSpring, InCompartment, ParryShape,
};
pub use components::{
    Colliding, CrowdOnly, Molecule, MoleculeDetail, MoleculeMaterial, StaticMolecule,
};
pub use diagnostics::{MoleculeDiagnostics, MoleculeDiagnosticsPlugin};
#[cfg(feature = "draw")]
pub use drawing::{MoleculeDrawingPlugin, Undrawn};
pub use drive::MoleculeSubstep;
pub use events::{MoleculeContactStarted, MoleculeContactStopped, Touching, TouchingMolecules};
pub use faults::{FaultReason, MoleculeFault};
#[cfg(feature = "gizmos")]
pub use gizmos::{MoleculeGizmoPlugin, MoleculeGizmos};
pub use meetings::{MeetingRule, MoleculesMet, OnMeeting};
#[cfg(feature = "draw")]
pub use picking::{MoleculePicker, PickedAtom};
pub use prepare::{PreparedMolecule, PreparedTemplate};
pub use queries::MoleculeQueries;
pub use query_results::{MoleculeAtom, MoleculeHit, MoleculePoint, MoleculeQueryFilter};
pub use surfaces::CompartmentSurface;
pub use world::{ContactModel, MoleculeTimes, MoleculeWorld};

use bevy::app::PluginGroupBuilder;
use bevy::asset::AssetEventSystems;
use bevy::ecs::intern::Interned;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::ecs::system::SystemParamItem;
use bevy::prelude::*;
use bevy_rapier3d::plugin::systems::on_add_entity_with_parent;
use bevy_rapier3d::prelude::{
    BevyPhysicsHooks, PhysicsSet, RapierContextSimulation, RapierTransformPropagateSet,
};

use crate::backend::Backend;
use crate::dynamics::ContactSolverConfig;

/// Stages of the molecules in a frame. See the [module](self) page for the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, SystemSet)]
pub enum MoleculeSystems {
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
    Watch,
    /// In Rapier's schedule, before [`PhysicsSet::SyncBackend`]: gives loaded molecules
    /// their body.
    Prepare,
    /// In Rapier's schedule, after [`PhysicsSet::SyncBackend`] and before
    /// [`PhysicsSet::StepSimulation`]: collects the molecules of each context.
    Collect,
    /// In Rapier's schedule, after [`PhysicsSet::StepSimulation`] and before
    /// [`PhysicsSet::Writeback`]: messages, events, diagnostics.
    Publish,
}

/// Everything that molecules need, beside Rapier's own plugin.
///
/// ```no_run
/// use bevy::prelude::*;
/// use bevy_rapier3d::prelude::*;
/// use bevy_rapier_molecules::prelude::*;
///
/// App::new()
///     .add_plugins((
///         MinimalPlugins,
///         RapierPhysicsPlugin::<NoUserData>::default(),
///         MoleculePlugins::default(),
///     ))
///     .run();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MoleculePlugins {
    physics: MoleculePhysicsPlugin,
}

impl Default for MoleculePlugins {
    fn default() -> Self {
        Self {
            physics: MoleculePhysicsPlugin::with_hooks::<()>(),
        }
    }
}

impl MoleculePlugins {
    /// For a `RapierPhysicsPlugin::<Hooks>`.
    #[must_use]
    pub fn with_hooks<Hooks>() -> Self
    where
        Hooks: 'static + BevyPhysicsHooks,
        for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
    {
        Self {
            physics: MoleculePhysicsPlugin::with_hooks::<Hooks>(),
        }
    }

    /// How molecules meet each other at the start. Default: [`ContactModel::Crowd`].
    #[must_use]
    pub fn with_contacts(mut self, model: ContactModel) -> Self {
        self.physics.model = model;
        self
    }

    /// How contacts are solved in [`ContactModel::Crowd`]: more iterations for tall
    /// piles, fewer for a crowd that floats. Each context starts with it, and
    /// [`MoleculeWorld::contact_config_mut`] changes it.
    #[must_use]
    pub fn with_solver(mut self, solver: ContactSolverConfig) -> Self {
        self.physics.solver = solver;
        self
    }

    /// Who finds and solves contacts in [`ContactModel::Crowd`] at the start; [`MoleculeBackend`]
    /// changes it. Default: [`Backend::Auto`], a GPU if there is a real one.
    #[must_use]
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.physics.backend = backend;
        self
    }
}

impl PluginGroup for MoleculePlugins {
    fn build(self) -> PluginGroupBuilder {
        let plugins = PluginGroupBuilder::start::<Self>()
            .add(MoleculeAssetPlugin)
            .add(self.physics)
            .add(MoleculeDiagnosticsPlugin);
        #[cfg(feature = "gizmos")]
        let plugins = plugins.add(MoleculeGizmoPlugin);
        #[cfg(feature = "draw")]
        let plugins = plugins
            .add(crate::render::MoleculeRenderPlugin)
            .add(MoleculeDrawingPlugin);
        plugins
    }
}

/// Molecules in the physics world. Part of [`MoleculePlugins`].
#[derive(Clone, Copy, Debug)]
pub struct MoleculePhysicsPlugin {
    model: ContactModel,
    solver: ContactSolverConfig,
    backend: Backend,
    add_schedule: fn(&mut App),
    replace_step: fn(&mut App) -> bool,
}

impl MoleculePhysicsPlugin {
    /// For a `RapierPhysicsPlugin::<Hooks>`.
    #[must_use]
    pub fn with_hooks<Hooks>() -> Self
    where
        Hooks: 'static + BevyPhysicsHooks,
        for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
    {
        Self {
            model: ContactModel::default(),
            solver: ContactSolverConfig::default(),
            backend: Backend::default(),
            add_schedule: drive::add_substep_schedule::<Hooks>,
            replace_step: drive::replace_rapier_step::<Hooks>,
        }
    }
}

impl Plugin for MoleculePhysicsPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<Molecule>()
            .register_type::<MoleculeMaterial>()
            .register_type::<MoleculeDetail>()
            .register_type::<StaticMolecule>()
            .register_type::<CrowdOnly>()
            .register_type::<Colliding>()
            .register_type::<Compartment>()
            .register_type::<InCompartment>()
            .register_type::<BrownianMotion>()
            .register_type::<BrownianSettings>()
            .register_type::<AccelerationBound>()
            .register_type::<OnMeeting>()
            .register_type::<MoleculesMet>()
            .register_type::<ContactModel>()
            .register_type::<MoleculeContactStarted>()
            .register_type::<MoleculeContactStopped>()
            .register_type::<MoleculeFault>()
            .register_type::<MoleculeBackend>()
            .register_type::<MoleculeBackendFault>()
            .register_type::<MoleculeAtom>()
            .register_type::<MoleculeHit>()
            .register_type::<MoleculePoint>()
            .insert_resource(self.model)
            .insert_resource(MoleculeBackend::new(self.backend))
            .insert_resource(world::SolverAtStart(self.solver))
            .init_resource::<prepare::PreparedTemplates>()
            .init_resource::<BrownianSettings>()
            .init_resource::<MeetingRule>()
            .add_message::<AssetEvent<Mesh>>()
            .add_message::<MoleculeContactStarted>()
            .add_message::<MoleculeContactStopped>()
            .add_message::<MoleculesMet>()
            .add_message::<MoleculeFault>()
            .add_message::<MoleculeBackendFault>()
            .add_observer(world::adopt_context)
            .add_observer(prepare::fix_static)
            .add_observer(prepare::free_static)
            .add_observer(surfaces::drop_surface);
        app.register_required_components::<RapierContextSimulation, MoleculeWorld>();
        (self.add_schedule)(app);
        app.add_systems(
            MoleculeSubstep,
            (
                diffusion::diffuse.in_set(MoleculeSystems::Diffuse),
                (bounds::note_starts, substep::gather)
                    .chain()
                    .in_set(MoleculeSystems::Gather),
                substep::detect.in_set(MoleculeSystems::Detect),
                (
                    supports::find_supports,
                    substep::respond,
                    springs::pull_springs,
                )
                    .chain()
                    .in_set(MoleculeSystems::Respond),
                substep::apply.in_set(MoleculeSystems::Apply),
                bounds::watch_meetings.in_set(MoleculeSystems::Watch),
            ),
        );
    }

    fn finish(&self, app: &mut App) {
        if !(self.replace_step)(app) {
            error!(
                "molecules will not move: Rapier's step was not found. Add \
                 RapierPhysicsPlugin to the app; if it has hooks, use \
                 MoleculePlugins::with_hooks with the same"
            );
        }
    }
}

/// Adds what runs once a frame to the schedule that Rapier runs in.
fn add_frame_systems(app: &mut App, schedule: Interned<dyn ScheduleLabel>) {
    app.configure_sets(
        schedule,
        (
            MoleculeSystems::Prepare
                .after(AssetEventSystems)
                .before(PhysicsSet::SyncBackend),
            MoleculeSystems::Collect
                .after(PhysicsSet::SyncBackend)
                .before(PhysicsSet::StepSimulation),
            MoleculeSystems::Publish
                .after(PhysicsSet::StepSimulation)
                .before(PhysicsSet::Writeback),
        ),
    )
    .add_systems(
        schedule,
        (
            (
                prepare::prepare_molecules,
                prepare::apply_materials,
                surfaces::make_surfaces,
                springs::check_places,
            )
                .chain()
                .in_set(MoleculeSystems::Prepare),
            (faults::guard_transforms, faults::guard_velocities)
                .chain()
                .in_set(PhysicsSet::SyncBackend)
                .after(RapierTransformPropagateSet)
                .before(on_add_entity_with_parent),
            (
                world::switch_model,
                substep::collect_members,
                backend::choose_device,
                backend::assign_searches,
                substep::update_surfaces,
                surfaces::place_surfaces,
                brownian::collect_diffusing,
                bounds::collect_watched,
            )
                .chain()
                .in_set(MoleculeSystems::Collect),
            (events::publish_changes, meetings::publish_meetings)
                .chain()
                .in_set(MoleculeSystems::Publish),
        ),
    );
}
