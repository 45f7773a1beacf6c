//! Moving spheres: time-varying bounds against fixed steps, and at 100,000 spheres; and the cost
//! of a Brownian step. Single-thread times are CPU times.

mod brownian;
#[path = "../common/mod.rs"]
mod common;
mod fixed_step;
mod large;

use std::error::Error;
use std::process::ExitCode;

use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, EventCounts, TimeVaryingConfig, TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use common::{NoOptions, Part, cpu_time};

fn main() -> ExitCode {
    let about = "Moving spheres: time-varying bounds, fixed steps and Brownian steps";
    let parts: [Part<NoOptions>; 3] = [
        Part::new("fixed", "against a grid at a fixed step", fixed_step::run),
        Part::new("large", "1,000 to 100,000 spheres", large::run),
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
    })
}
