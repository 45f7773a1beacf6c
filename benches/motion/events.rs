//! Figures 5 and 6: time and events, from 500 to 3,500 spheres; and very many of them.

use std::path::Path;

use bevy_rapier_molecules::motion::time_varying::TimeVaryingConfig;
use bevy_rapier_molecules::scenes::ForcedSpheresConfig;

use crate::common::{Column, Done, Run, cells};
use crate::plots::{Line, Plot};
use crate::{Switches, follow};

/// Seconds that the paper simulates.
const SIMULATED: f64 = 15.0;

/// The paper's time for 1,000 spheres, s for each simulated second (195 MHz R10000).
const PAPER_1000: f64 = 1.372;

pub fn run(run: &mut Run, switches: &Switches) -> Done {
    std::fs::create_dir_all(&switches.out)
        .map_err(|error| format!("{}: {error}", switches.out.display()))?;
    figures(run, &switches.out)?;
    sides(run)
}

fn figures(run: &mut Run, folder: &Path) -> Done {
    let in_earnest: &[u32] = &[500, 1000, 1500, 2000, 2500, 3000, 3500];
    let (numbers, simulated) = run.pick((in_earnest, SIMULATED), (&[50, 100], 0.5));
    let title =
        format!("**Figures 5 and 6**: {simulated} simulated seconds in a box of 200³, one thread.");
    let columns = vec![
        Column::number("spheres"),
        Column::number("part of space filled").decimals(2),
        Column::measured("s a simulated s", "s").decimals(4),
        Column::number("times real time").decimals(1),
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
        let followed = follow(&config, &TimeVaryingConfig::default(), simulated)?;
        let counts = &followed.counts;
        table.row(cells![
            count,
            filled(&config),
            followed.seconds,
            1.0 / followed.seconds,
            counts.entering,
            counts.leaving,
            counts.resetting,
            counts.colliding,
            counts.at_walls,
            counts.contacts,
            followed.sides[0],
        ]);
        let at = f64::from(count);
        times.points.push((at, followed.seconds));
        let happened = [
            counts.entering,
            counts.leaving,
            counts.resetting,
            counts.colliding,
        ];
        for (line, happened) in events.iter_mut().zip(happened) {
            line.points.push((at, happened as f64));
        }
    }
    run.note(&format!(
        "The paper has {PAPER_1000} s for 1,000 spheres, on a processor of 195 MHz."
    ));
    let mut paper = Line::new("the paper, 195 MHz");
    paper.points.push((1000.0, PAPER_1000));
    let plot = Plot {
        title: "Processing time of a simulated second",
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

/// How well the cost model chooses.
fn sides(run: &mut Run) -> Done {
    let (count, simulated) = run.pick((1000, 5.0), (50, 0.5));
    let title = format!("**Sides of subspaces**, {count} spheres; the cost model's choice first.");
    let columns = vec![
        Column::number("finest side").decimals(1),
        Column::number("grids"),
        Column::measured("s a simulated s", "s").decimals(4),
    ];
    let mut table = run.table(&title, columns);
    let config = ForcedSpheresConfig {
        count,
        ..ForcedSpheresConfig::default()
    };
    for finest_side in [
        None,
        Some(10.0),
        Some(20.0),
        Some(28.3),
        Some(40.0),
        Some(56.6),
        Some(80.0),
    ] {
        let settings = TimeVaryingConfig {
            finest_side,
            ..TimeVaryingConfig::default()
        };
        let followed = follow(&config, &settings, simulated)?;
        let sides = &followed.sides;
        table.row(cells![sides[0], sides.len(), followed.seconds]);
    }
    Ok(())
}

/// 100,000 spheres, as dense as 1,000 in the box of the paper.
pub fn run_large(run: &mut Run, _: &Switches) -> Done {
    let (count, simulated) = run.pick((100_000, 1.0), (500, 0.1));
    let config = ForcedSpheresConfig::default().scaled_to(count);
    let followed = follow(&config, &TimeVaryingConfig::default(), simulated)?;
    let title = format!("**{count} spheres** at the density of 1,000 in 200³.");
    let columns = vec![
        Column::number("spheres"),
        Column::number("side of the box").decimals(0),
        Column::measured("s a simulated s", "s").decimals(2),
        Column::number("contacts"),
        Column::number("colliding"),
    ];
    let counts = &followed.counts;
    run.table(&title, columns).row(cells![
        count,
        config.side,
        followed.seconds,
        counts.contacts,
        counts.colliding,
    ]);
    Ok(())
}

/// Part of the box that spheres of evenly spread radii fill, on average.
fn filled(config: &ForcedSpheresConfig) -> f64 {
    let [low, high] = config.radii;
    let cube = (high.powi(4) - low.powi(4)) / (4.0 * (high - low));
    f64::from(config.count) * 4.0 / 3.0 * std::f64::consts::PI * cube / config.side.powi(3)
}
