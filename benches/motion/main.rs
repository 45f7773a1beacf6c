//! Moving spheres: the experiments of Kim, Guibas and Shin, and the cost of a Brownian step.
//!
//! Plots are written as SVG and PNG files, by default into the target directory. Single-thread
//! times are CPU times.

mod brownian;
#[path = "../common/mod.rs"]
mod common;
mod events;
mod fixed_step;
mod hubbard;
#[path = "../../examples/common/plots.rs"]
mod plots;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, EventCounts, TimeVaryingConfig, TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use clap::Args;
use common::{Part, cpu_time};

/// Options of this bench.
#[derive(Args)]
pub struct Options {
    /// Directory for the plots of `events`.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_TARGET_TMPDIR"), "/motion"))]
    pub out: PathBuf,
}

fn main() -> ExitCode {
    let about = "Moving spheres: the experiments of Kim, Guibas and Shin, and Brownian steps";
    let parts = [
        Part::new(
            "events",
            "time and events from 500 to 3,500 spheres, with plots; sides of subspaces",
            events::run,
        ),
        Part::new("table", "against Hubbard's broad phase", hubbard::run),
        Part::new("fixed", "against a grid at a fixed step", fixed_step::run),
        Part::new("large", "100,000 spheres", events::run_large),
        Part::new(
            "brownian",
            "a Brownian step of 10,000 spheres and of 10,000 proteins",
            brownian::run,
        ),
    ];
    common::run("motion", about, &parts)
}

/// Results of a run with time-varying bounds.
pub struct Simulated {
    /// CPU seconds per simulated second.
    pub seconds: f64,
    /// Event counts.
    pub counts: EventCounts,
    /// Sides of the subspaces.
    pub sides: Vec<f64>,
}

/// Simulates `simulated` seconds with time-varying bounds.
pub fn simulate(
    config: &ForcedSpheresConfig,
    settings: &TimeVaryingConfig,
    simulated: f64,
) -> Result<Simulated, Box<dyn Error>> {
    let prepare = || Ok(ForcedSpheres::new(config)?);
    let (seconds, detector) = cpu_time::time(prepare, |mut motion| {
        let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
        let mut detector = TimeVaryingDetector::new(&spheres, walls, settings, 0.0, &mut motion)?;
        detector.advance(simulated, &mut motion)?;
        Ok(detector)
    })?;
    Ok(Simulated {
        seconds: seconds / simulated,
        counts: detector.counts(),
        sides: detector.cell_sizes().collect(),
    })
}
