//! The duration of Hubbard's space-time bounds, which the paper does not state.

use std::error::Error;

use bevy_rapier_molecules::motion::unknown_trajectories::{HubbardConfig, HubbardSweep};
use bevy_rapier_molecules::scenes::ForcedSpheresConfig;

use super::for_each_scene;
use super::hubbard::ROWS;
use super::start::{Measured, Start, Window, mean_of};
use crate::common::{Column, Run, cells};

/// Both sweeps.
pub const SWEEPS: [HubbardSweep; 2] = [HubbardSweep::FirstOverlap, HubbardSweep::Full];

/// Durations to try, s.
const INTERVALS: [f64; 9] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// Scenes per row.
const SCENES: u64 = 4;

/// Begin of the windows, s: the middle of the paper's simulations.
const BEGIN: f64 = 7.5;

/// Duration times number of spheres, s, for which the ratios are close to the paper's. Fitted.
const FITTED: f64 = 40.0;

/// Ratio above which longer durations are left out: all of the paper's are smaller.
const MAX_RATIO: f64 = 2100.0;

/// The fastest durations for a number of spheres, s.
pub struct BestIntervals {
    pub spheres: u32,
    /// For each of [`SWEEPS`].
    pub intervals: [f64; 2],
}

/// Measures all durations; returns the best.
pub fn run(run: &mut Run) -> Result<Vec<BestIntervals>, Box<dyn Error>> {
    // Spheres, and lengths of the windows, s.
    let full: (&[(u32, f64)], &[f64]) = (
        &[(30, 2.0), (100, 2.0), (300, 0.1), (1000, 0.01)],
        &INTERVALS,
    );
    let (rows, intervals) = run.pick(full, (&[(30, 0.1)], &[0.01, 0.1]));
    let title = format!(
        "**Duration of Hubbard's bounds**: CPU seconds per simulated second from {BEGIN} s on, \
         mean of {SCENES} scenes; both methods in the same windows."
    );
    let columns = vec![
        Column::number("spheres"),
        Column::number("window, s").decimals(2),
        Column::number("duration of bounds, s").decimals(4),
        Column::number("rebuilds per second").decimals(0),
        Column::measured("to the first overlap", "s").decimals(4),
        Column::number("÷ first end").decimals(0),
        Column::number("crossings per second").decimals(0),
        Column::measured("all crossings", "s").decimals(4),
        Column::number("÷ published").decimals(0),
    ];
    let mut table = run.table(&title, columns);
    let (mut best, mut ratios) = (Vec::new(), Vec::new());
    for &(count, length) in rows {
        let starts = for_each_scene(SCENES, |seed| {
            let config = ForcedSpheresConfig {
                count,
                seed,
                ..ForcedSpheresConfig::default()
            };
            let begin = BEGIN;
            let start = Start::new(&config, Window { begin, length })?;
            let first_end = start.own()?.seconds;
            let published = start.published()?.seconds;
            Ok((start, [first_end, published]))
        })?;
        let bounds = [0, 1].map(|k| mean_of(&starts, |(_, seconds)| seconds[k]));
        let mut fastest = [(f64::INFINITY, 0.0); 2];
        for &interval in intervals {
            let measured = for_each_scene(SCENES, |seed| {
                let (start, _) = &starts[seed as usize - 1];
                let [first, whole] = SWEEPS.map(|sweep| hubbard(start, sweep, interval));
                Ok([first?, whole?])
            })?;
            let seconds = [0, 1].map(|k| mean_of(&measured, |both| both[k].seconds));
            for (fastest, seconds) in fastest.iter_mut().zip(seconds) {
                if seconds < fastest.0 {
                    *fastest = (seconds, interval);
                }
            }
            table.row(cells![
                count,
                length,
                interval,
                mean_of(&measured, |both| both[0].counts.rebuilds),
                seconds[0],
                seconds[0] / bounds[0],
                mean_of(&measured, |both| both[1].counts.crossings),
                seconds[1],
                seconds[1] / bounds[1],
            ]);
            if seconds[1] / bounds[1] > MAX_RATIO {
                break;
            }
        }
        best.push(BestIntervals {
            spheres: count,
            intervals: fastest.map(|(_, interval)| interval),
        });
        let fitted = for_each_scene(SCENES, |seed| {
            let (start, _) = &starts[seed as usize - 1];
            hubbard(start, HubbardSweep::Full, FITTED / f64::from(count))
        })?;
        ratios.push(mean_of(&fitted, |one| one.seconds) / bounds[1]);
    }
    let title = format!(
        "**The paper's ratios** of all crossings to published bounds, at a duration of {FITTED} s \
         ÷ spheres, which is fitted to them."
    );
    let columns = vec![
        Column::number("spheres"),
        Column::number("duration of bounds, s").decimals(3),
        Column::number("ratio").decimals(0),
        Column::number("ratio in the paper").decimals(0),
    ];
    let mut table = run.table(&title, columns);
    for (row, ratio) in ROWS.iter().zip(ratios) {
        let duration = FITTED / f64::from(row.spheres);
        table.row(cells![row.spheres, duration, ratio, row.ratio()]);
    }
    Ok(best)
}

fn hubbard(start: &Start, sweep: HubbardSweep, interval: f64) -> Result<Measured, Box<dyn Error>> {
    start.hubbard(&HubbardConfig {
        interval,
        sweep,
        ..HubbardConfig::default()
    })
}
