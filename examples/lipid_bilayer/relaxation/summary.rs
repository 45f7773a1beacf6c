//! The outcome of a relaxation for people, on standard output.

use std::io::{self, Write};
use std::path::Path;

use bevy_rapier_molecules::export::ExportSummary;

use super::memory::Bytes;
use super::report::Report;

/// Writes what the scene is and how it ended.
pub fn write_summary<D>(out: &mut dyn Write, headline: &str, report: &Report<D>) -> io::Result<()> {
    let head = &report.head;
    writeln!(
        out,
        "{}: {headline}, {} atoms, seed {}",
        head.scene,
        report.atoms,
        head.seed.unwrap_or_default()
    )?;
    match report.tolerance_nm {
        Some(tolerance) => write!(out, "pairs of atoms closer than {tolerance} nm: ")?,
        None => write!(out, "pairs of atoms that overlap: ")?,
    }
    writeln!(
        out,
        "{} → {}, deepest {:.4} nm; molecules out of place: {}",
        report.overlaps_start, report.overlaps_end, report.max_penetration_nm, report.out_of_place
    )?;
    let place = match &head.device.adapter {
        Some(adapter) => adapter.clone(),
        None => format!("{} threads", head.threads),
    };
    writeln!(
        out,
        "{} iterations of the {} law in {:.2} s on {place}; {}",
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
        writeln!(out, "memory at most: {}", Bytes(bytes))?;
    }
    Ok(())
}

/// Writes where the molecules are, and how to check them.
pub fn write_export_summary(
    out: &mut dyn Write,
    path: &Path,
    summary: &ExportSummary,
    by_residue: bool,
    tolerance: Option<f32>,
) -> io::Result<()> {
    let path = path.display();
    writeln!(
        out,
        "exported: {path} ({} molecules, {})",
        summary.molecules,
        Bytes(summary.bytes)
    )?;
    let by = if by_residue { "residue" } else { "chain" };
    write!(
        out,
        "check it: cargo run --release --example clashes -- '{path}' --by {by}"
    )?;
    if let Some(tolerance) = tolerance {
        write!(out, " --tolerance {tolerance}")?;
    }
    writeln!(out)
}
