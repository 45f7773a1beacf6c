//! Keeps pairs of molecules out of Rapier while this crate solves their contacts.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    ActiveCollisionTypes, RapierColliderHandle, RapierContextColliders, RapierContextEntityLink,
};
use bevy_rapier3d::rapier::geometry::{
    ActiveCollisionTypes as RapierCollisionTypes, Collider, Group,
};

use super::molecule_world::ContactModel;
use super::prepared_molecule::PreparedMolecule;
use crate::rapier::MoleculeShape;

/// Sets the collision types of molecules according to the [`ContactModel`].
///
/// Rapier's broad phase drops a pair of colliders unless one of them has the types of their bodies
/// among its active ones. In [`ContactModel::Crowd`] molecules have none: their pairs are dropped,
/// while ordinary colliders still meet them. A molecule with [`ActiveCollisionTypes`] of the app
/// keeps these. If an ordinary collider has fewer types than by default, molecules have the default
/// ones, since the collider would not meet them otherwise.
pub(super) fn apply_collision_types(
    model: Res<ContactModel>,
    mut contexts: Query<&mut RapierContextColliders>,
    molecules: Query<
        (Ref<RapierColliderHandle>, &RapierContextEntityLink),
        (With<PreparedMolecule>, Without<ActiveCollisionTypes>),
    >,
    ordinary: Query<&ActiveCollisionTypes, Without<PreparedMolecule>>,
    mut applied: Local<Option<RapierCollisionTypes>>,
) {
    let has_default =
        |types: &ActiveCollisionTypes| types.contains(ActiveCollisionTypes::default());
    let types = match *model {
        ContactModel::Crowd if ordinary.iter().all(has_default) => RapierCollisionTypes::empty(),
        _ => RapierCollisionTypes::default(),
    };
    let all = applied.replace(types) != Some(types);
    for (handle, link) in &molecules {
        if (all || handle.is_changed())
            && let Ok(mut context) = contexts.get_mut(link.0)
            && let Some(collider) = context.colliders.get_mut(handle.0)
            && collider.shape().as_shape::<MoleculeShape>().is_some()
            && collider.active_collision_types() != types
        {
            collider.set_active_collision_types(types);
            if !types.is_empty() {
                find_pairs_again(collider);
            }
        }
    }
}

/// Makes [`apply_collision_types`] visit a molecule whose own types are removed.
pub(super) fn restore_collision_types(
    removed: On<Remove, ActiveCollisionTypes>,
    mut molecules: Query<&mut RapierColliderHandle, With<PreparedMolecule>>,
) {
    if let Ok(mut handle) = molecules.get_mut(removed.entity) {
        handle.set_changed();
    }
}

/// Makes Rapier's broad phase look for all pairs of a collider again: it does so when the groups
/// change, but not when the types do.
fn find_pairs_again(collider: &mut Collider) {
    let groups = collider.collision_groups();
    let others = groups.with_filter(groups.filter.symmetric_difference(Group::ALL));
    collider.set_collision_groups(others);
    collider.set_collision_groups(groups);
}
