//! Iterations that another device does, such as a GPU.
//!
//! The relaxer decides when to kick, when to give up and when to stop; an *engine* moves
//! the molecules and counts. Poses stay with it between iterations. When it fails, the
//! relaxer goes on by itself from the last poses that came back.

use std::any::Any;

use super::{RelaxConfig, RelaxStatus, StageTimes};
use crate::backend::DeviceError;
use crate::crowd::Crowd;
use crate::force::Push;
use crate::pose::Pose;
use crate::spheres::SphereSet;

/// What an engine is made for.
#[derive(Clone, Copy, Debug)]
pub struct EngineScene<'a> {
    /// The molecules.
    pub crowd: &'a Crowd,
    /// Members in the order in which they are worked on: owner `k` of a sphere, and of
    /// everything else that an engine sees, is member `order[k]`.
    pub order: &'a [u32],
    /// Law and clearance.
    pub config: &'a RelaxConfig,
    /// The spheres at their first poses.
    pub spheres: &'a SphereSet,
    /// Gap that contacts are parted to, nm.
    pub gap: f32,
}

/// Weights of the direction between centers; see
/// [`Projection`](crate::force::Projection).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CenterWeights {
    /// That of this iteration.
    pub now: f32,
    /// That of the next one, if nothing happens in between: an engine may use it to sum
    /// up the next contacts while it counts them.
    pub next: f32,
}

/// What came of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EngineStep {
    /// All molecules have moved, and this is how they are doing now.
    Moved(RelaxStatus),
    /// A molecule would have left the finite world, and none has moved.
    Diverged {
        /// The first owner that would have.
        owner: u32,
    },
}

/// Poses and last pushes of all owners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Pose of each owner.
    pub poses: Vec<Pose>,
    /// How each was moved in the last iteration.
    pub pushes: Vec<Push>,
}

/// Does iterations on some device, from the poses that it was made with.
pub trait RelaxEngine: Send {
    /// The device, for logs and reports.
    fn device(&self) -> String;

    /// How the molecules are doing, without moving them. `next` is the weight of the
    /// direction between centers in the coming iteration.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn look(&mut self, next: f32) -> Result<RelaxStatus, DeviceError>;

    /// One iteration: respond to contacts and springs, apply, and look again.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails; nobody knows then whether it has moved
    /// anything.
    fn step(&mut self, weights: CenterWeights) -> Result<EngineStep, DeviceError>;

    /// Fetches poses and pushes.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn motion(&mut self) -> Result<Motion, DeviceError>;

    /// Time spent in each stage since it was last asked for.
    fn take_stages(&mut self) -> StageTimes;

    /// The engine itself, for who knows what kind it is and wants more of it.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}
