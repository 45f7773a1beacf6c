//! Errors of a program and its exit codes.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::{ExitCode, Termination};

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
