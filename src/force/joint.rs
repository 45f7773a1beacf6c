//! Corrections of a joint: the smallest motions of its two molecules that bring gap, bend and twist
//! back to their limits, each by itself.
//!
//! With the mobility of [`Body::mobility`], an impulse p along n at the anchors closes the gap by
//! p (n·K₁n + n·K₂n); a negative one opens it. An angular impulse l about n turns the molecules
//! towards each other by l (nᵀ I₁⁻¹ n + nᵀ I₂⁻¹ n). Both molecules get the same impulse with
//! opposite signs, so that the center of mass of the two stays where it is.

use glam::Vec3;

use super::{Body, ProjectionSums, Push};
use crate::crowd::{JointExcess, JointState};

/// Below this length, the direction of a difference of unit vectors is unknown.
const MIN_LENGTH: f32 = 1.0e-6;

/// The corrections of both molecules. At least one of the two bodies must be movable.
pub(crate) fn joint_corrections(
    bodies: [&Body; 2],
    state: &JointState,
    excess: &JointExcess,
) -> [ProjectionSums; 2] {
    let mut sides = [ProjectionSums::default(); 2];
    if excess.gap != 0.0 {
        let normal = state.across.normalize_or(Vec3::X);
        let levers = state.levers;
        let mobility =
            bodies[0].mobility(levers[0], normal) + bodies[1].mobility(levers[1], normal);
        let impulse = normal * (excess.gap / mobility);
        for (side, impulse) in [impulse, -impulse].into_iter().enumerate() {
            sides[side].add_push(Push {
                linear: impulse * bodies[side].inverse_mass,
                angular: bodies[side].inverse_inertia * levers[side].cross(impulse),
            });
        }
    }
    if excess.bend > 0.0 {
        let [first, second] = state.axes;
        let across = first.cross(second);
        let axis = if across.length() > MIN_LENGTH {
            across.normalize()
        } else {
            first.any_orthonormal_vector()
        };
        turn(&mut sides, bodies, axis, excess.bend);
    }
    let between = state.axes[0] + state.axes[1];
    if excess.twist != 0.0 && between.length() > MIN_LENGTH {
        turn(&mut sides, bodies, between.normalize(), excess.twist);
    }
    sides
}

/// Turns the first molecule about `axis` and the second one back, by `angle` together.
fn turn(sides: &mut [ProjectionSums; 2], bodies: [&Body; 2], axis: Vec3, angle: f32) {
    let mobility: f32 = bodies
        .iter()
        .map(|body| axis.dot(body.inverse_inertia * axis))
        .sum();
    let impulse = axis * (angle / mobility);
    for (side, impulse) in [impulse, -impulse].into_iter().enumerate() {
        sides[side].add_push(Push {
            linear: Vec3::ZERO,
            angular: bodies[side].inverse_inertia * impulse,
        });
    }
}
