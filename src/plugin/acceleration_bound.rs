//! Molecules that promise a bound on their acceleration, and are told when they meet.

use std::sync::Arc;

use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{RapierContextJoints, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::{FixedJointBuilder, RigidBody, RigidBodySet};

use super::brownian_motion::{BrownianMotion, pose};
use super::collisions::{CollisionOutcome, CollisionRule, MoleculeCollision};
use super::components::Molecule;
use super::molecule_world::{Member, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use crate::molecule::MoleculeTemplate;
use crate::motion::molecule_collisions::{MoleculeCollisionDetector, MovingPose};
use crate::motion::{MotionError, OverlapShape};

/// A bound on the acceleration that forces and fields give a molecule, nm/s².
///
/// Molecules that have one are told when they meet, by
/// [`MoleculeCollision`](super::MoleculeCollision), with the time: time-varying bounds of their
/// bounding spheres find out who may, however fast they are, and their atoms confirm it.
/// Molecules that are far from each other cost next to nothing.
///
/// The bound is a promise about what moves the molecule on its own. One that is hit or
/// kicked may be pushed harder: that is noticed. A bound that is not a number of at least
/// zero leaves the molecule unwatched, and the log says so. Default: 9.81 nm/s², Rapier's
/// gravity.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// #[derive(Resource, Default)]
/// struct Met(Vec<MoleculeCollision>);
/// app.init_resource::<Met>();
///
/// // Two lipids fly towards each other, with 10 nm/s each.
/// let [one, other] = [-5.0, 5.0].map(|x: f32| {
///     let bundle = (
///         Molecule(lipid.clone()),
///         AccelerationBound::default(),
///         CollisionOutcome::Bounce,
///         GravityScale(0.0),
///         Velocity::linear(Vec3::X * -2.0 * x),
///         Transform::from_xyz(x, 0.0, 0.0),
///     );
///     app.world_mut().spawn(bundle).id()
/// });
/// // As an event of one of them; a `MessageReader<MoleculeCollision>` has all.
/// app.world_mut().entity_mut(one).observe(|met: On<MoleculeCollision>, mut list: ResMut<Met>| {
///     list.0.push(*met);
/// });
/// for _ in 0..40 {
///     app.update();
/// }
/// let met = &app.world().resource::<Met>().0;
/// let first = met.first().ok_or("they have not met")?;
/// assert_eq!((first.molecule, first.other), (one, other));
/// assert_eq!(first.outcome, CollisionOutcome::Bounce);
/// assert!(first.time > 0.1 && first.time < 0.55, "after {} s", first.time);
/// # Ok(())
/// # }
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

/// The molecules of a context that are watched.
#[derive(Default)]
pub(super) struct Watched {
    /// Whether these are the members of the context as they are now.
    pub collected: bool,
    watch: Option<MoleculeCollisionDetector>,
    /// Who they are, by the numbers of the context's members.
    numbers: Vec<u32>,
    starts: Vec<MovingPose>,
    ends: Vec<MovingPose>,
    shapes: Vec<(Arc<MoleculeTemplate>, Arc<OverlapShape>)>,
    /// Molecules of which has been said that their bound cannot be.
    complaints: HashSet<Entity>,
}

impl Watched {
    /// Begins to watch the members that have a bound.
    fn rebuild(
        &mut self,
        members: &[Member],
        bodies: &RigidBodySet,
        molecules: &Query<(&PreparedMolecule, &AccelerationBound)>,
        clock: f64,
    ) -> Result<(), MotionError> {
        self.watch = None;
        self.numbers.clear();
        let mut watched = Vec::new();
        for (member, number) in members.iter().zip(0..) {
            let Ok((prepared, bound)) = molecules.get(member.entity) else {
                continue;
            };
            if !(bound.0.is_finite() && bound.0 >= 0.0) {
                let (entity, bound) = (member.entity, bound.0);
                if self.complaints.insert(entity) {
                    error!(
                        "molecule {entity} is not told when it meets others: its \
                         AccelerationBound, {bound} nm/s², has to be a number of at least zero"
                    );
                }
                continue;
            }
            self.complaints.remove(&member.entity);
            let template = prepared.shared().template();
            watched.push((self.shape(template)?, f64::from(bound.0)));
            self.numbers.push(number);
        }
        if watched.is_empty() {
            self.shapes.clear();
            return Ok(());
        }
        read(&self.numbers, members, bodies, &mut self.starts);
        self.watch = Some(MoleculeCollisionDetector::new(
            &watched,
            &self.starts,
            clock,
        )?);
        Ok(())
    }

    fn shape(
        &mut self,
        template: &Arc<MoleculeTemplate>,
    ) -> Result<Arc<OverlapShape>, MotionError> {
        let known = self.shapes.iter();
        let mut known = known.filter(|(one, _)| Arc::ptr_eq(one, template));
        if let Some((_, shape)) = known.next() {
            return Ok(shape.clone());
        }
        let shape = Arc::new(OverlapShape::new(template.clone())?);
        self.shapes.push((template.clone(), shape.clone()));
        Ok(shape)
    }
}

/// Reads where watched molecules are. One that is nowhere stays at the origin.
fn read(numbers: &[u32], members: &[Member], bodies: &RigidBodySet, into: &mut Vec<MovingPose>) {
    into.clear();
    into.extend(numbers.iter().map(|&number| {
        let body = bodies.get(members[number as usize].body);
        let velocity = body.map_or(Vec3::ZERO, RigidBody::linvel);
        let velocity = if velocity.is_finite() {
            velocity.as_dvec3()
        } else {
            default()
        };
        let pose = pose(body).unwrap_or_default();
        MovingPose { pose, velocity }
    }));
}

/// Collects the molecules that are watched when something about them has changed.
pub(super) fn collect_watched(
    mut worlds: Query<(Entity, &mut MoleculeWorld, &RapierRigidBodySet)>,
    molecules: Query<(&PreparedMolecule, &AccelerationBound)>,
    changed: Query<(), (With<PreparedMolecule>, Changed<AccelerationBound>)>,
    mut removed: RemovedComponents<AccelerationBound>,
) {
    let any = !changed.is_empty() || removed.read().count() > 0;
    for (context, mut world, bodies) in &mut worlds {
        if world.watched.collected && !any {
            continue;
        }
        let MoleculeWorld {
            watched,
            members,
            clock,
            ..
        } = &mut *world;
        watched.collected = true;
        if let Err(error) = watched.rebuild(members, &bodies.bodies, &molecules, *clock) {
            error!("nobody is told when molecules of context {context} meet: {error}");
        }
    }
}

/// Takes down where watched molecules are before a step.
pub(super) fn note_starts(mut worlds: Query<(&mut MoleculeWorld, &RapierRigidBodySet)>) {
    for (mut world, bodies) in &mut worlds {
        if world.substep.is_none() || world.watched.watch.is_none() {
            continue;
        }
        let MoleculeWorld {
            watched, members, ..
        } = &mut *world;
        let Watched {
            numbers, starts, ..
        } = watched;
        read(numbers, members, &bodies.bodies, starts);
    }
}

/// Finds out who met in a step, and makes those stick that do.
pub(super) fn watch_meetings(
    rule: Res<CollisionRule>,
    mut worlds: Query<(
        Entity,
        &mut MoleculeWorld,
        &RapierRigidBodySet,
        &mut RapierContextJoints,
    )>,
    answers: Query<&CollisionOutcome>,
    diffusing: Query<(), With<BrownianMotion>>,
) {
    for (context, mut world, bodies, mut joints) in &mut worlds {
        let world = &mut *world;
        let Some(dt) = world.substep.filter(|dt| *dt > 0.0) else {
            continue;
        };
        let Watched {
            watch: Some(watch),
            numbers,
            starts,
            ends,
            ..
        } = &mut world.watched
        else {
            continue;
        };
        read(numbers, &world.members, &bodies.bodies, ends);
        let met = match watch.step(f64::from(dt), starts, ends) {
            Ok(met) => met,
            Err(error) => {
                error!("molecules of context {context} are watched anew: {error}");
                world.watched.collected = false;
                continue;
            }
        };
        for meeting in met {
            let [one, other] =
                [meeting.a, meeting.b].map(|index| world.members[numbers[index as usize] as usize]);
            // Meetings of those that diffuse have been told already.
            if [one, other]
                .iter()
                .any(|member| diffusing.contains(member.entity))
            {
                continue;
            }
            let [a, b] = [one, other].map(|member| answers.get(member.entity).copied());
            let mut decided = rule.decide(MoleculeCollision {
                molecule: one.entity,
                other: other.entity,
                time: meeting.time,
                outcome: a.unwrap_or_default().of_both(b.unwrap_or_default()),
            });
            match decided.outcome {
                CollisionOutcome::Bounce => {}
                // The solver has stopped them already.
                CollisionOutcome::Pass => decided.outcome = CollisionOutcome::Bounce,
                CollisionOutcome::Stick => stick(one, other, &bodies.bodies, &mut joints),
            }
            world.meetings.push(decided);
        }
    }
}

/// Joins two bodies as they are, once.
fn stick(one: Member, other: Member, bodies: &RigidBodySet, joints: &mut RapierContextJoints) {
    let (Some(a), Some(b)) = (bodies.get(one.body), bodies.get(other.body)) else {
        return;
    };
    let joined = joints.impulse_joints.joints_between(one.body, other.body);
    if joined.count() > 0 {
        return;
    }
    let joint = FixedJointBuilder::new()
        .local_frame1(a.position().inverse() * *b.position())
        .contacts_enabled(false);
    joints
        .impulse_joints
        .insert(one.body, other.body, joint, true);
}
