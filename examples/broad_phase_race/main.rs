//! Which broad phase for which scene? All searches of this crate and Rapier's tree on the
//! same spheres and boxes, as Markdown tables and plots (SVG and PNG).
//!
//! ```text
//! cargo run --release --features parallel --example broad_phase_race -- --most 100000
//! cargo run --release --example broad_phase_race -- vesicle others --report race.json
//! cargo run --release --example broad_phase_race -- --show --spheres 5000
//! cargo run --release --example broad_phase_race -- --screenshot race.png --steps 10
//! ```
//!
//! Without `--features parallel` Rapier's tree has one thread. Searches take turns frame by
//! frame, and of all frames the median counts, so that a noisy machine is noisy to all. Key
//! of the window: Esc quits. `--help` lists the options and the exit codes.

mod brownian;
mod cells;
mod crossovers;
mod falling;
mod others;
mod screen;
mod splitting;
mod table;
mod timing;
mod vesicle;

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/plots.rs"]
mod plots;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use serde::Serialize;

use backend::BackendArguments;
use common::{AnyError, CommonArguments, Device, Head};
use table::{Table, Tables};

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Races broad phases against each other and against Rapier's.
///
/// A GPU joins in the race for the atoms of a vesicle.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
pub struct Arguments {
    /// What to run [default: all].
    #[arg(value_enum)]
    experiments: Vec<Experiment>,
    /// Folder for the plots.
    #[arg(long, value_name = "DIR", default_value = "broad_phase_race")]
    out: PathBuf,
    /// Most falling spheres, at least 1000.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    most: u32,
    /// Small scenes and few frames, to see that it works.
    #[arg(long)]
    quick: bool,
    /// Show the race in a window instead: a panel for each search.
    #[arg(long, conflicts_with_all = ["screenshot", "report"])]
    show: bool,
    /// With --show or --screenshot: falling spheres.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SHOWN)))]
    spheres: u32,
    /// Steps without a window, or before a picture: frames of --screenshot.
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: u32,
    #[command(flatten)]
    backend: BackendArguments,
    #[command(flatten)]
    common: CommonArguments,
    #[command(flatten)]
    picture: picture::PictureArguments,
}

/// Most spheres on the screen, for each search.
const MOST_SHOWN: u32 = 1_000_000;

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Experiment {
    /// What splitting boxes does for the linear kd-tree.
    Splitting,
    /// Cell lists A, B and C and the naive algorithm under Brownian motion.
    Brownian,
    /// Atoms per cell of a full and a hashed grid.
    Cells,
    /// Boxes and atoms of a vesicle of lipids.
    Vesicle,
    /// A sparse gas, a dense liquid, a giant among many, proteins side by side.
    Others,
    /// Where one search overtakes another.
    Crossovers,
    /// Spheres that fall on a floor: time against their number.
    Falling,
}

/// What `--report` writes.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    /// The processor, and what Rapier was built with.
    machine: String,
    tables: Vec<Table>,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    arguments.common.prepare()?;
    if arguments.most < falling::FEWEST {
        return Err(format!("--most must be at least {}", falling::FEWEST).into());
    }
    let shot = arguments.picture.shot()?;
    if shot.is_some() && arguments.common.report.is_some() {
        return Err("there is no --report of a --screenshot: give one of both".into());
    }
    if arguments.show {
        if let Err(reason) = display::check() {
            return Err(format!("{reason}: --screenshot FILE.png needs none").into());
        }
        picture::check_adapter()?;
    }
    if shot.is_some() || arguments.show {
        return screen::run(arguments.spheres, arguments.steps, shot.as_ref());
    }
    measure(arguments)
}

/// Runs the experiments.
fn measure(arguments: &Arguments) -> Result<(), AnyError> {
    let out = &arguments.out;
    std::fs::create_dir_all(out)
        .map_err(|error| format!("cannot write into '{}': {error}", out.display()))?;
    let begin = Instant::now();
    let machine = timing::machine();
    arguments.common.print(|out| writeln!(out, "{machine}\n"))?;
    let mut tables = Tables::new(&arguments.common);
    let mut device = Device::default();
    let wanted = |experiment: &&Experiment| {
        arguments.experiments.is_empty() || arguments.experiments.contains(experiment)
    };
    let experiments = Experiment::value_variants().iter().filter(wanted);
    let count = experiments.clone().count();
    for (number, experiment) in experiments.enumerate() {
        tables.begin(number, count);
        match experiment {
            Experiment::Falling => falling::run(arguments, &mut tables)?,
            Experiment::Splitting => splitting::run(arguments, &mut tables)?,
            Experiment::Brownian => brownian::run(arguments, &mut tables)?,
            Experiment::Cells => cells::run(&mut tables)?,
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
