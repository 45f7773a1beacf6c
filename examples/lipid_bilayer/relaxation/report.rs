//! The outcome of a relaxation as JSON.

use std::time::Duration;

use bevy_rapier_molecules::relax::{RelaxReport, StageTimes, StopReason};
use serde::Serialize;

use crate::common::{Head, round};

/// What `--report` writes, in this order.
#[derive(Debug, Serialize)]
pub struct Report<'a, D> {
    /// Who did the last iterations, and the time of all, detection at the start included.
    #[serde(flatten)]
    pub head: Head,
    pub molecules: usize,
    pub atoms: usize,
    pub iterations: u32,
    pub converged: bool,
    pub reason: StopReason,
    pub overlaps_start: u64,
    pub overlaps_end: u64,
    pub max_penetration_nm: f32,
    pub out_of_place: u64,
    pub ms_per_iteration: StageMilliseconds,
    /// `None` where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
    pub law: &'static str,
    /// `None` if the radii of the elements count.
    pub tolerance_nm: Option<f32>,
    pub clearance_nm: f32,
    pub warnings: &'a [String],
    /// What only this scene has.
    #[serde(flatten)]
    pub details: &'a D,
}

/// Time of each stage of one iteration, ms.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StageMilliseconds {
    pub gather: f64,
    pub grid: f64,
    pub search: f64,
    pub respond: f64,
    pub apply: f64,
}

impl StageMilliseconds {
    /// The stages of a relaxation without those `before` the first iteration.
    pub fn per_iteration(report: &RelaxReport, before: &StageTimes) -> Self {
        let iterations = f64::from(report.iterations.max(1));
        let mean = |end: Duration, start: Duration| {
            round(end.saturating_sub(start).as_secs_f64() * 1e3 / iterations)
        };
        let stages = &report.stages;
        Self {
            gather: mean(stages.gather, before.gather),
            grid: mean(stages.grid, before.grid),
            search: mean(stages.search, before.search),
            respond: mean(stages.respond, before.respond),
            apply: mean(stages.apply, before.apply),
        }
    }

    /// All stages together, ms.
    pub fn total(&self) -> f64 {
        self.gather + self.grid + self.search + self.respond + self.apply
    }
}
