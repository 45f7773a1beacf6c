//! A crowded cytoplasm: proteins that diffuse and never overlap by an atom.
//!
//! ```text
//! cargo run --release --example brownian_crowd -- --molecules 300 --filled 0.25
//! cargo run --release --example brownian_crowd -- --headless --steps 400 --report -
//! cargo run --release --example brownian_crowd -- --screenshot crowd.png --steps 50
//! cargo run --release --example brownian_crowd -- --stick 0.02
//! ```
//!
//! The panel plots how far proteins have come against how far they would have come alone,
//! and how large clusters are if proteins stick. Keys: Space pauses, T changes the colors,
//! Esc quits. Mouse: right turns, wheel zooms. `--help` lists the options and the exit codes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use serde::Serialize;

use common::report::round;
use common::{AnyError, Head};
use cytoplasm::{Cytoplasm, Sample};
use progress::Progress;
use screen::{SceneArguments, Screen};

#[path = "../common/mod.rs"]
mod common;
mod cytoplasm;
#[path = "../common/device_search.rs"]
mod device_search;
#[path = "../common/fallback.rs"]
mod fallback;
#[path = "../common/progress.rs"]
mod progress;
#[path = "../common/screen/mod.rs"]
mod screen;
#[path = "../common/stage.rs"]
mod stage;
mod window;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Proteins of the bundled set diffuse in a box and collide by their atoms.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
pub struct Arguments {
    /// Number of proteins.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 300,
        visible_alias = "proteins"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_PROTEINS))]
    molecules: u32,
    /// Part of the box that they fill, by their mass, from 0.001 to 0.4.
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.25,
        allow_negative_numbers = true
    )]
    filled: f64,
    /// Spread of the fastest protein's step along each axis, nm, at most 0.5.
    #[arg(
        long,
        value_name = "NM",
        default_value_t = 0.1,
        allow_negative_numbers = true
    )]
    spread: f64,
    /// Chance that two proteins which meet stick together from then on, from 0 to 1; 1 if no
    /// number is given.
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.0,
        default_missing_value = "1"
    )]
    #[arg(num_args = 0..=1, allow_negative_numbers = true)]
    stick: f64,
    /// Steps without a window, or before a picture [default: 400, and 1 for a picture].
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    #[command(flatten)]
    scene: SceneArguments,
}

/// Most proteins: with more, their atoms could not be numbered with 32 bits.
const MOST_PROTEINS: i64 = 1_000_000;

/// What `--report` writes.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    molecules: usize,
    atoms: usize,
    filled: f64,
    steps: u32,
    step_ns: f64,
    simulated_ns: f64,
    /// Mean squared displacement over that of proteins that are alone.
    slowed_to: f64,
    collisions_per_step: f64,
    ms_per_step: StepMilliseconds,
    /// How many clusters of two and more proteins there are of each size.
    clusters: BTreeMap<usize, usize>,
    /// Proteins of a cluster on average, as a protein sees it.
    mean_cluster: f64,
}

/// Mean time of a step, ms.
#[derive(Serialize)]
struct StepMilliseconds {
    total: f64,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    let mut cytoplasm = Cytoplasm::new(arguments)?;
    match screen.announced() {
        Screen::Window => window::run(cytoplasm, None),
        Screen::Picture(shot) => {
            advance(arguments, &mut cytoplasm, arguments.steps.unwrap_or(1))?;
            window::run(cytoplasm, Some(&shot))
        }
        Screen::Nowhere(_) => headless(arguments, &mut cytoplasm),
    }
}

/// Goes so many steps, and shows how far it is; how many pairs collided.
fn advance(
    arguments: &Arguments,
    cytoplasm: &mut Cytoplasm,
    steps: u32,
) -> Result<usize, AnyError> {
    let mut progress = Progress::new(arguments.scene.common.quiet);
    let mut collisions = 0;
    for step in 1..=steps {
        cytoplasm.step()?;
        collisions += cytoplasm.collisions();
        progress.update(f64::from(step) / f64::from(steps), || {
            format!("step {step} of {steps}: {collisions} collisions")
        });
    }
    progress.clear();
    Ok(collisions)
}

fn headless(arguments: &Arguments, cytoplasm: &mut Cytoplasm) -> Result<(), AnyError> {
    let steps = arguments.steps.unwrap_or(400);
    let begin = Instant::now();
    let collisions = advance(arguments, cytoplasm, steps)?;
    let time = begin.elapsed();
    let each = |sum: f64| sum / f64::from(steps.max(1));
    let last = cytoplasm.history().last();
    let seed = arguments.scene.seed.or(None);
    let report = Report {
        head: Head::new(Some(seed), cytoplasm.device().clone(), time),
        molecules: cytoplasm.molecules().len(),
        atoms: cytoplasm.atom_count(),
        filled: arguments.filled,
        steps,
        step_ns: cytoplasm.step_seconds() * 1e9,
        simulated_ns: last.map_or(0.0, |sample| sample.time_ns),
        slowed_to: last.map_or(1.0, Sample::slowed_to),
        collisions_per_step: each(collisions as f64),
        ms_per_step: StepMilliseconds {
            total: round(each(time.as_secs_f64() * 1e3)),
        },
        clusters: cytoplasm.cluster_sizes(),
        mean_cluster: last.map_or(1.0, |sample| sample.cluster),
    };
    let common = &arguments.scene.common;
    common.write(&report)?;
    common.tell(|out| write_summary(out, &report))
}

fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    writeln!(
        out,
        "{} proteins, {} atoms: {} steps of {:.3} ns at {:.1} ms each\n\
         {:.0} collisions a step; squared displacements are {:.2} of those of proteins alone",
        report.molecules,
        report.atoms,
        report.steps,
        report.step_ns,
        report.ms_per_step.total,
        report.collisions_per_step,
        report.slowed_to,
    )?;
    if !report.clusters.is_empty() {
        writeln!(out, "clusters: {}", in_words(&report.clusters))?;
    }
    if let Some(adapter) = &report.head.device.adapter {
        writeln!(out, "pairs by {adapter}")?;
    }
    Ok(())
}

/// How many clusters there are of each size, such as `3 of 2, 1 of 5`.
fn in_words(clusters: &BTreeMap<usize, usize>) -> String {
    let sizes = clusters.iter();
    let sizes: Vec<String> = sizes
        .map(|(size, count)| format!("{count} of {size}"))
        .collect();
    sizes.join(", ")
}
