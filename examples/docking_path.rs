//! Writes a scripted docking: p-xylene comes from outside into the cavity of T4 lysozyme
//! L99A, sliding, as a log that `docking::log` plays back.
//!
//! ```text
//! cargo run --release --example docking_path -- OUT.log [RADII] [SEED]
//! ```
//!
//! The rigid structure is closed: with radii as they are no way is found. `RADII` (default
//! 0.5) is the factor with which all atoms are made smaller on the way; at the end they get
//! their size again, and the ligand fits where it is.
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, TypedMolecule};
use bevy_rapier_molecules::docking::log::Recorder;
use bevy_rapier_molecules::docking::search::{Docking, WayConfig, motion_between};
use bevy_rapier_molecules::docking::{Input, Part, ResponseMode, Session, TOLERANCE_NM};
use bevy_rapier_molecules::molecule::{LoadOptions, load};

/// Branches after which no way is taken to exist.
const BRANCHES: u32 = 1_000_000;

/// Longest motion of one input, nm and radian.
const STEP: (f32, f32) = (0.04, 0.2);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: docking_path OUT.log [RADII] [SEED]";
    let file = arguments.next().ok_or(usage)?;
    let radii: f32 = arguments.next().map_or(Ok(0.5), |text| text.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules");
    let molecule = |name: &str| load(format!("{folder}/{name}"), &LoadOptions::default());
    let receptor = Arc::new(molecule("t4_lysozyme_l99a.pdb")?);
    let ligand = Arc::new(molecule("p_xylene.pdb")?);
    let crystal = ligand.file_pose();
    let mut session = Session::new(Arc::clone(&receptor), Arc::clone(&ligand));
    session.apply(&Input::Radii(radii))?;

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
        seed,
        branches: BRANCHES,
        tolerance: TOLERANCE_NM,
    };
    let mut way = docking
        .way_out(&crystal, &config)?
        .ok_or("no way out of the cavity was found")?;
    println!("{} straight pieces at {radii} of the radii", way.len() - 1);
    way.reverse();

    session.apply(&Input::Response(ResponseMode::Slide))?;
    session.apply(&Input::Place(Part::Ligand, way[0]))?;
    let mut recorder = Recorder::new(BufWriter::new(File::create(&file)?), &session)?;
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
    println!(
        "ends {:.4} nm from the crystal's pose with {} overlaps",
        end.position.distance(crystal.position),
        session.clashes().len()
    );
    Ok(())
}
