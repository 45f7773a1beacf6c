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
//! `--help` lists the rest.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use arguments::Arguments;
use preset::Preset;
use relaxation::{AnyError, Scene, Settings};

mod arguments;
#[path = "../common/backend.rs"]
mod backend;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/display.rs"]
mod display;
#[cfg(feature = "draw")]
mod editor;
mod molecules;
#[cfg(feature = "draw")]
#[path = "../common/orbit.rs"]
mod orbit;
#[path = "../common/picture/mod.rs"]
mod picture;
mod preset;
#[path = "../common/relaxation/mod.rs"]
mod relaxation;
mod simulation;
#[cfg(feature = "draw")]
mod worker;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    common::finish(run(&arguments))
}

fn run(arguments: &Arguments) -> Result<ExitCode, AnyError> {
    if arguments.list_presets {
        arguments::list_presets()?;
        return Ok(ExitCode::SUCCESS);
    }
    let preset = arguments.preset()?;
    let max_time = arguments.relaxation.max_time()?;
    #[cfg(feature = "draw")]
    if let Some(screen) = screen(arguments, &preset)? {
        rayon::ThreadPoolBuilder::new()
            .num_threads(arguments.relaxation.threads.into())
            .build_global()?;
        editor::run(preset, screen)?;
        return Ok(ExitCode::SUCCESS);
    }
    #[cfg(not(feature = "draw"))]
    if arguments.picture.screenshot.is_some() {
        return Err("this program was built without the feature `draw`".into());
    }
    let mut config = preset.config();
    config.max_time = max_time;
    let settings = Settings {
        config,
        backend: preset.backend,
        seed: preset.seed,
    };
    relaxation::run(&arguments.relaxation, settings, || scene(preset))
}

/// Where to show it; none if it is to run without a window, or has to.
#[cfg(feature = "draw")]
fn screen(arguments: &Arguments, preset: &Preset) -> Result<Option<editor::Screen>, AnyError> {
    if let Some(shot) = arguments.picture.shot()? {
        picture::check_adapter()?;
        return Ok(Some(editor::Screen::Picture {
            shot,
            steps: arguments.steps,
            panel: arguments.panel,
        }));
    }
    if arguments.relaxation.is_headless() {
        return Ok(None);
    }
    let reason = if !display::is_there() {
        "there is no display".to_owned()
    } else if let Err(error) = picture::check_adapter() {
        error.to_string()
    } else {
        return Ok(Some(editor::Screen::Window));
    };
    // What is impossible is the only thing to say, if it is.
    simulation::build(preset)?;
    writeln!(io::stderr(), "{reason}: it runs without a window")?;
    Ok(None)
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
        name: "lipid_bilayer",
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
