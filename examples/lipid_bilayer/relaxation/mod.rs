//! A relaxation without a window: options, progress, interruption, report, export and
//! summary.

mod arguments;
mod memory;
mod report;
mod summary;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::export::{ExportFormat, ExportOptions, export, write_mmcif, write_pdb};
use bevy_rapier_molecules::relax::capacity::{HOPELESS_COVERAGE, capacity_warnings};
use bevy_rapier_molecules::relax::{RelaxConfig, RelaxStatus, Relaxer};
use serde::Serialize;

use crate::common::{
    AnyError, CommonArguments, Device, EXIT_CODES, Head, Progress, STOPPED, check_target,
    fall_back_to_cpu,
};
use report::{Report, StageMilliseconds};
use summary::{write_export_summary, write_summary};

pub use arguments::{Law, RelaxArguments};

/// Exit code after a second interruption: 128 + SIGINT, as shells have it.
const KILLED: i32 = 130;

/// What the end of `--help` says.
pub fn after_help() -> String {
    format!(
        "Ctrl-C stops the relaxation; report, export and summary are then of what was reached. \
         A second Ctrl-C ends the program at once. It is done when no lipids overlap and all \
         are in place; if that is not reached, report and export are written all the same.\n\n\
         {EXIT_CODES}"
    )
}

/// A scene to be relaxed.
pub struct Scene<D> {
    /// What people want to know about it, in half a line.
    pub headline: String,
    /// The molecules.
    pub crowd: Crowd,
    /// Atoms closer than this overlap, nm; `None` if their radii count.
    pub tolerance: Option<f32>,
    /// What is special about it, for the report.
    pub details: D,
}

/// What a relaxation is told, and who does it.
pub struct Settings<'a> {
    /// Law and stop criteria.
    pub config: RelaxConfig,
    /// Who does the work.
    pub backend: Backend,
    /// Seed of the scene, for the report.
    pub seed: u64,
    /// Where the molecules are written to.
    pub export: Option<&'a Path>,
}

/// Builds a scene and relaxes it, then reports, exports and sums up.
pub fn run<D: Serialize + Send>(
    common: &CommonArguments,
    settings: Settings,
    build: impl FnOnce() -> Result<Scene<D>, AnyError> + Send,
) -> Result<ExitCode, AnyError> {
    if let Some(path) = settings.export {
        check_target(path)?;
    }
    let stop = interruption()?;
    // On one of the threads, who would otherwise be called anew for each stage.
    rayon::scope(|_| relax(common, settings, build()?, &stop))
}

/// A flag that is set when the user or the system asks to stop. Asked again, the
/// program ends at once.
fn interruption() -> Result<Arc<AtomicBool>, ctrlc::Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
    })?;
    Ok(stop)
}

fn relax<D: Serialize>(
    common: &CommonArguments,
    settings: Settings,
    scene: Scene<D>,
    stop: &AtomicBool,
) -> Result<ExitCode, AnyError> {
    let Settings {
        config,
        backend,
        seed,
        export: target,
    } = settings;
    let warnings = capacity_warnings(&scene.crowd);
    if let Some(hopeless) = warnings.iter().find(|w| w.coverage > HOPELESS_COVERAGE) {
        return Err(hopeless.to_string().into());
    }
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    for warning in &warnings {
        writeln!(io::stderr(), "warning: {warning}")?;
    }
    if let Some(path) = target {
        rehearse_export(path, &scene.crowd)?;
    }
    let (molecules, atoms) = (scene.crowd.members().len(), scene.crowd.atom_count());

    let mut progress = Progress::new(common.quiet);
    let begin = Instant::now();
    let mut relaxer = Relaxer::with_backend(scene.crowd, config, backend)?;
    let before = relaxer.stages();
    let outcome = relaxer.run(|relaxer| {
        show(&mut progress, relaxer);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let time = begin.elapsed();
    progress.clear();
    let device = match &outcome.fell_back {
        Some(reason) => fall_back_to_cpu(reason),
        None => Device {
            backend: outcome.backend,
            adapter: outcome.adapter.clone(),
            fell_back: None,
        },
    };

    let report = Report {
        head: Head::new(Some(seed), device, time),
        molecules,
        atoms,
        iterations: outcome.iterations,
        converged: outcome.converged(),
        reason: outcome.reason,
        overlaps_start: outcome.start.overlaps,
        overlaps_end: outcome.end.overlaps,
        max_penetration_nm: outcome.end.max_penetration_nm,
        out_of_place: outcome.end.out_of_place,
        ms_per_iteration: StageMilliseconds::per_iteration(&outcome, &before),
        peak_memory_bytes: memory::peak_bytes(),
        law: config.law.name(),
        tolerance_nm: scene.tolerance,
        clearance_nm: config.clearance,
        warnings: &warnings,
        details: &scene.details,
    };
    // The report first: an export that fails must not take it along.
    common.write_report(&report)?;
    let exported = match target {
        Some(path) => {
            let text = format!("exporting {atoms} atoms to {}", path.display());
            progress.show(1.0, text);
            let written = export(path, relaxer.crowd().instances(), &ExportOptions::default());
            progress.clear();
            Some((path, written?))
        }
        None => None,
    };
    common.print(|out| {
        write_summary(out, &scene.headline, &report)?;
        if let Some((path, summary)) = exported {
            let templates = relaxer.crowd().templates();
            let by_residue = templates.iter().all(|one| one.residues().len() == 1);
            write_export_summary(out, path, &summary, by_residue, scene.tolerance)?;
        }
        Ok(())
    })?;
    Ok(if report.converged {
        ExitCode::SUCCESS
    } else {
        STOPPED.into()
    })
}

/// Shows where the relaxation is.
fn show(progress: &mut Progress, relaxer: &Relaxer) {
    let status = relaxer.status();
    progress.update(fraction_done(&relaxer.start_status(), &status), || {
        format!(
            "iteration {}: {} overlaps, deepest {:.4} nm, {} out of place",
            relaxer.iterations(),
            status.overlaps,
            status.max_penetration_nm,
            status.out_of_place,
        )
    });
}

/// How much of the burden is gone, on a logarithmic scale: the last few overlaps
/// take as long as the first million.
fn fraction_done(start: &RelaxStatus, now: &RelaxStatus) -> f64 {
    let burden = |status: &RelaxStatus| ((status.unresolved + status.out_of_place) as f64).ln_1p();
    let start = burden(start);
    if start > 0.0 {
        (1.0 - burden(now) / start).clamp(0.0, 1.0)
    } else {
        1.0
    }
}

/// Writes the molecules to nowhere, to learn before the work whether the format can
/// hold them.
fn rehearse_export(path: &Path, crowd: &Crowd) -> Result<(), AnyError> {
    let options = ExportOptions::default();
    match ExportFormat::from_path(path) {
        Some((ExportFormat::Pdb, _)) => write_pdb(io::sink(), crowd.instances(), &options)?,
        // Holds any number of molecules: one of each shape tells about the names.
        Some((ExportFormat::Mmcif, _)) => {
            let shapes = crowd.templates().iter();
            let shapes = shapes.map(|template| (&**template, template.file_pose()));
            write_mmcif(io::sink(), shapes, &options)?
        }
        // Fails as well, with a sentence about the name of the file.
        _ => export(path, [], &options)?,
    };
    Ok(())
}
