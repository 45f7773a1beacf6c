//! Table 1: against Hubbard's broad phase.
//!
//! Two variants: a sweep that ends when the first two bounds meet, and one that finds all
//! crossings first, as the paper describes.

use std::error::Error;

use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, HubbardConfig, HubbardDetector, HubbardSweep, TimeVaryingConfig,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};

use crate::common::{Column, Done, Run, cells, cpu_time};
use crate::{Options, simulate};

/// Rows: spheres, simulated seconds of the time-varying bounds and of the two sweeps, and the
/// ratio in the paper.
const ROWS: [(u32, [f64; 3], f64); 4] = [
    (30, [15.0, 15.0, 15.0], 163.3),
    (100, [15.0, 5.0, 2.0], 481.3),
    (300, [15.0, 1.0, 0.2], 948.6),
    (1000, [5.0, 0.2, 0.02], 2017.4),
];

/// Intervals to try, s; the best one is reported.
const INTERVALS: [f64; 3] = [0.03, 0.1, 0.3];

/// Scenes per row.
const SCENES: u64 = 3;

pub fn run(run: &mut Run, _: &Options) -> Done {
    let columns = vec![
        Column::number("spheres"),
        Column::measured("time-varying bounds", "s").decimals(5),
        Column::measured("Hubbard, to the first meeting", "s").decimals(4),
        Column::number("ratio, to the first meeting")
            .headed("ratio")
            .decimals(0),
        Column::measured("Hubbard, all crossings", "s").decimals(4),
        Column::number("ratio, all crossings")
            .headed("ratio")
            .decimals(0),
        Column::number("ratio in the paper").decimals(0),
    ];
    let title =
        format!("**Table 1**: seconds per simulated second, mean of {SCENES} scenes, one thread.");
    let quick = run.quick;
    let mut table = run.table(&title, columns);
    for (count, simulated, paper) in ROWS {
        if quick && count > 30 {
            break;
        }
        let mut sums = [0.0; 3];
        for seed in 1..=SCENES {
            let config = ForcedSpheresConfig {
                count,
                seed,
                ..ForcedSpheresConfig::default()
            };
            sums[0] += simulate(&config, &TimeVaryingConfig::default(), simulated[0])?.seconds;
            let sweeps = [HubbardSweep::FirstOverlap, HubbardSweep::Full];
            for ((sum, sweep), simulated) in sums[1..].iter_mut().zip(sweeps).zip(&simulated[1..]) {
                *sum += hubbard(&config, sweep, *simulated)?;
            }
        }
        let [own, first, whole] = sums.map(|sum| sum / SCENES as f64);
        let ratios = [first / own, whole / own];
        table.row(cells![
            count, own, first, ratios[0], whole, ratios[1], paper
        ]);
    }
    Ok(())
}

/// CPU seconds per simulated second of Hubbard's broad phase at the best interval.
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
        let (seconds, ()) = cpu_time::time(prepare, |mut motion| {
            let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
            let mut detector = HubbardDetector::new(&spheres, walls, &settings, 0.0, &mut motion)?;
            Ok(detector.advance(simulated, &mut motion)?)
        })?;
        best = best.min(seconds / simulated);
    }
    Ok(best)
}
