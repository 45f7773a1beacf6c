//! Out of another molecule by the shortest way that is found.

use glam::Vec3;

use super::{DockingError, DockingMolecule, Motion, is_free, move_to_touch};
use crate::pose::Pose;
use crate::spiral::direction;

/// Directions that are tried.
const DIRECTIONS: u32 = 256;

/// Nearest pose to `pose`, turned as it is, in which a molecule does not overlap another,
/// among those that can be reached from outside.
///
/// Tries many directions: from far outside, the molecule comes back along each until it
/// touches. A pose that is free is returned as it is.
///
/// # Errors
/// As [`move_to_touch`], except that overlaps are what this is for.
pub fn nearest_free_pose(
    moving: &DockingMolecule,
    pose: &Pose,
    fixed: &DockingMolecule,
    fixed_pose: &Pose,
    tolerance: f32,
) -> Result<Pose, DockingError> {
    // Checks the input, whatever follows.
    let none = move_to_touch(
        moving,
        pose,
        fixed,
        fixed_pose,
        &Motion::default(),
        tolerance,
    );
    match none {
        Err(DockingError::StartsInside { .. }) => {}
        Err(error) => return Err(error),
        Ok(_) if is_free(moving, pose, fixed, fixed_pose) => return Ok(*pose),
        Ok(_) => {}
    }
    let radii = moving.template().bounding_radius() + fixed.template().bounding_radius();
    // From any direction this is outside.
    let far = 2.0 * (radii + (pose.position - fixed_pose.position).length() + tolerance);
    let mut best = Pose::new(pose.position + Vec3::X * far, pose.rotation);
    let mut least = far;
    for index in 0..DIRECTIONS {
        let direction = direction(index, DIRECTIONS);
        let start = Pose::new(pose.position + direction * far, pose.rotation);
        let motion = Motion::translation(-direction * far);
        let touch = move_to_touch(moving, &start, fixed, fixed_pose, &motion, tolerance)?;
        let distance = touch.pose.position.distance(pose.position);
        if distance < least {
            least = distance;
            best = touch.pose;
        }
    }
    Ok(best)
}
