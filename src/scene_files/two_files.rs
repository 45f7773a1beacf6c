//! Writes two files that belong together, both or none.

use std::io::{self, Write};
use std::path::Path;

use crate::export::{ExportError, ExportSummary, TemporaryFile, write_file};

/// Writes the file at `path` and the text of its companion.
///
/// Both are complete under temporary names before the first is renamed, so only the second rename
/// could leave one of them, and that fails for a folder only, which is tested before.
pub(super) fn write_two_files(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<ExportSummary, ExportError>,
    companion: &Path,
    text: &str,
) -> Result<ExportSummary, ExportError> {
    let of_companion = |source| ExportError::File {
        path: companion.to_owned(),
        source,
    };
    if companion == path {
        let problem = "the file beside it would have the same name";
        return Err(of_companion(io::Error::new(
            io::ErrorKind::InvalidInput,
            problem,
        )));
    }
    for target in [path, companion] {
        if target.is_dir() {
            return Err(ExportError::File {
                path: target.to_owned(),
                source: io::ErrorKind::IsADirectory.into(),
            });
        }
    }
    let mut temporary = TemporaryFile::create(companion).map_err(of_companion)?;
    let written = temporary.file.write_all(text.as_bytes());
    let synced = written.and_then(|()| temporary.file.sync_all());
    synced.map_err(of_companion)?;
    let mut summary = write_file(path, write)?;
    temporary.rename_to(companion).map_err(of_companion)?;
    summary.bytes += text.len() as u64;
    Ok(summary)
}
