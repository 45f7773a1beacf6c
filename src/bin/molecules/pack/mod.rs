//! `molecules pack`: a scene from a recipe, relaxed until no molecules overlap.

mod checkpoint;
mod overlaps;
mod report;
mod trajectory;

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bevy_rapier_molecules::certificate::CertificateOptions;
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::recipe::{Packing, Population, Recipe, populate, relax, resume};
use bevy_rapier_molecules::relax::capacity::capacity_warnings;
use bevy_rapier_molecules::relax::{RelaxConfig, Relaxer, StopReason};
use bevy_rapier_molecules::scene_files::{Scene, SceneFormat};
use clap::Args;

use self::checkpoint::{CheckpointArguments, Checkpoints};
use self::overlaps::{coarse_molecules, count_overlaps, smallest_radius};
pub use self::report::{Filling, readable, write_filling};
use self::report::{Relaxation, Report, write_costs, write_packing, write_population};
use self::trajectory::{RelaxationRecorder, TrajectoryArguments};
use crate::common::recipe_arguments::{RecipeArguments, print_recipe_warnings};
use crate::common::relax_arguments::{RelaxArguments, check_tolerance};
use crate::common::scene_output::{OutputArguments, certificate_of, rehearse, write_with_progress};
use crate::common::{
    AnyError, CommonArguments, Progress, RemainingTime, STOPPED, check_target, peak_memory_bytes,
    show_relaxation, stop_on_interrupt,
};

/// Fill a recipe of cellPACK or bentopy with molecules, and push them apart until none overlap.
///
/// Nothing is dropped: what does not fit overlaps in the end and is listed. Ctrl-C writes the
/// molecules as they are; a second one ends the program at once.
///
/// The result is checked twice: a search other than that of the relaxation counts overlapping
/// spheres, and the certificate compares the atoms in the written file. The file has no radii, so
/// the certificate covers the distances between centers, not the extent of coarse spheres.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Recipe: .json (cellPACK 2.0 or 2.1) or .bent (bentopy).
    recipe: PathBuf,
    /// File to write [default: none, only a report]. All atoms: .cif, .mmcif, .pdb or .ent, with
    /// .gz to compress it; .gro with .top (GROMACS); .data with .in (LAMMPS). Each molecule once,
    /// with poses: .bcif, .zip (Mol*), placements.json (bentopy), other .json (cellPACK).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    output_arguments: OutputArguments,
    /// Seed of all random choices [default: that of the recipe, else 1].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Least distance between atoms of different molecules, nm [default: that of the recipe].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    tolerance: Option<f32>,
    #[command(flatten)]
    relax_arguments: RelaxArguments,
    #[command(flatten)]
    checkpoint: CheckpointArguments,
    #[command(flatten)]
    trajectory: TrajectoryArguments,
    #[command(flatten)]
    recipe_arguments: RecipeArguments,
    /// Do not check the written file.
    #[arg(long)]
    no_certificate: bool,
    /// Write the certificate to this file as JSON.
    #[arg(long, value_name = "FILE", requires = "output")]
    #[arg(conflicts_with_all = ["no_certificate", "dry_run"])]
    certificate: Option<PathBuf>,
    /// Only count the molecules and compare their volumes with the space; write no structure.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    common: CommonArguments,
    /// Print the report to standard output: short for --report -.
    #[arg(long, conflicts_with = "report")]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  molecules pack cell.json -o cell.cif
  molecules pack cell.json -o cell.cif.gz --seed 7 --max-time 600 --report report.json
  molecules pack cell.json -o cell.cif --checkpoint cell.checkpoint
  molecules pack cell.json --dry-run
  molecules pack blood.bent -o blood.pdb --structures proteins

Exit codes:
  0  all molecules are there, in place and without overlaps
  1  stopped before that; the file has the molecules as they are
  2  invalid input, or a file cannot be read or written";

pub fn run(mut arguments: Arguments) -> Result<ExitCode, AnyError> {
    if arguments.json {
        arguments.common.report = Some("-".into());
    }
    arguments.common.prepare()?;
    let config = arguments.check()?;
    let stop = stop_on_interrupt()?;
    // On a thread of the pool, which saves handing over each parallel loop to it.
    rayon::scope(|_| arguments.pack(config, &stop))
}

