//! Which broad phase for which scene? All searches of this crate and Rapier's tree on the
//! same spheres and boxes, as Markdown tables and plots (SVG and PNG).
//!
//! ```text
//! cargo run --release --features parallel --example broad_phase_race -- [EXPERIMENT...]
//!     [--out DIR] [--most N] [--backend auto|cpu|gpu] [--quick]
//! cargo run --release --example broad_phase_race -- --show [--spheres N]
//! cargo run --release --example broad_phase_race -- --screenshot race.png --steps 10
//! ```
//!
//! Without `--features parallel` Rapier's tree has one thread. Searches take turns frame by
//! frame, and of all frames the median counts, so that a noisy machine is noisy to all.
#![allow(clippy::print_stdout, reason = "the tables are the purpose")]

mod brownian;
mod cells;
mod crossovers;
mod device;
mod falling;
mod others;
mod screen;
mod splitting;
mod table;
mod timing;
mod vesicle;

#[path = "../common/backend.rs"]
mod backend;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/display.rs"]
mod display;
#[path = "../common/window.rs"]
mod open_window;
#[path = "../common/picture/mod.rs"]
mod picture;
#[path = "../common/plots.rs"]
mod plots;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use bevy_rapier_molecules::backend::Backend;
use clap::{Parser, ValueEnum};

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Races broad phases against each other and against Rapier's.
#[derive(Parser)]
pub struct Arguments {
    /// What to run [default: all].
    #[arg(value_enum)]
    experiments: Vec<Experiment>,
    /// Folder for the plots.
    #[arg(long, value_name = "DIR", default_value = "broad_phase_race")]
    out: PathBuf,
    /// Most falling spheres.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    most: u32,
    /// Whose grid joins the race for the atoms of a vesicle: a GPU's if there is a real one,
    /// nobody's but the processor's, or that of any GPU, even one in software.
    #[arg(long, value_name = "WHERE", default_value_t = Backend::Auto)]
    #[arg(value_parser = backend::parser())]
    backend: Backend,
    /// Small scenes and few frames, to see that it works.
    #[arg(long)]
    quick: bool,
    /// Show the race in a window instead: a panel for each search.
    #[arg(long)]
    show: bool,
    /// With --show or --screenshot: falling spheres.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    spheres: u32,
    /// With --screenshot: frames before the picture.
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: u32,
    #[command(flatten)]
    picture: picture::PictureArguments,
}

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
    /// A sparse gas, a giant among many, a pile of proteins.
    Others,
    /// Where one search overtakes another.
    Crossovers,
    /// Spheres that fall on a floor: time against their number.
    Falling,
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error + Send + Sync>> {
    let shot = arguments.picture.shot()?;
    if shot.is_some() || arguments.show {
        if shot.is_none() && !display::is_there() {
            return Err("there is no display: --screenshot FILE.png needs none".into());
        }
        picture::check_adapter()?;
        return screen::run(arguments.spheres, arguments.steps, shot.as_ref());
    }
    measure(arguments).map_err(|error| error.to_string().into())
}

/// Runs the experiments.
fn measure(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if arguments.most < falling::FEWEST {
        return Err(format!("--most must be at least {}", falling::FEWEST).into());
    }
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| format!("{}: {error}", arguments.out.display()))?;
    println!("{}\n", timing::machine());
    for experiment in Experiment::value_variants() {
        if !arguments.experiments.is_empty() && !arguments.experiments.contains(experiment) {
            continue;
        }
        match experiment {
            Experiment::Falling => falling::run(arguments)?,
            Experiment::Splitting => splitting::run(arguments)?,
            Experiment::Brownian => brownian::run(arguments)?,
            Experiment::Cells => cells::run()?,
            Experiment::Vesicle => vesicle::run(arguments)?,
            Experiment::Others => others::run(arguments)?,
            Experiment::Crossovers => crossovers::run(arguments)?,
        }
    }
    Ok(())
}
