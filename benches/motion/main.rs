//! Moving spheres: the experiments of Kim, Guibas and Shin, and what a Brownian step costs.
//!
//! `cargo bench --bench motion -- [events] [table] [fixed] [large] [brownian] [--out DIR]`
//! runs some or all of them; plots are SVG and PNG files in DIR, which is in the target
//! folder if not given. Times of one thread are those that it had a processor.
#![allow(clippy::print_stdout, reason = "the tables are the purpose")]

mod brownian;
mod clock;
mod events;
mod fixed_step;
#[path = "../../examples/common/plots.rs"]
mod plots;
mod table;

use std::error::Error;
use std::path::PathBuf;

use bevy_rapier_molecules::motion::time_varying::{
    Detector, EventCounts, TimeVarying, TimeVaryingConfig,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};

/// What was asked for.
pub struct Arguments {
    /// A short run, that only shows that everything works.
    pub quick: bool,
    /// Folder of the plots.
    pub out: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let out = given.iter().position(|word| word == "--out");
    let out = out.and_then(|at| given.get(at + 1));
    let default = concat!(env!("CARGO_TARGET_TMPDIR"), "/motion");
    let arguments = Arguments {
        // `cargo bench` says so; `cargo test --benches` only wants to see it run.
        quick: !given.iter().any(|word| word == "--bench"),
        out: out.map_or_else(|| default.into(), PathBuf::from),
    };
    std::fs::create_dir_all(&arguments.out)?;
    let parts: [(&str, fn(&Arguments) -> Result<(), Box<dyn Error>>); 5] = [
        ("events", events::run),
        ("table", table::run),
        ("fixed", fixed_step::run),
        ("large", events::run_large),
        ("brownian", brownian::run),
    ];
    let named = |name: &str| given.iter().any(|word| word == name);
    let all = !parts.iter().any(|(name, _)| named(name));
    for (name, run) in parts {
        if all || named(name) {
            run(&arguments)?;
        }
    }
    Ok(())
}

/// A run of the time-varying bounds.
pub struct Run {
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
) -> Result<Run, Box<dyn Error>> {
    let prepare = || Ok(ForcedSpheres::new(config)?);
    let (seconds, detector) = clock::time(prepare, |mut motion| {
        let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
        let mut detector = TimeVarying::new(&spheres, walls, settings, 0.0, &mut motion)?;
        detector.advance(simulated, &mut motion)?;
        Ok(detector)
    })?;
    Ok(Run {
        seconds: seconds / simulated,
        counts: detector.counts(),
        sides: detector.sides().collect(),
    })
}
