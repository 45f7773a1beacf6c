//! Proteins fall into a box, among blocks and balls, onto a ramp, past one that hangs
//! on a rope. Grab them and throw them.
//!
//! ```text
//! cargo run --release --example playground -- [--proteins N] [--contacts crowd|solver]
//! cargo run --release --example playground -- --headless --steps 600 --report -
//! cargo run --release --example playground -- --backend gpu
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
mod camera;
#[path = "../common/mod.rs"]
mod common;
mod controls;
mod grab;
mod headless;
mod looks;
mod measure;
mod meshes;
mod overlay;
mod plan;
mod report;
#[path = "../common/report_file.rs"]
mod report_file;
mod scene;
mod screenshot;
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
    if arguments.headless {
        headless::run(arguments)
    } else if has_display() {
        window::run(arguments)
    } else if arguments.screenshot.is_some() {
        Err("a picture needs a display, and there is none: try xvfb-run".into())
    } else {
        writeln!(
            io::stderr(),
            "there is no display: it runs without a window"
        )?;
        headless::run(arguments)
    }
}

/// Whether a window can be opened. Bevy is built with X11 here, which also serves
/// Wayland as long as it sets `DISPLAY`.
fn has_display() -> bool {
    !cfg!(target_os = "linux") || std::env::var_os("DISPLAY").is_some_and(|name| !name.is_empty())
}

/// Bevy's threads, as many as there are for the rest.
fn task_pools(arguments: &Arguments) -> TaskPoolPlugin {
    let task_pool_options = match arguments.threads {
        0 => TaskPoolOptions::default(),
        threads => TaskPoolOptions::with_num_threads(threads.into()),
    };
    TaskPoolPlugin { task_pool_options }
}
