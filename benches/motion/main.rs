//! Moving spheres: the experiments of Kim, Guibas and Shin, and what a Brownian step costs.
//!
//! Plots are SVG and PNG files in a folder, which is in the target folder if not given.
//! Times of one thread are those that it had a processor.

mod brownian;
#[path = "../common/mod.rs"]
mod common;
mod events;
mod fixed_step;
#[path = "../../examples/common/plots.rs"]
mod plots;
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use bevy_rapier_molecules::motion::time_varying::{
    Detector, EventCounts, TimeVarying, TimeVaryingConfig,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use clap::Args;
use common::{Part, processor};

/// What only this bench has.
#[derive(Args)]
pub struct Switches {
    /// Folder of the plots of `events`.
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
        Part::new("table", "against Hubbard's broad phase", table::run),
        Part::new("fixed", "against a grid at a fixed step", fixed_step::run),
        Part::new("large", "100,000 spheres", events::run_large),
        Part::new(
            "brownian",
            "a Brownian step of 10,000 spheres, and of as many proteins",
            brownian::run,
        ),
    ];
    common::run("motion", about, &parts)
}

/// A run of the time-varying bounds.
pub struct Followed {
    /// Seconds of the processor that a simulated second takes.
    pub seconds: f64,
    /// The events of all seconds.
    pub counts: EventCounts,
    /// Sides of the subspaces.
    pub sides: Vec<f64>,
}

/// Follows spheres for a time.
pub fn follow(
    config: &ForcedSpheresConfig,
    settings: &TimeVaryingConfig,
    simulated: f64,
) -> Result<Followed, Box<dyn Error>> {
    let prepare = || Ok(ForcedSpheres::new(config)?);
    let (seconds, detector) = processor::time(prepare, |mut motion| {
        let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
        let mut detector = TimeVarying::new(&spheres, walls, settings, 0.0, &mut motion)?;
        detector.advance(simulated, &mut motion)?;
        Ok(detector)
    })?;
    Ok(Followed {
        seconds: seconds / simulated,
        counts: detector.counts(),
        sides: detector.sides().collect(),
    })
}
