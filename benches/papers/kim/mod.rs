//! Kim, Guibas and Shin (2005): time-varying bounds, and Hubbard's broad phase.
//!
//! Scenes run on separate threads; times are CPU times of one thread.

mod circulating;
mod events;
mod hubbard;
mod start;
mod sweep;

use std::error::Error;

use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, EventCounts, MovingSphere, SphereMotion, TimeVaryingConfig,
    TimeVaryingDetector, TimeVaryingRules,
};
use clap::Args;
use rayon::prelude::*;

use crate::Options;
use crate::common::{Done, Run, cpu_time};

/// Both sets of rules, with names.
const RULES: [(&str, TimeVaryingRules); 2] = [
    ("published", TimeVaryingRules::Published),
    ("first end", TimeVaryingRules::FirstEnd),
];

/// Options of this part.
#[derive(Args)]
pub struct KimOptions {
    /// Scenes per row of table 1 of Kim, Guibas and Shin.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub scenes: u32,
}

pub fn run(run: &mut Run, options: &Options) -> Done {
    std::fs::create_dir_all(&options.out)
        .map_err(|error| format!("{}: {error}", options.out.display()))?;
    let scenes = u64::from(options.kim.scenes).min(run.pick(u64::MAX, 2));
    start::run(run, scenes)?;
    let intervals = sweep::run(run)?;
    hubbard::run(run, scenes, &intervals)?;
    events::run(run, &options.out)?;
    circulating::run(run, scenes)
}

/// Runs scenes with the seeds 1 to `count` on all threads. Results are in order of the seeds.
fn for_each_scene<T: Send>(
    count: u64,
    one: impl Fn(u64) -> Result<T, Box<dyn Error>> + Sync,
) -> Result<Vec<T>, Box<dyn Error>> {
    let results = (1..=count).into_par_iter().map(|seed| {
        // A boxed error cannot leave its thread.
        one(seed).map_err(|error| error.to_string())
    });
    Ok(results.collect::<Result<_, String>>()?)
}

/// CPU seconds of `run` on this thread, and its result.
fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let begin = cpu_time::thread_seconds();
    let result = run();
    (cpu_time::thread_seconds() - begin, result)
}

/// Results of a simulation with time-varying bounds.
struct Simulated {
    /// CPU seconds per simulated second.
    seconds: f64,
    counts: EventCounts,
    /// Sides of the subspaces, nm.
    sides: Vec<f64>,
}

/// Simulates `duration` seconds with time-varying bounds.
fn simulate(
    (spheres, walls): (&[MovingSphere], Vec<Wall>),
    config: &TimeVaryingConfig,
    duration: f64,
    motion: &mut impl SphereMotion,
) -> Result<Simulated, Box<dyn Error>> {
    let (seconds, detector) = timed(|| {
        let mut detector = TimeVaryingDetector::new(spheres, walls, config, 0.0, motion)?;
        detector.advance(duration, motion)?;
        Ok::<_, Box<dyn Error>>(detector)
    });
    let detector = detector?;
    Ok(Simulated {
        seconds: seconds / duration,
        counts: detector.counts(),
        sides: detector.cell_sizes().collect(),
    })
}

/// Mean of some values.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation of some values over their mean, %.
fn spread(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let degrees = (values.len() - 1).max(1) as f64;
    100.0 * (squares.sum::<f64>() / degrees).sqrt() / mean
}
