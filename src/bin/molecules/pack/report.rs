//! Report and summary of a packing.

use std::io::{self, Write};

use bevy_rapier_molecules::certificate::Certificate;
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::recipe::{
    EntryReport, Leftover, Packing, Population, PopulationReport, Recipe, RegionReport,
};
use bevy_rapier_molecules::relax::StopReason;
use serde::Serialize;

use crate::common::Bytes;
use crate::common::scene_output::WrittenFile;

/// The output of `--report`.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Name of the recipe.
    pub recipe: String,
    /// The recipe.
    pub file: String,
    pub seed: u64,
    pub threads: usize,
    pub seconds: Seconds,
    /// Bytes. Null if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// Least distance between atoms of different molecules.
    pub tolerance_nm: f32,
    /// Edges of the periodic box; null without one.
    pub box_nm: Option<PeriodicBox>,
    pub molecules: usize,
    /// Number of atoms or spheres.
    pub atoms: usize,
    /// Molecules with spheres of other sizes than those of atoms.
    pub coarse_molecules: usize,
    pub entries: Vec<EntryReport>,
    pub regions: Vec<Filling>,
    pub warnings: Vec<String>,
    /// Whether all molecules are there, in place, without overlaps and with a clean certificate.
    /// Null in a dry run.
    pub complete: Option<bool>,
    #[serde(flatten)]
    pub relaxation: Relaxation,
    /// Null without `--output`.
    pub output: Option<WrittenFile>,
    /// Null without `--output`, without molecules or with `--no-certificate`.
    pub certificate: Option<Certificate>,
}

/// Time of each stage, s.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    pub reading: f64,
    pub populating: f64,
    pub relaxing: f64,
    pub writing: f64,
    /// Counting of overlaps, and certificate.
    pub checking: f64,
}

/// The inside of a compartment.
#[derive(Debug, Serialize)]
pub struct Filling {
    pub compartment: String,
    /// Number of molecules inside.
    pub molecules: u32,
    /// Volume, nm³; area, nm², if `flat`.
    pub size: f64,
    /// Volume or area of the molecules.
    pub filled: f64,
    /// Null if there is no space.
    pub fraction: Option<f64>,
    pub flat: bool,
}

impl From<&RegionReport> for Filling {
    fn from(region: &RegionReport) -> Self {
        let fraction = region.fraction();
        Self {
            compartment: region.compartment.clone(),
            molecules: region.molecules,
            size: region.size,
            filled: region.filled,
            fraction: Some(fraction).filter(|fraction| fraction.is_finite()),
            flat: region.is_flat,
        }
    }
}

/// The outcome of a relaxation; all null in a dry run.
#[derive(Debug, Default, Serialize)]
pub struct Relaxation {
    /// Iterations before the checkpoint that the relaxation was resumed from; null without one.
    pub resumed_after: Option<u32>,
    pub iterations: Option<u32>,
    pub reason: Option<StopReason>,
    pub converged: Option<bool>,
    pub overlaps_start: Option<u64>,
    pub overlaps_end: Option<u64>,
    pub max_penetration_nm: Option<f32>,
    pub out_of_place: Option<u64>,
    /// Joints between the links of fibers, and of molecules with a rule.
    pub joints: Option<usize>,
    /// Joints that exceed a limit.
    pub strained_joints: Option<u64>,
    /// The kinds of molecules that did not come to rest.
    pub left: Option<Vec<Leftover>>,
    /// Overlapping pairs of spheres, by another search than that of the relaxer.
    pub overlaps_checked: Option<u64>,
}

impl Relaxation {
    pub fn new(packing: &Packing) -> Self {
        let relaxed = &packing.relaxed;
        Self {
            resumed_after: None,
            iterations: Some(relaxed.iterations),
            reason: Some(relaxed.reason),
            converged: Some(relaxed.converged()),
            overlaps_start: Some(relaxed.start.overlaps),
            overlaps_end: Some(relaxed.end.overlaps),
            max_penetration_nm: Some(relaxed.end.max_penetration_nm),
            out_of_place: Some(relaxed.end.out_of_place),
            joints: Some(packing.crowd.joints().len()),
            strained_joints: Some(relaxed.end.strained_joints),
            left: Some(packing.left.clone()),
            overlaps_checked: None,
        }
    }
}

impl Report {
    /// The report on molecules at their first places.
    pub fn new(recipe: &Recipe, population: &Population) -> Self {
        let PopulationReport {
            molecules,
            atoms,
            entries,
            regions,
            ..
        } = &population.report;
        let warnings = recipe.warnings.iter().chain(&population.warnings);
        Self {
            recipe: recipe.name.clone(),
            file: recipe.source.clone(),
            seed: population.seed,
            threads: rayon::current_num_threads(),
            seconds: Seconds::default(),
            peak_memory_bytes: None,
            tolerance_nm: recipe.tolerance,
            box_nm: population.crowd.periodic_box(),
            molecules: *molecules,
            atoms: *atoms,
            coarse_molecules: 0,
            entries: entries.clone(),
            regions: regions.iter().map(Filling::from).collect(),
            warnings: warnings.map(ToString::to_string).collect(),
            complete: None,
            relaxation: Relaxation::default(),
            output: None,
            certificate: None,
        }
    }

