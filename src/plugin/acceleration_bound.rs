//! Collision detection for molecules with a bounded acceleration.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{RapierContextEntityLink, RapierContextJoints, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::{RigidBody, RigidBodySet};

use super::brownian_motion::BrownianMotion;
use super::collisions::{CollisionRule, MoleculeCollision};
use super::components::Molecule;
use super::molecule_world::{Members, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use super::rapier_body::finite_body_pose;
use super::reactions::MoleculeReactions;
use super::state_errors::ReportedEntities;
use super::stick_joint::join;
use crate::dynamics::MemberIndex;
use crate::molecule::MoleculeTemplate;
use crate::motion::molecule_collisions::{MoleculeCollisionDetector, MovingPose};
use crate::motion::{CollisionOutcome, MotionError, OverlapShape};

/// Upper bound on the acceleration of a molecule by forces and fields, nm/s².
///
/// Collisions between molecules with a bound are reported as
/// [`MoleculeCollision`](super::MoleculeCollision) with their time of impact. Time-varying
/// bounds of the bounding spheres find candidate pairs, and their atoms are tested along the
/// whole substep: no collision is missed at any speed, if a molecule rotates by at most half a
/// turn per substep. Distant molecules cost almost nothing.
///
/// Impacts may exceed the bound; these are detected. If the bound is negative or not finite,
/// the molecule is ignored and an error is logged.
///
/// Default: 9.81 nm/s², Rapier's gravity.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let molecule = Molecule(assets.load("molecules/popc.pdb"));
///     // A `MessageReader<MoleculeCollision>` receives the collisions of all molecules.
///     commands.spawn((molecule, AccelerationBound::default(), MoleculeEventsEnabled)).observe(
///         |collision: On<MoleculeCollision>| {
///             info!("hit {} after {} s", collision.other, collision.time);
///         },
///     );
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(Molecule)]
pub struct AccelerationBound(pub f32);

impl Default for AccelerationBound {
    fn default() -> Self {
        Self(9.81)
    }
}

/// The molecules of a context with an [`AccelerationBound`].
#[derive(Default)]
pub(super) struct BoundedMolecules {
    /// Whether the fields below are up to date.
    pub collected: bool,
    detector: Option<MoleculeCollisionDetector>,
    /// Index of each molecule.
    members: Vec<MemberIndex>,
    /// Each molecule with its bound and its shape.
    bounded: Vec<(Entity, f64, Arc<OverlapShape>)>,
    starts: Vec<MovingPose>,
    ends: Vec<MovingPose>,
    shapes: Vec<(Arc<MoleculeTemplate>, Arc<OverlapShape>)>,
    invalid_bounds: ReportedEntities,
}

impl BoundedMolecules {
    /// Whether molecules have a valid bound.
    pub fn is_active(&self) -> bool {
        !self.members.is_empty()
    }

    /// The state of the detector.
    pub fn state(&self) -> Option<MoleculeCollisionDetector> {
        self.detector.clone()
    }

    /// Continues from a previous state.
    pub fn restore(&mut self, state: Option<&MoleculeCollisionDetector>) {
        self.detector = state.cloned();
    }

    /// Rebuilds the detector from the members with a bound, unless they are the same as before.
    fn rebuild(
        &mut self,
        members: &Members,
        bodies: &RigidBodySet,
        molecules: &Query<(&PreparedMolecule, &AccelerationBound)>,
        clock: f64,
    ) -> Result<(), MotionError> {
        self.members.clear();
        let mut bounded = Vec::new();
        for (index, member) in members.indexed() {
            let Ok((prepared, &AccelerationBound(bound))) = molecules.get(member.entity) else {
                continue;
            };
            let invalid = !(bound.is_finite() && bound >= 0.0);
            if self.invalid_bounds.is_new(member.entity, invalid) {
                error!(
                    "collisions of molecule {} are not reported: its AccelerationBound is \
                     {bound} nm/s², but must be finite and not negative",
                    member.entity
                );
            }
            if !invalid {
                let shape = self.shape(prepared.template())?;
                bounded.push((member.entity, f64::from(bound), shape));
                self.members.push(index);
            }
        }
        let is_same = |(one, other): (&(Entity, f64, _), &(Entity, f64, _))| {
            (one.0, one.1) == (other.0, other.1) && Arc::ptr_eq(&one.2, &other.2)
        };
        let previous = std::mem::replace(&mut self.bounded, bounded);
        if self.detector.is_some()
            && previous.len() == self.bounded.len()
            && previous.iter().zip(&self.bounded).all(is_same)
        {
            // Only other molecules have changed.
            return Ok(());
        }
        self.detector = None;
        if self.bounded.is_empty() {
            self.shapes.clear();
            return Ok(());
        }
        read_poses(&self.members, members, bodies, &mut self.starts);
        let bounded = self.bounded.iter();
        let bounded: Vec<_> = bounded
            .map(|(_, bound, shape)| (shape.clone(), *bound))
            .collect();
        let detector = MoleculeCollisionDetector::new(&bounded, &self.starts, clock)?;
        self.detector = Some(detector);
        Ok(())
    }

