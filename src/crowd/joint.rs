//! [`CrowdJoint`]: a connection of two members with limits, such as two links of a fiber.

use std::f32::consts::PI;

use glam::Vec3;
use thiserror::Error;

use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// How far a joint may exceed its limit before it counts as strained, nm: a picometer.
const GAP_SLACK_NM: f32 = 1.0e-3;

/// How far a joint may exceed its limit before it counts as strained, radian.
const ANGLE_SLACK: f32 = 1.0e-3;

/// Limits of a joint are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("the {name} of a joint must be {allowed}, but is {value}")]
pub struct JointError {
    /// Name of the limit.
    pub name: &'static str,
    /// The allowed range.
    pub allowed: &'static str,
    /// The given value.
    pub value: f32,
}

/// Limits of a joint. Default: the anchors coincide, all angles are free.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "plugin", derive(bevy::prelude::Reflect))]
pub struct JointLimits {
    /// Minimum distance of the two anchors, nm. Default: 0.
    pub min_gap: f32,
    /// Maximum distance of the two anchors, nm. Default: 0.
    pub gap: f32,
    /// Maximum angle between the two axes, radian. Default: π.
    pub bend: f32,
    /// Maximum rotation about the axis, radian. Default: π.
    pub twist: f32,
}

impl Default for JointLimits {
    fn default() -> Self {
        Self {
            min_gap: 0.0,
            gap: 0.0,
            bend: PI,
            twist: PI,
        }
    }
}

impl JointLimits {
    /// Checks that all limits are finite and not negative, and the minimum gap at most the maximum.
    ///
    /// # Errors
    /// [`JointError`] names the first invalid limit.
    pub fn check(&self) -> Result<(), JointError> {
        let limits = [
            ("minimum gap", self.min_gap),
            ("gap", self.gap),
            ("bend", self.bend),
            ("twist", self.twist),
        ];
        for (name, value) in limits {
            if !(value.is_finite() && value >= 0.0) {
                let allowed = "finite and not negative";
                return Err(JointError {
                    name,
                    allowed,
                    value,
                });
            }
        }
        if self.min_gap > self.gap {
            return Err(JointError {
                name: "minimum gap",
                allowed: "at most the gap",
                value: self.min_gap,
            });
        }
        Ok(())
    }
}

/// A connection of two members of a crowd.
///
/// Each member has a frame for the joint: its origin is the anchor, its z axis the axis. Without gap,
/// bend and twist, both frames coincide in the world.
///
/// With the rotation q = (x, y, z, w) from the second frame to the first, q is a twist about z
/// followed by a swing of z:
///
/// bend = 2 atan2(√(x² + y²), √(z² + w²)), twist = 2 atan2(z, w).
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use bevy_rapier_molecules::crowd::{CrowdJoint, JointLimits};
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let ball = MoleculeTemplate::coarse("ball", &[(Vec3::ZERO, 1.0)])?;
/// let mut crowd = Crowd::new();
/// let template = crowd.add_template(Arc::new(ball));
/// for x in [0.0, 4.0] {
///     let pose = Pose::from_translation(Vec3::X * x);
///     crowd.add_member(CrowdMember { template, pose, ..CrowdMember::default() })?;
/// }
/// // The centers are at most 2.2 nm apart.
/// let limits = JointLimits { gap: 2.2, ..JointLimits::default() };
/// crowd.add_joint(CrowdJoint { members: [0, 1], limits, ..CrowdJoint::default() })?;
///
/// let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
/// assert_eq!(relaxer.status().strained_joints, 1);
/// assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
/// let members = relaxer.crowd().members();
/// let distance = members[0].pose.position.distance(members[1].pose.position);
/// assert!((2.0..2.202).contains(&distance), "{distance} nm");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrowdJoint {
    /// Indices of the two members.
    pub members: [u32; 2],
    /// Frame of the joint in the body frame of each member.
    pub frames: [Pose; 2],
    /// The limits.
    pub limits: JointLimits,
}

/// Gap, bend and twist of a joint in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointState {
    /// The anchors relative to the centers of mass of their members, nm.
    pub levers: [Vec3; 2],
    /// From the first anchor to the nearest image of the second, nm.
    pub across: Vec3,
    /// The two axes, unit vectors.
    pub axes: [Vec3; 2],
    /// Distance of the anchors, nm.
    pub gap: f32,
    /// Angle between the axes, radian.
    pub bend: f32,
    /// Rotation about the axis, from −π to π.
    pub twist: f32,
}

/// How far a joint exceeds its limits; zero within.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointExcess {
    /// Distance beyond the maximum, nm; negative below the minimum.
    pub gap: f32,
    /// Angle beyond the limit, radian.
    pub bend: f32,
    /// Angle beyond the limit, radian; with the sign of the twist.
    pub twist: f32,
}

impl CrowdJoint {
    /// The state of the joint with its members at these poses.
    #[must_use]
    pub fn state(&self, poses: [&Pose; 2], periodic: Option<&PeriodicBox>) -> JointState {
        let [first, second] = [0, 1].map(|side| *poses[side] * self.frames[side]);
        let mut across = second.position - first.position;
        if let Some(periodic) = periodic {
            across = periodic.shortest(across.as_dvec3()).as_vec3();
        }
        let turn = first.rotation.inverse() * second.rotation;
        let bend = 2.0 * turn.x.hypot(turn.y).atan2(turn.z.hypot(turn.w));
        let twist = 2.0 * turn.z.atan2(turn.w);
        JointState {
            levers: [0, 1].map(|side| poses[side].rotation * self.frames[side].position),
            across,
            axes: [first.rotation * Vec3::Z, second.rotation * Vec3::Z],
            gap: across.length(),
            bend,
            twist: if twist > PI {
                twist - 2.0 * PI
            } else if twist < -PI {
                twist + 2.0 * PI
            } else {
                twist
            },
        }
    }
}

impl JointState {
    /// How far the joint exceeds `limits`.
    #[must_use]
    pub fn excess(&self, limits: &JointLimits) -> JointExcess {
        let twist = (self.twist.abs() - limits.twist).max(0.0);
        let missing = (limits.min_gap - self.gap).max(0.0);
        JointExcess {
            gap: (self.gap - limits.gap).max(0.0) - missing,
            bend: (self.bend - limits.bend).max(0.0),
            twist: twist.copysign(self.twist),
        }
    }
}

impl JointExcess {
    /// Whether the joint exceeds a limit by more than a picometer or a milliradian.
    #[must_use]
    pub fn is_strained(&self) -> bool {
        self.gap.abs() > GAP_SLACK_NM || self.bend > ANGLE_SLACK || self.twist.abs() > ANGLE_SLACK
    }
}
