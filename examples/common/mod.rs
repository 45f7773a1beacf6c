//! Shared by all examples: command-line options, reports, exit codes and progress; with the
//! feature `draw` also windows, screenshots, cameras and panels.
//!
//! `plots.rs` is not part of this module: only `broad_phase_race` and a benchmark need it.

#![allow(
    dead_code,
    unused_imports,
    reason = "each example uses a part of this module"
)]

#[cfg(feature = "draw")]
pub mod app;
mod arguments;
mod device;
#[cfg(feature = "draw")]
pub mod orbit;
#[cfg(feature = "draw")]
pub mod panels;
mod progress;
mod report;
pub mod screen;
#[cfg(feature = "draw")]
pub mod stage;

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{ExitCode, Termination};

use bevy_rapier_molecules::molecule::LoadWarnings;

pub use arguments::{
    BackendArguments, CommonArguments, SceneArguments, ScreenshotArguments, SeedArguments,
};
pub use device::{Device, fall_back_to_cpu, search_for_backend};
pub use progress::Progress;
pub use report::{Head, check_target, round};
pub use screen::{Screen, Screenshot};

/// An error that can be sent between threads. Its message is one sentence.
pub type AnyError = Box<dyn Error + Send + Sync>;

/// Exit code of work that stopped before it was done.
pub const STOPPED: u8 = 1;

/// Exit code for invalid input. `clap` uses it for invalid options, too.
pub const INVALID_INPUT: u8 = 2;

/// The end of every `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  stopped before it was done
  2  invalid input, or a file cannot be read or written";

/// Prints a warning about replaced values of a structure file to standard error.
pub fn print_load_warnings(file: &Path, warnings: LoadWarnings) {
    if !warnings.is_empty() {
        // A warning that cannot be printed is no reason to stop.
        let _ = writeln!(io::stderr(), "warning: {}: {warnings}", file.display());
    }
}

/// Returns the exit code of `main`: that of the value (`()` is success), or [`INVALID_INPUT`]
/// after printing the error to standard error.
///
/// An [`io::Error`] of kind `Interrupted` ends with [`STOPPED`]. So does a broken pipe, without
/// a message: the reader of standard output has seen enough, as `head` does.
pub fn finish<T: Termination>(result: Result<T, AnyError>) -> ExitCode {
    let error = match result {
        Ok(value) => return value.report(),
        Err(error) => error,
    };
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    if kind != Some(ErrorKind::BrokenPipe) {
        // If standard error is closed, only the exit code is left.
        let _ = writeln!(io::stderr(), "error: {error}");
    }
    match kind {
        Some(ErrorKind::BrokenPipe | ErrorKind::Interrupted) => STOPPED.into(),
        _ => INVALID_INPUT.into(),
    }
}
