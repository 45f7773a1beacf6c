//! Compares the broad phases of this crate and Rapier's BVH on the same spheres and boxes.
//! Prints Markdown tables.
//!
//! ```text
//! cargo run --release --features parallel --example broad_phase_race
//! cargo run --release --example broad_phase_race -- vesicle others --report race.json
//! cargo run --release --example broad_phase_race -- --show --spheres 5000
//! cargo run --release --example broad_phase_race -- --screenshot race.png --steps 10
//! ```
//!
//! Without `--features parallel` Rapier's BVH uses one thread. Searches alternate frame by
//! frame and the median frame counts, so that noise affects all of them alike. Keys: Esc quit.
//! `--help` lists the options and the exit codes.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use serde::Serialize;

use common::screen::{check_adapter, check_display};
use common::{AnyError, BackendArguments, CommonArguments, Device, Head, ScreenshotArguments};
use table::{Table, Tables};

#[path = "../common/mod.rs"]
mod common;
mod crossovers;
mod others;
mod runners;
mod table;
mod vesicle;
mod window;

/// Max number of spheres in the window, per search.
const MAX_SHOWN: u32 = 1_000_000;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Compares the broad phases of this crate with each other and with Rapier's.
///
/// A GPU takes part in the search of the atoms of a vesicle.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
pub struct Arguments {
    /// Experiments to run [default: all].
    #[arg(value_enum)]
    experiments: Vec<Experiment>,
    /// Run small scenes with few frames, as a smoke test.
    #[arg(long)]
    quick: bool,
    /// Show the race in a window instead: the same spheres in a view for each search.
    #[arg(long, conflicts_with_all = ["screenshot", "report"])]
    show: bool,
    /// With --show or --screenshot: number of falling spheres.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SHOWN)))]
    spheres: u32,
    /// Number of steps without a window or before a screenshot: frames of --screenshot.
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: u32,
    #[command(flatten)]
    backend: BackendArguments,
    #[command(flatten)]
    common: CommonArguments,
    #[command(flatten)]
    screenshot: ScreenshotArguments,
}

/// The experiments.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Experiment {
    /// Boxes and atoms of a vesicle of lipids.
    Vesicle,
    /// A sparse gas, a dense liquid, one large sphere among small ones, proteins.
    Others,
    /// Scene sizes at which one search overtakes another.
    Crossovers,
}

/// The content of `--report`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    /// The CPU, and the features of Rapier.
    machine: String,
    tables: Vec<Table>,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    arguments.common.prepare()?;
    let screenshot = arguments.screenshot.get()?;
    if screenshot.is_some() && arguments.common.report.is_some() {
        return Err("--report and --screenshot exclude each other".into());
    }
    if arguments.show {
        if let Err(reason) = check_display() {
            return Err(format!("{reason}; --screenshot FILE.png needs none").into());
        }
        check_adapter()?;
    }
    if screenshot.is_some() || arguments.show {
        return window::run(arguments.spheres, arguments.steps, screenshot.as_ref());
    }
    measure(arguments)
}

/// Runs the experiments.
fn measure(arguments: &Arguments) -> Result<(), AnyError> {
    let begin = Instant::now();
    let machine = runners::machine();
    arguments.common.print(|out| writeln!(out, "{machine}\n"))?;
    let mut tables = Tables::new(&arguments.common);
    let mut device = Device::default();
    let is_selected = |experiment: &&Experiment| {
        arguments.experiments.is_empty() || arguments.experiments.contains(experiment)
    };
    let experiments = Experiment::value_variants().iter().filter(is_selected);
    let count = experiments.clone().count();
    for (number, experiment) in experiments.enumerate() {
        tables.begin_experiment(number, count);
        match experiment {
            Experiment::Vesicle => device = vesicle::run(arguments, &mut tables)?,
            Experiment::Others => others::run(arguments, &mut tables)?,
            Experiment::Crossovers => crossovers::run(arguments, &mut tables)?,
        }
    }
    arguments.common.write_report(&Report {
        head: Head::new(None, device, begin.elapsed()),
        machine,
        tables: tables.into_inner(),
    })
}
