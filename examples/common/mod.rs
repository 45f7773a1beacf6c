//! What all examples share: options, reports, and how they end.
//!
//! The other rooms beside this file are for some of them only. Those include them by path,
//! so that nobody carries what they do not use. [`screen`](screen/mod.rs) has the options of
//! all that have a window.

mod arguments;
pub mod report;

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::{ExitCode, Termination};

pub use arguments::CommonArguments;
pub use report::{Device, Head, check_target};

/// An error that may cross threads; its text is one sentence.
pub type AnyError = Box<dyn Error + Send + Sync>;

/// Exit code of work that was stopped before it was done.
pub const STOPPED: u8 = 1;

/// Exit code for input that cannot be used; also what `clap` has for bad options.
pub const BAD_INPUT: u8 = 2;

/// What the end of every `--help` says.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  stopped before it was done
  2  the input cannot be used, or a file cannot be read or written";

/// Ends a program: with the code it asks for (`()` is success), or one sentence on
/// standard error and [`BAD_INPUT`].
///
/// An [`io::Error`] of the kind `Interrupted` is work that came to no end, which is
/// [`STOPPED`]. So is a broken pipe, of which nothing is said: whoever read has enough, as
/// `head` has after some lines.
pub fn finish<T: Termination>(result: Result<T, AnyError>) -> ExitCode {
    let error = match result {
        Ok(value) => return value.report(),
        Err(error) => error,
    };
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    if kind != Some(ErrorKind::BrokenPipe) {
        // If even that cannot be written, the exit code still tells.
        let _ = writeln!(io::stderr(), "error: {error}");
    }
    match kind {
        Some(ErrorKind::BrokenPipe | ErrorKind::Interrupted) => STOPPED.into(),
        _ => BAD_INPUT.into(),
    }
}
