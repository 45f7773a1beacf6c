//! Docks a ligand to a receptor: Turk's bump, with what its users asked for.
//!
//! ```text
//! cargo run --release --example docking -- receptor.pdb ligand.pdb --response push
//! cargo run --release --example docking -- --log session.log
//! cargo run --release --example docking -- --play session.log --headless
//! cargo run --release --example docking -- --search --seed 1 --headless
//! cargo run --release --example docking -- --stereo anaglyph --screenshot dock.png
//! cargo run --release --example docking --features gamepad
//! ```
//!
//! Without molecules it takes T4 lysozyme L99A and p-xylene. With the response `push` both
//! molecules are bodies of a Rapier world in the window; a log has the poses that they reach.
//! Keys: arrows and Page keys move, W S A D Q E turn, 1 to 4 choose the response, Esc quits;
//! the window lists the others. `--help` lists the options and the exit codes.

use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use clap::Parser;

use arguments::Arguments;
use common::{AnyError, Progress, Screen};
use dock::Dock;

mod anaglyph;
mod arguments;
#[path = "../common/mod.rs"]
mod common;
mod controls;
mod cues;
mod dock;
#[cfg(feature = "gamepad")]
mod gamepad;
mod headless;
mod keyboard;
mod overlay;
mod physics_push;
mod view;
mod view_settings;
mod window;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    if let Some(file) = &arguments.log {
        common::check_target(file)?;
    }
    let mut dock = Dock::new(arguments)?;
    if let Some(file) = &arguments.log {
        dock.record(file)?;
    }
    let screen = screen.announce();
    let begin = Instant::now();
    if arguments.search {
        search(arguments, &mut dock)?;
    }
    match screen {
        Screen::Window => window::run(arguments, dock, None),
        Screen::Screenshot(screenshot) => {
            dock.play(usize::MAX);
            window::run(arguments, dock, Some(&screenshot))
        }
        Screen::Headless(_) => headless::run(arguments, &mut dock, begin),
    }
}

fn search(arguments: &Arguments, dock: &mut Dock) -> Result<(), AnyError> {
    let progress = Mutex::new(Progress::new(arguments.scene.common.quiet));
    let result = dock.search(arguments.scene.seed.get(), &|done, all| {
        // Whoever finds another thread telling goes on with the work.
        if let Ok(mut progress) = progress.try_lock() {
            progress.update(f64::from(done) / f64::from(all), || {
                format!("searching: run {done} of {all}")
            });
        }
    });
    if let Ok(mut progress) = progress.into_inner() {
        progress.clear();
    }
    result.map(|_| ())
}
