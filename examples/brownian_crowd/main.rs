//! A crowded cytoplasm: proteins that diffuse and never overlap by an atom.
//!
//! ```text
//! cargo run --release --example brownian_crowd -- [--molecules 300] [--filled 0.25]
//! cargo run --release --example brownian_crowd -- --headless --steps 400 --report -
//! cargo run --release --example brownian_crowd -- --screenshot crowd.png --steps 50
//! cargo run --release --example brownian_crowd -- --stick 0.02
//! ```
//!
//! The panel plots how far proteins have come against how far they would have come alone,
//! and how large clusters are if proteins stick. Keys: Space pauses, T changes the colours.
//! Mouse: right turns, wheel zooms. Exit code 0 if all went well, and 2 if something was
//! wrong with the input.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bevy_rapier_molecules::backend::Backend;
use clap::Parser;
use serde::Serialize;

use cytoplasm::{Cytoplasm, Sample};

#[path = "../common/backend.rs"]
mod backend;
#[path = "../common/mod.rs"]
mod common;
mod cytoplasm;
#[path = "../common/device_search.rs"]
mod device_search;
#[path = "../common/display.rs"]
mod display;
#[path = "../common/window.rs"]
mod open_window;
#[path = "../common/orbit.rs"]
mod orbit;
#[path = "../common/picture/mod.rs"]
mod picture;
#[path = "../common/report_file.rs"]
mod report_file;
#[path = "../common/stage.rs"]
mod stage;
mod window;

/// An error whose text is one sentence.
type AnyError = Box<dyn Error + Send + Sync>;

/// Proteins of the bundled set diffuse in a box and collide by their atoms.
#[derive(Parser)]
pub struct Arguments {
    /// Number of proteins.
    #[arg(long, value_name = "N", default_value_t = 300)]
    molecules: u32,
    /// Part of the box that they fill, by their mass.
    #[arg(long, value_name = "X", default_value_t = 0.25)]
    filled: f64,
    /// Spread of the fastest protein's step along each axis, nm.
    #[arg(long, value_name = "NM", default_value_t = 0.1)]
    spread: f64,
    /// Chance that two proteins which meet stick together from then on, from 0 to 1.
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.0,
        default_missing_value = "1"
    )]
    #[arg(num_args = 0..=1)]
    stick: f64,
    /// Who finds the proteins that may meet: a GPU if there is a real one, the processor, or
    /// any GPU, even one in software. The result is the same.
    #[arg(long, value_name = "BACKEND", default_value_t = Backend::Auto)]
    #[arg(value_parser = backend::parser())]
    backend: Backend,
    /// Seed of places, rotations and steps.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Steps without a window, or before a picture. Default: 400, and 1 for a picture.
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// No window: run, and say how far proteins came.
    #[arg(long)]
    headless: bool,
    /// Write a JSON report to this file ('-' for standard output), without a window.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    picture: picture::PictureArguments,
}

/// What is written down.
#[derive(Serialize)]
struct Report<'a> {
    backend: Backend,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter: Option<&'a str>,
    molecules: usize,
    atoms: usize,
    filled: f64,
    steps: u32,
    step_ns: f64,
    /// Mean squared displacement over that of proteins that are alone.
    slowed_to: f64,
    collisions_a_step: f64,
    ms_a_step: f64,
    /// How many clusters of two and more proteins there are of each size.
    clusters: BTreeMap<usize, usize>,
    /// Proteins of a cluster on average, as a protein sees it.
    mean_cluster: f64,
}

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let shot = arguments.picture.shot()?;
    if let Some(path) = &arguments.report {
        report_file::check_target(path)?;
    }
    let windowed =
        shot.is_none() && !arguments.headless && arguments.report.is_none() && display::is_there();
    if shot.is_some() || windowed {
        picture::check_adapter()?;
    }
    let mut cytoplasm = Cytoplasm::new(arguments)?;
    if let Some(shot) = &shot {
        for _ in 0..arguments.steps.unwrap_or(1) {
            cytoplasm.step()?;
        }
        return window::run(cytoplasm, Some(shot));
    }
    if windowed {
        return window::run(cytoplasm, None);
    }
    headless(arguments, &mut cytoplasm)
}

fn headless(arguments: &Arguments, cytoplasm: &mut Cytoplasm) -> Result<(), AnyError> {
    let steps = arguments.steps.unwrap_or(400);
    let begin = std::time::Instant::now();
    let mut collisions = 0;
    for _ in 0..steps {
        cytoplasm.step()?;
        collisions += cytoplasm.collisions();
    }
    let each = |sum: f64| sum / f64::from(steps.max(1));
    let last = cytoplasm.history().last();
    let report = Report {
        backend: match cytoplasm.adapter() {
            Some(_) => Backend::Gpu,
            None => Backend::Cpu,
        },
        adapter: cytoplasm.adapter(),
        molecules: cytoplasm.molecules().len(),
        atoms: cytoplasm.atom_count(),
        filled: arguments.filled,
        steps,
        step_ns: cytoplasm.step_seconds() * 1e9,
        slowed_to: last.map_or(1.0, Sample::slowed_to),
        collisions_a_step: each(collisions as f64),
        ms_a_step: report_file::round(each(begin.elapsed().as_secs_f64() * 1e3)),
        clusters: cytoplasm.cluster_sizes(),
        mean_cluster: last.map_or(1.0, |sample| sample.cluster),
    };
    if let Some(path) = &arguments.report {
        return report_file::write_json(&report, path);
    }
    writeln!(
        io::stdout().lock(),
        "{} proteins, {} atoms: {} steps of {:.3} ns at {:.1} ms each\n\
         {:.0} collisions a step; squared displacements are {:.2} of those of proteins alone",
        report.molecules,
        report.atoms,
        report.steps,
        report.step_ns,
        report.ms_a_step,
        report.collisions_a_step,
        report.slowed_to,
    )?;
    if !report.clusters.is_empty() {
        let sizes = report.clusters.iter();
        let sizes: Vec<String> = sizes
            .map(|(size, count)| format!("{count} of {size}"))
            .collect();
        writeln!(io::stdout().lock(), "clusters: {}", sizes.join(", "))?;
    }
    if let Some(adapter) = report.adapter {
        writeln!(io::stdout().lock(), "pairs by {adapter}")?;
    }
    Ok(())
}
