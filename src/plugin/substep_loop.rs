//! Drives the substeps, so that contacts are fresh in each.
//!
//! Rapier runs all substeps of a [`TimestepMode`] in one call, with no way to look in
//! between. Here each substep is one run of the schedule [`MoleculeSubstep`], whose
//! set `Step` is one step of Rapier.

use std::time::Instant;

use bevy::ecs::intern::Interned;
use bevy::ecs::schedule::{ScheduleCleanupPolicy, ScheduleLabel, SingleThreadedExecutor};
use bevy::ecs::system::{StaticSystemParam, SystemParamItem};
use bevy::prelude::*;
use bevy_rapier3d::plugin::systems::step_simulation;
use bevy_rapier3d::prelude::{
    BevyPhysicsHooks, CollisionEvent, ContactForceEvent, PhysicsSet, RapierConfiguration,
    RapierContextColliders, RapierContextJoints, RapierContextSimulation, RapierRigidBodyHandle,
    RapierRigidBodySet, SimulationToRenderTime, TimestepMode, TransformInterpolation,
};

use super::MoleculeSystems;
use super::hooks::RapierHooks;
use super::molecule_world::{MoleculeTimes, MoleculeWorld};
use super::plugins::add_frame_systems;

/// One substep of all Rapier contexts. Runs as often as the [`TimestepMode`] says,
/// inside [`PhysicsSet::StepSimulation`].
///
/// Systems added here see and change the bodies in every substep. Their order among the
/// molecules' own is told by [`MoleculeSystems`]; [`MoleculeWorld::substep`] tells how long
/// the substep is, and that a context takes part in it.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # let mut app = App::new();
/// // A wind along x, felt by all bodies in each substep.
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

/// Steps that one context takes in a frame.
struct Plan {
    context: Entity,
    /// Steps of the simulation, each of `substeps` substeps.
    steps: usize,
    substeps: usize,
    /// Length of a substep, s.
    substep: f32,
    /// What Rapier's parameters say between frames, s.
    total: f32,
}

/// Prepares the schedule of substeps, with Rapier's step at its end.
pub(super) fn add_substep_schedule<Hooks>(app: &mut App)
where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    let mut schedule = Schedule::new(MoleculeSubstep);
    // Few and short systems, some of which use all threads by themselves.
    schedule.set_executor(SingleThreadedExecutor::new());
    app.add_schedule(schedule)
        .configure_sets(
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
        )
        .add_systems(
            MoleculeSubstep,
            step_rapier::<Hooks>.in_set(MoleculeSystems::Step),
        );
}

/// Puts our driver in the place of Rapier's own step, in whatever schedule it is.
/// Returns whether there was one.
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
    let mut found = false;
    for label in labels {
        let removed = app.remove_systems_in_set(
            label,
            step_simulation::<Hooks>,
            ScheduleCleanupPolicy::RemoveSystemsOnly,
        );
        if matches!(removed, Ok(count) if count > 0) {
            found = true;
            app.add_systems(label, drive_substeps.in_set(PhysicsSet::StepSimulation));
            add_frame_systems(app, label);
        }
    }
    found
}

/// Runs [`MoleculeSubstep`] as often as the timestep mode asks for.
fn drive_substeps(world: &mut World) {
    let mode = *world.resource::<TimestepMode>();
    let elapsed = world.resource::<Time>().delta_secs();
    let plans = make_plans(world, mode, elapsed);
    let most = |plan: &Plan| plan.steps * plan.substeps;
    for turn in 0..plans.iter().map(most).max().unwrap_or(0) {
        for plan in &plans {
            let active = turn < most(plan);
            let last_step = active && turn == (plan.steps - 1) * plan.substeps;
            if last_step && matches!(mode, TimestepMode::Interpolated { .. }) {
                begin_interpolation(world, plan.context);
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

/// Decides how many substeps each context takes, by the same rules as Rapier.
fn make_plans(world: &mut World, mode: TimestepMode, elapsed: f32) -> Vec<Plan> {
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
                // A step of no length would never catch up.
                while ahead.diff > 0.0 && dt > 0.0 {
                    ahead.diff -= dt;
                    steps += 1;
                }
                (steps, substeps, dt / substeps as f32 * time_scale, dt)
            }
        };
        plans.push(Plan {
            context,
            steps,
            substeps,
            substep,
            total,
        });
    }
    plans
}

/// Remembers where the bodies of a context are before its last step.
fn begin_interpolation(world: &mut World, context: Entity) {
    let mut bodies = world.query::<(
        &RapierRigidBodyHandle,
        &bevy_rapier3d::prelude::RapierContextEntityLink,
        &mut TransformInterpolation,
    )>();
    let mut starts = Vec::new();
    if let Some(set) = world.get::<RapierRigidBodySet>(context) {
        starts.extend(
            set.bodies
                .iter()
                .map(|(handle, body)| (handle, *body.position())),
        );
    }
    let starts: bevy::platform::collections::HashMap<_, _> = starts.into_iter().collect();
    for (handle, link, mut interpolation) in bodies.iter_mut(world) {
        if link.0 == context
            && let Some(start) = starts.get(&handle.0)
        {
            interpolation.start = Some(*start);
            interpolation.end = None;
        }
    }
}

/// One step of Rapier in each context that takes part in this substep.
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
    for (mut simulation, mut colliders, mut joints, mut bodies, config, mut ahead, mut molecules) in
        &mut contexts
    {
        let Some(substep) = molecules.substep else {
            continue;
        };
        let begin = Instant::now();
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
        molecules.times.step += begin.elapsed();
        molecules.times.substeps += 1;
        molecules.clock += f64::from(substep);
    }
}
