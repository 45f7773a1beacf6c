//! The example of 1,000 circulating particles (section 4.3, figures 7 and 8).

use bevy_rapier_molecules::motion::unknown_trajectories::TimeVaryingConfig;
use bevy_rapier_molecules::scenes::{CirculatingSpheres, CirculatingSpheresConfig};

use super::start::mean_of;
use super::{RULES, for_each_scene, mean, simulate, spread};
use crate::common::{Column, Done, Run, cells};

/// The paper's time, s per simulated second (195 MHz R10000).
const PAPER: f64 = 2.846;

pub fn run(run: &mut Run, scenes: u64) -> Done {
    let full: &[Option<f64>] = &[None, Some(20.0), Some(30.0), Some(40.0)];
    let (count, simulated, sides) = run.pick((1000, 7.0, full), (50, 0.2, &[None]));
    let scenes = scenes.div_ceil(25);
    let title = format!(
        "**{count} circulating particles**: {simulated} simulated seconds, mean of {scenes} \
         scenes and standard deviation; the cost model's choice first."
    );
    let columns = vec![
        Column::text("rules"),
        Column::number("finest side").decimals(1),
        Column::measured("s per simulated s", "s").decimals(3),
        Column::number("± %").decimals(0),
        Column::number("speed ÷ real time").decimals(1),
        Column::number("colliding events per second").decimals(0),
        Column::number("contacts per second").decimals(0),
    ];
    let mut table = run.table(&title, columns);
    for (name, rules) in RULES {
        for &finest_cell_size in sides {
            let results = for_each_scene(scenes, |seed| {
                let mut motion = CirculatingSpheres::new(&CirculatingSpheresConfig {
                    count,
                    seed,
                    ..CirculatingSpheresConfig::default()
                })?;
                let config = TimeVaryingConfig {
                    finest_cell_size,
                    rules,
                    ..TimeVaryingConfig::default()
                };
                let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
                simulate((&spheres, walls), &config, simulated, &mut motion)
            })?;
            let seconds: Vec<f64> = results.iter().map(|one| one.seconds).collect();
            let colliding = mean_of(&results, |one| {
                (one.counts.colliding + one.counts.at_walls) as f64
            });
            let contacts = mean_of(&results, |one| one.counts.contacts as f64);
            table.row(cells![
                name,
                mean_of(&results, |one| one.sides[0]),
                mean(&seconds),
                spread(&seconds),
                1.0 / mean(&seconds),
                colliding / simulated,
                contacts / simulated,
            ]);
        }
    }
    run.note(&format!("The paper reports {PAPER} s on a 195 MHz CPU."));
    Ok(())
}
