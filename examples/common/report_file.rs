//! JSON reports of the examples: where they go, and how their numbers look.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

/// Path that stands for standard output.
pub const STDOUT: &str = "-";

/// Writes a report to `path`, or to standard output if that is [`STDOUT`].
pub fn write_json(
    report: &impl Serialize,
    path: &Path,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    if path == Path::new(STDOUT) {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
    } else {
        fs::write(path, text)
            .map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
    }
    Ok(())
}

/// Finds out before the work whether a file can be written after it.
pub fn check_target(path: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let shown = path.display();
    if path.is_dir() || path.file_name().is_none() {
        return Err(format!("cannot write '{shown}': it is not a file").into());
    }
    match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => Err(format!(
            "cannot write '{shown}': there is no folder '{}'",
            folder.display()
        )
        .into()),
        _ => Ok(()),
    }
}

/// A measured time with the digits that mean something: four decimals.
pub fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
