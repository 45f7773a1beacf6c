//! cellpack_results

use std::path::Path;

use super::{ReadSceneOptions, Scene, SceneReadError, WriteProgress};
use crate::export::{ExportError, ExportOptions, ExportSummary};

/// Writes the files.
pub(super) fn write(
    path: &Path,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let _ = (scene, options, progress);
    Err(ExportError::UnknownFormat {
        path: path.to_owned(),
    })
}

/// Reads a file.
pub(super) fn read(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let _ = (bytes, options);
    Err(SceneReadError::UnknownFormat {
        file: source.to_owned(),
    })
}
