//! Finds a path of p-xylene into the cavity of T4 lysozyme L99A and writes it as a log for the
//! example `docking`.
//!
//! ```text
//! cargo run --release --example docking_path -- path.log
//! cargo run --release --example docking_path -- path.log --radius-scale 0.6 --seed 2 --report -
//! cargo run --release --example docking -- --play path.log
//! ```
//!
//! The rigid cavity is closed for atoms of full size. So the radii are scaled down on the path
//! and restored at its end, where the ligand fits. If no path is found, nothing is written.
//! `--help` lists the exit codes.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::log::Recorder;
use bevy_rapier_molecules::docking::search::{DockingSearch, EscapePathConfig};
use bevy_rapier_molecules::docking::{
    CONTACT_TOLERANCE_NM, ResponseMode, RigidMotion, Role, Session, SessionInput,
};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use clap::Parser;
use serde::Serialize;

use common::{AnyError, CommonArguments, Device, Head, SeedArguments};

mod common;

/// Maximum number of branches of the path search.
const MAX_BRANCHES: u32 = 1_000_000;

/// Maximum translation per input, nm.
const MAX_TRANSLATION_NM: f32 = 0.04;

/// Maximum rotation per input, radian.
const MAX_ROTATION: f32 = 0.2;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Writes a path of p-xylene into the cavity of T4 lysozyme as a log for `docking`.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
struct Arguments {
    /// Log file to write.
    file: PathBuf,
    /// Factor on the radii of the atoms on the path.
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
    /// Straight segments of the path.
    pieces: usize,
    /// Number of inputs in the log.
    steps: u32,
    /// Final distance of the ligand from its pose in the file, nm.
    distance_to_file_nm: f32,
    /// Number of overlapping pairs of atoms at the end.
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
    let mut path = escape_path(&session, &crystal, seed)?;
    let time = begin.elapsed();
    path.reverse();
    let steps = write_log(&arguments.file, &mut session, &path)?;
    let end = session.pose(Role::LIGAND);
    let report = Report {
        head: Head::new(Some(seed), Device::default(), time),
        molecules: 2,
        atoms,
        radius_scale: arguments.radius_scale,
        pieces: path.len() - 1,
        steps,
        distance_to_file_nm: end.position.distance(crystal.position),
        overlaps: session.clashes().len(),
    };
    arguments.common.write_report(&report)?;
    arguments.common.print(|out| {
        writeln!(
            out,
            "{} straight segments with radii x {}\n\
             ends {:.4} nm from the crystal pose with {} overlaps",
            report.pieces, report.radius_scale, report.distance_to_file_nm, report.overlaps
        )
    })
}

/// Poses of the ligand from the crystal pose to the outside.
fn escape_path(session: &Session, crystal: &Pose, seed: u64) -> Result<Vec<Pose>, AnyError> {
    let [large, small] = [Role::Receptor, Role::LIGAND]
        .map(|part| ForceFieldMolecule::new(Arc::clone(session.template(part))));
    // The path search does not use the energy: the coarsest grid is enough.
    let coarse = EnergyConfig {
        spacing: 0.2,
        ..EnergyConfig::default()
    };
    let energy = EnergyGrid::new(&large, &small, &coarse)?;
    let search = DockingSearch {
        ligand: session.molecule(Role::LIGAND),
        receptor: session.molecule(Role::Receptor),
        receptor_pose: session.pose(Role::Receptor),
        energy: &energy,
    };
    let config = EscapePathConfig {
        seed,
        branches: MAX_BRANCHES,
        tolerance: CONTACT_TOLERANCE_NM,
    };
    let path = search.escape_path(crystal, &config)?;
    let message = "no path out of the cavity was found: try a smaller --radius-scale";
    Ok(path.ok_or_else(|| io::Error::new(ErrorKind::Interrupted, message))?)
}

/// Moves the ligand along the path, records it, and returns the number of inputs.
fn write_log(file: &Path, session: &mut Session, path: &[Pose]) -> Result<u32, AnyError> {
    session.apply(&SessionInput::Response(ResponseMode::Slide))?;
    session.apply(&SessionInput::Place(Role::LIGAND, path[0]))?;
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
    for target in &path[1..] {
        let motion = RigidMotion::between(&session.pose(Role::LIGAND), target);
        let translations = motion.translation.length() / MAX_TRANSLATION_NM;
        let steps = translations
            .max(motion.rotation.length() / MAX_ROTATION)
            .ceil()
            .max(1.0) as u32;
        for left in (1..=steps).rev() {
            let rest = RigidMotion::between(&session.pose(Role::LIGAND), target);
            feed(session, SessionInput::Move(rest.scaled(1.0 / left as f32)))?;
        }
    }
    feed(session, SessionInput::Radii(1.0))?;
    recorder.finish(session)?;
    Ok(inputs)
}
