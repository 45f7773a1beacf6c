//! Figures 5 and 6: time and events, from 500 to 3,500 spheres; and very many of them.

use std::error::Error;

use bevy_rapier_molecules::motion::time_varying::TimeVaryingConfig;
use bevy_rapier_molecules::scenes::ForcedSpheresConfig;

use crate::plots::{Line, Plot};
use crate::{Arguments, follow};

/// Seconds that the paper simulates.
const SIMULATED: f64 = 15.0;

/// The paper's time for 1,000 spheres, s for each simulated second (195 MHz R10000).
const PAPER_1000: f64 = 1.372;

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (numbers, simulated): (&[u32], f64) = if arguments.quick {
        (&[50, 100], 0.5)
    } else {
        (&[500, 1000, 1500, 2000, 2500, 3000, 3500], SIMULATED)
    };
    println!(
        "\n**Figures 5 and 6**: {simulated} simulated seconds in a box of 200³, one thread.\n"
    );
    println!(
        "| spheres | part filled | s a simulated s | times real time | entering | leaving | resetting | colliding | at walls | contacts | finest side |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let names = ["entering", "leaving", "resetting", "colliding"];
    let mut times = Line::new("time-varying bounds");
    let mut events = names.map(Line::new);
    for &count in numbers {
        let config = ForcedSpheresConfig {
            count,
            ..ForcedSpheresConfig::default()
        };
        let run = follow(&config, &TimeVaryingConfig::default(), simulated)?;
        let counts = &run.counts;
        println!(
            "| {count} | {:.2} | {:.4} | {:.1} | {} | {} | {} | {} | {} | {} | {:.1} |",
            filled(&config),
            run.seconds,
            1.0 / run.seconds,
            counts.entering,
            counts.leaving,
            counts.resetting,
            counts.colliding,
            counts.at_walls,
            counts.contacts,
            run.sides[0],
        );
        let at = f64::from(count);
        times.points.push((at, run.seconds));
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
    println!("\nThe paper has {PAPER_1000} s for 1,000 spheres, on a processor of 195 MHz.");
    let mut paper = Line::new("the paper, 195 MHz");
    paper.points.push((1000.0, PAPER_1000));
    let figure = |name: &str, title: &str, unit: &str, lines: &[Line]| {
        let stem = arguments.out.join(name);
        let plot = Plot {
            title,
            names: ["spheres", unit],
            logarithmic: false,
            lines,
        };
        println!("\nPlot: {}.svg and .png", stem.display());
        plot.write(&stem)
    };
    let title = "Processing time of a simulated second";
    figure("figure_5", title, "seconds", &[times, paper])?;
    let title = format!("Events in {simulated} simulated seconds");
    figure("figure_6", &title, "events", &events)?;
    sides(arguments)
}

/// How well the cost model chooses.
fn sides(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (count, simulated) = if arguments.quick {
        (50, 0.5)
    } else {
        (1000, 5.0)
    };
    println!("\n**Sides of subspaces**, {count} spheres; the cost model's choice first.\n");
    println!("| finest side | grids | s a simulated s |\n|--:|--:|--:|");
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
        let run = follow(&config, &settings, simulated)?;
        println!(
            "| {:.1} | {} | {:.4} |",
            run.sides[0],
            run.sides.len(),
            run.seconds
        );
    }
    Ok(())
}

/// 100,000 spheres, as dense as 1,000 in the box of the paper.
pub fn run_large(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (count, simulated) = if arguments.quick {
        (500, 0.1)
    } else {
        (100_000, 1.0)
    };
    let config = ForcedSpheresConfig::default().scaled_to(count);
    let run = follow(&config, &TimeVaryingConfig::default(), simulated)?;
    println!(
        "\n**{count} spheres** at the density of 1,000 in 200³, a box of {:.0}³: {:.2} s a simulated second, {} contacts, {} colliding events.",
        config.side, run.seconds, run.counts.contacts, run.counts.colliding,
    );
    Ok(())
}

/// Part of the box that spheres of evenly spread radii fill, on average.
fn filled(config: &ForcedSpheresConfig) -> f64 {
    let [low, high] = config.radii;
    let cube = (high.powi(4) - low.powi(4)) / (4.0 * (high - low));
    f64::from(config.count) * 4.0 / 3.0 * std::f64::consts::PI * cube / config.side.powi(3)
}
