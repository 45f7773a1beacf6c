//! What a relaxation tells.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::backend::Backend;

/// How a crowd is doing at its present poses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RelaxStatus {
    /// Pairs of atoms of different molecules that overlap.
    pub overlaps: u64,
    /// Pairs that do not leave the clearance between them; includes the overlaps.
    pub unresolved: u64,
    /// Deepest overlap, nm; 0 if there is none.
    pub max_penetration_nm: f32,
    /// Molecules further from their places than their leeways allow.
    pub out_of_place: u64,
}

impl RelaxStatus {
    /// Whether there is nothing left to do.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.unresolved == 0 && self.out_of_place == 0
    }
}

/// Why a relaxation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// No overlaps, and everyone in place.
    AtRest,
    /// The iterations were used up.
    MaxIterations,
    /// The time was used up.
    MaxTime,
    /// No progress for a long while: the molecules may not fit.
    Stalled,
    /// The caller asked to stop.
    Interrupted,
    /// The step sizes threw a molecule out of the world.
    Diverged,
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::AtRest => "at rest: no overlaps, everyone in place",
            Self::MaxIterations => "the iterations were used up",
            Self::MaxTime => "the time was used up",
            Self::Stalled => "stalled: no progress for a long while; the molecules may not fit",
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
    /// Walking the grid.
    pub search: Duration,
    /// Contacts by molecule, contact and spring laws, counting.
    pub respond: Duration,
    /// Moving the molecules.
    pub apply: Duration,
}

impl StageTimes {
    /// All stages together.
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

/// The outcome of a relaxation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RelaxReport {
    /// Iterations done, those of runs before included.
    pub iterations: u32,
    /// Why it ended.
    pub reason: StopReason,
    /// Before the first iteration.
    pub start: RelaxStatus,
    /// After the last iteration. Of proxies, if it ended while they stood for the molecules.
    pub end: RelaxStatus,
    /// Time of all iterations of this run.
    pub elapsed: Duration,
    /// Time by stage, detection at the start and runs before included.
    pub stages: StageTimes,
    /// Who did the last iterations.
    pub backend: Backend,
    /// The device that did, if it was not the processor.
    pub adapter: Option<String>,
    /// Why the processor did what another device was to do.
    pub fell_back: Option<String>,
}

impl RelaxReport {
    /// Whether everything came to rest.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.reason == StopReason::AtRest
    }
}
