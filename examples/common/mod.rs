//! What the command-line examples share: how they end.
//!
//! Examples that relax a scene also share [`relaxation`](relaxation/mod.rs), which
//! they include by path, so that the others do not carry it.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::{ExitCode, Termination};

/// Exit code for input that cannot be used; also what `clap` uses for bad options.
pub const BAD_INPUT: u8 = 2;

/// Ends a program: with the code it asks for (`()` is success), or one sentence on
/// standard error and [`BAD_INPUT`].
pub fn finish<T: Termination, E: Display>(result: Result<T, E>) -> ExitCode {
    match result {
        Ok(value) => value.report(),
        Err(error) => {
            // If even that cannot be written, the exit code still tells.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}
