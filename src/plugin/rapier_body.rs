//! Conversion of Rapier bodies.

use bevy::prelude::*;
use bevy_rapier3d::rapier::dynamics::RigidBody;

use crate::dynamics::MovingBody;
use crate::pose::Pose;

/// Pose of a body, world frame, nm.
pub(super) fn body_pose(body: &RigidBody) -> Pose {
    let position = body.position();
    Pose::new(position.translation, position.rotation)
}

/// Pose of a body, if it exists and is finite.
pub(super) fn finite_body_pose(body: Option<&RigidBody>) -> Option<Pose> {
    body.map(body_pose).filter(Pose::is_finite)
}

/// A body as the contact solver sees it, or `None` if it is disabled.
pub(super) fn moving_body(body: &RigidBody, gravity: Vec3) -> Option<MovingBody> {
    if !body.is_enabled() {
        return None;
    }
    let mass = body.mass_properties();
    let mut moving = MovingBody {
        pose: body_pose(body),
        center: mass.world_com,
        velocity: body.linvel(),
        angular_velocity: body.angvel(),
        asleep: body.is_sleeping(),
        ccd: body.is_ccd_enabled(),
        ..MovingBody::default()
    };
    if body.is_dynamic() {
        let inertia = &mass.effective_world_inv_inertia;
        moving.inverse_mass = mass.effective_inv_mass;
        moving.inverse_inertia = Mat3::from_cols(
            Vec3::new(inertia.m11, inertia.m12, inertia.m13),
            Vec3::new(inertia.m12, inertia.m22, inertia.m23),
            Vec3::new(inertia.m13, inertia.m23, inertia.m33),
        );
        moving.acceleration =
            gravity * body.gravity_scale() + body.user_force() * mass.effective_inv_mass;
    }
    Some(moving)
}
