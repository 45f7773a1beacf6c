//! `molecules clashes`: atoms of different parts of a structure that are too close.

use std::process::ExitCode;
use std::time::Instant;

use bevy_rapier_molecules::contact::clashes::{ClashReport, find_clashes};
use clap::Args;
use serde::Serialize;

use crate::common::clash_search::{By, ClashArguments, write_clashes};
use crate::common::{AnyError, CommonArguments};

/// Count the pairs of atoms of different parts that are too close, and list the worst.
///
/// Without --tolerance, atoms clash if their collision spheres (0.7 of the van der Waals radii)
/// overlap. With a periodic box, parts also clash with the images of others and of themselves. The
/// exit code does not depend on the number of clashes.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    search: ClashArguments,
    #[command(flatten)]
    common: CommonArguments,
    /// Print the report to standard output: short for --report -.
    #[arg(long, conflicts_with = "report")]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  molecules clashes structure.pdb
  molecules clashes vesicle.pdb --by residue --tolerance 0.2
  molecules clashes membrane.pdb --by molecule --periodic
  molecules clashes structure.cif --json --worst 100

Exit codes:
  0  done
  2  invalid input, or a file cannot be read or written";

/// The output of `--report`.
#[derive(Serialize)]
struct Output<'a> {
    file: &'a str,
    by: By,
    threads: usize,
    /// Time of the search, s.
    seconds: f64,
    #[serde(flatten)]
    report: &'a ClashReport,
}

pub fn run(mut arguments: Arguments) -> Result<ExitCode, AnyError> {
    if arguments.json {
        arguments.common.report = Some("-".into());
    }
    let Arguments { search, common, .. } = &arguments;
    common.prepare()?;
    let (parts, options) = search.load()?;
    let parts: Vec<_> = parts
        .iter()
        .map(|part| (&*part.template, part.pose))
        .collect();
    let begin = Instant::now();
    let report = find_clashes(&parts, &options)?;
    common.write_report(&Output {
        file: &search.file.to_string_lossy(),
        by: search.by,
        threads: rayon::current_num_threads(),
        seconds: begin.elapsed().as_secs_f64(),
        report: &report,
    })?;
    common.print(|out| write_clashes(out, &search.file, None, &report))?;
    Ok(ExitCode::SUCCESS)
}
