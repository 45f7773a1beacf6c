//! What all benches share: one command line, contestants in turns, tables that are printed
//! as Markdown and written as JSON.
//!
//! ```text
//! cargo bench --bench NAME -- [PART]... [--json FILE|-] [--quick]
//! ```
//!
//! A bench is a list of [`Part`]s and the switches that only it has. `cargo bench` tells a
//! program that it is run in earnest (`--bench`); whoever starts it otherwise, such as
//! `cargo test --benches`, only wants to see it run, and gets what `--quick` gives: small
//! scenes and one round, some seconds in all.
//!
//! # The report
//!
//! `--json` writes one object. Nothing in it tells the time of day, so that two reports
//! differ only where the measurements do.
//!
//! | field | what it is |
//! |---|---|
//! | `bench` | name of the bench |
//! | `machine` | name of the processor, null if nobody knows |
//! | `threads` | threads of the pool that searches use |
//! | `profile` | `release` or `dev` |
//! | `quick` | whether it was a run that only shows that it works |
//! | `tables` | the tables in the order in which they were printed |
//! | `tables[].part`, `.title` | the part of the bench, and what is printed above |
//! | `tables[].seconds`, `.processor_seconds` | how long all of it took on the clock, and of the processor (null if nobody knows): about `threads` times as much on a quiet machine at best |
//! | `tables[].columns` | `name` and `unit` (null for words and plain numbers) of each |
//! | `tables[].rows` | objects, from a column's name to a number, an array of numbers that make up one, a text, or null where nothing was measured; numbers are not rounded |
//! | `notes` | sentences beside the tables, each with its `part` |
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "no bench needs all of it"
)]

mod command_line;
pub mod molecules;
pub mod processor;
mod report;
mod table;
pub mod turns;

use std::error::Error;
use std::process::ExitCode;

pub use command_line::NoSwitches;
pub use report::Run;
pub use table::{Cell, Column, Table, grouped};

use clap::Args;
use command_line::CommandLine;

/// Exit code for arguments that cannot be used; also what `clap` has.
const BAD_ARGUMENTS: u8 = 2;

/// How a part ends.
pub type Done = Result<(), Box<dyn Error>>;

/// A part of a bench, which can be asked for by its name.
pub struct Part<S> {
    name: &'static str,
    about: &'static str,
    run: fn(&mut Run, &S) -> Done,
}

impl<S> Part<S> {
    /// `about` is for `--help`.
    pub fn new(name: &'static str, about: &'static str, run: fn(&mut Run, &S) -> Done) -> Self {
        Self { name, about, run }
    }
}

/// The whole program: reads the command line, runs the parts that were asked for in their
/// order, and writes the report, also that of a run that ended early. Exit codes: 0 done,
/// 1 failed, 2 bad arguments.
pub fn run<S: Args>(bench: &'static str, about: &'static str, parts: &[Part<S>]) -> ExitCode {
    let line = CommandLine::<S>::read(bench, about, parts);
    let mut run = Run::new(bench, line.is_quick(), line.json_to_stdout());
    if let Err(error) = line.check() {
        run.complain(&format!("{bench}: {error}"));
        return BAD_ARGUMENTS.into();
    }
    let mut done: Done = Ok(());
    for part in parts.iter().filter(|part| line.wants(part.name)) {
        if done.is_ok() {
            run.begin(part.name);
            done = (part.run)(&mut run, &line.switches);
            run.end_table();
        }
    }
    let written = line.write(run.report());
    match done.and(written) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run.complain(&format!("{bench}: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The cells of a row, whatever their types.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        [$($crate::common::Cell::from($cell)),*]
    };
}
pub(crate) use cells;
