//! Figures 5 and 6: time and events for 500 to 3,500 spheres; and 100,000 spheres.

use std::path::Path;

use bevy_rapier_molecules::motion::unknown_trajectories::TimeVaryingConfig;
use bevy_rapier_molecules::scenes::ForcedSpheresConfig;

use crate::common::{Column, Done, Run, cells};
use crate::plots::{Line, Plot};
use crate::{Options, simulate};

/// Simulated time in the paper, s.
const SIMULATED: f64 = 15.0;

/// The paper's time for 1,000 spheres, s per simulated second (195 MHz R10000).
const PAPER_1000: f64 = 1.372;

pub fn run(run: &mut Run, options: &Options) -> Done {
    std::fs::create_dir_all(&options.out)
        .map_err(|error| format!("{}: {error}", options.out.display()))?;
    figures(run, &options.out)?;
    sides(run)
}

fn figures(run: &mut Run, folder: &Path) -> Done {
    let full: &[u32] = &[500, 1000, 1500, 2000, 2500, 3000, 3500];
    let (numbers, simulated) = run.pick((full, SIMULATED), (&[50, 100], 0.5));
    let title =
        format!("**Figures 5 and 6**: {simulated} simulated seconds in a box of 200³, one thread.");
    let columns = vec![
        Column::number("spheres"),
        Column::number("filled fraction").decimals(2),
        Column::measured("s per simulated s", "s").decimals(4),
        Column::number("speed ÷ real time").decimals(1),
        Column::number("entering"),
        Column::number("leaving"),
        Column::number("resetting"),
        Column::number("colliding"),
        Column::number("at walls"),
        Column::number("contacts"),
        Column::number("finest side").decimals(1),
    ];
    let mut table = run.table(&title, columns);
    let names = ["entering", "leaving", "resetting", "colliding"];
    let mut times = Line::new("time-varying bounds");
    let mut events = names.map(Line::new);
    for &count in numbers {
        let config = ForcedSpheresConfig {
            count,
            ..ForcedSpheresConfig::default()
        };
        let result = simulate(&config, &TimeVaryingConfig::default(), simulated)?;
        let counts = &result.counts;
        table.row(cells![
            count,
            filled(&config),
            result.seconds,
            1.0 / result.seconds,
            counts.entering,
            counts.leaving,
            counts.resetting,
            counts.colliding,
            counts.at_walls,
            counts.contacts,
            result.sides[0],
        ]);
        let at = f64::from(count);
        times.points.push((at, result.seconds));
        let count = [
            counts.entering,
            counts.leaving,
            counts.resetting,
            counts.colliding,
        ];
        for (line, count) in events.iter_mut().zip(count) {
            line.points.push((at, count as f64));
        }
    }
    run.note(&format!(
        "The paper reports {PAPER_1000} s for 1,000 spheres on a 195 MHz CPU."
    ));
    let mut paper = Line::new("the paper, 195 MHz");
    paper.points.push((1000.0, PAPER_1000));
    let plot = Plot {
        title: "CPU time per simulated second",
        names: ["spheres", "seconds"],
        logarithmic: false,
        lines: &[times, paper],
    };
    plot.write(&folder.join("figure_5"))?;
    let plot = Plot {
        title: &format!("Events in {simulated} simulated seconds"),
        names: ["spheres", "events"],
        logarithmic: false,
        lines: &events,
    };
    plot.write(&folder.join("figure_6"))?;
    let shown = folder.display();
    run.note(&format!("Plots: {shown}/figure_5 and 6, .svg and .png."));
    Ok(())
}

/// The choice of the cost model against fixed sides.
fn sides(run: &mut Run) -> Done {
    let (count, simulated) = run.pick((1000, 5.0), (50, 0.5));
    let title = format!("**Sides of subspaces**, {count} spheres; the cost model's choice first.");
    let columns = vec![
        Column::number("finest side").decimals(1),
        Column::number("grids"),
        Column::measured("s per simulated s", "s").decimals(4),
    ];
    let mut table = run.table(&title, columns);
    let config = ForcedSpheresConfig {
        count,
        ..ForcedSpheresConfig::default()
    };
    for finest_cell_size in [
        None,
        Some(10.0),
        Some(20.0),
        Some(28.3),
        Some(40.0),
        Some(56.6),
        Some(80.0),
    ] {
        let settings = TimeVaryingConfig {
            finest_cell_size,
            ..TimeVaryingConfig::default()
        };
        let result = simulate(&config, &settings, simulated)?;
        let sides = &result.sides;
        table.row(cells![sides[0], sides.len(), result.seconds]);
    }
    Ok(())
}

/// 100,000 spheres at the density of 1,000 in the box of the paper.
pub fn run_large(run: &mut Run, _: &Options) -> Done {
    let (count, simulated) = run.pick((100_000, 1.0), (500, 0.1));
    let config = ForcedSpheresConfig::default().scaled_to(count);
    let result = simulate(&config, &TimeVaryingConfig::default(), simulated)?;
    let title = format!("**{count} spheres** at the density of 1,000 in 200³.");
    let columns = vec![
        Column::number("spheres"),
        Column::number("side of the box").decimals(0),
        Column::measured("s per simulated s", "s").decimals(2),
        Column::number("contacts"),
        Column::number("colliding"),
    ];
    let counts = &result.counts;
    run.table(&title, columns).row(cells![
        count,
        config.side,
        result.seconds,
        counts.contacts,
        counts.colliding,
    ]);
    Ok(())
}

/// Mean fraction of the box filled by spheres with uniformly distributed radii.
fn filled(config: &ForcedSpheresConfig) -> f64 {
    let [low, high] = config.radii;
    let cube = (high.powi(4) - low.powi(4)) / (4.0 * (high - low));
    f64::from(config.count) * 4.0 / 3.0 * std::f64::consts::PI * cube / config.side.powi(3)
}