    /// Number of molecules that the recipe asks for and that are not there.
    pub fn missing(&self) -> u64 {
        let missing = |entry: &EntryReport| {
            let asked = entry.asked.unwrap_or_default();
            u64::from(asked.saturating_sub(entry.placed))
        };
        self.entries.iter().map(missing).sum()
    }

    /// Whether there is nothing to complain about. Meaningful after all checks.
    pub fn is_complete(&self) -> bool {
        let certificate = self.certificate.as_ref();
        self.relaxation.converged == Some(true)
            && self.relaxation.overlaps_checked == Some(0)
            && self.missing() == 0
            && certificate.is_none_or(Certificate::is_clean)
    }
}

/// Writes what the recipe asks for and how much space it takes.
pub fn write_population(
    out: &mut dyn Write,
    report: &Report,
    population: &PopulationReport,
) -> io::Result<()> {
    let Report {
        recipe, file, seed, ..
    } = report;
    writeln!(out, "{file}: {recipe}, seed {seed}\n\n{population}")?;
    for region in report.regions.iter().filter(|region| region.molecules > 0) {
        write_filling(out, region)?;
    }
    match report.missing() {
        0 => Ok(()),
        missing => writeln!(out, "missing: {missing} molecules"),
    }
}

/// Writes how full a compartment is.
pub fn write_filling(out: &mut dyn Write, region: &Filling) -> io::Result<()> {
    let Filling {
        compartment,
        molecules,
        size,
        filled,
        fraction,
        flat,
    } = region;
    let unit = if *flat { "nm²" } else { "nm³" };
    let (filled, size) = (readable(*filled), readable(*size));
    write!(
        out,
        "inside of {compartment}: {molecules} molecules of {filled} {unit} in {size} {unit}"
    )?;
    match fraction {
        Some(fraction) => writeln!(out, ", {:.1} %", 100.0 * fraction),
        None => writeln!(out),
    }
}

/// A volume or area with one decimal, or four if it is small.
pub fn readable(size: f64) -> String {
    if size.abs() < 10.0 {
        format!("{size:.4}")
    } else {
        format!("{size:.1}")
    }
}

/// Writes the outcome of a packing.
pub fn write_packing(out: &mut dyn Write, report: &Report, packing: &Packing) -> io::Result<()> {
    let (start, end) = (&packing.relaxed.start, &packing.relaxed.end);
    writeln!(
        out,
        "overlapping pairs: {} → {}, deepest {:.4} nm; molecules out of place: {}",
        start.overlaps, end.overlaps, end.max_penetration_nm, end.out_of_place
    )?;
    let joints = packing.crowd.joints().len();
    if joints > 0 {
        let strained = end.strained_joints;
        writeln!(out, "joints: {joints}, beyond a limit: {strained}")?;
    }
    writeln!(
        out,
        "{} iterations on {} threads; {}",
        packing.relaxed.iterations, report.threads, packing.relaxed.reason
    )?;
    for left in &packing.left {
        write!(
            out,
            "left: {} {}: {} of {} overlap, by up to {:.3} nm; {} out of place",
            left.region,
            left.object,
            left.overlapping,
            left.molecules,
            left.deepest_nm,
            left.out_of_place
        )?;
        match left.strained_joints {
            0 => writeln!(out)?,
            strained => writeln!(out, ", {strained} joints beyond a limit")?,
        }
    }
    if let Some(overlaps) = report.relaxation.overlaps_checked {
        writeln!(
            out,
            "checked with another search: {overlaps} overlapping pairs"
        )?;
    }
    if let Some(written) = &report.output {
        let (file, bytes) = (&written.file, Bytes(written.bytes));
        writeln!(
            out,
            "written: {file} ({} molecules, {bytes})",
            written.molecules
        )?;
    }
    if let Some(certificate) = &report.certificate {
        writeln!(out, "{certificate}")?;
        if report.coarse_molecules > 0 {
            writeln!(
                out,
                "the certificate compares centers: the file has no radii, and {} molecules have coarse spheres",
                report.coarse_molecules
            )?;
        }
    }
    Ok(())
}

/// Writes times and memory.
pub fn write_costs(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Seconds {
        reading,
        populating,
        relaxing,
        writing,
        checking,
    } = report.seconds;
    write!(
        out,
        "s: reading {reading:.2}, populating {populating:.2}, relaxing {relaxing:.2}, writing {writing:.2}, checking {checking:.2}"
    )?;
    match report.peak_memory_bytes {
        Some(bytes) => writeln!(out, "; peak memory {}", Bytes(bytes)),
        None => writeln!(out),
    }
}
