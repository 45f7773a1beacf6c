//! A vesicle of two leaflets of lipids at random places, relaxed until no two lipids
//! overlap.
//!
//! ```text
//! cargo run --release --example lipid_bilayer
//! cargo run --release --example lipid_bilayer -- --preset "a million atoms"
//! cargo run --release --example lipid_bilayer -- --headless --outer 500 --inner 120
//!     --radius 5.2 --tolerance 0.2 --export vesicle.pdb
//! cargo run --release --example lipid_bilayer -- --screenshot vesicle.png --steps 40
//! ```
//!
//! With a display it is an editor: drag with the mouse to turn, wheel to zoom, and change
//! every parameter while it runs. Without arguments: 500 + 120 POPC lipids at 5.2 nm.
//! `--help` lists the options and the exit codes.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use arguments::Arguments;
use common::{AnyError, Screen};
use preset::Preset;
use relaxation::{Scene, Settings};

mod arguments;
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "draw")]
mod editor;
mod molecules;
#[cfg_attr(
    not(feature = "draw"),
    expect(dead_code, reason = "some of it is for the editor")
)]
mod preset;
mod relaxation;
#[cfg_attr(
    not(feature = "draw"),
    expect(dead_code, reason = "some of it is for the editor")
)]
mod simulation;
#[cfg(feature = "draw")]
mod worker;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode, AnyError> {
    let common = &arguments.scene.common;
    if arguments.list_presets {
        // What was asked for is said, also to those who want to be left alone.
        arguments::list_presets(&mut io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    let preset = arguments.preset()?;
    let mut config = preset.config();
    config.max_time = arguments.relaxation.max_time()?;
    config.max_iterations = arguments.steps.unwrap_or(config.max_iterations);
    let mut screen = arguments.scene.prepare()?;
    // Molecules are written at the end, which a window does not have.
    let export = arguments.relaxation.export.as_deref();
    if export.is_some() {
        screen = Screen::Headless(None);
    }
    #[cfg(feature = "draw")]
    if !matches!(screen, Screen::Headless(_)) {
        editor::run(preset, screen, arguments.steps, arguments.panel)?;
        return Ok(ExitCode::SUCCESS);
    }
    let settings = Settings {
        config,
        backend: preset.backend,
        seed: preset.seed,
        export,
    };
    relaxation::run(common, settings, || {
        let scene = scene(preset)?;
        screen.announce();
        Ok(scene)
    })
}

/// What the report tells about the vesicle.
#[derive(Serialize)]
struct Details {
    lipid: String,
    outer: u32,
    inner: u32,
    radius_nm: f32,
}

fn scene(preset: Preset) -> Result<Scene<Details>, AnyError> {
    let vesicle = simulation::build(&preset)?;
    let lipid = preset.molecule.name();
    let (outer, inner, radius) = (vesicle.outer, vesicle.inner, vesicle.radius);
    Ok(Scene {
        headline: format!("{outer} outer + {inner} inner lipids ({lipid}) at {radius:.2} nm"),
        crowd: vesicle.crowd,
        tolerance: preset.tolerance,
        details: Details {
            lipid,
            outer,
            inner,
            radius_nm: radius,
        },
    })
}
