//! The plugin group, and the plugin of the physics world.

use bevy::app::PluginGroupBuilder;
use bevy::asset::AssetEventSystems;
use bevy::ecs::intern::Interned;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::ecs::system::SystemParamItem;
use bevy::prelude::*;
use bevy::transform::components::TransformTreeChanged;
use bevy_rapier3d::plugin::systems::on_add_entity_with_parent;
use bevy_rapier3d::prelude::{
    BevyPhysicsHooks, PhysicsSet, RapierContextSimulation, RapierTransformPropagateSet,
};

use super::*;
use crate::backend::Backend;
use crate::dynamics::ContactSolverConfig;

/// All plugins for molecules, to be added after Rapier's plugin and `DefaultPlugins`.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier3d::prelude::*;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::dynamics::ContactSolverConfig;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut app = App::new();
/// app.add_plugins((
///     MinimalPlugins,
///     TransformPlugin,
///     RapierPhysicsPlugin::<NoUserData>::default(),
///     // Each of these is optional.
///     MoleculePlugins::default()
///         .with_hooks::<NoUserData>()
///         .with_contacts(ContactModel::Crowd)
///         .with_contact_config(ContactSolverConfig { iterations: 16, ..default() })
///         .with_backend(Backend::Cpu),
/// ));
/// app.insert_resource(TimestepMode::Fixed { dt: 0.1, substeps: 4 });
/// // A runner calls these before the first frame.
/// app.finish();
/// app.cleanup();
///
/// // Usually `assets.load("molecules/popc.pdb")`; here the file is loaded at once.
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// let transform = Transform::from_xyz(0.0, 8.0, 0.0);
/// let molecule = app.world_mut().spawn((Molecule(lipid), transform)).id();
/// for _ in 0..10 {
///     app.update();
/// }
///
/// let transform = app.world().get::<Transform>(molecule).ok_or("no transform")?;
/// assert!(transform.translation.y < 7.0, "it has not fallen: {transform:?}");
/// # Ok(())
/// # }
/// ```
///
/// Disable a plugin as in any group:
/// `MoleculePlugins::default().build().disable::<MoleculeDiagnosticsPlugin>()`.
#[derive(Clone, Copy, Debug)]
pub struct MoleculePlugins {
    physics: MoleculePhysicsPlugin,
}

impl Default for MoleculePlugins {
    /// For `RapierPhysicsPlugin::<NoUserData>`.
    fn default() -> Self {
        Self {
            physics: MoleculePhysicsPlugin {
                model: ContactModel::default(),
                contact_config: ContactSolverConfig::default(),
                backend: Backend::default(),
                replace_step: substep_loop::replace_rapier_step::<()>,
            },
        }
    }
}

impl MoleculePlugins {
    /// For a `RapierPhysicsPlugin::<Hooks>`. The `Hooks` must be the same; otherwise molecules do
    /// not move and an error is logged. Default: none.
    #[must_use]
    pub fn with_hooks<Hooks>(mut self) -> Self
    where
        Hooks: 'static + BevyPhysicsHooks,
        for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
    {
        self.physics.replace_step = substep_loop::replace_rapier_step::<Hooks>;
        self
    }

    /// Sets the initial [`ContactModel`]. Default: [`ContactModel::Crowd`].
    #[must_use]
    pub fn with_contacts(mut self, model: ContactModel) -> Self {
        self.physics.model = model;
        self
    }

    /// Sets the initial configuration of the contact solver in [`ContactModel::Crowd`]. Use more
    /// iterations for tall piles, fewer for floating crowds. Change it later with
    /// [`MoleculeWorld::contact_config_mut`]. Default: [`ContactSolverConfig::default`].
    #[must_use]
    pub fn with_contact_config(mut self, config: ContactSolverConfig) -> Self {
        self.physics.contact_config = config;
        self
    }

    /// Sets the initial backend in [`ContactModel::Crowd`]. Change it later in [`MoleculeBackend`].
    /// Default: [`Backend::Auto`], a hardware GPU if there is one.
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
        #[cfg(feature = "recipe")]
        let plugins = plugins.add(MoleculeRecipePlugin);
        #[cfg(feature = "gizmos")]
        let plugins = plugins.add(MoleculeGizmoPlugin);
        #[cfg(feature = "draw")]
        let plugins = plugins
            .add(crate::render::MoleculeRenderPlugin)
            .add(MoleculeExtractPlugin);
        #[cfg(feature = "picking")]
        let plugins = plugins.add(MoleculePickingPlugin);
        plugins
    }
}

