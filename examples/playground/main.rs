//! Proteins fall into a box, among blocks and balls, onto a ramp, past one that hangs
//! on a rope. Grab them and throw them.
//!
//! ```text
//! cargo run --release --example playground -- --proteins 60 --contacts solver
//! cargo run --release --example playground -- --headless --steps 600 --report -
//! cargo run --release --example playground -- --backend gpu
//! cargo run --release --example playground -- --screenshot pile.png --steps 300
//! ```
//!
//! Keys: C contacts by crowd or solver, Space pause, R start again, N another protein,
//! T color what collides, Esc quit. Mouse: left grabs and throws, right turns, wheel
//! zooms. `--help` lists the options and the exit codes.

use std::process::ExitCode;

use bevy::app::{TaskPoolOptions, TaskPoolPlugin};
use clap::Parser;

use arguments::Arguments;
use common::AnyError;
use screen::Screen;

mod arguments;
#[path = "../common/mod.rs"]
mod common;
mod controls;
mod grab;
mod headless;
mod looks;
mod measure;
#[path = "../common/orbit.rs"]
mod orbit;
mod overlay;
#[path = "../common/panels.rs"]
mod panels;
mod plan;
#[path = "../common/progress.rs"]
mod progress;
mod report;
mod scene;
#[path = "../common/screen/mod.rs"]
mod screen;
mod window;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    match screen.announced() {
        Screen::Window => window::run(arguments, None),
        Screen::Picture(shot) => window::run(arguments, Some(&shot)),
        Screen::Nowhere(_) => headless::run(arguments),
    }
}

/// Bevy's threads, as many as there are for the rest.
fn task_pools(arguments: &Arguments) -> TaskPoolPlugin {
    let task_pool_options = match arguments.scene.common.threads {
        0 => TaskPoolOptions::default(),
        threads => TaskPoolOptions::with_num_threads(threads.into()),
    };
    TaskPoolPlugin { task_pool_options }
}
