//! Particles that circulate in a box: figures 7 and 8 of Kim, Guibas and Shin.
//!
//! ```text
//! cargo run --release --example circulating_particles
//! cargo run --release --example circulating_particles -- --headless --seconds 7 --report -
//! cargo run --release --example circulating_particles -- --screenshot particles.png --seconds 3 --bounds
//! ```
//!
//! A velocity field takes them up in the middle and down along the sides. The detector of
//! collisions does not know it: it asks where particles are, and knows a bound on their
//! acceleration. Keys: B shows the time-varying bounds, G the subspaces that they are in,
//! Space pauses, Esc quits. Mouse: right turns, wheel zooms. Exit code 0 if all went well,
//! and 2 if something was wrong with the input.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bevy_rapier_molecules::backend::Backend;
use clap::Parser;
use serde::Serialize;

use particles::Particles;

#[path = "../common/backend.rs"]
mod backend;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/display.rs"]
mod display;
#[path = "../common/window.rs"]
mod open_window;
#[path = "../common/orbit.rs"]
mod orbit;
mod particles;
#[path = "../common/picture/mod.rs"]
mod picture;
#[path = "../common/report_file.rs"]
mod report_file;
#[path = "../common/stage.rs"]
mod stage;
mod window;

/// An error whose text is one sentence.
type AnyError = Box<dyn Error + Send + Sync>;

/// Longest run without a window, s.
const MOST_SECONDS: f64 = 3600.0;

/// Particles circulate in a box of 200 nm and collide.
#[derive(Parser)]
pub struct Arguments {
    /// Number of particles.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    particles: u32,
    /// Bound on their acceleration, nm/s².
    #[arg(long, value_name = "A", default_value_t = 30.0)]
    acceleration: f64,
    /// Side of the finest subspaces, nm. Default: what the cost model finds best.
    #[arg(long, value_name = "NM")]
    side: Option<f64>,
    /// Seed of radii and places.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Who finds collisions. Events follow from each other, so that it is always the
    /// processor.
    #[arg(long, value_name = "BACKEND", default_value_t = Backend::Auto)]
    #[arg(value_parser = backend::parser())]
    backend: Backend,
    /// Simulated seconds without a window, or before a picture. Default: 7, and 3 for a
    /// picture.
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// No window: run, and say what happened.
    #[arg(long)]
    headless: bool,
    /// Write a JSON report to this file ('-' for standard output), without a window.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Show the time-varying bounds.
    #[arg(long)]
    bounds: bool,
    /// Show the subspaces that bounds are in.
    #[arg(long)]
    subspaces: bool,
    #[command(flatten)]
    picture: picture::PictureArguments,
}

/// What is written down.
#[derive(Serialize)]
struct Report {
    particles: u32,
    backend: Backend,
    seconds: f64,
    seconds_a_simulated_second: f64,
    /// Sides of the subspaces, nm.
    sides: Vec<f64>,
    entering: u64,
    leaving: u64,
    resetting: u64,
    colliding: u64,
    contacts: u64,
    wall_contacts: u64,
    /// Mean velocity upwards of those in the middle and of those at the sides, nm/s.
    rise_in_the_middle: f64,
    rise_at_the_sides: f64,
    /// Deepest overlap of two particles at the end, nm.
    deepest: f64,
}

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let shot = arguments.picture.shot()?;
    if let Some(path) = &arguments.report {
        report_file::check_target(path)?;
    }
    let default = if shot.is_some() { 3.0 } else { 7.0 };
    let seconds = arguments.seconds.unwrap_or(default);
    if !(0.0..=MOST_SECONDS).contains(&seconds) {
        return Err(format!("--seconds must be from 0 to {MOST_SECONDS}, and is {seconds}").into());
    }
    let windowed =
        shot.is_none() && !arguments.headless && arguments.report.is_none() && display::is_there();
    if shot.is_some() || windowed {
        picture::check_adapter()?;
    }
    let mut particles = Particles::new(arguments)?;
    if arguments.backend == Backend::Gpu {
        backend::say_fallback(&"events that follow from each other do not run on a GPU");
    }
    if let Some(shot) = &shot {
        particles.advance(seconds)?;
        return window::run(particles, arguments, Some(shot));
    }
    if windowed {
        return window::run(particles, arguments, None);
    }
    headless(arguments, &mut particles, seconds)
}

fn headless(
    arguments: &Arguments,
    particles: &mut Particles,
    seconds: f64,
) -> Result<(), AnyError> {
    let begin = std::time::Instant::now();
    particles.advance(seconds)?;
    let took = begin.elapsed().as_secs_f64() / seconds.max(f64::MIN_POSITIVE);
    let counts = particles.counts();
    let [rise_in_the_middle, rise_at_the_sides] = particles.rise();
    let report = Report {
        particles: arguments.particles,
        backend: Backend::Cpu,
        seconds,
        seconds_a_simulated_second: report_file::round(took),
        sides: particles.sides(),
        entering: counts.entering,
        leaving: counts.leaving,
        resetting: counts.resetting,
        colliding: counts.colliding,
        contacts: counts.contacts,
        wall_contacts: counts.wall_contacts,
        rise_in_the_middle,
        rise_at_the_sides,
        deepest: particles.deepest(),
    };
    if let Some(path) = &arguments.report {
        return report_file::write_json(&report, path);
    }
    let sides: Vec<String> = report
        .sides
        .iter()
        .map(|side| format!("{side:.1}"))
        .collect();
    writeln!(
        io::stdout().lock(),
        "{} particles, {seconds} s: {:.4} s of work a second, subspaces of {} nm\n\
         {} entering, {} leaving, {} resetting, {} colliding events\n\
         {} contacts, {} with walls; upwards with {:.1} nm/s in the middle and {:.1} at the sides",
        report.particles,
        report.seconds_a_simulated_second,
        sides.join(", "),
        report.entering,
        report.leaving,
        report.resetting,
        report.colliding,
        report.contacts,
        report.wall_contacts,
        report.rise_in_the_middle,
        report.rise_at_the_sides,
    )?;
    Ok(())
}