/// Molecules in the physics world: components, system sets and the substep schedule. Part of
/// [`MoleculePlugins`].
#[derive(Clone, Copy, Debug)]
pub struct MoleculePhysicsPlugin {
    model: ContactModel,
    contact_config: ContactSolverConfig,
    backend: Backend,
    replace_step: fn(&mut App) -> bool,
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
            .register_type::<SharedSurface>()
            .register_type::<InCompartment>()
            .register_type::<BrownianMotion>()
            .register_type::<BrownianMotionConfig>()
            .register_type::<AccelerationBound>()
            .register_type::<CollisionOutcome>()
            .register_type::<MoleculeCollision>()
            .register_type::<StickJoint>()
            .register_type::<MoleculeJoint>()
            .register_type::<ContactModel>()
            .register_type::<MoleculeContactStarted>()
            .register_type::<MoleculeContactStopped>()
            .register_type::<MoleculeStateError>()
            .register_type::<MoleculeBackend>()
            .register_type::<MoleculeBackendFailed>()
            .register_type::<MoleculeAtom>()
            .register_type::<MoleculeHit>()
            .register_type::<NearestAtom>()
            .register_type::<MoleculeTimes>()
            .register_type::<TouchingPair>()
            .register_type::<MoleculeContact>()
            .register_type::<MoleculeEventsEnabled>()
            .register_type::<PreparedMolecule>()
            .register_type::<CompartmentSurface>()
            .register_type::<MoleculeWorld>()
            .register_type::<CollisionRule>()
            .register_type::<MoleculeReactions>()
            .register_type::<MoleculesReacted>()
            .register_type::<TrajectoryRecorder>()
            .register_type::<RecordEvery>()
            .register_type::<RecordingState>()
            .register_type::<TrajectoryFailed>()
            .register_type::<ContactSolverConfig>();
        // What a molecule requires, for scenes without Bevy's feature `reflect_auto_register`.
        app.register_type::<(Transform, GlobalTransform, TransformTreeChanged)>()
            .register_type::<(Visibility, InheritedVisibility, ViewVisibility)>()
            .register_type::<(ChildOf, Children)>();
        app.insert_resource(self.model)
            .insert_resource(MoleculeBackend::new(self.backend))
            .insert_resource(molecule_world::InitialContactConfig(self.contact_config))
            .init_resource::<collect_members::RemovedMolecules>()
            .init_resource::<BrownianMotionConfig>()
            .init_resource::<CollisionRule>()
            .init_resource::<MoleculeReactions>()
            .add_message::<AssetEvent<Mesh>>()
            .add_message::<MoleculeContactStarted>()
            .add_message::<MoleculeContactStopped>()
            .add_message::<MoleculeCollision>()
            .add_message::<MoleculesReacted>()
            .add_message::<MoleculeStateError>()
            .add_message::<MoleculeBackendFailed>()
            .add_message::<TrajectoryFailed>()
            .add_observer(molecule_world::install_dispatcher)
            .add_observer(contact_events::end_contacts)
            .add_observer(collect_members::record_removed)
            .add_observer(prepared_molecule::remove_body)
            .add_observer(prepared_molecule::fix_static)
            .add_observer(prepared_molecule::free_static)
            .add_observer(compartment::remove_surface)
            .add_observer(brownian_motion::release_diffusing)
            .add_observer(acceleration_bound::release_bounded)
            .add_observer(collision_types::restore_collision_types)
            .add_observer(stick_joint::complete_joint)
            .add_observer(stick_joint::strip_joint)
            .add_observer(stick_joint::remove_rapier_joint::<StickJoint>)
            .add_observer(stick_joint::despawn_joints)
            .add_observer(molecule_joint::complete_joint)
            .add_observer(molecule_joint::strip_joint)
            .add_observer(stick_joint::remove_rapier_joint::<MoleculeJoint>)
            .add_observer(molecule_joint::despawn_joints);
        app.register_required_components::<RapierContextSimulation, MoleculeWorld>();
        substep_loop::add_substep_schedule(app);
        app.add_systems(
            MoleculeSubstep,
            (
                brownian_motion::diffuse.in_set(MoleculeSystems::Diffuse),
                (
                    acceleration_bound::store_start_poses,
                    contact_systems::gather,
                )
                    .chain()
                    .in_set(MoleculeSystems::Gather),
                contact_systems::detect.in_set(MoleculeSystems::Detect),
                (
                    external_contacts::collect_external_contacts,
                    contact_systems::respond,
                    contact_systems::update_touching,
                    rapier_events::send_rapier_events,
                    compartment_springs::compute_springs,
                )
                    .chain()
                    .in_set(MoleculeSystems::Respond),
                contact_systems::apply.in_set(MoleculeSystems::Apply),
                acceleration_bound::track_collisions.in_set(MoleculeSystems::TrackCollisions),
            ),
        );
    }

    fn finish(&self, app: &mut App) {
        if !(self.replace_step)(app) {
            error!(
                "molecules will not move because Rapier's step system was not found: add \
                 RapierPhysicsPlugin, and pass its hooks to MoleculePlugins::with_hooks"
            );
        }
    }
}

/// Adds the systems that run once per frame to the schedule of Rapier.
pub(super) fn add_frame_systems(app: &mut App, schedule: Interned<dyn ScheduleLabel>) {
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
            MoleculeSystems::React.after(PhysicsSet::Writeback),
            MoleculeSystems::Record.after(MoleculeSystems::React),
        ),
    )
    .add_systems(
        schedule,
        (
            (
                prepared_molecule::prepare_molecules,
                compartment::build_surfaces,
                compartment_springs::validate_confinements,
            )
                .chain()
                .in_set(MoleculeSystems::Prepare),
            (
                state_errors::guard_transforms,
                state_errors::guard_velocities,
            )
                .chain()
                .in_set(PhysicsSet::SyncBackend)
                .after(RapierTransformPropagateSet)
                .before(on_add_entity_with_parent),
            (
                molecule_world::apply_contact_model,
                collision_types::apply_collision_types,
                collect_members::remove_missed_bodies,
                collect_members::collect_members,
                contact_rules::update_contact_rules,
                backend::choose_device,
                backend::assign_backends,
                compartment::move_surfaces,
                brownian_motion::collect_diffusing,
                acceleration_bound::collect_bounded,
            )
                .chain()
                .in_set(MoleculeSystems::Collect),
            (
                contact_events::publish_contacts,
                reactions::accept_reactions,
                collisions::publish_collisions,
            )
                .chain()
                .in_set(MoleculeSystems::Publish),
            reactions::replace_reactants.in_set(MoleculeSystems::React),
            trajectory_recorder::record_trajectories.in_set(MoleculeSystems::Record),
        ),
    );
}
