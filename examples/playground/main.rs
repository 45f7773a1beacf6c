//! Proteins fall into a box, among blocks and balls, onto a ramp, past one that hangs
//! on a rope. Grab them and throw them.
//!
//! ```text
//! cargo run --release --example playground -- [--proteins N] [--contacts crowd|solver]
//! cargo run --release --example playground -- --headless --steps 600 --report -
//! cargo run --release --example playground -- --backend gpu
//! cargo run --release --example playground -- --screenshot pile.png --steps 300
//! ```
//!
//! Keys: C contacts by crowd or solver, Space pause, R start again, N another protein,
//! T colour what collides, Esc quit. Mouse: left grabs and throws, right turns, wheel
//! zooms. `--help` lists the options.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use bevy::app::{TaskPoolOptions, TaskPoolPlugin};
use clap::Parser;

use arguments::Arguments;

mod arguments;
#[path = "../common/mod.rs"]
mod common;
mod controls;
#[path = "../common/display.rs"]
mod display;
mod grab;
mod headless;
mod looks;
mod measure;
#[path = "../common/orbit.rs"]
mod orbit;
mod overlay;
#[path = "../common/picture/mod.rs"]
mod picture;
mod plan;
mod report;
#[path = "../common/report_file.rs"]
mod report_file;
mod scene;
mod window;

/// An error whose text is one sentence.
type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    arguments.check_targets()?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads.into())
        .build_global()?;
    if let Some(shot) = arguments.picture.shot()? {
        picture::check_adapter()?;
        return window::run(arguments, Some(&shot));
    }
    if arguments.headless {
        return headless::run(arguments);
    }
    let reason = if !display::is_there() {
        "there is no display".to_owned()
    } else if let Err(error) = picture::check_adapter() {
        error.to_string()
    } else {
        return window::run(arguments, None);
    };
    writeln!(io::stderr(), "{reason}: it runs without a window")?;
    headless::run(arguments)
}

/// Bevy's threads, as many as there are for the rest.
fn task_pools(arguments: &Arguments) -> TaskPoolPlugin {
    let task_pool_options = match arguments.threads {
        0 => TaskPoolOptions::default(),
        threads => TaskPoolOptions::with_num_threads(threads.into()),
    };
    TaskPoolPlugin { task_pool_options }
}
