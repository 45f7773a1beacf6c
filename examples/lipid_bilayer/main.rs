//! Builds a vesicle of lipids at random positions, and relaxes it until no two lipids overlap.
//!
//! ```text
//! cargo run --release --example lipid_bilayer
//! cargo run --release --example lipid_bilayer -- --preset "a million atoms"
//! cargo run --release --example lipid_bilayer -- --headless --outer 500 --inner 120
//!     --radius 5.2 --tolerance 0.2 --export vesicle.pdb
//! cargo run --release --example lipid_bilayer -- --screenshot vesicle.png --steps 40
//! ```
//!
//! In the window, an editor changes every parameter during the relaxation. Mouse: drag turns,
//! wheel zooms. Without options: 500 + 120 POPC lipids at 5.2 nm. `--help` lists the options
//! and the exit codes.

use std::io;
use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use common::{AnyError, Screen};

mod arguments;
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "draw")]
mod editor;
mod headless;
mod molecule_kind;
#[cfg_attr(
    not(feature = "draw"),
    expect(dead_code, reason = "the editor uses the rest")
)]
mod preset;
mod report;
#[cfg_attr(
    not(feature = "draw"),
    expect(dead_code, reason = "the editor uses the rest")
)]
mod simulation;
#[cfg(feature = "draw")]
mod worker;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode, AnyError> {
    if arguments.list_presets {
        // Printed with `--quiet` and `--report -`, too.
        arguments::list_presets(&mut io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    let preset = arguments.preset()?;
    let max_time = arguments.max_time()?;
    let mut screen = arguments.scene.prepare()?;
    // The export is written at the end of the relaxation, which a window does not have.
    if arguments.export.is_some() {
        screen = Screen::Headless(None);
    }
    #[cfg(feature = "draw")]
    if !matches!(screen, Screen::Headless(_)) {
        editor::run(preset, max_time, screen, arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    headless::run(&preset, max_time, screen, arguments)
}
