//! Conversion of Rapier bodies.

use bevy::prelude::*;
use bevy_rapier3d::rapier::dynamics::{RigidBody, RigidBodyType};

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

/// A body as the contact solver sees it in a substep of `dt` s, or `None` if it is disabled.
pub(super) fn moving_body(body: &RigidBody, gravity: Vec3, dt: f32) -> Option<MovingBody> {
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
        dominance: body.dominance_group(),
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
        // Forces do not act along locked axes.
        let is_free = mass.effective_inv_mass.cmpgt(Vec3::ZERO);
        let gravity = Vec3::select(is_free, gravity * body.gravity_scale(), Vec3::ZERO);
        moving.acceleration = gravity + body.user_force() * mass.effective_inv_mass;
    } else if body.body_type() == RigidBodyType::KinematicPositionBased {
        (moving.velocity, moving.angular_velocity) = velocity_to_next_position(body, dt);
    }
    Some(moving)
}

/// The velocities (nm/s and rad/s) with which a body reaches its next position in `dt` s: Rapier
/// computes them only in its step.
fn velocity_to_next_position(body: &RigidBody, dt: f32) -> (Vec3, Vec3) {
    let (start, end) = (body.position(), body.next_position());
    let local_center = body.local_center_of_mass();
    let motion = end.transform_point(local_center) - start.transform_point(local_center);
    let mut rotation = end.rotation * start.rotation.inverse();
    if rotation.w < 0.0 {
        // The shorter way round.
        rotation = -rotation;
    }
    (motion / dt, rotation.to_scaled_axis() / dt)
}
