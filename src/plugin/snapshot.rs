//! Snapshots of the physics world.

use std::fmt;

use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy_rapier3d::plugin::systems::writeback_rigid_bodies;
use bevy_rapier3d::prelude::{
    RapierContextColliders, RapierContextJoints, RapierContextSimulation, RapierRigidBodySet,
    SimulationToRenderTime,
};
use bevy_rapier3d::rapier::dynamics::{CCDSolver, IntegrationParameters, IslandManager};
use bevy_rapier3d::rapier::geometry::{BroadPhaseBvh, NarrowPhase};
use thiserror::Error;

use super::contact_events::TouchingPairs;
use super::molecule_world::MoleculeWorld;
use crate::dynamics::ContactSnapshot;
use crate::motion::brownian::BrownianState;
use crate::motion::molecule_collisions::MoleculeCollisionDetector;

/// The state of all Rapier contexts and their molecules at one time: bodies, contacts, joints,
/// Brownian motion and collision detection. From a restored snapshot, the next steps are the same
/// bit for bit.
///
/// Kept in memory, for undo, rollback or what-if studies. Entities and their components are not part
/// of it, except for `Transform`, `Velocity` and `Sleeping` of the bodies, which follow from it.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::plugin::PhysicsSnapshot;
/// # fn undo(app: &mut App) -> Result<(), Box<dyn std::error::Error>> {
/// let snapshot = PhysicsSnapshot::take(app.world_mut());
/// app.update();
/// snapshot.restore(app.world_mut())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PhysicsSnapshot(Vec<ContextSnapshot>);

/// The state of one context.
#[derive(Clone)]
struct ContextSnapshot {
    context: Entity,
    bodies: RapierRigidBodySet,
    colliders: RapierContextColliders,
    joints: RapierContextJoints,
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    ccd_solver: CCDSolver,
    integration_parameters: IntegrationParameters,
    ahead: SimulationToRenderTime,
    contacts: ContactSnapshot,
    touching: TouchingPairs,
    clock: f64,
    diffusion: Option<BrownianState>,
    bounded: Option<MoleculeCollisionDetector>,
}

/// Why a [`PhysicsSnapshot`] is rejected. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A Rapier context is gone.
    #[error("Rapier context {context} of the snapshot does not exist")]
    ContextGone {
        /// The context.
        context: Entity,
    },
    /// Bodies, colliders, joints or molecules were added or removed since the snapshot.
    #[error(
        "the bodies, colliders, joints or molecules of Rapier context {context} are not those of \
         the snapshot"
    )]
    EntitiesChanged {
        /// The context.
        context: Entity,
    },
}

/// The components of a context.
type ContextComponents = (
    Entity,
    &'static mut RapierRigidBodySet,
    &'static mut RapierContextColliders,
    &'static mut RapierContextJoints,
    &'static mut RapierContextSimulation,
    &'static mut SimulationToRenderTime,
    &'static mut MoleculeWorld,
);

impl PhysicsSnapshot {
    /// Takes a snapshot between two frames. Contacts on a GPU are read back.
    pub fn take(world: &mut World) -> Self {
        let mut contexts = world.query::<ContextComponents>();
        let contexts = contexts.iter_mut(world);
        let snapshots = contexts.map(
            |(context, bodies, colliders, joints, simulation, ahead, mut molecules)| {
                ContextSnapshot {
                    context,
                    bodies: bodies.clone(),
                    colliders: colliders.clone(),
                    joints: joints.clone(),
                    islands: simulation.islands.clone(),
                    broad_phase: simulation.broad_phase.clone(),
                    narrow_phase: simulation.narrow_phase.clone(),
                    ccd_solver: simulation.ccd_solver.clone(),
                    integration_parameters: simulation.integration_parameters,
                    ahead: ahead.clone(),
                    contacts: molecules.contacts.snapshot(),
                    touching: molecules.touching.clone(),
                    clock: molecules.clock,
                    diffusion: molecules.diffusion.state(),
                    bounded: molecules.bounded.state(),
                }
            },
        );
        Self(snapshots.collect())
    }

    /// Restores the snapshot between two frames. Contexts that did not exist then stay as they are.
    ///
    /// # Errors
    /// [`SnapshotError`] if entities of the physics world were added or removed since the snapshot.
    pub fn restore(&self, world: &mut World) -> Result<(), SnapshotError> {
        let mut contexts = world.query::<ContextComponents>();
        for snapshot in &self.0 {
            let context = snapshot.context;
            let Ok((_, bodies, colliders, joints, _, _, molecules)) =
                contexts.get_mut(world, context)
            else {
                return Err(SnapshotError::ContextGone { context });
            };
            let is_same = bodies.entity2body() == snapshot.bodies.entity2body()
                && handles(&colliders) == handles(&snapshot.colliders)
                && joints.entity2impulse_joint() == snapshot.joints.entity2impulse_joint()
                && joints.entity2multibody_joint() == snapshot.joints.entity2multibody_joint()
                && molecules.diffusion.state().is_some() == snapshot.diffusion.is_some()
                && molecules.bounded.state().is_some() == snapshot.bounded.is_some()
                && molecules.contacts.has_members_of(&snapshot.contacts);
            if !is_same {
                return Err(SnapshotError::EntitiesChanged { context });
            }
        }
        for snapshot in &self.0 {
            if let Ok(components) = contexts.get_mut(world, snapshot.context) {
                let (
                    _,
                    mut bodies,
                    mut colliders,
                    mut joints,
                    mut simulation,
                    mut ahead,
                    molecules,
                ) = components;
                *bodies = snapshot.bodies.clone();
                *colliders = snapshot.colliders.clone();
                *joints = snapshot.joints.clone();
                simulation.islands = snapshot.islands.clone();
                simulation.broad_phase = snapshot.broad_phase.clone();
                simulation.narrow_phase = snapshot.narrow_phase.clone();
                simulation.ccd_solver = snapshot.ccd_solver.clone();
                simulation.integration_parameters = snapshot.integration_parameters;
                *ahead = snapshot.ahead.clone();
                snapshot.restore_molecules(molecules.into_inner());
            }
        }
        // The components of the bodies, so that Rapier does not take their old values for changes of
        // the app.
        if let Err(error) = world.run_system_once(writeback_rigid_bodies) {
            error!("failed to update the transforms of a restored snapshot: {error}");
        }
        Ok(())
    }
}

impl ContextSnapshot {
    fn restore_molecules(&self, molecules: &mut MoleculeWorld) {
        molecules.contacts.restore_snapshot(&self.contacts);
        molecules.touching.restore(&self.touching);
        molecules.clock = self.clock;
        molecules.diffusion.restore(self.diffusion.as_ref());
        molecules.bounded.restore(self.bounded.as_ref());
    }
}

impl fmt::Debug for PhysicsSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let contexts = self.0.iter().map(|snapshot| snapshot.context);
        f.debug_struct("PhysicsSnapshot")
            .field("contexts", &contexts.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The handles of all colliders, in their order.
fn handles(colliders: &RapierContextColliders) -> Vec<(u32, u32)> {
    let colliders = colliders.colliders.iter();
    colliders
        .map(|(handle, _)| handle.into_raw_parts())
        .collect()
}
