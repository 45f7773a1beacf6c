//! Warnings about structure files.

use std::io::{self, Write};
use std::path::Path;

use bevy_rapier_molecules::molecule::LoadWarnings;

/// Prints a warning about replaced values of a structure file to standard error.
pub fn print_load_warnings(file: &Path, warnings: LoadWarnings) {
    if !warnings.is_empty() {
        // A warning that cannot be printed is no reason to stop.
        let _ = writeln!(io::stderr(), "warning: {}: {warnings}", file.display());
    }
}
