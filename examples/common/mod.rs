//! What the command-line examples share: how they end.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Exit code for input that cannot be used; also what `clap` uses for bad options.
pub const BAD_INPUT: u8 = 2;

/// Ends a program: success, or one sentence on standard error and [`BAD_INPUT`].
pub fn finish<E: Display>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If even that cannot be written, the exit code still tells.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}