impl Arguments {
    /// Checks options and targets before anything is read.
    fn check(&self) -> Result<RelaxConfig, AnyError> {
        for target in [&self.output, &self.certificate].into_iter().flatten() {
            check_target(target)?;
        }
        self.checkpoint.check()?;
        self.trajectory.check()?;
        if let Some(path) = &self.output {
            self.output_arguments.format_of(path)?;
        }
        self.tolerance.map_or(Ok(()), check_tolerance)?;
        self.relax_arguments.config()
    }

    fn pack(&self, config: RelaxConfig, stop: &AtomicBool) -> Result<ExitCode, AnyError> {
        let mut progress = Progress::new(self.common.quiet);
        let begin = Instant::now();
        let resumed = self.checkpoint.load(self.common.quiet)?;
        let recipe = self.load()?;
        let read = Instant::now();
        let population = populate(&recipe, self.seed)?;
        let mut report = Report::new(&recipe, &population);
        report.seconds.reading = (read - begin).as_secs_f64();
        report.seconds.populating = read.elapsed().as_secs_f64();
        report.coarse_molecules = coarse_molecules(&population.crowd, 0.5 * recipe.tolerance);
        print_recipe_warnings(&recipe, &population.warnings);
        for warning in capacity_warnings(&population.crowd) {
            let text = warning.to_string();
            // A warning that cannot be printed is no reason to stop.
            let _ = writeln!(io::stderr(), "warning: {}: {text}", recipe.source);
            report.warnings.push(text);
        }
        let options = self.export_options(&recipe, &population.crowd);
        if let Some(path) = &self.output {
            let (scene, _) = self.scene(&recipe, &population.crowd, &population.rows);
            rehearse(
                path,
                &scene,
                self.output_arguments.format_of(path)?,
                &options,
            )?;
        }
        if self.dry_run {
            return self.finish_dry_run(report, &population);
        }
        let mut checkpoints = self.checkpoint.open(resumed, &population)?;
        let (scene, order) = self.scene(&recipe, &population.crowd, &population.rows);
        let mut recorder = self.trajectory.start(&scene, order)?;
        let packing = relax_crowd(
            &recipe,
            population,
            config,
            &mut checkpoints,
            &mut progress,
            &mut recorder,
            stop,
        )?;
        report.seconds.relaxing = packing.relaxed.elapsed.as_secs_f64();
        report.relaxation = Relaxation::new(&packing);
        report.relaxation.resumed_after = checkpoints.resumed_after();
        // Until it is checked.
        report.complete = Some(false);
        if packing.relaxed.reason == StopReason::Interrupted && !self.common.quiet {
            let _ = writeln!(
                io::stderr(),
                "interrupted: the molecules are kept as they are; interrupt again to end at once"
            );
        }
        // Before the checks, which may take a while.
        let (scene, order) = self.scene(&recipe, &packing.crowd, &packing.rows);
        let written = self.write(&scene, &options, &mut report, &mut progress);
        let recorded = recorder.finish(&packing);
        let checked = self.check_packing(&packing, &order, &mut report, &mut progress);
        progress.clear();
        report.peak_memory_bytes = peak_memory_bytes();
        self.common.write_report(&report)?;
        written?;
        recorded?;
        checked?;
        if let (Some(certificate), Some(path)) = (&report.certificate, &self.certificate) {
            let text = serde_json::to_string_pretty(certificate)? + "\n";
            fs::write(path, text)
                .map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
        }
        self.common.print(|out| {
            write_population(out, &report, &packing.report)?;
            write_packing(out, &report, &packing)?;
            write_costs(out, &report)
        })?;
        Ok(if report.complete == Some(true) {
            ExitCode::SUCCESS
        } else {
            STOPPED.into()
        })
    }

