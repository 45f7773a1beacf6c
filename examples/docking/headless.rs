//! Without a window: plays, searches and reports.

use std::io::{self, Write};

use bevy_rapier_molecules::docking::Part;
use bevy_rapier_molecules::pose::Pose;
use serde::Serialize;

use super::AnyError;
use super::arguments::Arguments;
use super::dock::Dock;
use super::report_file;

/// What is written down.
#[derive(Serialize)]
struct Report {
    receptor: String,
    ligand: String,
    receptor_pose: Pose,
    ligand_pose: Pose,
    /// Distance of the ligand's centre from where its file has it, nm.
    distance_to_file_nm: f32,
    /// Atoms of receptor and ligand that overlap.
    clashes: usize,
    /// Energy between them, kJ/mol, if there is one.
    energy_kj_per_mol: Option<f64>,
    /// Whether a log that was played ended where it was recorded.
    ended_the_same: Option<bool>,
    /// Who would find the contacts of bodies in the window.
    backend: &'static str,
    /// Time of a check, µs.
    check_us: Option<f64>,
    /// Time of a check by brute force, µs.
    brute_force_us: Option<f64>,
}

/// Plays what there is to play, and reports.
pub fn run(arguments: &Arguments, dock: &mut Dock) -> Result<(), AnyError> {
    dock.play(usize::MAX);
    dock.finish()?;
    let session = &dock.session;
    let name = |part: Part| session.template(part).name().to_owned();
    let times = arguments.brute_force.then(|| {
        let runs = (0..9).map(|_| dock.time_checks());
        let best = runs.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1), a.2));
        best.unwrap_or_default()
    });
    let micros = |time: std::time::Duration| report_file::round(time.as_secs_f64() * 1e6);
    let report = Report {
        receptor: name(Part::Receptor),
        ligand: name(Part::Ligand),
        receptor_pose: session.pose(Part::Receptor),
        ligand_pose: session.pose(Part::Ligand),
        distance_to_file_nm: dock.distance_to_file(),
        clashes: dock.clashes.len(),
        energy_kj_per_mol: session.interaction().map(|now| now.energy()),
        ended_the_same: dock.ended_the_same(),
        backend: arguments.backend.name(),
        check_us: times.map(|(grid, ..)| micros(grid)),
        brute_force_us: times.map(|(_, brute, _)| micros(brute)),
    };
    if let Some((_, _, overlaps)) = times
        && overlaps != dock.clashes.len()
    {
        let found = dock.clashes.len();
        return Err(format!("brute force finds {overlaps} overlaps, and not {found}").into());
    }
    match &arguments.report {
        Some(path) => report_file::write_json(&report, path)?,
        None => {
            let place = report.ligand_pose.position;
            let mut out = io::stdout().lock();
            writeln!(
                out,
                "{} at {:.3} {:.3} {:.3} nm, {:.3} nm from where its file has it; {} overlaps",
                report.ligand,
                place.x,
                place.y,
                place.z,
                report.distance_to_file_nm,
                report.clashes
            )?;
            if let Some(energy) = report.energy_kj_per_mol {
                writeln!(out, "energy {energy:.1} kJ/mol")?;
            }
            if let (Some(grid), Some(brute)) = (report.check_us, report.brute_force_us) {
                let ratio = brute / grid;
                writeln!(
                    out,
                    "a check takes {grid:.1} µs, by brute force {brute:.1} µs: {ratio:.0} times"
                )?;
            }
        }
    }
    match report.ended_the_same {
        Some(false) => Err("the log was played, but did not end where it was recorded".into()),
        _ => Ok(()),
    }
}
