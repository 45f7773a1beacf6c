//! The physics modes: the molecules as bodies of Rapier, and back.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Damping, GravityScale, RapierContextSimulation, RigidBody, Velocity};

use super::editor::{CellEditor, CellEditorMode};
use super::notice::{CellEditorError, NoticeLevel};
use crate::plugin::{BrownianMotion, ContactModel, CrowdEntities, NoMoleculeRendering, SpawnCrowd};
use crate::pose::Pose;
use crate::recipe::{LivePacking, MoleculeId};

/// Damping of bodies, 1/s: they come to rest within a second, as in a viscous medium.
const DAMPING: f32 = 4.0;

/// Speed of a pulled body toward the pointer per distance, 1/s.
const PULL: f32 = 8.0;

/// Largest speed of a pulled body, nm/s.
const MAX_SPEED: f32 = 40.0;

/// The bodies of the molecules.
pub(super) struct PhysicsScene {
    mode: CellEditorMode,
    entities: CrowdEntities,
    grip: Option<Grip>,
}

/// The body that is pulled.
struct Grip {
    entity: Entity,
    /// Grabbed point in the body frame, nm.
    local: Vec3,
    /// Where it is pulled to, nm.
    target: Vec3,
}

impl PhysicsScene {
    pub fn mode(&self) -> CellEditorMode {
        self.mode
    }

    /// The body of each member of the crowd.
    pub fn molecules(&self) -> &[Entity] {
        &self.entities.molecules
    }

    fn spawn(
        world: &mut World,
        packing: &LivePacking,
        mode: CellEditorMode,
    ) -> Result<Self, CellEditorError> {
        let contexts = world
            .try_query::<&RapierContextSimulation>()
            .map_or(0, |mut contexts| contexts.iter(world).count());
        if contexts == 0 || !world.contains_resource::<ContactModel>() {
            return Err(CellEditorError::NoPhysics);
        }
        let entities = world.spawn_crowd(packing.crowd())?;
        for &molecule in &entities.molecules {
            let Ok(mut molecule) = world.get_entity_mut(molecule) else {
                continue;
            };
            molecule.insert((NoMoleculeRendering, GravityScale(0.0)));
            let moves = molecule.get::<RigidBody>() != Some(&RigidBody::Fixed);
            if mode == CellEditorMode::Brownian && moves {
                molecule.insert(BrownianMotion::default());
            } else {
                molecule.insert(Damping {
                    linear_damping: DAMPING,
                    angular_damping: DAMPING,
                });
            }
        }
        Ok(Self {
            mode,
            entities,
            grip: None,
        })
    }

    fn despawn(self, world: &mut World) {
        let CrowdEntities {
            molecules,
            compartments,
            ..
        } = self.entities;
        for entity in molecules.into_iter().chain(compartments) {
            // The app may have despawned it.
            let _ = world.try_despawn(entity);
        }
    }

    /// Poses of all members that are there and finite.
    fn poses(&self, world: &World) -> impl Iterator<Item = (usize, Pose)> {
        let pose = |&entity: &Entity| world.get::<Transform>(entity).map(pose_of);
        let poses = self.entities.molecules.iter().map(pose).enumerate();
        poses.filter_map(|(index, pose)| Some((index, pose.filter(Pose::is_rigid)?)))
    }
}

/// The pose of a body.
pub(super) fn pose_of(transform: &Transform) -> Pose {
    Pose::new(transform.translation, transform.rotation)
}

impl CellEditor {
    /// Changes what moves the molecules.
    pub(super) fn set_mode(
        &mut self,
        world: &mut World,
        mode: CellEditorMode,
    ) -> Result<(), CellEditorError> {
        if mode == self.mode() {
            return Ok(());
        }
        self.leave_physics(world)?;
        if mode == CellEditorMode::Packing {
            return Ok(());
        }
        let packing = self.packing.as_mut().ok_or(CellEditorError::NoRecipe)?;
        packing.end_drag()?;
        self.physics = Some(PhysicsScene::spawn(world, packing, mode)?);
        if packing.crowd().periodic_box().is_some() {
            let text = "physics knows no periodic box: molecules may leave it";
            self.notify(NoticeLevel::Warning, text.to_owned());
        }
        Ok(())
    }

    /// Takes the poses of the bodies as one change.
    fn leave_physics(&mut self, world: &mut World) -> Result<(), CellEditorError> {
        let Some(scene) = self.physics.take() else {
            return Ok(());
        };
        let mut poses: Vec<(MoleculeId, Pose)> = Vec::new();
        if let Some(packing) = &self.packing {
            let (ids, members) = (packing.molecule_ids(), packing.crowd().members());
            let moved = scene.poses(world);
            let moved = moved.filter(|(index, pose)| {
                (members.get(*index)).is_some_and(|member| !member.fixed && member.pose != *pose)
            });
            poses.extend(moved.map(|(index, pose)| (ids[index], pose)));
        }
        scene.despawn(world);
        self.moves += 1;
        if let Some(packing) = &mut self.packing {
            packing.move_all(&poses)?;
        }
        Ok(())
    }

    /// Removes the bodies without taking their poses.
    pub(super) fn close_physics(&mut self, world: &mut World) {
        if let Some(scene) = self.physics.take() {
            scene.despawn(world);
        }
    }

    /// The poses of all members now, also of bodies.
    pub(super) fn current_poses(&self, world: &World) -> Vec<Pose> {
        let members = self.packing().map(|packing| packing.crowd().members());
        let members = members.unwrap_or_default().iter();
        let mut poses: Vec<Pose> = members.map(|member| member.pose).collect();
        if let Some(scene) = &self.physics {
            for (index, pose) in scene.poses(world) {
                if let Some(known) = poses.get_mut(index) {
                    *known = pose;
                }
            }
        }
        poses
    }

    /// Grabs a body at a world point.
    pub(super) fn grab_body(&mut self, world: &World, id: MoleculeId, grabbed: Vec3) {
        let index = self.packing().and_then(|packing| packing.index_of(id));
        let Some((scene, index)) = self.physics.as_mut().zip(index) else {
            return;
        };
        let entity = scene.entities.molecules.get(index).copied();
        scene.grip = entity.and_then(|entity| {
            let transform = world.get::<Transform>(entity)?;
            Some(Grip {
                entity,
                local: pose_of(transform).inverse_transform_point(grabbed),
                target: grabbed,
            })
        });
    }

    /// Where the grabbed body is pulled to; let go if it is none.
    pub(super) fn pull_body(&mut self, target: Option<Vec3>) {
        let Some(scene) = &mut self.physics else {
            return;
        };
        match (&mut scene.grip, target) {
            (Some(grip), Some(target)) if target.is_finite() => grip.target = target,
            (_, None) => scene.grip = None,
            _ => {}
        }
    }
}

/// Pulls the grabbed body toward the pointer.
pub(super) fn pull_dragged(
    editor: Res<CellEditor>,
    mut bodies: Query<(&Transform, &mut Velocity)>,
) {
    let grip = editor
        .physics
        .as_ref()
        .and_then(|scene| scene.grip.as_ref());
    if let Some(grip) = grip
        && let Ok((transform, mut velocity)) = bodies.get_mut(grip.entity)
    {
        let missing = grip.target - pose_of(transform).transform_point(grip.local);
        velocity.linear = (PULL * missing).clamp_length_max(MAX_SPEED);
    }
}
