//! Docks ligands to a receptor, interactively, from a log or by a search.
//!
//! ```text
//! cargo run --release --example docking -- receptor.pdb ligand.pdb --response push
//! cargo run --release --example docking -- receptor.pdb ligand.pdb second.pdb third.pdb
//! cargo run --release --example docking -- --log session.log
//! cargo run --release --example docking -- --play session.log --headless
//! cargo run --release --example docking -- --search --seed 1 --headless
//! cargo run --release --example docking -- --stereo anaglyph --screenshot dock.png
//! cargo run --release --example docking --features gamepad
//! ```
//!
//! The default molecules are T4 lysozyme L99A and p-xylene. One molecule is moved at a time, and
//! collides with all others. Rotatable bonds of ligands turn until a contact, with the rest of the
//! ligand too; the atoms of the selected bond are marked. With the response `push`, all molecules
//! are rigid bodies of a Rapier world; the log then records the poses they reach.
//!
//! | input | action |
//! |---|---|
//! | arrows, Page Up, Page Down | translate |
//! | W S, A D, Q E | rotate |
//! | left mouse button | translate; with Ctrl in depth; with Shift rotate |
//! | middle mouse button | twist and roll |
//! | right mouse button, wheel | turn and zoom the camera |
//! | Space or Tab, L | control the camera or the light instead |
//! | M or J | move the next molecule |
//! | N, Shift N | select the next or previous bond |
//! | Y, U | turn the selected bond |
//! | 0 | torsions of the file |
//! | O | axes of the screen or of the molecule |
//! | C | collisions on or off |
//! | 1 2 3 4, P | response stop, cue, slide, push; next response |
//! | H | move to the nearest free pose |
//! | G | guidance by the energy |
//! | + - | scale the radii |
//! | X, [ ] | stereo mode, eye distance |
//! | T, K, I | transparency, colors, headlight |
//! | F, B, R , . | flash, beep, rocking, which pauses while you move something |
//! | Esc | quit |
//!
//! `--help` lists the options and the exit codes.

use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use clap::Parser;

use arguments::Arguments;
use common::{AnyError, Progress, Screen};
use dock::Dock;

mod anaglyph;
mod arguments;
#[path = "../common/mod.rs"]
mod common;
mod controls;
mod cues;
mod dock;
#[cfg(feature = "gamepad")]
mod gamepad;
mod headless;
mod keyboard;
mod overlay;
mod physics_push;
mod rocking;
mod view;
mod view_settings;
mod window;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let screen = arguments.scene.prepare()?;
    if let Some(file) = &arguments.log {
        common::check_target(file)?;
    }
    let mut dock = Dock::new(arguments)?;
    if let Some(file) = &arguments.log {
        dock.record(file)?;
    }
    let screen = screen.announce();
    let begin = Instant::now();
    if arguments.search {
        search(arguments, &mut dock)?;
    }
    match screen {
        Screen::Window => window::run(arguments, dock, None),
        Screen::Screenshot(screenshot) => {
            dock.play(usize::MAX);
            window::run(arguments, dock, Some(&screenshot))
        }
        Screen::Headless(_) => headless::run(arguments, &mut dock, begin),
    }
}

fn search(arguments: &Arguments, dock: &mut Dock) -> Result<(), AnyError> {
    let progress = Mutex::new(Progress::new(arguments.scene.common.quiet));
    let result = dock.search(arguments.scene.seed.get(), &|done, all| {
        // Skip the update if another thread is printing.
        if let Ok(mut progress) = progress.try_lock() {
            progress.update(f64::from(done) / f64::from(all), || {
                format!("searching: run {done} of {all}")
            });
        }
    });
    if let Ok(mut progress) = progress.into_inner() {
        progress.clear();
    }
    result.map(|_| ())
}
