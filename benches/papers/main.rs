//! The experiments of the five papers, like for like. `benches/PAPERS.md` has the results beside
//! the papers' numbers.
//!
//! Plots are written as SVG and PNG files, by default into the target directory. Single-thread
//! times are CPU times.

#[path = "../common/mod.rs"]
mod common;
mod johnson;
mod kim;
#[path = "../common/plots.rs"]
mod plots;
mod poirrier;
mod thesis;
mod turk;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use common::Part;

/// Options of this bench.
#[derive(Args)]
pub struct Options {
    /// Directory for the plots.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_TARGET_TMPDIR"), "/papers"))]
    pub out: PathBuf,
    /// Options of `kim`.
    #[command(flatten)]
    pub kim: kim::KimOptions,
    /// Most falling spheres of `poirrier`; the paper has up to 5,000,000.
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    pub most: u32,
    /// Pauschenwein: minutes after which brute force is extrapolated.
    #[arg(long, value_name = "M", default_value_t = 1.5)]
    pub brute_force_minutes: f64,
}

fn main() -> ExitCode {
    let about = "The experiments of the five papers";
    let parts = [
        Part::new(
            "johnson",
            "Johnson and Whalley: cell lists A, B and C",
            johnson::run,
        ),
        Part::new(
            "thesis",
            "Pauschenwein: FFRNN and brute force with forces",
            thesis::run,
        ),
        Part::new(
            "poirrier",
            "Poirrier: linear kd-tree, falling spheres",
            poirrier::run,
        ),
        Part::new("turk", "Turk: full and hashed grids", turk::run),
        Part::new("kim", "Kim, Guibas and Shin: time-varying bounds", kim::run),
    ];
    common::run("papers", about, &parts)
}
