//! The relaxation of a crowd that is written afterwards: progress, and whether it can be written.

use std::io;
use std::path::Path;
use std::time::Instant;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::export::{ExportError, ExportOptions, export, write_mmcif, write_pdb};
use bevy_rapier_molecules::molecule::Format;
use bevy_rapier_molecules::relax::{CountedSpheres, RelaxStatus, Relaxer};

use super::{Progress, RemainingTime};

/// Shows iterations, overlaps, molecules out of place and the time left. Call it after each
/// iteration.
pub fn show_relaxation(progress: &mut Progress, time: &mut RemainingTime, relaxer: &Relaxer) {
    let status = relaxer.status();
    match status.spheres {
        CountedSpheres::Atoms => time.add(status.remaining(), Instant::now()),
        // The decay of proxies says nothing about that of atoms.
        _ => time.restart(),
    }
    progress.update(fraction_done(&relaxer.start_status(), &status), || {
        let kind = match status.spheres {
            CountedSpheres::Proxies => "proxy ",
            _ => "",
        };
        format!(
            "iteration {}: {} {kind}overlaps, deepest {:.4} nm, {} out of place; {}",
            relaxer.iterations(),
            status.overlaps,
            status.max_penetration_nm,
            status.out_of_place,
            time.estimate(),
        )
    });
}

/// The fraction of problems solved, on a logarithmic scale: the last few overlaps take as long
/// as the first million.
fn fraction_done(start: &RelaxStatus, current: &RelaxStatus) -> f64 {
    let log_problems = |status: &RelaxStatus| (status.remaining() as f64).ln_1p();
    let start = log_problems(start);
    if start > 0.0 {
        (1.0 - log_problems(current) / start).clamp(0.0, 1.0)
    } else {
        1.0
    }
}

/// Checks before the relaxation that the format can hold the molecules, by writing them to
/// nowhere.
pub fn rehearse_export(
    path: &Path,
    crowd: &Crowd,
    options: &ExportOptions,
) -> Result<(), ExportError> {
    match Format::from_name(&path.to_string_lossy()) {
        Some(Format::Pdb) => write_pdb(io::sink(), crowd.instances(), options)?,
        // It holds any number of molecules. One of each template checks the names.
        Some(Format::Mmcif) => {
            let templates = crowd.templates().iter();
            let templates = templates.map(|template| (&**template, template.file_pose()));
            write_mmcif(io::sink(), templates, options)?
        }
        // Fails with an error about the extension.
        _ => export(path, [], options)?,
    };
    Ok(())
}
