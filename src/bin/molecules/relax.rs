//! `molecules relax`: molecules of any file, pushed apart until none overlap.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::certificate::{Certificate, CertificateOptions, DEFAULT_TOLERANCE_NM};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{Element, MoleculeTemplate};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::relax::{RelaxConfig, RelaxReport, Relaxer, StopReason};
use bevy_rapier_molecules::scene_files::{Scene, SceneFormat, read_scene};
use clap::Args;
use glam::Vec3;
use serde::Serialize;

use crate::common::relax_arguments::{RelaxArguments, check_tolerance};
use crate::common::scene_input::InputArguments;
use crate::common::scene_output::{
    OutputArguments, WrittenFile, certificate_of, rehearse, write_with_progress,
};
use crate::common::{
    AnyError, CommonArguments, Progress, RemainingTime, STOPPED, check_target, peak_memory_bytes,
    show_relaxation, stop_on_interrupt,
};

/// Push apart the molecules of a file that another program placed, and write them back.
///
/// Each molecule is a rigid body and free to move, by no more than it takes. Molecules of the kinds
/// given with --fixed stay. A periodic box is kept. Ctrl-C writes the molecules as they are; a second
/// one ends the program at once.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Structure file (.pdb, .ent, .cif, .mmcif, .bcif or .gro, plain or gzipped), manifest of Mol*
    /// (.zip), placements of bentopy or results of cellPACK (.json), data of LAMMPS (.data, .lmp).
    file: PathBuf,
    /// File to write, of any of these formats [default: none, only a report].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    input_arguments: InputArguments,
    #[command(flatten)]
    output_arguments: OutputArguments,
    /// Least distance between atoms of different molecules, nm. Coarse spheres keep their radii.
    #[arg(
        long,
        value_name = "NM",
        default_value_t = DEFAULT_TOLERANCE_NM,
        allow_negative_numbers = true
    )]
    tolerance: f32,
    /// Names of molecules that do not move.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    fixed: Vec<String>,
    #[command(flatten)]
    relax_arguments: RelaxArguments,
    #[command(flatten)]
    common: CommonArguments,
    /// Print the report to standard output: short for --report -.
    #[arg(long, conflicts_with = "report")]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  molecules relax placements.json -o relaxed.placements.json
  molecules relax membrane.pdb -o membrane.gro --tolerance 0.18
  molecules relax cell.zip -o relaxed.zip --fixed ribosome

Exit codes:
  0  no molecules overlap
  1  some still do; the file has the molecules as they are
  2  invalid input, or a file cannot be read or written";

/// The output of `--report`.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    tolerance_nm: f32,
    /// Edges of the periodic box; null without one.
    box_nm: Option<PeriodicBox>,
    molecules: usize,
    atoms: usize,
    /// Molecules that do not move.
    fixed: usize,
    iterations: u32,
    reason: StopReason,
    overlaps_start: u64,
    overlaps_end: u64,
    /// Largest distance of a molecule from its place in the file.
    largest_move_nm: f32,
    seconds: f64,
    /// Bytes. Null if the system does not report it.
    peak_memory_bytes: Option<u64>,
    /// Null without `--output`.
    output: Option<WrittenFile>,
    /// Null without `--output`, or if the format has no atoms.
    certificate: Option<Certificate>,
}

impl Report {
    /// Whether nothing overlaps.
    fn is_complete(&self) -> bool {
        let certificate = self.certificate.as_ref();
        self.reason == StopReason::AtRest && certificate.is_none_or(Certificate::is_clean)
    }
}

pub fn run(mut arguments: Arguments) -> Result<ExitCode, AnyError> {
    if arguments.json {
        arguments.common.report = Some("-".into());
    }
    arguments.common.prepare()?;
    let config = arguments.check()?;
    // On a thread of the pool, which saves handing over each parallel loop to it.
    rayon::scope(|_| arguments.relax(config))
}

impl Arguments {
    /// Checks options and targets before anything is read.
    fn check(&self) -> Result<RelaxConfig, AnyError> {
        if let Some(path) = &self.output {
            check_target(path)?;
            self.output_arguments.format_of(path)?;
        }
        check_tolerance(self.tolerance)?;
        self.relax_arguments.config()
    }

