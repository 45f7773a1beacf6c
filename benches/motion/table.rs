//! Table 1: against Hubbard's broad phase.
//!
//! In two ways: with a sweep that ends when the first two bounds meet, as one would do it
//! today, and with all crossings found first, as the paper describes it.

use std::error::Error;

use bevy_rapier_molecules::motion::time_varying::{
    Detector, Hubbard, HubbardConfig, HubbardSweep, TimeVaryingConfig,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};

use crate::{Arguments, clock, follow};

/// A row: spheres, simulated seconds of the time-varying bounds and of the two sweeps, and
/// the ratio of the paper.
const ROWS: [(u32, [f64; 3], f64); 4] = [
    (30, [15.0, 15.0, 15.0], 163.3),
    (100, [15.0, 5.0, 2.0], 481.3),
    (300, [15.0, 1.0, 0.2], 948.6),
    (1000, [5.0, 0.2, 0.02], 2017.4),
];

/// Intervals that are tried, s; the best one counts.
const INTERVALS: [f64; 3] = [0.03, 0.1, 0.3];

/// Scenes of each row.
const SCENES: u64 = 3;

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    println!(
        "\n**Table 1**: seconds for each simulated second, mean of {SCENES} scenes, one thread.\n"
    );
    println!(
        "| spheres | time-varying bounds | Hubbard, to the first meeting | ratio | Hubbard, all crossings | ratio | ratio of the paper |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    for (count, simulated, paper) in ROWS {
        if arguments.quick && count > 30 {
            break;
        }
        let mut sums = [0.0; 3];
        for seed in 1..=SCENES {
            let config = ForcedSpheresConfig {
                count,
                seed,
                ..ForcedSpheresConfig::default()
            };
            sums[0] += follow(&config, &TimeVaryingConfig::default(), simulated[0])?.seconds;
            let sweeps = [HubbardSweep::UntilFirst, HubbardSweep::Whole];
            for ((sum, sweep), simulated) in sums[1..].iter_mut().zip(sweeps).zip(&simulated[1..]) {
                *sum += hubbard(&config, sweep, *simulated)?;
            }
        }
        let [own, first, whole] = sums.map(|sum| sum / SCENES as f64);
        println!(
            "| {count} | {own:.5} | {first:.4} | {:.0} | {whole:.4} | {:.0} | {paper} |",
            first / own,
            whole / own
        );
    }
    Ok(())
}

/// Seconds that a simulated second takes Hubbard's broad phase, with the best interval.
fn hubbard(
    config: &ForcedSpheresConfig,
    sweep: HubbardSweep,
    simulated: f64,
) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for interval in INTERVALS {
        let settings = HubbardConfig {
            interval,
            sweep,
            ..HubbardConfig::default()
        };
        let prepare = || Ok(ForcedSpheres::new(config)?);
        let (seconds, ()) = clock::time(prepare, |mut motion| {
            let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
            let mut detector = Hubbard::new(&spheres, walls, &settings, 0.0, &mut motion)?;
            Ok(detector.advance(simulated, &mut motion)?)
        })?;
        best = best.min(seconds / simulated);
    }
    Ok(best)
}
