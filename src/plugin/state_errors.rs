//! Errors in the state of a molecule: non-finite poses and velocities, scales.

use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    ColliderScale, RapierContextEntityLink, RapierRigidBodyHandle, RapierRigidBodySet, Velocity,
};
use thiserror::Error;

use super::components::Molecule;

/// What is wrong with the state of a molecule.
#[derive(Clone, Copy, Debug, PartialEq, Error, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// The pose or velocity is not finite. The pose is restored, and the velocity is zeroed.
    #[error("its pose or velocity is not finite")]
    NotFinite,
    /// Too many molecules are in one place to compute contacts. The molecule is excluded from
    /// contacts until it is elsewhere.
    #[error("too many molecules are in the same place; spawn them apart")]
    Crowded,
    /// The transform has a scale other than 1, which is ignored.
    #[error("its scale is {scale}, but must be 1; set the size of atoms in LoadOptions")]
    Scaled {
        /// The scale.
        scale: Vec3,
    },
}

/// The state of a molecule is invalid. The error is also logged.
#[derive(Clone, Copy, Debug, PartialEq, Message, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeStateError {
    /// The molecule.
    pub molecule: Entity,
    /// What is wrong with it.
    pub kind: StateErrorKind,
}

/// Entities with a reported problem, so that each is logged once until it is fixed.
#[derive(Debug, Default)]
pub(super) struct ReportedEntities(HashSet<Entity>);

impl ReportedEntities {
    /// Records whether an entity has the problem. Returns whether the problem is new.
    pub fn is_new(&mut self, entity: Entity, has_problem: bool) -> bool {
        if has_problem {
            self.0.insert(entity)
        } else {
            self.0.remove(&entity);
            false
        }
    }
}

/// Maximum deviation of a scale from 1, for rounding in nested transforms.
const SCALE_TOLERANCE: f32 = 1.0e-3;

/// Keeps invalid transforms of molecules from Rapier.
///
/// A non-finite pose is reset to that of the body, and a scale is ignored. Runs after the
/// propagation of transforms and before Rapier reads them.
pub(super) fn guard_transforms(
    mut molecules: Query<
        (
            Entity,
            &mut GlobalTransform,
            Option<&mut ColliderScale>,
            Option<(&RapierRigidBodyHandle, &RapierContextEntityLink)>,
        ),
        With<Molecule>,
    >,
    mut locals: Query<(&mut Transform, Option<&ChildOf>), With<Molecule>>,
    other_parents: Query<&GlobalTransform, Without<Molecule>>,
    contexts: Query<&RapierRigidBodySet>,
    mut scaled: Local<ReportedEntities>,
    mut errors: MessageWriter<MoleculeStateError>,
) {
    let mut restored = Vec::new();
    for (molecule, mut global, collider_scale, body) in &mut molecules {
        if !global.is_changed() {
            continue;
        }
        if !global.affine().is_finite() {
            let position = body.and_then(|(handle, link)| {
                let bodies = contexts.get(link.0).ok()?;
                Some(*bodies.bodies.get(handle.0)?.position())
            });
            let pose = position
                .map(|position| {
                    Transform::from_translation(position.translation)
                        .with_rotation(position.rotation)
                })
                .filter(Transform::is_finite)
                .unwrap_or_default();
            let kind = StateErrorKind::NotFinite;
            error!(
                "molecule {molecule} was moved to {} and is put back: {kind}",
                global.translation()
            );
            errors.write(MoleculeStateError { molecule, kind });
            *global = pose.into();
            restored.push((molecule, *global));
        }
        let scale = global.scale();
        let is_one = (scale - Vec3::ONE).abs().max_element() < SCALE_TOLERANCE;
        if scaled.is_new(molecule, !is_one) {
            let kind = StateErrorKind::Scaled { scale };
            error!("the scale of molecule {molecule} is ignored: {kind}");
            errors.write(MoleculeStateError { molecule, kind });
        }
        if let Some(mut scale) = collider_scale
            && *scale != ColliderScale::Absolute(Vec3::ONE)
        {
            *scale = ColliderScale::Absolute(Vec3::ONE);
        }
    }
    // Only now the poses of parents that are molecules are valid.
    for (molecule, global) in restored {
        let Ok((mut local, child_of)) = locals.get_mut(molecule) else {
            continue;
        };
        let parent = child_of.and_then(|child_of| {
            let parent = child_of.parent();
            let molecule = molecules.get(parent).ok().map(|found| *found.1);
            molecule.or_else(|| other_parents.get(parent).ok().copied())
        });
        *local = match parent {
            None => global.into(),
            Some(parent) => global.reparented_to(&parent),
        };
        // No local pose makes up for an invalid parent.
        if !local.is_finite() {
            *local = Transform::default();
        }
    }
}

/// Zeroes non-finite velocities of molecules before Rapier reads them.
pub(super) fn guard_velocities(
    mut molecules: Query<(Entity, &mut Velocity), (With<Molecule>, Changed<Velocity>)>,
    mut errors: MessageWriter<MoleculeStateError>,
) {
    for (molecule, mut velocity) in &mut molecules {
        if !(velocity.linear.is_finite() && velocity.angular.is_finite()) {
            let kind = StateErrorKind::NotFinite;
            error!("the velocity of molecule {molecule} is zeroed: {kind}");
            errors.write(MoleculeStateError { molecule, kind });
            *velocity = Velocity::default();
        }
    }
}
