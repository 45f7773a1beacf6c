//! Molecules that a joint keeps from touching each other.

use bevy_rapier3d::prelude::RapierContextJoints;
use bevy_rapier3d::rapier::dynamics::RigidBodyHandle;

/// Calls `tell` for every two bodies whose joint has its contacts turned off, by the same
/// rules as Rapier.
pub(super) fn for_each_exempt(
    joints: &RapierContextJoints,
    mut tell: impl FnMut(RigidBodyHandle, RigidBodyHandle),
) {
    for (_, joint) in joints.impulse_joints.iter() {
        if !joint.data.contacts_enabled {
            tell(joint.body1(), joint.body2());
        }
    }
    for (_, _, multibody, link) in joints.multibody_joints.iter() {
        if !multibody.self_contacts_enabled() {
            for other in multibody.links() {
                tell(link.rigid_body_handle(), other.rigid_body_handle());
            }
        } else if !link.joint.data.contacts_enabled
            && let Some(parent) = link.parent_id().and_then(|parent| multibody.link(parent))
        {
            tell(parent.rigid_body_handle(), link.rigid_body_handle());
        }
    }
}
