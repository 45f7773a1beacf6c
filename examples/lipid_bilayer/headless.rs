//! The relaxation without a window: progress, interruption, report, export, certificate and
//! summary.

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bevy_rapier_molecules::certificate::{Certificate, CertificateOptions, certify};
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::export::export;
use bevy_rapier_molecules::relax::RelaxConfig;
use bevy_rapier_molecules::relax::capacity::capacity_warnings;

use super::arguments::Arguments;
use super::common::{
    AnyError, Device, Head, Progress, RemainingTime, STOPPED, Screen, check_target,
    fall_back_to_cpu, peak_memory_bytes, rehearse_export, show_relaxation, stop_on_interrupt,
};
use super::library::Library;
use super::membrane_scene::Shape;
use super::preset::Preset;
use super::report::{Report, StageMilliseconds, write_export_summary, write_summary};
use super::scene::Scene;
use super::simulation::{build, export_options, relaxer};

/// Relaxes the molecules of a preset, writes report, export and certificate, and prints the
/// summary.
pub fn run(
    preset: &Preset,
    max_time: Option<Duration>,
    screen: Screen,
    arguments: &Arguments,
) -> Result<ExitCode, AnyError> {
    if let Some(path) = &arguments.export {
        check_target(path)?;
    }
    if let Some(path) = &arguments.certificate {
        check_target(path)?;
    }
    if arguments.certifies() && preset.tolerance.is_none() {
        let why = "a certificate needs one tolerance for all atoms; add --tolerance 0.2";
        return Err(why.into());
    }
    let stop = stop_on_interrupt()?;
    // On a thread of the pool, which saves handing over each parallel loop to it.
    rayon::scope(|_| relax(preset, max_time, screen, arguments, &stop))
}

fn relax(
    preset: &Preset,
    max_time: Option<Duration>,
    screen: Screen,
    arguments: &Arguments,
    stop: &AtomicBool,
) -> Result<ExitCode, AnyError> {
    let common = &arguments.scene.common;
    let Scene { crowd, layout } = build(preset, &mut Library::default())?;
    screen.announce();
    for note in &layout.notes {
        writeln!(io::stderr(), "note: {note}")?;
    }
    let warnings: Vec<String> = capacity_warnings(&crowd)
        .iter()
        .map(ToString::to_string)
        .collect();
    for warning in &warnings {
        writeln!(io::stderr(), "warning: {warning}")?;
    }
    if let Some(path) = &arguments.export {
        rehearse_export(path, &crowd, &export_options(&crowd))?;
    }
    let (molecules, atoms) = (crowd.members().len(), crowd.atom_count());
    let config = RelaxConfig {
        max_time,
        max_iterations: arguments.steps.unwrap_or(preset.max_iterations),
        ..preset.config()
    };

    let mut progress = Progress::new(common.quiet);
    let mut remaining = RemainingTime::default();
    let begin = Instant::now();
    let mut relaxer = relaxer(crowd, preset, config)?;
    let stages_before = relaxer.stages();
    let outcome = relaxer.run(|relaxer| {
        show_relaxation(&mut progress, &mut remaining, relaxer);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let time = begin.elapsed();
    progress.clear();
    let device = match &outcome.device_error {
        Some(reason) => fall_back_to_cpu(reason),
        None => Device {
            backend: outcome.backend,
            adapter: outcome.adapter.clone(),
            fell_back: None,
        },
    };

    let report = Report {
        head: Head::new(Some(preset.seed), device, time),
        molecules,
        atoms,
        iterations: outcome.iterations,
        converged: outcome.converged(),
        reason: outcome.reason,
        overlaps_start: outcome.start.overlaps,
        overlaps_end: outcome.end.overlaps,
        counted_spheres: outcome.end.spheres,
        max_penetration_nm: outcome.end.max_penetration_nm,
        out_of_place: outcome.end.out_of_place,
        ms_per_iteration: StageMilliseconds::per_iteration(&outcome, &stages_before),
        peak_memory_bytes: peak_memory_bytes(),
        law: config.law.name(),
        tolerance_nm: preset.tolerance,
        clearance_nm: config.clearance,
        warnings,
        lipid: layout.lipids,
        outer: layout.outer,
        inner: layout.inner,
        inside: preset.filled_sphere().map(|sphere| sphere.molecules),
        radius_nm: match layout.shape {
            Shape::Vesicle { radius } => Some(radius),
            Shape::Flat { .. } => None,
        },
        box_nm: relaxer.crowd().periodic_box(),
        membrane: layout.report,
        notes: layout.notes,
    };
    // Before the export, which may fail.
    common.write_report(&report)?;
    let exported = match &arguments.export {
        Some(path) => {
            let text = format!("exporting {atoms} atoms to {}", path.display());
            progress.show(1.0, text);
            let crowd = relaxer.crowd();
            let written = export(path, crowd.instances(), &export_options(crowd));
            progress.clear();
            Some((path, written?))
        }
        None => None,
    };
    let certificate = match &arguments.export {
        Some(path) if arguments.certifies() => {
            progress.show(1.0, format!("checking {}", path.display()));
            let certificate = checked_export(path, relaxer.crowd(), preset);
            progress.clear();
            Some(certificate?)
        }
        _ => None,
    };
    if let (Some(certificate), Some(path)) = (&certificate, &arguments.certificate) {
        let text = serde_json::to_string_pretty(certificate)? + "\n";
        fs::write(path, text)
            .map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
    }
    common.print(|out| {
        write_summary(out, &report)?;
        if let Some((path, summary)) = exported {
            write_export_summary(out, path, &summary, &report)?;
        }
        if let Some(certificate) = &certificate {
            writeln!(out, "{certificate}")?;
        }
        Ok(())
    })?;
    let is_clean = certificate.is_none_or(|certificate| certificate.is_clean());
    Ok(if report.converged && is_clean {
        ExitCode::SUCCESS
    } else {
        STOPPED.into()
    })
}

/// The certificate of a written file.
fn checked_export(path: &Path, crowd: &Crowd, preset: &Preset) -> Result<Certificate, AnyError> {
    let default = CertificateOptions::default();
    let options = CertificateOptions {
        tolerance: preset.tolerance.unwrap_or(default.tolerance),
        crowd: Some(crowd),
        ..default
    };
    Ok(certify(path, &options)?)
}
