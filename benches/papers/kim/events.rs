//! Figures 5 and 6: time and events for 500 to 3,500 spheres; sides of subspaces.

use std::error::Error;
use std::path::Path;

use bevy_rapier_molecules::motion::unknown_trajectories::{EventCounts, TimeVaryingConfig};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use rayon::prelude::*;

use super::{RULES, Simulated, simulate};
use crate::common::{Column, Done, Run, cells};
use crate::plots::{Line, Plot};

/// Simulated time in the paper, s.
const SIMULATED: f64 = 15.0;

/// The paper's time for 1,000 spheres, s per simulated second (195 MHz R10000).
const PAPER_1000: f64 = 1.372;

pub fn run(run: &mut Run, folder: &Path) -> Done {
    figures(run, folder)?;
    sides(run)
}

/// The paper counts collisions with walls as colliding events (section 4.1).
fn colliding(counts: &EventCounts) -> u64 {
    counts.colliding + counts.at_walls
}

/// Simulates `count` spheres.
fn forced(
    count: u32,
    config: &TimeVaryingConfig,
    duration: f64,
) -> Result<Simulated, Box<dyn Error>> {
    let mut motion = ForcedSpheres::new(&ForcedSpheresConfig {
        count,
        ..ForcedSpheresConfig::default()
    })?;
    let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
    simulate((&spheres, walls), config, duration, &mut motion)
}

fn figures(run: &mut Run, folder: &Path) -> Done {
    let full: &[u32] = &[500, 1000, 1500, 2000, 2500, 3000, 3500];
    let (numbers, simulated) = run.pick((full, SIMULATED), (&[50, 100], 0.5));
    let title = format!(
        "**Figures 5 and 6**: {simulated} simulated seconds in a box of 200³. Entering and \
         leaving events are counted by planes of faces, and by faces; colliding events include \
         those at walls."
    );
    let columns = vec![
        Column::text("rules"),
        Column::number("spheres"),
        Column::number("filled fraction").decimals(2),
        Column::measured("s per simulated s", "s").decimals(4),
        Column::number("speed ÷ real time").decimals(1),
        Column::number("µs per event").decimals(1),
        Column::number("entering"),
        Column::number("leaving"),
        Column::number("entering, by faces"),
        Column::number("leaving, by faces"),
        Column::number("resetting"),
        Column::number("colliding"),
        Column::number("of which at walls"),
        Column::number("contacts"),
        Column::number("finest side").decimals(1),
    ];
    let mut table = run.table(&title, columns);
    let mut times = Vec::new();
    let mut events = Vec::new();
    for (name, rules) in RULES {
        // The longest first.
        let results = numbers.par_iter().rev().with_max_len(1).map(|&count| {
            let config = TimeVaryingConfig {
                rules,
                ..TimeVaryingConfig::default()
            };
            forced(count, &config, simulated).map_err(|error| error.to_string())
        });
        let results = results.collect::<Result<Vec<_>, String>>()?;
        let mut time = Line::new(name);
        let names = [
            "entering",
            "entering, by faces",
            "leaving",
            "resetting",
            "colliding",
        ];
        let mut lines = names.map(Line::new);
        for (&count, result) in numbers.iter().zip(results.iter().rev()) {
            let counts = &result.counts;
            let total = counts.entering + counts.leaving + counts.resetting + colliding(counts);
            table.row(cells![
                name,
                count,
                filled(count),
                result.seconds,
                1.0 / result.seconds,
                1.0e6 * result.seconds * simulated / total as f64,
                counts.entering,
                counts.leaving,
                counts.entered_cells,
                counts.left_cells,
                counts.resetting,
                colliding(counts),
                counts.at_walls,
                counts.contacts,
                result.sides[0],
            ]);
            let at = f64::from(count);
            time.points.push((at, result.seconds));
            let shown = [
                counts.entering,
                counts.entered_cells,
                counts.leaving,
                counts.resetting,
                colliding(counts),
            ];
            for (line, count) in lines.iter_mut().zip(shown) {
                line.points.push((at, count as f64));
            }
        }
        times.push(time);
        events.push(lines);
    }
    run.note(&format!(
        "The paper reports {PAPER_1000} s for 1,000 spheres on a 195 MHz CPU."
    ));
    let mut paper = Line::new("the paper, 195 MHz");
    paper.points.push((1000.0, PAPER_1000));
    times.push(paper);
    let plot = Plot {
        title: "CPU time per simulated second",
        names: ["spheres", "seconds"],
        logarithmic: false,
        lines: &times,
    };
    plot.write(&folder.join("kim_figure_5"))?;
    for ((name, _), lines) in RULES.iter().zip(&events) {
        let plot = Plot {
            title: &format!("Events in {simulated} simulated seconds, {name}"),
            names: ["spheres", "events"],
            logarithmic: false,
            lines,
        };
        plot.write(&folder.join(format!("kim_figure_6_{}", name.replace(' ', "_"))))?;
    }
    let shown = folder.display();
    run.note(&format!(
        "Plots: {shown}/kim_figure_5 and kim_figure_6_*, .svg and .png."
    ));
    Ok(())
}

/// The choice of the cost model against fixed sides.
fn sides(run: &mut Run) -> Done {
    let full: (&[u32], f64, &[f64]) = (
        &[500, 1000],
        SIMULATED,
        &[10.0, 20.0, 25.0, 30.0, 40.0, 50.0, 66.7, 80.0],
    );
    let (numbers, simulated, sides) = run.pick(full, (&[50], 0.2, &[40.0]));
    let title = format!(
        "**Sides of subspaces**: {simulated} simulated seconds; the cost model's choice first."
    );
    let columns = vec![
        Column::text("rules"),
        Column::number("spheres"),
        Column::number("finest side").decimals(1),
        Column::number("grids"),
        Column::measured("s per simulated s", "s").decimals(4),
        Column::number("entering"),
        Column::number("entering, by faces"),
        Column::number("resetting"),
        Column::number("colliding"),
        Column::number("checks"),
    ];
    let mut table = run.table(&title, columns);
    for &count in numbers {
        for (name, rules) in RULES {
            let all: Vec<_> = [None]
                .into_iter()
                .chain(sides.iter().copied().map(Some))
                .collect();
            let results = all.par_iter().with_max_len(1).map(|&finest_cell_size| {
                let config = TimeVaryingConfig {
                    finest_cell_size,
                    rules,
                    ..TimeVaryingConfig::default()
                };
                forced(count, &config, simulated).map_err(|error| error.to_string())
            });
            for result in results.collect::<Result<Vec<_>, String>>()? {
                let counts = &result.counts;
                table.row(cells![
                    name,
                    count,
                    result.sides[0],
                    result.sides.len(),
                    result.seconds,
                    counts.entering,
                    counts.entered_cells,
                    counts.resetting,
                    colliding(counts),
                    counts.checks,
                ]);
            }
        }
    }
    Ok(())
}

/// Mean fraction of the box filled by spheres with uniformly distributed radii.
fn filled(count: u32) -> f64 {
    let config = ForcedSpheresConfig::default();
    let [low, high] = config.radii;
    let cube = (high.powi(4) - low.powi(4)) / (4.0 * (high - low));
    f64::from(count) * 4.0 / 3.0 * std::f64::consts::PI * cube / config.side.powi(3)
}
