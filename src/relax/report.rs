//! Status and report of a relaxation.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::backend::{Backend, DeviceError};

/// The spheres that a [`RelaxStatus`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CountedSpheres {
    /// The atoms.
    #[default]
    Atoms,
    /// The proxies of a [`CoarseStart`](super::CoarseStart), which replace the atoms in the
    /// first iterations.
    Proxies,
}

/// State of a crowd at its current poses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RelaxStatus {
    /// The spheres that the fields below count. Overlaps of proxies say nothing about
    /// overlaps of atoms.
    #[serde(default)]
    pub spheres: CountedSpheres,
    /// Pairs of spheres of different molecules that overlap.
    pub overlaps: u64,
    /// Pairs with a gap below the clearance; includes the overlaps.
    pub unresolved: u64,
    /// Maximum penetration, nm; 0 without overlaps.
    pub max_penetration_nm: f32,
    /// Molecules that exceed the leeway of their placement.
    pub out_of_place: u64,
    /// [Joints](crate::crowd::CrowdJoint) that exceed a limit.
    #[serde(default)]
    pub strained_joints: u64,
}

impl RelaxStatus {
    /// Whether all pairs are resolved, all molecules are in place and all joints within their
    /// limits.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.remaining() == 0
    }

    /// Number of what is left to do: unresolved pairs, molecules out of place, strained joints.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.unresolved + self.out_of_place + self.strained_joints
    }
}

/// Why a relaxation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// No pair is unresolved, all molecules are in place and all joints within their limits.
    AtRest,
    /// The maximum number of iterations was reached.
    MaxIterations,
    /// The maximum time was reached.
    MaxTime,
    /// There was no progress in the stall window: the molecules may not fit.
    Stalled,
    /// The caller stopped it.
    Interrupted,
    /// A step moved a molecule out of range.
    Diverged,
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::AtRest => "at rest: no overlaps, all molecules in place",
            Self::MaxIterations => "reached the maximum number of iterations",
            Self::MaxTime => "reached the maximum time",
            Self::Stalled => "stalled: no progress; the molecules may not fit",
            Self::Interrupted => "interrupted",
            Self::Diverged => "diverged: the step sizes are too large",
        })
    }
}

/// Time spent in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Atom positions from templates and poses.
    pub gather: Duration,
    /// Building the grid.
    pub grid: Duration,
    /// Searching the grid.
    pub search: Duration,
    /// Contacts per molecule, contact and spring laws, counting.
    pub respond: Duration,
    /// Moving the molecules.
    pub apply: Duration,
}

impl StageTimes {
    /// Sum of all stages.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.gather + self.grid + self.search + self.respond + self.apply
    }
}

impl std::ops::AddAssign for StageTimes {
    fn add_assign(&mut self, other: Self) {
        self.gather += other.gather;
        self.grid += other.grid;
        self.search += other.search;
        self.respond += other.respond;
        self.apply += other.apply;
    }
}

/// Outcome of a relaxation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RelaxReport {
    /// Iterations, including those of earlier runs.
    pub iterations: u32,
    /// Why it stopped.
    pub reason: StopReason,
    /// Status before the first iteration; always of atoms.
    pub start: RelaxStatus,
    /// Status after the last iteration. [`RelaxStatus::spheres`] says whether the run ended
    /// during a coarse start.
    pub end: RelaxStatus,
    /// Wall-clock time of this run.
    pub elapsed: Duration,
    /// Time per stage, including the first detection and earlier runs.
    pub stages: StageTimes,
    /// Backend of the last iteration.
    pub backend: Backend,
    /// The GPU adapter, if the backend is the GPU.
    pub adapter: Option<String>,
    /// The error after which the CPU replaced the GPU.
    pub device_error: Option<DeviceError>,
}

impl RelaxReport {
    /// Whether the crowd came to rest.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.reason == StopReason::AtRest
    }
}
