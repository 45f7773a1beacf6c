//! Interface of a device that runs the iterations of a [`Relaxer`](super::Relaxer).
//!
//! The relaxer decides when to kick and when to stop; the device moves the molecules and
//! counts overlaps. Poses stay on the device between iterations. If it fails, the relaxer
//! continues on the CPU from the last poses read back.

use super::{RelaxConfig, RelaxStatus, StageTimes};
use crate::backend::DeviceError;
use crate::crowd::Crowd;
use crate::force::Push;
use crate::pose::Pose;
use crate::spheres::SphereSet;

/// The scene that a [`DeviceRelaxer`] is created for.
#[derive(Clone, Copy, Debug)]
pub struct DeviceScene<'a> {
    /// The molecules at their current poses. None is fixed or has joints: the CPU relaxes such
    /// crowds.
    pub crowd: &'a Crowd,
    /// Member of each owner: owner `k` of the spheres, poses and pushes is member `order[k]`
    /// of the crowd.
    pub order: &'a [u32],
    /// Law and clearance.
    pub config: &'a RelaxConfig,
    /// The atoms at the current poses.
    pub spheres: &'a SphereSet,
    /// Push of each owner in the last iteration.
    pub pushes: &'a [Push],
    /// Gap to which contacts are pushed apart, nm.
    pub gap: f32,
}

/// How a device finds contacts. The contacts are the same; sums differ by rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceSearch {
    /// Fixed-radius nearest neighbors: a sorted uniform grid.
    #[default]
    Ffrnn,
    /// Compares every sphere with every other: the baseline of Pauschenwein (2022, chapter 5).
    ///
    /// Its CPU reference is a [`Relaxer`](super::Relaxer) with
    /// [`BruteForce`](crate::search::BruteForce) as its [search](super::Relaxer::set_search).
    BruteForce,
}

/// Weights of the direction between centers; see
/// [`Projection`](crate::force::Projection).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CenterWeights {
    /// Weight in this iteration.
    pub current: f32,
    /// Weight in the next iteration unless the relaxer kicks. A device may use it to sum the
    /// next contacts while it counts them.
    pub next: f32,
}

/// Outcome of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceStep {
    /// All molecules have moved.
    Moved(RelaxStatus),
    /// A molecule would have moved out of range, so none has moved.
    Diverged {
        /// The first such owner.
        owner: u32,
    },
}

/// Poses and last pushes of all owners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Pose of each owner.
    pub poses: Vec<Pose>,
    /// Push of each owner in the last iteration.
    pub pushes: Vec<Push>,
}

/// Runs iterations on a device, from the poses of its [`DeviceScene`].
pub trait DeviceRelaxer: Send {
    /// Description of the adapter, for logs and reports.
    fn adapter(&self) -> String;

    /// Counts overlaps without moving the molecules. `next` is the weight of the direction
    /// between centers in the next iteration.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn status(&mut self, next: f32) -> Result<RelaxStatus, DeviceError>;

    /// Runs one iteration: respond to contacts and springs, apply, and count overlaps.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails. The poses on the device are then undefined.
    fn step(&mut self, weights: CenterWeights) -> Result<DeviceStep, DeviceError>;

    /// Reads poses and pushes back.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn motion(&mut self) -> Result<Motion, DeviceError>;

    /// Takes the time spent in each stage since the last call.
    fn take_stages(&mut self) -> StageTimes;

    /// The buffer of poses, for rendering without a copy; `order` is that of the
    /// [`DeviceScene`].
    #[cfg(feature = "gpu")]
    fn poses(&self, _order: &[u32]) -> Option<crate::gpu::DevicePoses> {
        None
    }
}
