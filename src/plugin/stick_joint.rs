//! Joints between molecules that stick together.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    FixedJointBuilder, ImpulseJoint, RapierContextEntityLink, RapierContextJoints,
    RapierImpulseJointHandle, RapierRigidBodyHandle,
};
use bevy_rapier3d::rapier::dynamics::RigidBodySet;

use super::components::Molecule;
use super::molecule_world::Member;
use super::rapier_body::finite_body_pose;

/// A fixed joint between two molecules that stick together.
///
/// The plugin spawns one for each collision of bodies moved by Rapier that ends in
/// [`CollisionOutcome::Stick`](super::CollisionOutcome::Stick); apps may spawn more. The plugin adds
/// an [`ImpulseJoint`] without contacts, which may be changed, and makes the entity a child of `b`,
/// where Rapier expects it. Despawn the entity to break the joint. It is despawned with either
/// molecule.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn break_joints(mut commands: Commands, joints: Query<(Entity, &StickJoint)>) {
///     for (joint, StickJoint { a, b, .. }) in &joints {
///         info!("{a} and {b} part");
///         commands.entity(joint).despawn();
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[component(immutable)]
#[reflect(Component, Clone, Debug, PartialEq)]
pub struct StickJoint {
    /// A molecule.
    #[entities]
    pub a: Entity,
    /// The molecule that sticks to it.
    #[entities]
    pub b: Entity,
    /// Position of `b` in the body frame of `a`, nm.
    pub position: Vec3,
    /// Rotation from the body frame of `b` to that of `a`.
    pub rotation: Quat,
}

impl StickJoint {
    /// The joint in Rapier.
    fn impulse_joint(&self) -> ImpulseJoint {
        let joint = FixedJointBuilder::new()
            .local_anchor1(self.position)
            .local_basis1(self.rotation);
        let mut joint = ImpulseJoint::new(self.a, joint);
        joint.data.as_mut().set_contacts_enabled(false);
        joint
    }
}

/// Joins two molecules at once, unless they have a joint already. Rapier makes joints of entities
/// in the next frame only.
pub(super) fn join(
    [one, other]: [Member; 2],
    bodies: &RigidBodySet,
    context: Entity,
    joints: &mut RapierContextJoints,
    commands: &mut Commands,
) {
    let [a, b] = [one, other].map(|member| finite_body_pose(bodies.get(member.body)));
    let (Some(a), Some(b)) = (a, b) else {
        return;
    };
    let joints = &mut joints.impulse_joints;
    if joints.joints_between(one.body, other.body).count() > 0 {
        return;
    }
    let joint = StickJoint {
        a: one.entity,
        b: other.entity,
        position: a.inverse_transform_point(b.position),
        rotation: (a.rotation.inverse() * b.rotation).normalize(),
    };
    let data = joint.impulse_joint().data.as_ref().into_rapier();
    let handle = joints.insert(one.body, other.body, data, true);
    commands.spawn((
        joint,
        RapierContextEntityLink(context),
        RapierImpulseJointHandle(handle),
    ));
}

/// Completes a new joint.
pub(super) fn complete_joint(
    added: On<Add, StickJoint>,
    mut commands: Commands,
    joints: Query<&StickJoint>,
) {
    if let Ok(joint) = joints.get(added.entity) {
        let bundle = (joint.impulse_joint(), ChildOf(joint.b));
        commands.entity(added.entity).try_insert(bundle);
    }
}

/// Removes a [`StickJoint`] or [`MoleculeJoint`](super::MoleculeJoint) `J` from Rapier at once.
/// Rapier's plugin misses removals if its schedule does not run in the same frame, and does not know
/// joints that [`join`] made until it replaces them.
pub(super) fn remove_rapier_joint<J: Component>(
    removed: On<Remove, (J, RapierImpulseJointHandle)>,
    joints: Query<(&RapierImpulseJointHandle, &RapierContextEntityLink), With<J>>,
    mut contexts: Query<&mut RapierContextJoints>,
) {
    if let Ok((handle, link)) = joints.get(removed.entity)
        && let Ok(mut context) = contexts.get_mut(link.0)
    {
        context.impulse_joints.remove(handle.0, true);
    }
}

/// Removes what [`complete_joint`] and Rapier have added.
pub(super) fn strip_joint(removed: On<Remove, StickJoint>, mut commands: Commands) {
    if let Ok(mut entity) = commands.get_entity(removed.entity) {
        entity.try_remove::<(ImpulseJoint, RapierImpulseJointHandle)>();
    }
}

/// Despawns the joints of a molecule that is removed, or whose body is.
pub(super) fn despawn_joints(
    removed: On<Remove, (Molecule, RapierRigidBodyHandle)>,
    mut commands: Commands,
    joints: Query<(Entity, &StickJoint)>,
) {
    for (entity, joint) in &joints {
        if [joint.a, joint.b].contains(&removed.entity) {
            commands.entity(entity).try_despawn();
        }
    }
}
