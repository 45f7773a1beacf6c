//! The substep loop, which replaces Rapier's step system.
//!
//! Rapier runs all substeps of a [`TimestepMode`] in one call. Here each substep is one run
//! of the schedule [`MoleculeSubstep`], whose set `Step` is one step of Rapier, so that
//! contacts are up to date in every substep.

use std::time::Instant;

use bevy::ecs::intern::Interned;
use bevy::ecs::schedule::{ScheduleCleanupPolicy, ScheduleLabel, SingleThreadedExecutor};
use bevy::ecs::system::{RunSystemOnce, StaticSystemParam, SystemParamItem};
use bevy::prelude::*;
use bevy_rapier3d::plugin::systems::step_simulation;
use bevy_rapier3d::prelude::{
    BevyPhysicsHooks, CollisionEvent, ContactForceEvent, PhysicsSet, RapierConfiguration,
    RapierContextColliders, RapierContextEntityLink, RapierContextJoints, RapierContextSimulation,
    RapierRigidBodyHandle, RapierRigidBodySet, SimulationToRenderTime, TimestepMode,
    TransformInterpolation,
};

use super::MoleculeSystems;
use super::contact_systems;
use super::hooks::{RapierHooks, filter_pairs};
use super::molecule_world::{MoleculeTimes, MoleculeWorld};
use super::plugins::add_frame_systems;

/// One substep of all Rapier contexts. Runs inside [`PhysicsSet::StepSimulation`], as often
/// as the [`TimestepMode`] requires.
///
/// Systems in this schedule can read and change the bodies in every substep. Order them
/// with [`MoleculeSystems`]. [`MoleculeWorld::substep`] is the length of the substep, or
/// `None` if a context does not step.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// # let mut app = App::new();
/// // A wind along x acts on all bodies in each substep.
/// fn blow(mut contexts: Query<&mut RapierRigidBodySet>) {
///     for mut context in &mut contexts {
///         for (_, body) in context.bodies.iter_mut() {
///             body.apply_impulse(0.01 * body.mass() * Vec3::X, true);
///         }
///     }
/// }
/// app.add_systems(MoleculeSubstep, blow.before(MoleculeSystems::Gather));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ScheduleLabel)]
pub struct MoleculeSubstep;

/// The steps of one context in a frame.
struct StepPlan {
    context: Entity,
    /// Number of steps, each of `substeps` substeps.
    steps: usize,
    substeps: usize,
    /// Length of a substep, s.
    substep: f32,
    /// Timestep in Rapier's integration parameters between frames, s.
    total: f32,
}

impl StepPlan {
    fn substep_count(&self) -> usize {
        self.steps * self.substeps
    }
}

/// Adds the schedule of a substep.
pub(super) fn add_substep_schedule(app: &mut App) {
    let mut schedule = Schedule::new(MoleculeSubstep);
    // There are few short systems, some of which use all threads themselves.
    schedule.set_executor(SingleThreadedExecutor::new());
    app.add_schedule(schedule).configure_sets(
        MoleculeSubstep,
        (
            MoleculeSystems::Diffuse,
            MoleculeSystems::Gather,
            MoleculeSystems::Detect,
            MoleculeSystems::Respond,
            MoleculeSystems::Apply,
            MoleculeSystems::Step,
            MoleculeSystems::TrackCollisions,
        )
            .chain(),
    );
}

/// Replaces Rapier's step system by the substep loop, in whatever schedule it is, and adds
/// Rapier's step to the substep. Returns whether Rapier's system was found.
pub(super) fn replace_rapier_step<Hooks>(app: &mut App) -> bool
where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    let labels: Vec<Interned<dyn ScheduleLabel>> = app
        .world()
        .resource::<Schedules>()
        .iter()
        .filter(|(_, schedule)| {
            let sets = &schedule.graph().system_sets;
            sets.contains(PhysicsSet::StepSimulation)
        })
        .map(|(_, schedule)| schedule.label())
        .collect();
    let step = step_rapier::<Hooks>.in_set(MoleculeSystems::Step);
    let filter = filter_pairs::<Hooks>
        .in_set(MoleculeSystems::Detect)
        .after(contact_systems::detect);
    app.add_systems(MoleculeSubstep, (step, filter));
    let mut found = false;
    for label in labels {
        let removed = app.remove_systems_in_set(
            label,
            step_simulation::<Hooks>,
            ScheduleCleanupPolicy::RemoveSystemsOnly,
        );
        if matches!(removed, Ok(count) if count > 0) {
            found = true;
            app.add_systems(label, run_substeps.in_set(PhysicsSet::StepSimulation));
            add_frame_systems(app, label);
        }
    }
    found
}

