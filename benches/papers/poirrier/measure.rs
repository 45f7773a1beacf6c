//! Times of broad phases on falling spheres: means over steps and runs.

use std::ops::RangeInclusive;

use bevy_rapier_molecules::scenes::FallingConfig;

use super::competitor::{Competitor, Found, Kind, overlap};
use super::{Checked, fall, on_one_thread};
use crate::common::cpu_time::thread_seconds;

/// An experiment.
pub struct Experiment<'a> {
    pub count: u32,
    pub steps: RangeInclusive<u32>,
    pub runs: u64,
    pub kinds: &'a [Kind],
    /// CPU seconds of a search over all runs, after which it skips the rest of the steps.
    pub max_seconds: f64,
}

/// The measurements of a broad phase.
pub struct Measured {
    pub kind: Kind,
    /// CPU seconds of each step.
    pub seconds: Vec<f64>,
    sums: Found,
}

impl Measured {
    /// Mean CPU time of a step, ms.
    pub fn mean_ms(&self) -> f64 {
        1.0e3 * self.seconds.iter().sum::<f64>() / self.steps()
    }

    /// Standard deviation of the CPU time of a step, ms.
    pub fn deviation_ms(&self) -> f64 {
        let mean = self.mean_ms();
        let squares = self
            .seconds
            .iter()
            .map(|time| (1.0e3 * time - mean).powi(2));
        (squares.sum::<f64>() / self.steps()).sqrt()
    }

    pub fn candidates(&self) -> f64 {
        self.sums.candidates as f64 / self.steps()
    }

    pub fn swaps(&self) -> f64 {
        self.sums.swaps as f64 / self.steps()
    }

    pub fn bytes(&self) -> f64 {
        self.sums.bytes as f64 / self.steps()
    }

    fn steps(&self) -> f64 {
        self.seconds.len() as f64
    }
}

impl Experiment<'_> {
    /// Runs it on one thread. All searches must find the same pairs.
    pub fn run(&self) -> Checked<Vec<Measured>> {
        on_one_thread(|| self.measure())
    }

    fn measure(&self) -> Checked<Vec<Measured>> {
        let kinds = self.kinds.iter();
        let mut measured: Vec<Measured> = kinds
            .map(|&kind| Measured {
                kind,
                seconds: Vec::new(),
                sums: Found::default(),
            })
            .collect();
        let mut spent = vec![0.0; self.kinds.len()];
        for seed in 1..=self.runs {
            let config = FallingConfig {
                seed,
                ..FallingConfig::of(self.count)
            };
            let kinds = self.kinds.iter();
            let mut competitors: Vec<Competitor> =
                kinds.map(|&kind| Competitor::new(kind)).collect();
            fall(&config, *self.steps.end(), |step, spheres, pairs| {
                // The step before the first one sorts the lists of sweep and prune.
                if step + 1 < *self.steps.start() {
                    return Ok(());
                }
                let overlapping = pairs.iter().filter(|&pair| overlap(pair, spheres));
                let expected = overlapping.count() as u64;
                let searches = competitors.iter_mut().zip(&mut measured);
                for ((competitor, measured), spent) in searches.zip(&mut spent) {
                    if *spent > self.max_seconds {
                        continue;
                    }
                    let warm_up = !self.steps.contains(&step);
                    if warm_up && competitor.kind == Kind::Quadratic {
                        continue;
                    }
                    let begin = thread_seconds();
                    let found = competitor
                        .search(spheres)
                        .map_err(|error| error.to_string())?;
                    let seconds = thread_seconds() - begin;
                    check(competitor.kind, found, expected)?;
                    if !warm_up {
                        *spent += seconds;
                        measured.add(seconds, found);
                    }
                }
                Ok(())
            })?;
        }
        Ok(measured)
    }
}

impl Measured {
    fn add(&mut self, seconds: f64, found: Found) {
        self.seconds.push(seconds);
        self.sums.candidates += found.candidates;
        self.sums.swaps += found.swaps;
        self.sums.bytes += found.bytes;
    }
}

/// Checks that all overlaps are found, and once except by the paper's kd-tree-1.
fn check(kind: Kind, found: Found, expected: u64) -> Checked<()> {
    let overlaps = found.overlaps;
    if overlaps == expected || (kind == Kind::KdTree1 && overlaps > expected) {
        return Ok(());
    }
    let name = kind.name();
    Err(format!(
        "{name} finds {overlaps} pairs, the uniform grid {expected}"
    ))
}