    fn relax(&self, config: RelaxConfig) -> Result<ExitCode, AnyError> {
        let stop = stop_on_interrupt()?;
        let mut progress = Progress::new(self.common.quiet);
        let mut scene = self.read()?;
        let options = ExportOptions {
            title: scene.name.clone(),
            decimals: self.output_arguments.decimals,
            periodic_box: scene.periodic_box,
            ..ExportOptions::default()
        };
        let format = match &self.output {
            Some(path) => Some(self.output_arguments.format_of(path)?),
            None => None,
        };
        if let Some(SceneFormat::Gro | SceneFormat::LammpsData) = format {
            scene.group_molecule_types(&mut Vec::new());
        }
        if let (Some(path), Some(format)) = (&self.output, format) {
            rehearse(path, &scene, format, &options)?;
        }
        let crowd = self.crowd(&scene)?;
        let begin = Instant::now();
        let mut relaxer = Relaxer::new(crowd, config)?;
        let mut time = RemainingTime::default();
        let relaxed = relaxer.run(|relaxer| {
            show_relaxation(&mut progress, &mut time, relaxer);
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        progress.clear();
        let relaxed = relaxed?;
        let crowd = relaxer.into_crowd();
        let mut report = self.report(&scene, &crowd, &relaxed, begin.elapsed());
        for (pose, member) in scene.poses_mut().zip(crowd.members()) {
            *pose = member.pose;
        }
        if let (Some(path), Some(format)) = (&self.output, format) {
            let written = write_with_progress(path, &scene, format, &options, &mut progress)?;
            report.output = Some(written);
            progress.show(1.0, format!("checking {}", path.display()));
            let options = CertificateOptions {
                tolerance: self.tolerance - self.output_arguments.rounding_nm(format),
                ..CertificateOptions::default()
            };
            let structures = &self.input_arguments.structures;
            let certificate = certificate_of(path, format, structures, &options);
            progress.clear();
            report.certificate = certificate?;
        }
        report.peak_memory_bytes = peak_memory_bytes();
        self.common.write_report(&report)?;
        self.common.print(|out| write_summary(out, &report))?;
        Ok(match report.is_complete() {
            true => ExitCode::SUCCESS,
            false => STOPPED.into(),
        })
    }

    /// Reads the molecules, and gives atoms half the tolerance as radius.
    fn read(&self) -> Result<Scene, AnyError> {
        let mut scene = read_scene(&self.file, &self.input_arguments.read_options())?;
        for kind in &mut scene.kinds {
            if !is_coarse(&kind.template) {
                let template = MoleculeTemplate::clone(&kind.template);
                kind.template = Arc::new(template.with_uniform_radius(0.5 * self.tolerance)?);
            }
        }
        let names: BTreeSet<&str> = scene.kinds.iter().map(|kind| &*kind.name).collect();
        if let Some(unknown) = self.fixed.iter().find(|name| !names.contains(&***name)) {
            let names: Vec<&str> = names.into_iter().collect();
            let file = self.file.display();
            let known = names.join(", ");
            return Err(format!("--fixed: {file} has no '{unknown}'; it has {known}").into());
        }
        Ok(scene)
    }

    fn crowd(&self, scene: &Scene) -> Result<Crowd, AnyError> {
        let mut crowd = Crowd::new();
        crowd.set_periodic_box(scene.periodic_box);
        for kind in &scene.kinds {
            let template = crowd.add_template(Arc::clone(&kind.template));
            let fixed = self.fixed.contains(&kind.name);
            for &pose in &kind.poses {
                crowd.add_member(CrowdMember {
                    template,
                    pose,
                    fixed,
                    ..CrowdMember::default()
                })?;
            }
        }
        Ok(crowd)
    }

    fn report(
        &self,
        scene: &Scene,
        crowd: &Crowd,
        relaxed: &RelaxReport,
        elapsed: Duration,
    ) -> Report {
        let poses = scene.instances().zip(crowd.members());
        let moves = poses.map(|((_, before), member)| member.pose.position - before.position);
        Report {
            file: self.file.to_string_lossy().into_owned(),
            tolerance_nm: self.tolerance,
            box_nm: scene.periodic_box,
            molecules: scene.molecule_count(),
            atoms: scene.atom_count(),
            fixed: crowd.members().iter().filter(|member| member.fixed).count(),
            iterations: relaxed.iterations,
            reason: relaxed.reason,
            overlaps_start: relaxed.start.overlaps,
            overlaps_end: relaxed.end.overlaps,
            largest_move_nm: moves.map(Vec3::length).fold(0.0, f32::max),
            seconds: elapsed.as_secs_f64(),
            peak_memory_bytes: None,
            output: None,
            certificate: None,
        }
    }
}

/// Whether a molecule has spheres instead of atoms.
fn is_coarse(template: &MoleculeTemplate) -> bool {
    let mut elements = template.elements().iter();
    elements.all(|element| *element == Element::UNKNOWN)
}

fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Report {
        file,
        molecules,
        atoms,
        fixed,
        iterations,
        reason,
        overlaps_start,
        overlaps_end,
        largest_move_nm,
        seconds,
        ..
    } = report;
    writeln!(
        out,
        "{file}: {atoms} atoms in {molecules} molecules, {fixed} of them fixed"
    )?;
    writeln!(
        out,
        "{reason}, after {iterations} iterations and {seconds:.1} s: from {overlaps_start} overlaps to {overlaps_end}; molecules moved by at most {largest_move_nm:.3} nm"
    )?;
    if let Some(WrittenFile { file, bytes, .. }) = &report.output {
        writeln!(out, "{file}: {bytes} bytes")?;
    }
    if let Some(certificate) = &report.certificate {
        writeln!(out, "certificate: {certificate}")?;
    }
    Ok(())
}
