//! Report and summary of a relaxation without a window.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use bevy_rapier_molecules::export::ExportSummary;
use bevy_rapier_molecules::membrane::MembraneReport;
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::relax::{CountedSpheres, RelaxReport, StageTimes, StopReason};
use serde::Serialize;

use super::common::{Bytes, Head, round};

/// The content of `--report`.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The device is that of the last iterations, the time includes the first overlap search.
    #[serde(flatten)]
    pub head: Head,
    pub molecules: usize,
    pub atoms: usize,
    pub iterations: u32,
    pub converged: bool,
    pub reason: StopReason,
    pub overlaps_start: u64,
    pub overlaps_end: u64,
    /// The spheres of `overlaps_end` and `max_penetration_nm`: `proxies` if the relaxation
    /// ended during a coarse start, else `atoms`.
    pub counted_spheres: CountedSpheres,
    pub max_penetration_nm: f32,
    pub out_of_place: u64,
    pub ms_per_iteration: StageMilliseconds,
    /// `None` if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
    pub law: &'static str,
    /// `None` if the radii of the elements define overlaps.
    pub tolerance_nm: Option<f32>,
    pub clearance_nm: f32,
    pub warnings: Vec<String>,
    /// File or names of the lipids.
    pub lipid: String,
    /// Lipids of the outer leaflet.
    pub outer: u32,
    /// Lipids of the inner leaflet.
    pub inner: u32,
    /// Molecules anywhere inside a sphere; `None` if they are in leaflets.
    pub inside: Option<u32>,
    /// `None` if the membrane is flat.
    pub radius_nm: Option<f32>,
    /// Edges of the periodic box; `None` without one.
    pub box_nm: Option<PeriodicBox>,
    /// Numbers and areas of a membrane; `None` for a vesicle of one kind of lipid.
    pub membrane: Option<MembraneReport>,
    /// What is not certain about the molecules, such as guessed orientations.
    pub notes: Vec<String>,
}

/// Mean time of each stage of an iteration, ms.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StageMilliseconds {
    pub gather: f64,
    pub grid: f64,
    pub search: f64,
    pub respond: f64,
    pub apply: f64,
}

impl StageMilliseconds {
    /// The stages of a relaxation, without those `before` the first iteration.
    pub fn per_iteration(report: &RelaxReport, before: &StageTimes) -> Self {
        let iterations = f64::from(report.iterations.max(1));
        let mean = |end: Duration, start: Duration| {
            round(end.saturating_sub(start).as_secs_f64() * 1e3 / iterations)
        };
        let stages = &report.stages;
        Self {
            gather: mean(stages.gather, before.gather),
            grid: mean(stages.grid, before.grid),
            search: mean(stages.search, before.search),
            respond: mean(stages.respond, before.respond),
            apply: mean(stages.apply, before.apply),
        }
    }

    fn total(&self) -> f64 {
        self.gather + self.grid + self.search + self.respond + self.apply
    }
}

/// Writes the summary.
pub fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let head = &report.head;
    let molecules = match report.inside {
        Some(molecules) => format!("{molecules} molecules"),
        None => format!("{} outer + {} inner lipids", report.outer, report.inner),
    };
    writeln!(
        out,
        "{}: {molecules} ({}) {}, {} atoms, seed {}",
        head.scene,
        report.lipid,
        describe_shape(report),
        report.atoms,
        head.seed.unwrap_or_default()
    )?;
    if let Some(membrane) = &report.membrane {
        write!(out, "{membrane}")?;
    }
    match report.tolerance_nm {
        Some(tolerance) => write!(out, "pairs of atoms closer than {tolerance} nm: ")?,
        None => write!(out, "overlapping pairs of atoms: ")?,
    }
    writeln!(
        out,
        "{} → {}{}, deepest {:.4} nm; molecules out of place: {}",
        report.overlaps_start,
        report.overlaps_end,
        match report.counted_spheres {
            CountedSpheres::Proxies => " of proxies",
            _ => "",
        },
        report.max_penetration_nm,
        report.out_of_place
    )?;
    let device = match &head.device.adapter {
        Some(adapter) => adapter.clone(),
        None => format!("{} threads", head.threads),
    };
    writeln!(
        out,
        "{} iterations of the {} law in {:.2} s on {device}; {}",
        report.iterations, report.law, head.seconds, report.reason
    )?;
    let ms = &report.ms_per_iteration;
    writeln!(
        out,
        "ms per iteration: {:.2} (gather {:.2}, grid {:.2}, search {:.2}, respond {:.2}, apply {:.2})",
        ms.total(),
        ms.gather,
        ms.grid,
        ms.search,
        ms.respond,
        ms.apply
    )?;
    if let Some(bytes) = report.peak_memory_bytes {
        writeln!(out, "peak memory: {}", Bytes(bytes))?;
    }
    Ok(())
}

fn describe_shape(report: &Report) -> String {
    let edges = report.box_nm.map(|periodic| periodic.size());
    match (report.radius_nm, edges) {
        (Some(radius), _) if report.inside.is_some() => {
            format!("in a sphere of radius {radius:.2} nm")
        }
        (Some(radius), _) => format!("at {radius:.2} nm"),
        (None, Some(edges)) => {
            let [x, y, z] = edges.to_array();
            format!("in a periodic box of {x:.2} × {y:.2} × {z:.2} nm")
        }
        (None, None) => "on a plane".into(),
    }
}

/// Writes where the export is, and how to check it.
pub fn write_export_summary(
    out: &mut dyn Write,
    path: &Path,
    summary: &ExportSummary,
    report: &Report,
) -> io::Result<()> {
    let path = path.display();
    writeln!(
        out,
        "exported: {path} ({} molecules, {})",
        summary.molecules,
        Bytes(summary.bytes)
    )?;
    write!(
        out,
        "check it: cargo run --release --example clashes -- '{path}' --by molecule"
    )?;
    if let Some(tolerance) = report.tolerance_nm {
        write!(out, " --tolerance {tolerance}")?;
    }
    if report.box_nm.is_some() {
        write!(out, " --periodic")?;
    }
    writeln!(out)
}
