//! Writes a scripted docking: p-xylene comes from outside into the cavity of T4 lysozyme
//! L99A, sliding, as a log that `docking::log` plays back.
//!
//! ```text
//! cargo run --release --example docking_path -- way.log
//! cargo run --release --example docking_path -- way.log --radius-scale 0.6 --seed 2 --report -
//! cargo run --release --example docking -- --play way.log
//! ```
//!
//! The rigid structure is closed: with radii as they are no way is found. All atoms are made
//! smaller on the way; at the end they get their size again, and the ligand fits where it is.
//! If there is no way it is not done, and nothing is written. `--help` lists the exit codes.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::log::Recorder;
use bevy_rapier_molecules::docking::search::{DockingSearch, EscapePathConfig, motion_between};
use bevy_rapier_molecules::docking::{
    CONTACT_TOLERANCE_NM, ResponseMode, Role, Session, SessionInput,
};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use clap::Parser;
use serde::Serialize;

use common::{AnyError, CommonArguments, Device, Head, SeedArguments};

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
#[command(after_help = common::EXIT_CODES)]
struct Arguments {
    /// The log.
    file: PathBuf,
    /// Radii of the atoms on the way, in units of those at its ends.
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.5,
        allow_negative_numbers = true
    )]
    radius_scale: f32,
    #[command(flatten)]
    seed: SeedArguments,
    #[command(flatten)]
    common: CommonArguments,
}

/// What `--report` writes.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    molecules: usize,
    atoms: usize,
    radius_scale: f32,
    /// Straight pieces of the way.
    pieces: usize,
    /// Inputs of the log.
    steps: u32,
    /// Distance of the ligand's center from where its file has it, at the end, nm.
    distance_to_file_nm: f32,
    /// Atoms of receptor and ligand that overlap at the end.
    overlaps: usize,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    arguments.common.prepare()?;
    common::check_target(&arguments.file)?;
    let seed = arguments.seed.get();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules");
    let molecule = |name: &str| load(format!("{folder}/{name}"), &LoadOptions::default());
    let receptor = Arc::new(molecule("t4_lysozyme_l99a.pdb")?);
    let ligand = Arc::new(molecule("p_xylene.pdb")?);
    let atoms = receptor.atom_count() + ligand.atom_count();
    let crystal = ligand.file_pose();
    let mut session = Session::new(receptor, ligand);
    session.apply(&SessionInput::Radii(arguments.radius_scale))?;

    let begin = Instant::now();
    let mut way = escape_path(&session, &crystal, seed)?;
    let time = begin.elapsed();
    way.reverse();
    let steps = write_log(&arguments.file, &mut session, &way)?;
    let end = session.pose(Role::Ligand);
    let report = Report {
        head: Head::new(Some(seed), Device::default(), time),
        molecules: 2,
        atoms,
        radius_scale: arguments.radius_scale,
        pieces: way.len() - 1,
        steps,
        distance_to_file_nm: end.position.distance(crystal.position),
        overlaps: session.clashes().len(),
    };
    arguments.common.write_report(&report)?;
    arguments.common.print(|out| {
        writeln!(
            out,
            "{} straight pieces at {} of the radii\n\
             ends {:.4} nm from the crystal's pose with {} overlaps",
            report.pieces, report.radius_scale, report.distance_to_file_nm, report.overlaps
        )
    })
}

/// Poses of the ligand from where it belongs to the outside.
fn escape_path(session: &Session, crystal: &Pose, seed: u64) -> Result<Vec<Pose>, AnyError> {
    let [large, small] = [Role::Receptor, Role::Ligand]
        .map(|part| ForceFieldMolecule::new(Arc::clone(session.template(part))));
    // No energy is asked for on a way; the coarsest will do.
    let coarse = EnergyConfig {
        spacing: 0.2,
        ..EnergyConfig::default()
    };
    let energy = EnergyGrid::new(&large, &small, &coarse)?;
    let docking = DockingSearch {
        ligand: session.molecule(Role::Ligand),
        receptor: session.molecule(Role::Receptor),
        receptor_pose: session.pose(Role::Receptor),
        energy: &energy,
    };
    let config = EscapePathConfig {
        seed,
        branches: BRANCHES,
        tolerance: CONTACT_TOLERANCE_NM,
    };
    let way = docking.escape_path(crystal, &config)?;
    let sentence = "no way out of the cavity was found: a smaller --radius-scale may help";
    Ok(way.ok_or_else(|| io::Error::new(ErrorKind::Interrupted, sentence))?)
}

/// Moves the ligand along the way and writes down how, in so many inputs.
fn write_log(file: &Path, session: &mut Session, way: &[Pose]) -> Result<u32, AnyError> {
    session.apply(&SessionInput::Response(ResponseMode::Slide))?;
    session.apply(&SessionInput::Place(Role::Ligand, way[0]))?;
    let log = File::create(file)
        .map_err(|error| format!("cannot write '{}': {error}", file.display()))?;
    let mut recorder = Recorder::new(BufWriter::new(log), session)?;
    let mut inputs = 0;
    let mut feed = |session: &mut Session, input: SessionInput| -> Result<(), AnyError> {
        inputs += 1;
        recorder.record(&input)?;
        session.apply(&input)?;
        Ok(())
    };
    for target in &way[1..] {
        let whole = motion_between(&session.pose(Role::Ligand), target);
        let length = whole.translation.length() / STEP.0;
        let steps = length.max(whole.rotation.length() / STEP.1).ceil().max(1.0) as u32;
        for left in (1..=steps).rev() {
            let rest = motion_between(&session.pose(Role::Ligand), target);
            feed(session, SessionInput::Move(rest.scaled(1.0 / left as f32)))?;
        }
    }
    feed(session, SessionInput::Radii(1.0))?;
    recorder.finish(session)?;
    Ok(inputs)
}
