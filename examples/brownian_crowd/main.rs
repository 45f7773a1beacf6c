//! A crowded cytoplasm: proteins diffuse, and no two atoms ever overlap.
//!
//! ```text
//! cargo run --release --example brownian_crowd -- --molecules 300 --filled 0.25
//! cargo run --release --example brownian_crowd -- --headless --steps 400 --report -
//! cargo run --release --example brownian_crowd -- --screenshot crowd.png --steps 50
//! cargo run --release --example brownian_crowd -- --stick 0.02
//! cargo run --release --example brownian_crowd -- --headless --steps 400,fine
//! cargo run --release --example brownian_crowd -- --headless --record crowd.simularium --every 10
//! ```
//!
//! The panel plots the mean squared displacement of the proteins against that of free
//! diffusion, and the cluster size if proteins stick. Keys: Space pause, T colors, Esc quit.
//! Mouse: right turns, wheel zooms. `--help` lists the options and the exit codes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use bevy_rapier_molecules::motion::brownian::BrownianSteps;
use clap::Parser;
use serde::Serialize;

use common::{AnyError, Head, Progress, SceneArguments, Screen, round};
use cytoplasm::{Cytoplasm, Sample};
use recording::RecordingArguments;

#[path = "../common/mod.rs"]
mod common;
mod cytoplasm;
mod recording;
mod window;

/// Default of `--steps` without a window.
const DEFAULT_STEPS: u32 = 400;

/// Max number of proteins: atoms of more would exceed 32-bit indices.
const MAX_PROTEINS: i64 = 1_000_000;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Simulates proteins that diffuse in a box and collide atom by atom.
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
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MAX_PROTEINS))]
    molecules: u32,
    /// Volume fraction of the proteins, by their mass, from 0.001 to 0.4.
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.25,
        allow_negative_numbers = true
    )]
    filled: f64,
    /// Standard deviation of the fastest protein's step along each axis, nm, at most 0.5.
    #[arg(
        long,
        value_name = "NM",
        default_value_t = 0.1,
        allow_negative_numbers = true
    )]
    spread: f64,
    /// Probability that two colliding proteins stick together, from 0 to 1; 1 without a value.
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.0,
        default_missing_value = "1"
    )]
    #[arg(num_args = 0..=1, allow_negative_numbers = true)]
    stick: f64,
    /// Number of steps without a window or before a screenshot [default: 400, or 1 before a
    /// screenshot], or their kind [default: coarse], or both: 400,fine. In fine-grained steps
    /// proteins move from collision to collision; in coarse ones moves into others are rejected.
    #[arg(long, value_name = "N|fine|coarse", value_delimiter = ',')]
    steps: Vec<StepsArgument>,
    #[command(flatten)]
    recording: RecordingArguments,
    #[command(flatten)]
    scene: SceneArguments,
}

/// A value of `--steps`.
#[derive(Clone, Copy)]
enum StepsArgument {
    Count(u32),
    Kind(BrownianSteps),
}

impl FromStr for StepsArgument {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "fine" => Ok(Self::Kind(BrownianSteps::Fine)),
            "coarse" => Ok(Self::Kind(BrownianSteps::Coarse)),
            count => match count.parse() {
                Ok(count) => Ok(Self::Count(count)),
                Err(_) => Err("expected a number, fine or coarse"),
            },
        }
    }
}

impl Arguments {
    /// Number of steps, if it is given.
    fn step_count(&self) -> Option<u32> {
        let mut last_first = self.steps.iter().rev();
        last_first.find_map(|one| match one {
            StepsArgument::Count(count) => Some(*count),
            StepsArgument::Kind(_) => None,
        })
    }

    fn step_kind(&self) -> BrownianSteps {
        let mut last_first = self.steps.iter().rev();
        let kind = last_first.find_map(|one| match one {
            StepsArgument::Count(_) => None,
            StepsArgument::Kind(kind) => Some(*kind),
        });
        kind.unwrap_or_default()
    }
}

/// The content of `--report`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    molecules: usize,
    atoms: usize,
    filled: f64,
    steps: u32,
    step_kind: &'static str,
    step_ns: f64,
    simulated_ns: f64,
    /// Mean squared displacement over that of free diffusion.
    slowed_to: f64,
    collisions_per_step: f64,
    ms_per_step: StepMilliseconds,
    /// Number of clusters of each size, from two proteins on.
    clusters: BTreeMap<usize, usize>,
    /// Mean size of the cluster that a protein belongs to.
    mean_cluster: f64,
}

/// Mean time of a step, ms.
#[derive(Serialize)]
struct StepMilliseconds {
    total: f64,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    arguments.recording.check()?;
    let mut cytoplasm = Cytoplasm::new(arguments)?;
    match screen.announce() {
        Screen::Window => window::run(cytoplasm, None),
        Screen::Screenshot(screenshot) => {
            advance(
                arguments,
                &mut cytoplasm,
                arguments.step_count().unwrap_or(1),
            )?;
            window::run(cytoplasm, Some(&screenshot))
        }
        Screen::Headless(_) => headless(arguments, &mut cytoplasm),
    }
}

/// Runs `steps` steps and shows the progress. Returns the number of collisions.
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
    let steps = arguments.step_count().unwrap_or(DEFAULT_STEPS);
    let begin = Instant::now();
    let collisions = advance(arguments, cytoplasm, steps)?;
    let time = begin.elapsed();
    let per_step = |sum: f64| sum / f64::from(steps.max(1));
    let last = cytoplasm.history().last();
    let seed = arguments.scene.seed.get();
    let report = Report {
        head: Head::new(Some(seed), cytoplasm.device().clone(), time),
        molecules: cytoplasm.molecules().len(),
        atoms: cytoplasm.atom_count(),
        filled: arguments.filled,
        steps,
        step_kind: match arguments.step_kind() {
            BrownianSteps::Coarse => "coarse",
            BrownianSteps::Fine => "fine",
        },
        step_ns: cytoplasm.step_seconds() * 1e9,
        simulated_ns: last.map_or(0.0, |sample| sample.time_ns),
        slowed_to: last.map_or(1.0, Sample::slowed_to),
        collisions_per_step: per_step(collisions as f64),
        ms_per_step: StepMilliseconds {
            total: round(per_step(time.as_secs_f64() * 1e3)),
        },
        clusters: cytoplasm.cluster_sizes(),
        mean_cluster: last.map_or(1.0, |sample| sample.cluster),
    };
    let common = &arguments.scene.common;
    common.write_report(&report)?;
    common.print(|out| write_summary(out, &report))
}

fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    writeln!(
        out,
        "{} proteins, {} atoms: {} {} steps of {:.3} ns in {:.1} ms each\n\
         {:.0} collisions per step; mean squared displacement {:.2} of free diffusion",
        report.molecules,
        report.atoms,
        report.steps,
        report.step_kind,
        report.step_ns,
        report.ms_per_step.total,
        report.collisions_per_step,
        report.slowed_to,
    )?;
    if !report.clusters.is_empty() {
        writeln!(out, "clusters: {}", describe_clusters(&report.clusters))?;
    }
    if let Some(adapter) = &report.head.device.adapter {
        writeln!(out, "pair search on {adapter}")?;
    }
    Ok(())
}

/// The number of clusters of each size, such as `3 of 2, 1 of 5`.
fn describe_clusters(clusters: &BTreeMap<usize, usize>) -> String {
    let sizes: Vec<String> = clusters
        .iter()
        .map(|(size, count)| format!("{count} of {size}"))
        .collect();
    sizes.join(", ")
}
