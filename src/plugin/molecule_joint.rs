//! Joints between molecules, such as the links of a fiber.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    GenericJointBuilder, ImpulseJoint, JointAxesMask, JointAxis, RapierImpulseJointHandle,
    RapierRigidBodyHandle, TypedJoint,
};

use super::components::Molecule;
use crate::crowd::JointLimits;
use crate::pose::Pose;

/// An angle that no joint exceeds, radian.
const LARGEST_ANGLE: f32 = std::f32::consts::PI;

/// A joint with limits between two molecules, such as two links of a fiber: a
/// [`CrowdJoint`](crate::crowd::CrowdJoint) in a Rapier world.
///
/// [`SpawnCrowd`](super::SpawnCrowd) and `PackedRecipe` spawn one for each joint, and apps may spawn
/// more. The plugin adds an [`ImpulseJoint`], which may be changed, and makes the entity a child of
/// `b`, where Rapier expects it. Despawn the entity to break the joint. It is despawned with either
/// molecule.
///
/// Rapier keeps the largest gap, the bend and the twist. A limit of zero locks the axes, and an
/// angle of π leaves them free. Least gaps are not kept, except by contacts: the molecules still
/// collide with each other.
///
/// Rapier solves the joints of a fiber one after another. If a long fiber swings or is pulled hard,
/// bends exceed their limits for a moment, and more substeps bring them closer. Molecules with
/// [`BrownianMotion`](super::BrownianMotion) make their random steps without regard to joints; Rapier
/// then pulls them back, by at most its largest corrective velocity: links of 1 nm that diffuse fast
/// were up to 1 nm apart.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// use bevy_rapier_molecules::crowd::JointLimits;
///
/// fn tether(mut commands: Commands, assets: Res<AssetServer>) {
///     let [a, b] = [0.0, 6.0].map(|x| {
///         let molecule = Molecule(assets.load("molecules/1ubq.cif"));
///         commands.spawn((molecule, Transform::from_xyz(x, 0.0, 0.0))).id()
///     });
///     // The centers stay within 8 nm.
///     let limits = JointLimits { gap: 8.0, ..JointLimits::default() };
///     commands.spawn(MoleculeJoint { a, b, frames: [Pose::IDENTITY; 2], limits });
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[component(immutable)]
#[reflect(Component, Clone, Debug, PartialEq)]
pub struct MoleculeJoint {
    /// A molecule.
    #[entities]
    pub a: Entity,
    /// The other molecule.
    #[entities]
    pub b: Entity,
    /// Frame of the joint in the body frame of each molecule: the origin is the anchor, z the axis.
    pub frames: [Pose; 2],
    /// The limits.
    pub limits: JointLimits,
}

/// The first molecule of a joint. The second one is its parent.
#[derive(Component)]
#[relationship(relationship_target = JointsFrom)]
pub(super) struct FirstMolecule(Entity);

/// The joints whose first molecule this is.
#[derive(Component)]
#[relationship_target(relationship = FirstMolecule, linked_spawn)]
pub(super) struct JointsFrom(Vec<Entity>);

impl MoleculeJoint {
    /// The joint in Rapier.
    ///
    /// Coupled axes limit a length or an angle: the distance of the anchors, and the angle between
    /// the z axes. The limit of z alone is that of the twist, with the same definition as that of
    /// [`JointState`](crate::crowd::JointState).
    fn impulse_joint(&self) -> ImpulseJoint {
        let JointLimits {
            gap, bend, twist, ..
        } = self.limits;
        let bends = JointAxesMask::ANG_X | JointAxesMask::ANG_Y;
        let [first, second] = self.frames;
        let mut joint = GenericJointBuilder::new(JointAxesMask::empty())
            .local_anchor1(first.position)
            .local_basis1(first.rotation)
            .local_anchor2(second.position)
            .local_basis2(second.rotation)
            .coupled_axes(JointAxesMask::LIN_AXES | bends);
        for (limit, largest, axis, axes) in [
            (gap, f32::MAX, JointAxis::LinX, JointAxesMask::LIN_AXES),
            (bend, LARGEST_ANGLE, JointAxis::AngX, bends),
            (twist, LARGEST_ANGLE, JointAxis::AngZ, JointAxesMask::ANG_Z),
        ] {
            if limit == 0.0 {
                joint = joint.locked_axes(axes);
            } else if limit < largest {
                joint = joint.limits(axis, [-limit, limit]);
            }
        }
        ImpulseJoint::new(self.a, TypedJoint::GenericJoint(joint.build()))
    }

    /// Why the joint is invalid.
    fn error(&self) -> Option<String> {
        if !self.frames.iter().all(Pose::is_rigid) {
            return Some("its frames need finite positions and unit rotations".to_owned());
        }
        let limits = self.limits.check();
        limits.err().map(|error| error.to_string())
    }
}

/// The joints whose first molecule is `molecule`.
pub(super) fn joints_from(
    world: &World,
    molecule: Entity,
) -> impl Iterator<Item = (Entity, &MoleculeJoint)> {
    let joints = world.get::<JointsFrom>(molecule);
    let joints = joints.into_iter().flat_map(|joints| &joints.0);
    joints.filter_map(|&entity| Some((entity, world.get::<MoleculeJoint>(entity)?)))
}

/// Completes a new joint, or despawns it if a molecule is gone.
pub(super) fn complete_joint(
    added: On<Add, MoleculeJoint>,
    mut commands: Commands,
    joints: Query<&MoleculeJoint>,
) {
    let Ok(joint) = joints.get(added.entity) else {
        return;
    };
    let &MoleculeJoint { a, b, .. } = joint;
    if [a, b].iter().any(|it| commands.get_entity(*it).is_err()) {
        commands.entity(added.entity).try_despawn();
        return;
    }
    let mut entity = commands.entity(added.entity);
    entity.try_insert((FirstMolecule(a), ChildOf(b)));
    match joint.error() {
        Some(error) => error!("joint {} of {a} and {b} is invalid: {error}", added.entity),
        None => {
            entity.try_insert(joint.impulse_joint());
        }
    }
}

/// Removes what [`complete_joint`] and Rapier have added.
pub(super) fn strip_joint(removed: On<Remove, MoleculeJoint>, mut commands: Commands) {
    if let Ok(mut entity) = commands.get_entity(removed.entity) {
        entity.try_remove::<(ImpulseJoint, RapierImpulseJointHandle, FirstMolecule)>();
    }
}

/// Despawns the joints of a molecule that is removed, or whose body is.
pub(super) fn despawn_joints(
    removed: On<Remove, (Molecule, RapierRigidBodyHandle)>,
    mut commands: Commands,
    molecules: Query<(Option<&JointsFrom>, Option<&Children>)>,
    joints: Query<(), With<MoleculeJoint>>,
) {
    let Ok((first, second)) = molecules.get(removed.entity) else {
        return;
    };
    let first = first.into_iter().flat_map(|joints| &joints.0);
    let second = second.into_iter().flatten();
    for &joint in first.chain(second) {
        if joints.contains(joint) {
            commands.entity(joint).try_despawn();
        }
    }
}
