//! Builds a membrane of lipids and proteins, and relaxes it until no two molecules overlap.
//!
//! ```text
//! cargo run --release --example lipid_bilayer
//! cargo run --release --example lipid_bilayer -- --species popc:4,pope:3,cholesterol:3
//! cargo run --release --example lipid_bilayer -- --flat 20x20 --protein 2por:2
//!     --export patch.pdb --certify
//! cargo run --release --example lipid_bilayer -- --outer 500 --inner 120 --radius 5.2
//! cargo run --release --example lipid_bilayer -- --screenshot vesicle.png --steps 40
//! ```
//!
//! In the window, an editor changes every parameter during the relaxation. Mouse: drag turns,
//! wheel zooms. Without options: a POPC vesicle around 8 nm, at the area per lipid of a real
//! membrane. `--outer`, `--inner`, `--lipids`, `--lipid` and `--positions` select a vesicle of one
//! kind of lipid in one shape instead. `--help` lists the options and the exit codes.

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
mod library;
mod membrane_scene;
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
mod scene;
#[cfg_attr(
    not(feature = "draw"),
    expect(dead_code, reason = "the editor uses the rest")
)]
mod simulation;
mod species_entry;
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
