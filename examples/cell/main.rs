//! A cell from a recipe, packed on the screen while you edit it.
//!
//! ```text
//! cargo run --release --example cell
//! cargo run --release --example cell -- assets/recipes/bacterium.json
//! cargo run --release --example cell -- --headless --export cell.cif --report -
//! cargo run --release --example cell -- --screenshot cell.png --panel --cut-open
//! ```
//!
//! Change numbers, drag molecules, paint more of them: the others make room until nothing overlaps.
//! Edit the recipe in a text editor, too: the scene follows when the file is saved.
//!
//! Mouse: left selects and drags a molecule (Shift adds to the selection), left beside all molecules
//! or right turns, wheel zooms. Keys: Ctrl+Z undo, Ctrl+Y or Ctrl+Shift+Z redo, Delete remove, F
//! freeze, V select, P paint more of the selected molecule, C cut open, Page Up and Page Down move
//! the cut, Space pause, Tab next mode (packing, Rapier, Brownian motion). `--help` lists the options
//! and the exit codes.

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use common::{AnyError, Screen};

mod arguments;
#[path = "../common/mod.rs"]
mod common;
mod headless;
mod panel;
mod view;
mod window;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode, AnyError> {
    let mut screen = arguments.scene.prepare()?;
    // The export is written at the end of the packing, which a window does not have.
    if arguments.export.is_some() {
        screen = Screen::Headless(None);
    }
    if let Screen::Headless(_) = screen {
        return headless::run(arguments, screen);
    }
    window::run(arguments, screen)?;
    Ok(ExitCode::SUCCESS)
}
