//! Writes a scripted docking: p-xylene comes from outside into the cavity of T4 lysozyme
//! L99A, sliding, as a log that `docking::log` plays back.
//!
//! ```text
//! cargo run --release --example docking_path -- OUT.log [--radius-scale X] [--seed N]
//! ```
//!
//! The rigid structure is closed: with radii as they are no way is found. All atoms are made
//! smaller on the way; at the end they get their size again, and the ligand fits where it is.
//! Exit code 0 if a way was written, and 2 if there was none or it could not be.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, TypedMolecule};
use bevy_rapier_molecules::docking::log::Recorder;
use bevy_rapier_molecules::docking::search::{Docking, WayConfig, motion_between};
use bevy_rapier_molecules::docking::{Input, Part, ResponseMode, Session, TOLERANCE_NM};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use clap::Parser;

mod common;

/// Branches after which no way is taken to exist.
const BRANCHES: u32 = 1_000_000;

/// Longest motion of one input, nm and radian.
const STEP: (f32, f32) = (0.04, 0.2);

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Writes the way of p-xylene into the cavity of T4 lysozyme, as a log of `docking`.
#[derive(Parser)]
struct Arguments {
    /// The log.
    file: PathBuf,
    /// Radii of the atoms on the way, in units of those at its ends.
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    radius_scale: f32,
    /// Seed of the search for a way.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments {
        file,
        radius_scale: radii,
        seed,
    } = arguments;
    let mut out = io::stdout().lock();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules");
    let molecule = |name: &str| load(format!("{folder}/{name}"), &LoadOptions::default());
    let receptor = Arc::new(molecule("t4_lysozyme_l99a.pdb")?);
    let ligand = Arc::new(molecule("p_xylene.pdb")?);
    let crystal = ligand.file_pose();
    let mut session = Session::new(Arc::clone(&receptor), Arc::clone(&ligand));
    session.apply(&Input::Radii(*radii))?;

    let [large, small] = [receptor, ligand].map(TypedMolecule::new);
    // No energy is asked for on a way; the coarsest will do.
    let coarse = EnergyConfig {
        spacing: 0.2,
        ..EnergyConfig::default()
    };
    let energy = EnergyGrid::new(&large, &small, &coarse)?;
    let docking = Docking {
        ligand: session.molecule(Part::Ligand),
        receptor: session.molecule(Part::Receptor),
        receptor_pose: session.pose(Part::Receptor),
        energy: &energy,
    };
    let config = WayConfig {
        seed: *seed,
        branches: BRANCHES,
        tolerance: TOLERANCE_NM,
    };
    let mut way = docking
        .way_out(&crystal, &config)?
        .ok_or("no way out of the cavity was found")?;
    let pieces = way.len() - 1;
    writeln!(out, "{pieces} straight pieces at {radii} of the radii")?;
    way.reverse();

    session.apply(&Input::Response(ResponseMode::Slide))?;
    session.apply(&Input::Place(Part::Ligand, way[0]))?;
    let log = File::create(file)
        .map_err(|error| format!("cannot write '{}': {error}", file.display()))?;
    let mut recorder = Recorder::new(BufWriter::new(log), &session)?;
    let mut feed = |session: &mut Session, input: Input| -> Result<(), Box<dyn Error>> {
        recorder.record(&input)?;
        session.apply(&input)?;
        Ok(())
    };
    for target in &way[1..] {
        let whole = motion_between(&session.pose(Part::Ligand), target);
        let length = whole.translation.length() / STEP.0;
        let steps = length.max(whole.rotation.length() / STEP.1).ceil().max(1.0) as u32;
        for left in (1..=steps).rev() {
            let rest = motion_between(&session.pose(Part::Ligand), target);
            feed(&mut session, Input::Move(rest.scaled(1.0 / left as f32)))?;
        }
    }
    feed(&mut session, Input::Radii(1.0))?;
    recorder.finish(&session)?;
    let end = session.pose(Part::Ligand);
    writeln!(
        out,
        "ends {:.4} nm from the crystal's pose with {} overlaps",
        end.position.distance(crystal.position),
        session.clashes().len()
    )?;
    Ok(())
}
