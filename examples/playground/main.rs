//! Proteins fall into a box, among blocks and balls, onto a ramp, past one that hangs
//! on a rope. Grab them and throw them.
//!
//! ```text
//! cargo run --release --example playground -- [--proteins N] [--contacts crowd|solver]
//! cargo run --release --example playground -- --headless --steps 600 --report -
//! ```
//!
//! Keys: C contacts by crowd or solver, Space pause, R start again, N another protein,
//! T tint what collides, Esc quit. Mouse: left grabs and throws, right turns, wheel
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
mod headless;
mod measure;
mod plan;
mod report;
#[path = "../common/report_file.rs"]
mod report_file;
mod scene;

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
