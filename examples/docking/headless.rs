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
    /// Ligands after the first one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more_ligands: Vec<LigandReport>,
    /// Rotatable bonds of all ligands.
    torsions: Vec<TorsionReport>,
    /// Distance of the first ligand from its pose in the file, nm.
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

#[derive(Serialize)]
struct LigandReport {
    role: String,
    name: String,
    pose: Pose,
}

/// A rotatable bond.
#[derive(Serialize)]
struct TorsionReport {
    /// Role of the ligand.
    molecule: String,
    /// Index of the bond.
    bond: usize,
    /// The atoms; the side of the second one turns.
    atoms: String,
    /// Dihedral angle, degrees.
    dihedral_deg: f64,
    /// Angle by which it is turned from the file, degrees.
    turned_deg: f64,
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
    let ligand = |role: Role| LigandReport {
        role: role.to_string(),
        name: name(role),
        pose: session.pose(role),
    };
    let dock = &*dock;
    let torsions = |role: Role| {
        let angles = session.torsions(role).iter().enumerate();
        angles.map(move |(bond, angle)| TorsionReport {
            molecule: role.to_string(),
            bond,
            atoms: dock.bond_name(role, bond),
            dihedral_deg: round(dock.dihedral(role, bond)),
            turned_deg: round(f64::from(angle.to_degrees())),
        })
    };
    let times = arguments.brute_force.then(|| {
        let runs = (0..9).map(|_| dock.time_checks());
        let best = runs.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1), a.2));
        best.unwrap_or_default()
    });
    let micros = |time: Duration| round(time.as_secs_f64() * 1e6);
    let report = Report {
        head: Head::new(Some(arguments.scene.seed.get()), device, time),
        molecules: session.roles().count(),
        atoms: session.roles().map(atoms).sum(),
        receptor: name(Role::Receptor),
        ligand: name(Role::LIGAND),
        receptor_pose: session.pose(Role::Receptor),
        ligand_pose: session.pose(Role::LIGAND),
        more_ligands: session.roles().skip(2).map(ligand).collect(),
        torsions: session.roles().flat_map(torsions).collect(),
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
    // Brute force tests different molecules only.
    let clashes = dock.clashes.iter();
    let found = clashes.filter(|clash| clash.molecules[0] != clash.molecules[1]);
    let found = found.count();
    if let Some((_, _, overlaps)) = times
        && overlaps != found
    {
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
    for ligand in &report.more_ligands {
        let position = ligand.pose.position;
        writeln!(
            out,
            "{} at {:.3} {:.3} {:.3} nm",
            ligand.name, position.x, position.y, position.z
        )?;
    }
    for torsion in report.torsions.iter().filter(|one| one.turned_deg != 0.0) {
        writeln!(
            out,
            "{}: bond {} ({}) turned by {:.1}°, dihedral angle {:.1}°",
            torsion.molecule, torsion.bond, torsion.atoms, torsion.turned_deg, torsion.dihedral_deg
        )?;
    }
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
