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
//! Space pauses, Esc quits. Mouse: right turns, wheel zooms. `--help` lists the options and
//! the exit codes.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use bevy_rapier_molecules::backend::Backend;
use clap::Parser;
use serde::Serialize;

use common::report::round;
use common::{AnyError, Device, Head};
use particles::Particles;
use progress::Progress;
use screen::{SceneArguments, Screen};

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/fallback.rs"]
mod fallback;
#[path = "../common/panels.rs"]
mod panels;
mod particles;
#[path = "../common/progress.rs"]
mod progress;
#[path = "../common/screen/mod.rs"]
mod screen;
#[path = "../common/stage.rs"]
mod stage;
mod window;

/// Longest run without a window, s.
const MOST_SECONDS: f64 = 3600.0;

/// Parts of a run without a window, after each of which it may tell how far it is.
const PARTS: u32 = 1000;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Particles circulate in a box of 200 nm and collide.
///
/// Events follow from each other, so that the processor does the work, with one thread.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
pub struct Arguments {
    /// Number of particles, at most 4000.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    particles: u32,
    /// Bound on their acceleration, nm/s².
    #[arg(
        long,
        value_name = "A",
        default_value_t = 30.0,
        allow_negative_numbers = true
    )]
    acceleration: f64,
    /// Side of the finest subspaces, nm [default: what the cost model finds best].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    side: Option<f64>,
    /// Simulated seconds without a window, or before a picture, at most 3600 [default: 7, and
    /// 3 for a picture].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Show the time-varying bounds.
    #[arg(long)]
    bounds: bool,
    /// Show the subspaces that bounds are in.
    #[arg(long)]
    subspaces: bool,
    #[command(flatten)]
    scene: SceneArguments,
}

/// What `--report` writes.
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
    /// Mean velocity upwards of those in the middle and of those at the sides, nm/s.
    rise_in_the_middle_nm_per_s: f64,
    rise_at_the_sides_nm_per_s: f64,
    /// Deepest overlap of two particles at the end, nm; 0 if there is none.
    max_penetration_nm: f64,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    let default = match &screen {
        Screen::Picture(_) => 3.0,
        _ => 7.0,
    };
    let seconds = arguments.seconds.unwrap_or(default);
    if !(0.0..=MOST_SECONDS).contains(&seconds) {
        return Err(format!("--seconds must be from 0 to {MOST_SECONDS}, and is {seconds}").into());
    }
    let mut particles = Particles::new(arguments)?;
    let device = match arguments.scene.backend.backend {
        Some(Backend::Gpu) => {
            fallback::processor(&"events that follow from each other do not run on a GPU")
        }
        _ => Device::default(),
    };
    match screen.announced() {
        Screen::Window => window::run(particles, arguments, None),
        Screen::Picture(shot) => {
            particles.advance(seconds)?;
            window::run(particles, arguments, Some(&shot))
        }
        Screen::Nowhere(_) => headless(arguments, &mut particles, seconds, device),
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
    for part in 1..=PARTS {
        let done = f64::from(part) / f64::from(PARTS);
        particles.advance_to(done * seconds)?;
        progress.update(done, || {
            let contacts = particles.counts().contacts;
            format!("{:.2} of {seconds} s: {contacts} contacts", done * seconds)
        });
    }
    progress.clear();
    let time = begin.elapsed();
    let counts = particles.counts();
    let [rise_in_the_middle_nm_per_s, rise_at_the_sides_nm_per_s] = particles.rise();
    let report = Report {
        head: Head::new(Some(arguments.scene.seed.or(None)), device, time),
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
        max_penetration_nm: particles.deepest(),
    };
    let common = &arguments.scene.common;
    common.write(&report)?;
    common.tell(|out| write_summary(out, &report))
}

fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let sides: Vec<String> = report
        .sides_nm
        .iter()
        .map(|side| format!("{side:.1}"))
        .collect();
    writeln!(
        out,
        "{} particles, {} s: {:.4} s of work a second, subspaces of {} nm\n\
         {} entering, {} leaving, {} resetting, {} colliding events\n\
         {} contacts, {} with walls; upwards with {:.1} nm/s in the middle and {:.1} at the sides",
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
