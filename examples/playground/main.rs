//! Proteins fall into a box with blocks, balls and a ramp; one hangs on a rope. Grab and throw
//! them.
//!
//! ```text
//! cargo run --release --example playground -- --proteins 60 --contacts solver
//! cargo run --release --example playground -- --headless --steps 600 --report -
//! cargo run --release --example playground -- --backend gpu
//! cargo run --release --example playground -- --screenshot pile.png --steps 300
//! ```
//!
//! Keys: C contacts by crowd or solver, Space pause, R restart, N drop another protein,
//! T color collisions, Esc quit. Mouse: left grabs and throws, right turns, wheel zooms.
//! `--help` lists the options and the exit codes.

use std::process::ExitCode;

use bevy::app::{TaskPoolOptions, TaskPoolPlugin};
use clap::Parser;

use arguments::Arguments;
use common::{AnyError, Screen};

mod appearance;
mod arguments;
#[path = "../common/mod.rs"]
mod common;
mod controls;
mod grab;
mod headless;
mod measurements;
mod overlay;
mod plan;
mod report;
mod scene;
mod window;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    match screen.announce() {
        Screen::Window => window::run(arguments, None),
        Screen::Screenshot(screenshot) => window::run(arguments, Some(&screenshot)),
        Screen::Headless(_) => headless::run(arguments),
    }
}

/// Bevy's task pools with the number of threads of `--threads`.
fn task_pools(arguments: &Arguments) -> TaskPoolPlugin {
    let task_pool_options = match arguments.scene.common.threads {
        0 => TaskPoolOptions::default(),
        threads => TaskPoolOptions::with_num_threads(threads.into()),
    };
    TaskPoolPlugin { task_pool_options }
}
