//! What happens when a molecule that is moved meets another.

use serde::{Deserialize, Serialize};

use super::slide::glide;
use super::{AtomPair, DockingError, DockingPair, RigidMotion, overlapping_atoms};
use crate::pose::Pose;

/// What happens when a molecule that is moved meets another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResponseMode {
    /// It stops where it touches, as in Turk's system.
    Stop,
    /// Nothing stops it; atoms that overlap are told. What Turk's users asked for.
    Cue,
    /// It goes on along the surface. The default.
    #[default]
    Slide,
    /// It goes on along the surface and pushes the other away. Both give way as their masses
    /// let them, without gaining speed: a light molecule slides along a heavy one, a heavy
    /// one takes a light one along.
    Push,
}

/// What a motion led to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// Where the moved molecule is, world frame, nm.
    pub pose: Pose,
    /// Where the other is, world frame, nm: where it was, unless it was pushed.
    pub other_pose: Pose,
    /// Atoms that touch, or with [`ResponseMode::Cue`] overlap, at the end: the moved
    /// molecule's and the other's.
    pub pairs: Vec<AtomPair>,
    /// Whether the moved molecule could not go on though some of the motion was left.
    pub blocked: bool,
}

impl DockingPair<'_> {
    /// Moves the molecule along `motion` and answers what it meets.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep); with [`ResponseMode::Cue`] overlaps are no
    /// error.
    pub fn respond(
        &self,
        mode: ResponseMode,
        motion: &RigidMotion,
    ) -> Result<Response, DockingError> {
        let inverse_mass = match mode {
            ResponseMode::Stop => {
                let touch = self.sweep(motion)?;
                return Ok(Response {
                    pose: touch.pose,
                    other_pose: self.other_pose,
                    blocked: !touch.pairs.is_empty(),
                    pairs: touch.pairs,
                });
            }
            ResponseMode::Cue => {
                let pose = self.through(motion)?;
                return Ok(Response {
                    pose,
                    other_pose: self.other_pose,
                    pairs: overlapping_atoms(self.moving, &pose, self.other, &self.other_pose),
                    blocked: false,
                });
            }
            ResponseMode::Slide => 0.0,
            ResponseMode::Push => self.other.template().mass().recip(),
        };
        let (slid, other_pose) = glide(self, motion, inverse_mass)?;
        Ok(Response {
            pose: slid.pose,
            other_pose,
            pairs: slid.pairs,
            blocked: slid.blocked,
        })
    }

    /// Where a motion ends that nothing stops.
    pub(super) fn through(&self, motion: &RigidMotion) -> Result<Pose, DockingError> {
        let end = motion.pose_at(&self.pose, 1.0);
        if end.is_finite() {
            Ok(end)
        } else {
            Err(DockingError::NotFinite { what: "motion" })
        }
    }
}
