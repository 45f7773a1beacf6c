//! Out of another molecule by the shortest way that is found.

use glam::Vec3;

use super::{DockingError, DockingPair, RigidMotion, is_free};
use crate::fibonacci_sphere::direction;
use crate::pose::Pose;

/// Directions that are tried.
const DIRECTIONS: u32 = 256;

impl DockingPair<'_> {
    /// Nearest pose of the moved molecule, turned as it is, in which it does not overlap the
    /// other, among those that can be reached from outside.
    ///
    /// Tries many directions: from far outside, the molecule comes back along each until it
    /// touches. A pose that is free is returned as it is.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep), except that overlaps are what this is for.
    pub fn nearest_free_pose(&self) -> Result<Pose, DockingError> {
        let pose = self.pose;
        // Checks the input, whatever follows.
        match self.sweep(&RigidMotion::default()) {
            Err(DockingError::StartsOverlapping { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) if is_free(self.moving, &pose, self.other, &self.other_pose) => {
                return Ok(pose);
            }
            Ok(_) => {}
        }
        let radii =
            self.moving.template().bounding_radius() + self.other.template().bounding_radius();
        // From any direction this is outside.
        let apart = (pose.position - self.other_pose.position).length();
        let far = 2.0 * (radii + apart + self.tolerance);
        let mut best = Pose::new(pose.position + Vec3::X * far, pose.rotation);
        let mut least = far;
        for index in 0..DIRECTIONS {
            let direction = direction(index, DIRECTIONS);
            let outside = Self {
                pose: Pose::new(pose.position + direction * far, pose.rotation),
                ..*self
            };
            let touch = outside.sweep(&RigidMotion::translation(-direction * far))?;
            let distance = touch.pose.position.distance(pose.position);
            if distance < least {
                least = distance;
                best = touch.pose;
            }
        }
        Ok(best)
    }
}