    fn shape(
        &mut self,
        template: &Arc<MoleculeTemplate>,
    ) -> Result<Arc<OverlapShape>, MotionError> {
        let mut known = self.shapes.iter();
        if let Some((_, shape)) = known.find(|(known, _)| Arc::ptr_eq(known, template)) {
            return Ok(shape.clone());
        }
        let shape = Arc::new(OverlapShape::new(template.clone())?);
        self.shapes.push((template.clone(), shape.clone()));
        Ok(shape)
    }
}

/// Reads the poses and velocities of molecules, with zero for invalid ones.
fn read_poses(
    indices: &[MemberIndex],
    members: &Members,
    bodies: &RigidBodySet,
    poses: &mut Vec<MovingPose>,
) {
    poses.clear();
    poses.extend(indices.iter().map(|&index| {
        let body = bodies.get(members[index].body);
        let velocity = body.map(RigidBody::linvel).filter(|v| v.is_finite());
        MovingPose {
            pose: finite_body_pose(body).unwrap_or_default(),
            velocity: velocity.unwrap_or_default().as_dvec3(),
        }
    }));
}

/// Updates the bounded molecules of each context after a change.
pub(super) fn collect_bounded(
    mut worlds: Query<(Entity, &mut MoleculeWorld, &RapierRigidBodySet)>,
    molecules: Query<(&PreparedMolecule, &AccelerationBound)>,
    changed: Query<(), (With<PreparedMolecule>, Changed<AccelerationBound>)>,
) {
    let outdated = !changed.is_empty();
    for (context, mut world, bodies) in &mut worlds {
        if world.bounded.collected && !outdated {
            continue;
        }
        let MoleculeWorld {
            bounded,
            members,
            clock,
            ..
        } = &mut *world;
        bounded.collected = true;
        if let Err(error) = bounded.rebuild(members, &bodies.bodies, &molecules, *clock) {
            error!("collisions in context {context} are not reported: {error}");
            bounded.detector = None;
        }
    }
}

/// Marks the bounded molecules of a context as outdated when a bound is removed.
pub(super) fn release_bounded(
    removed: On<Remove, AccelerationBound>,
    links: Query<&RapierContextEntityLink>,
    mut worlds: Query<&mut MoleculeWorld>,
) {
    if let Ok(link) = links.get(removed.entity)
        && let Ok(mut world) = worlds.get_mut(link.0)
    {
        world.bounded.collected = false;
    }
}

/// Stores the poses of bounded molecules before a step.
pub(super) fn store_start_poses(mut worlds: Query<(&mut MoleculeWorld, &RapierRigidBodySet)>) {
    for (mut world, bodies) in &mut worlds {
        if world.substep.is_none() || world.bounded.detector.is_none() {
            continue;
        }
        let MoleculeWorld {
            bounded, members, ..
        } = &mut *world;
        let starts = &mut bounded.starts;
        read_poses(&bounded.members, members, &bodies.bodies, starts);
    }
}

/// Finds the collisions of a step and joins molecules that stick.
pub(super) fn track_collisions(
    mut commands: Commands,
    (rule, reactions): (Res<CollisionRule>, Res<MoleculeReactions>),
    mut worlds: Query<(
        Entity,
        &mut MoleculeWorld,
        &RapierRigidBodySet,
        &mut RapierContextJoints,
    )>,
    outcomes: Query<(&Molecule, Option<&CollisionOutcome>)>,
    diffusing: Query<(), With<BrownianMotion>>,
) {
    for (context, mut world, bodies, mut joints) in &mut worlds {
        let world = &mut *world;
        let Some(dt) = world.substep.filter(|dt| *dt > 0.0) else {
            continue;
        };
        let BoundedMolecules {
            detector: Some(detector),
            members,
            starts,
            ends,
            ..
        } = &mut world.bounded
        else {
            continue;
        };
        read_poses(members, &world.members, &bodies.bodies, ends);
        let collisions = match detector.step(f64::from(dt), starts, ends) {
            Ok(collisions) => collisions,
            Err(error) => {
                error!("restarting collision detection in context {context}: {error}");
                world.bounded.collected = false;
                world.bounded.detector = None;
                continue;
            }
        };
        for collision in collisions {
            let pair =
                [collision.a, collision.b].map(|index| world.members[members[index as usize]]);
            // The Brownian step has already reported these.
            if pair.iter().any(|member| diffusing.contains(member.entity)) {
                continue;
            }
            let [a, b] = pair.map(|member| outcomes.get(member.entity).ok().unzip());
            let mut decided = rule.decide(MoleculeCollision {
                molecule: pair[0].entity,
                other: pair[1].entity,
                time: collision.time,
                outcome: [a, b]
                    .map(|(_, outcome)| outcome.flatten().copied().unwrap_or_default())
                    .into_iter()
                    .reduce(CollisionOutcome::of_both)
                    .unwrap_or_default(),
            });
            match decided.outcome {
                CollisionOutcome::Bounce => {}
                // The solver has already separated them.
                CollisionOutcome::Pass => decided.outcome = CollisionOutcome::Bounce,
                CollisionOutcome::Stick => {
                    join(pair, &bodies.bodies, context, &mut joints, &mut commands);
                }
                CollisionOutcome::React => {
                    let kinds = [(pair[0].entity, a.0), (pair[1].entity, b.0)];
                    if !world.reactions.draw(&reactions, kinds, decided.time) {
                        decided.outcome = CollisionOutcome::Bounce;
                    }
                }
            }
            world.collisions.push(decided);
        }
    }
}