/// Runs [`MoleculeSubstep`] as often as the timestep mode requires.
fn run_substeps(world: &mut World) {
    let mode = *world.resource::<TimestepMode>();
    let elapsed = world.resource::<Time>().delta_secs();
    let plans = plan_steps(world, mode, elapsed);
    let count = plans.iter().map(StepPlan::substep_count).max();
    for substep in 0..count.unwrap_or(0) {
        for plan in &plans {
            let active = substep < plan.substep_count();
            let last_step = active && substep == (plan.steps - 1) * plan.substeps;
            if last_step && matches!(mode, TimestepMode::Interpolated { .. }) {
                let _ = world.run_system_once_with(begin_interpolation, plan.context);
            }
            if let Some(mut molecules) = world.get_mut::<MoleculeWorld>(plan.context) {
                molecules.substep = active.then_some(plan.substep);
            }
        }
        world.run_schedule(MoleculeSubstep);
    }
    for plan in &plans {
        if let Some(mut molecules) = world.get_mut::<MoleculeWorld>(plan.context) {
            molecules.substep = None;
        }
        if let Some(mut simulation) = world.get_mut::<RapierContextSimulation>(plan.context) {
            simulation.integration_parameters.dt = plan.total;
        }
    }
}

/// Computes the number of substeps of each context, by the same rules as Rapier.
fn plan_steps(world: &mut World, mode: TimestepMode, elapsed: f32) -> Vec<StepPlan> {
    let mut contexts = world.query::<(
        Entity,
        &RapierConfiguration,
        &RapierRigidBodySet,
        &mut RapierContextColliders,
        &mut SimulationToRenderTime,
        &mut MoleculeWorld,
    )>();
    let mut plans = Vec::new();
    for (context, config, bodies, mut colliders, mut ahead, mut molecules) in
        contexts.iter_mut(world)
    {
        molecules.times = MoleculeTimes::default();
        if !config.physics_pipeline_active {
            bodies.propagate_modified_body_positions_to_colliders(&mut colliders);
            continue;
        }
        let (steps, substeps, substep, total) = match mode {
            TimestepMode::Fixed { dt, substeps } => (1, substeps, dt / substeps as f32, dt),
            TimestepMode::Variable {
                max_dt,
                time_scale,
                substeps,
            } => {
                let dt = (elapsed * time_scale).min(max_dt);
                (1, substeps, dt / substeps as f32, dt)
            }
            TimestepMode::Interpolated {
                dt,
                time_scale,
                substeps,
            } => {
                ahead.diff += elapsed;
                let mut steps = 0;
                // A step of zero length would loop forever.
                while ahead.diff > 0.0 && dt > 0.0 {
                    ahead.diff -= dt;
                    steps += 1;
                }
                (steps, substeps, dt / substeps as f32 * time_scale, dt)
            }
        };
        plans.push(StepPlan {
            context,
            steps,
            substeps,
            substep,
            total,
        });
    }
    plans
}

/// Stores the start poses of a context's bodies for interpolation, before its last step.
fn begin_interpolation(
    In(context): In<Entity>,
    contexts: Query<&RapierRigidBodySet>,
    mut bodies: Query<(
        &RapierRigidBodyHandle,
        &RapierContextEntityLink,
        &mut TransformInterpolation,
    )>,
) {
    let Ok(set) = contexts.get(context) else {
        return;
    };
    for (handle, link, mut interpolation) in &mut bodies {
        if link.0 == context
            && let Some(body) = set.bodies.get(handle.0)
        {
            interpolation.start = Some(*body.position());
            interpolation.end = None;
        }
    }
}

/// Runs one step of Rapier in each context that takes part in this substep.
fn step_rapier<Hooks>(
    mut contexts: Query<(
        &mut RapierContextSimulation,
        &mut RapierContextColliders,
        &mut RapierContextJoints,
        &mut RapierRigidBodySet,
        &RapierConfiguration,
        &mut SimulationToRenderTime,
        &mut MoleculeWorld,
    )>,
    hooks: StaticSystemParam<Hooks>,
    time: Res<Time>,
    mut collisions: MessageWriter<CollisionEvent>,
    mut forces: MessageWriter<ContactForceEvent>,
) where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    let hooks = RapierHooks(hooks.into_inner());
    for (mut simulation, mut colliders, mut joints, mut bodies, config, mut ahead, mut world) in
        &mut contexts
    {
        let Some(substep) = world.substep else {
            continue;
        };
        let start = Instant::now();
        simulation.step_simulation(
            &mut colliders,
            &mut joints,
            &mut bodies,
            config.gravity,
            TimestepMode::Fixed {
                dt: substep,
                substeps: 1,
            },
            Some((&collisions, &forces)),
            &hooks,
            &time,
            &mut ahead,
            None,
        );
        simulation.send_bevy_events(&mut collisions, &mut forces);
        world.times.step += start.elapsed();
        world.times.substeps += 1;
        world.clock += f64::from(substep);
    }
}
