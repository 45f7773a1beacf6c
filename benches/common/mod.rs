//! The bench harness: one command line, interleaved rounds, and tables printed as Markdown
//! and written as JSON.
//!
//! ```text
//! cargo bench --bench NAME -- [PART]... [--json FILE|-] [--quick]
//! ```
//!
//! A bench is a list of [`Part`]s and the options of that bench. `cargo bench` passes
//! `--bench`. Without it, for example under `cargo test --benches`, a bench behaves as with
//! `--quick`: small scenes and one round, a few seconds in all.
//!
//! # The report
//!
//! `--json` writes one object. It holds no time stamps, so two reports differ only in their
//! measurements.
//!
//! | field | contents |
//! |---|---|
//! | `bench` | name of the bench |
//! | `machine` | name of the CPU, null if unknown |
//! | `threads` | threads of the pool used by the searches |
//! | `profile` | `release` or `dev` |
//! | `quick` | whether this was a quick run |
//! | `tables` | the tables in the order printed |
//! | `tables[].part`, `.title` | the part of the bench, and the printed title |
//! | `tables[].seconds`, `.cpu_seconds` | wall time, and CPU time of all threads (null if unknown) |
//! | `tables[].columns` | `name` and `unit` of each (null for text and plain numbers) |
//! | `tables[].rows` | objects that map a column name to a number, an array of summands, a text, or null if not measured; numbers are not rounded |
//! | `notes` | notes, each with its `part` |
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each bench uses some of the harness"
)]

mod command_line;
pub mod cpu_time;
pub mod interleave;
pub mod molecules;
mod report;
mod table;

use std::error::Error;
use std::process::ExitCode;

pub use command_line::NoOptions;
pub use report::Run;
pub use table::{Cell, Column, Table, grouped};

use clap::Args;
use command_line::CommandLine;

/// Exit code for invalid arguments, the same as `clap`'s.
const BAD_ARGUMENTS: u8 = 2;

/// Result of a part.
pub type Done = Result<(), Box<dyn Error>>;

/// A part of a bench, selected by name.
pub struct Part<S> {
    name: &'static str,
    about: &'static str,
    run: fn(&mut Run, &S) -> Done,
}

impl<S> Part<S> {
    /// `about` is shown by `--help`.
    pub fn new(name: &'static str, about: &'static str, run: fn(&mut Run, &S) -> Done) -> Self {
        Self { name, about, run }
    }
}

/// Runs a bench: parses the command line, runs the selected parts in order, and writes the
/// report even if a part failed. Exit codes: 0 done, 1 failed, 2 invalid arguments.
pub fn run<S: Args>(bench: &'static str, about: &'static str, parts: &[Part<S>]) -> ExitCode {
    let line = CommandLine::<S>::read(bench, about, parts);
    let mut run = Run::new(bench, line.is_quick(), line.json_to_stdout());
    if let Err(error) = line.check() {
        run.print_error(&format!("{bench}: {error}"));
        return BAD_ARGUMENTS.into();
    }
    let mut done: Done = Ok(());
    for part in parts.iter().filter(|part| line.wants(part.name)) {
        if done.is_ok() {
            run.begin(part.name);
            done = (part.run)(&mut run, &line.options);
            run.end_table();
        }
    }
    let written = line.write(run.report());
    match done.and(written) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run.print_error(&format!("{bench}: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The cells of a row, converted from any supported type.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        [$(Into::into($cell)),*]
    };
}
pub(crate) use cells;
