//! Replay and report without a window.

use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::docking::Role;
use bevy_rapier_molecules::pose::Pose;
use serde::Serialize;

use super::arguments::Arguments;
use super::common::{AnyError, Device, Head, fall_back_to_cpu, round};
use super::dock::Dock;

/// What `--report` writes.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    molecules: usize,
    atoms: usize,
    receptor: String,
    ligand: String,
    receptor_pose: Pose,
    ligand_pose: Pose,
    /// Distance of the ligand from its pose in the file, nm.
    distance_to_file_nm: f32,
    /// Overlapping pairs of atoms.
    overlaps: usize,
    /// Interaction energy, kJ/mol.
    energy_kj_per_mol: Option<f64>,
    /// Whether the replay ended at the recorded poses.
    ended_the_same: Option<bool>,
    /// Duration of an overlap check, µs.
    check_us: Option<f64>,
    /// Duration of an overlap check by brute force, µs.
    brute_force_us: Option<f64>,
}

/// Replays the log, if any, and reports the result.
pub fn run(arguments: &Arguments, dock: &mut Dock, begin: Instant) -> Result<(), AnyError> {
    let device = match arguments.scene.backend.get() {
        Backend::Gpu => fall_back_to_cpu(&"only the window uses rigid bodies"),
        _ => Device::default(),
    };
    dock.play(usize::MAX);
    let time = begin.elapsed();
    dock.finish()?;
    let session = &dock.session;
    let name = |role: Role| session.template(role).name().to_owned();
    let atoms = |role: Role| session.template(role).atom_count();
    let times = arguments.brute_force.then(|| {
        let runs = (0..9).map(|_| dock.time_checks());
        let best = runs.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1), a.2));
        best.unwrap_or_default()
    });
    let micros = |time: Duration| round(time.as_secs_f64() * 1e6);
    let report = Report {
        head: Head::new(Some(arguments.scene.seed.get()), device, time),
        molecules: 2,
        atoms: atoms(Role::Receptor) + atoms(Role::Ligand),
        receptor: name(Role::Receptor),
        ligand: name(Role::Ligand),
        receptor_pose: session.pose(Role::Receptor),
        ligand_pose: session.pose(Role::Ligand),
        distance_to_file_nm: dock.distance_to_file(),
        overlaps: dock.clashes.len(),
        energy_kj_per_mol: session
            .interaction()
            .map(|interaction| interaction.energy()),
        ended_the_same: dock.ended_the_same(),
        check_us: times.map(|(grid, ..)| micros(grid)),
        brute_force_us: times.map(|(_, brute, _)| micros(brute)),
    };
    let failed = |message: String| Err(io::Error::new(ErrorKind::Interrupted, message).into());
    if let Some((_, _, overlaps)) = times
        && overlaps != report.overlaps
    {
        let found = report.overlaps;
        return failed(format!(
            "brute force finds {overlaps} overlaps, the grid {found}"
        ));
    }
    let common = &arguments.scene.common;
    common.write_report(&report)?;
    common.print(|out| write_summary(out, &report))?;
    match report.ended_the_same {
        Some(false) => failed("the replay ended at other poses than the recording".into()),
        _ => Ok(()),
    }
}

fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let position = report.ligand_pose.position;
    writeln!(
        out,
        "{} at {:.3} {:.3} {:.3} nm, {:.3} nm from its pose in the file; {} overlaps",
        report.ligand,
        position.x,
        position.y,
        position.z,
        report.distance_to_file_nm,
        report.overlaps
    )?;
    if let Some(energy) = report.energy_kj_per_mol {
        writeln!(out, "energy {energy:.1} kJ/mol")?;
    }
    if let (Some(grid), Some(brute)) = (report.check_us, report.brute_force_us) {
        let ratio = brute / grid;
        writeln!(
            out,
            "overlap check: {grid:.1} µs, by brute force {brute:.1} µs ({ratio:.0} times)"
        )?;
    }
    Ok(())
}
