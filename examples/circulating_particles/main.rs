//! Particles circulate in a box: figures 7 and 8 of Kim, Guibas and Shin.
//!
//! ```text
//! cargo run --release --example circulating_particles
//! cargo run --release --example circulating_particles -- --headless --seconds 7 --report -
//! cargo run --release --example circulating_particles -- --screenshot particles.png --seconds 3 --bounds
//! ```
//!
//! A velocity field moves them up in the middle and down along the sides. The collision
//! detector does not know the field: it samples positions and velocities, and knows a bound on
//! the acceleration. Keys: B time-varying bounds, G subspaces of the bounds, Space pause, Esc
//! quit. Mouse: right turns, wheel zooms. `--help` lists the options and the exit codes.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use bevy_rapier_molecules::backend::Backend;
use clap::Parser;
use serde::Serialize;

use common::{AnyError, Device, Head, Progress, SceneArguments, Screen, fall_back_to_cpu, round};
use particles::Particles;

#[path = "../common/mod.rs"]
mod common;
mod particles;
mod window;

/// Max simulated time, s.
const MAX_SECONDS: f64 = 3600.0;

/// Number of progress updates of a run without a window.
const UPDATES: u32 = 1000;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Simulates particles that circulate in a box of 200 nm and collide.
///
/// Each event depends on the previous ones, so one CPU thread does the work.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
pub struct Arguments {
    /// Number of particles, at most 4000.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    particles: u32,
    /// Bound on the acceleration, nm/s².
    #[arg(
        long,
        value_name = "A",
        default_value_t = 30.0,
        allow_negative_numbers = true
    )]
    acceleration: f64,
    /// Side of the finest subspaces, nm [default: the optimum of the cost model].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    side: Option<f64>,
    /// Simulated seconds without a window or before a screenshot, at most 3600 [default: 7, or 3
    /// before a screenshot].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Show the time-varying bounds.
    #[arg(long)]
    bounds: bool,
    /// Show the subspaces that the bounds overlap.
    #[arg(long)]
    subspaces: bool,
    #[command(flatten)]
    scene: SceneArguments,
}

/// The content of `--report`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    particles: u32,
    simulated_seconds: f64,
    seconds_per_simulated_second: f64,
    /// Sides of the subspaces, nm.
    sides_nm: Vec<f64>,
    entering: u64,
    leaving: u64,
    resetting: u64,
    colliding: u64,
    contacts: u64,
    wall_contacts: u64,
    /// Mean upward velocity in the middle and at the sides, nm/s.
    rise_in_the_middle_nm_per_s: f64,
    rise_at_the_sides_nm_per_s: f64,
    /// Deepest overlap of two particles at the end, nm; 0 without overlaps.
    max_penetration_nm: f64,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    let default_seconds = match &screen {
        Screen::Screenshot(_) => 3.0,
        _ => 7.0,
    };
    let seconds = arguments.seconds.unwrap_or(default_seconds);
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return Err(format!("--seconds must be from 0 to {MAX_SECONDS}, but is {seconds}").into());
    }
    let mut particles = Particles::new(arguments)?;
    let device = match arguments.scene.backend.get() {
        Backend::Gpu => fall_back_to_cpu(&"sequential events do not run on a GPU"),
        _ => Device::default(),
    };
    match screen.announce() {
        Screen::Window => window::run(particles, arguments, None),
        Screen::Screenshot(screenshot) => {
            particles.advance(seconds)?;
            window::run(particles, arguments, Some(&screenshot))
        }
        Screen::Headless(_) => headless(arguments, &mut particles, seconds, device),
    }
}

fn headless(
    arguments: &Arguments,
    particles: &mut Particles,
    seconds: f64,
    device: Device,
) -> Result<(), AnyError> {
    let mut progress = Progress::new(arguments.scene.common.quiet);
    let begin = Instant::now();
    for update in 1..=UPDATES {
        let done = f64::from(update) / f64::from(UPDATES);
        particles.advance_to(done * seconds)?;
        progress.update(done, || {
            let contacts = particles.counts().contacts;
            format!("{:.2} of {seconds} s: {contacts} contacts", done * seconds)
        });
    }
    progress.clear();
    let time = begin.elapsed();
    let counts = particles.counts();
    let [rise_in_the_middle_nm_per_s, rise_at_the_sides_nm_per_s] = particles.upward_velocities();
    let report = Report {
        head: Head::new(Some(arguments.scene.seed.get()), device, time),
        particles: arguments.particles,
        simulated_seconds: seconds,
        seconds_per_simulated_second: if seconds > 0.0 {
            round(time.as_secs_f64() / seconds)
        } else {
            0.0
        },
        sides_nm: particles.sides(),
        entering: counts.entering,
        leaving: counts.leaving,
        resetting: counts.resetting,
        colliding: counts.colliding,
        contacts: counts.contacts,
        wall_contacts: counts.wall_contacts,
        rise_in_the_middle_nm_per_s,
        rise_at_the_sides_nm_per_s,
        max_penetration_nm: particles.deepest_overlap(),
    };
    let common = &arguments.scene.common;
    common.write_report(&report)?;
    common.print(|out| write_summary(out, &report))
}

fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let sides: Vec<String> = report
        .sides_nm
        .iter()
        .map(|side| format!("{side:.1}"))
        .collect();
    writeln!(
        out,
        "{} particles, {} s: {:.4} s of work per second, subspaces of {} nm\n\
         {} entering, {} leaving, {} resetting, {} colliding events\n\
         {} contacts, {} with walls; upward velocity {:.1} nm/s in the middle, {:.1} nm/s at the sides",
        report.particles,
        report.simulated_seconds,
        report.seconds_per_simulated_second,
        sides.join(", "),
        report.entering,
        report.leaving,
        report.resetting,
        report.colliding,
        report.contacts,
        report.wall_contacts,
        report.rise_in_the_middle_nm_per_s,
        report.rise_at_the_sides_nm_per_s,
    )
}
