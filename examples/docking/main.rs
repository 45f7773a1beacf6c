//! Docks a ligand to a receptor: Turk's bump, with what its users asked for.
//!
//! ```text
//! cargo run --release --example docking -- [RECEPTOR LIGAND] [--response slide|cue|stop|push]
//! cargo run --release --example docking -- --log session.log
//! cargo run --release --example docking -- --play session.log [--headless]
//! cargo run --release --example docking -- --search --seed 1 --headless
//! cargo run --release --example docking -- --stereo anaglyph --screenshot dock.png
//! cargo run --release --example docking --features gamepad
//! ```
//!
//! Without molecules it takes T4 lysozyme L99A and p-xylene. The window lists its keys. With
//! the response `push` both molecules are bodies of a Rapier world there; a log has the poses
//! that they reach.
//! Exit code 0 if all went well, and 2 if something was wrong with the input.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use arguments::Arguments;
use dock::Dock;

mod anaglyph;
mod arguments;
#[path = "../common/mod.rs"]
mod common;
mod controls;
mod cues;
#[path = "../common/display.rs"]
mod display;
mod dock;
#[cfg(feature = "gamepad")]
mod gamepad;
mod hands;
mod headless;
#[path = "../common/window.rs"]
mod open_window;
#[path = "../common/orbit.rs"]
mod orbit;
mod overlay;
#[path = "../common/picture/mod.rs"]
mod picture;
mod push;
#[path = "../common/report_file.rs"]
mod report_file;
mod switches;
mod view;
mod window;

/// An error whose text is one sentence.
type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let shot = arguments.picture.shot()?;
    if let Some(path) = &arguments.report {
        report_file::check_target(path)?;
    }
    if shot.is_some() {
        picture::check_adapter()?;
    }
    let mut dock = Dock::new(arguments)?;
    if let Some(file) = &arguments.log {
        dock.record(file)?;
    }
    if arguments.search {
        search(arguments, &mut dock)?;
    }
    if let Some(shot) = &shot {
        dock.play(usize::MAX);
        return window::run(arguments, dock, Some(shot));
    }
    if arguments.headless || arguments.report.is_some() || !display::is_there() {
        return headless::run(arguments, &mut dock);
    }
    picture::check_adapter()?;
    window::run(arguments, dock, None)
}

fn search(arguments: &Arguments, dock: &mut Dock) -> Result<(), AnyError> {
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template(
        "searching {wide_bar} {pos}/{len} {eta}",
    )?);
    let result = dock.search(arguments.seed, &|done, all| {
        bar.set_length(u64::from(all));
        bar.set_position(u64::from(done));
    });
    bar.finish_and_clear();
    result.map(|_| ())
}