    /// The molecules in the order of the file, and which member of the crowd each one is.
    fn scene(&self, recipe: &Recipe, crowd: &Crowd, rows: &[u32]) -> (Scene, Vec<u32>) {
        let (mut scene, mut order) = recipe.scene(crowd, rows);
        let format = self
            .output
            .as_ref()
            .map(|path| self.output_arguments.format_of(path));
        if let Some(Ok(SceneFormat::Gro | SceneFormat::LammpsData)) = format {
            scene.group_molecule_types(&mut order);
        }
        (scene, order)
    }

    fn export_options(&self, recipe: &Recipe, crowd: &Crowd) -> ExportOptions {
        ExportOptions {
            title: recipe.name.clone(),
            decimals: self.output_arguments.decimals,
            periodic_box: crowd.periodic_box(),
            ..ExportOptions::default()
        }
    }

    /// Reads the recipe and prints its warnings.
    fn load(&self) -> Result<Recipe, AnyError> {
        let mut recipe = self.recipe_arguments.load(&self.recipe)?;
        recipe.tolerance = self.tolerance.unwrap_or(recipe.tolerance);
        print_recipe_warnings(&recipe, &recipe.warnings);
        Ok(recipe)
    }

    fn finish_dry_run(
        &self,
        mut report: Report,
        population: &Population,
    ) -> Result<ExitCode, AnyError> {
        report.peak_memory_bytes = peak_memory_bytes();
        self.common.write_report(&report)?;
        self.common
            .print(|out| write_population(out, &report, &population.report))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the structure, if a file is given.
    fn write(
        &self,
        scene: &Scene,
        options: &ExportOptions,
        report: &mut Report,
        progress: &mut Progress,
    ) -> Result<(), AnyError> {
        let Some(path) = &self.output else {
            return Ok(());
        };
        let begin = Instant::now();
        let format = self.output_arguments.format_of(path)?;
        report.output = Some(write_with_progress(path, scene, format, options, progress)?);
        report.seconds.writing = begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Counts the overlaps again, and certifies the written file.
    fn check_packing(
        &self,
        packing: &Packing,
        order: &[u32],
        report: &mut Report,
        progress: &mut Progress,
    ) -> Result<(), AnyError> {
        let begin = Instant::now();
        progress.show(1.0, format!("checking {} atoms", report.atoms));
        report.relaxation.overlaps_checked = Some(count_overlaps(&packing.crowd)?);
        if let Some(path) = &self.output
            && report.output.is_some()
            && report.atoms > 0
            && !self.no_certificate
        {
            progress.show(1.0, format!("checking {}", path.display()));
            let format = self.output_arguments.format_of(path)?;
            // Centers of spheres that are smaller than atoms may be closer than the tolerance by
            // their radii.
            let tolerance = report
                .tolerance_nm
                .min(2.0 * smallest_radius(&packing.crowd));
            let options = CertificateOptions {
                tolerance: tolerance - self.output_arguments.rounding_nm(format),
                crowd: Some(&packing.crowd),
                order: Some(order),
            };
            report.certificate = certificate_of(path, format, &[], &options)?;
        }
        report.complete = Some(report.is_complete());
        report.seconds.checking = begin.elapsed().as_secs_f64();
        Ok(())
    }
}

fn relax_crowd(
    recipe: &Recipe,
    population: Population,
    config: RelaxConfig,
    checkpoints: &mut Checkpoints,
    progress: &mut Progress,
    recorder: &mut RelaxationRecorder,
    stop: &AtomicBool,
) -> Result<Packing, AnyError> {
    let mut remaining = RemainingTime::default();
    let resumed = checkpoints.take_resumed();
    let watch = |relaxer: &Relaxer| {
        show_relaxation(progress, &mut remaining, relaxer);
        recorder.record(relaxer);
        let is_stopped = stop.load(Ordering::Relaxed);
        checkpoints.watch(relaxer, is_stopped, progress)?;
        if is_stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let packing = match resumed {
        Some(checkpoint) => resume(recipe, population, config, &checkpoint, watch),
        None => relax(recipe, population, config, watch),
    };
    progress.clear();
    checkpoints.check()?;
    Ok(packing?)
}
