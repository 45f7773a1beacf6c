//! The packing without a window: progress, interruption, export, report and summary.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::export::{ExportError, ExportOptions};
use bevy_rapier_molecules::recipe::{EntryReport, Leftover, Packing, Recipe, populate, relax};
use bevy_rapier_molecules::relax::{RelaxConfig, StopReason};
use bevy_rapier_molecules::scene_files::SceneFormat;
use serde::Serialize;

use super::arguments::Arguments;
use super::common::scene_output::{rehearse, write_with_progress};
use super::common::{
    AnyError, Device, Head, Progress, RemainingTime, STOPPED, Screen, check_target,
    fall_back_to_cpu, peak_memory_bytes, show_relaxation, stop_on_interrupt,
};

/// The content of `--report`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    recipe: String,
    molecules: usize,
    atoms: usize,
    iterations: u32,
    converged: bool,
    reason: StopReason,
    overlaps_start: u64,
    overlaps_end: u64,
    max_penetration_nm: f32,
    out_of_place: u64,
    peak_memory_bytes: Option<u64>,
    entries: Vec<EntryReport>,
    /// The kinds of molecules that did not come to rest.
    left: Vec<Leftover>,
    warnings: Vec<String>,
}

/// Packs the recipe, writes the export and the report, and prints the summary.
pub fn run(arguments: &Arguments, screen: Screen) -> Result<ExitCode, AnyError> {
    if let Some(path) = &arguments.export {
        check_target(path)?;
    }
    let stop = stop_on_interrupt()?;
    // On a thread of the pool, which saves handing over each parallel loop to it.
    rayon::scope(|_| pack(arguments, screen, &stop))
}

fn pack(arguments: &Arguments, screen: Screen, stop: &AtomicBool) -> Result<ExitCode, AnyError> {
    let common = &arguments.scene.common;
    let recipe = arguments.load()?;
    let population = populate(&recipe, arguments.scene.seed.given())?;
    let options = ExportOptions {
        title: recipe.name.clone(),
        periodic_box: population.crowd.periodic_box(),
        ..ExportOptions::default()
    };
    if let Some(path) = &arguments.export {
        let (scene, _) = recipe.scene(&population.crowd, &population.rows);
        rehearse(path, &scene, format_of(path)?, &options)?;
    }
    let device = match arguments.scene.backend.get() {
        Backend::Gpu => fall_back_to_cpu(&"recipes are packed on the CPU"),
        _ => Device::default(),
    };
    screen.announce();
    let mut config = RelaxConfig::default();
    config.max_iterations = arguments.steps.unwrap_or(config.max_iterations);
    let mut progress = Progress::new(common.quiet);
    let mut remaining = RemainingTime::default();
    let begin = Instant::now();
    let packing = relax(&recipe, population, config, |relaxer| {
        show_relaxation(&mut progress, &mut remaining, relaxer);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let time = begin.elapsed();
    progress.clear();
    for warning in &packing.warnings {
        writeln!(io::stderr(), "warning: {}: {warning}", recipe.source)?;
    }
    let relaxed = &packing.relaxed;
    common.write_report(&Report {
        head: Head::new(Some(packing.seed), device, time),
        recipe: recipe.name.clone(),
        molecules: packing.crowd.members().len(),
        atoms: packing.crowd.atom_count(),
        iterations: relaxed.iterations,
        converged: relaxed.converged(),
        reason: relaxed.reason,
        overlaps_start: relaxed.start.overlaps,
        overlaps_end: relaxed.end.overlaps,
        max_penetration_nm: relaxed.end.max_penetration_nm,
        out_of_place: relaxed.end.out_of_place,
        peak_memory_bytes: peak_memory_bytes(),
        entries: packing.report.entries.clone(),
        left: packing.left.clone(),
        warnings: packing.warnings.iter().map(ToString::to_string).collect(),
    })?;
    finish(arguments, &recipe, &packing, &options)
}

/// The format of a file to write.
fn format_of(path: &Path) -> Result<SceneFormat, ExportError> {
    let format = SceneFormat::from_name(&path.to_string_lossy());
    format.ok_or_else(|| ExportError::UnknownFormat {
        path: path.to_owned(),
    })
}

/// Writes the export and prints the summary.
fn finish(
    arguments: &Arguments,
    recipe: &Recipe,
    packing: &Packing,
    options: &ExportOptions,
) -> Result<ExitCode, AnyError> {
    let mut progress = Progress::new(arguments.scene.common.quiet);
    let written = match &arguments.export {
        Some(path) => {
            let (scene, _) = recipe.scene(&packing.crowd, &packing.rows);
            let format = format_of(path)?;
            let written = write_with_progress(path, &scene, format, options, &mut progress)?;
            Some((path, written))
        }
        None => None,
    };
    arguments.scene.common.print(|out| {
        writeln!(out, "{packing}")?;
        if let Some((path, summary)) = written {
            let (path, atoms) = (path.display(), summary.atoms);
            writeln!(out, "wrote {path}: {atoms} atoms")?;
        }
        Ok(())
    })?;
    Ok(if packing.is_complete() {
        ExitCode::SUCCESS
    } else {
        STOPPED.into()
    })
}
