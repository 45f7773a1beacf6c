//! `molecules`: packs recipes, and checks, converts and describes structure files, without Bevy and
//! without a window.
//!
//! ```text
//! cargo install --path . --no-default-features --features cli
//! molecules inspect structure.pdb
//! ```
//!
//! Each command is a file with its `Arguments` and `run`. `--help` of each lists its options.

mod certify;
mod clashes;
mod common;
mod convert;
mod inspect;
mod inspect_recipe;
mod pack;
mod relax;
mod schema;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

fn main() -> ExitCode {
    let result = match Program::parse().command {
        Command::Certify(arguments) => certify::run(arguments),
        Command::Clashes(arguments) => clashes::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Pack(arguments) => pack::run(arguments),
        Command::Relax(arguments) => relax::run(arguments),
        Command::Schema(arguments) => schema::run(&arguments),
    };
    common::finish(result)
}

/// Packs scenes of molecules, and checks, converts and describes structure files.
#[derive(Parser)]
#[command(name = "molecules", version, after_help = AFTER_HELP)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Convert(convert::Arguments),
    Clashes(clashes::Arguments),
    Certify(certify::Arguments),
    Pack(pack::Arguments),
    Relax(relax::Arguments),
    Schema(schema::Arguments),
}

const AFTER_HELP: &str = "\
Examples:
  molecules inspect 4hhb.bcif.gz
  molecules convert 4hhb.bcif.gz -o 4hhb.pdb --assembly 1
  molecules clashes membrane.pdb --by molecule --tolerance 0.2 --periodic
  molecules certify membrane.pdb
  molecules pack cell.json -o cell.cif
  molecules relax placements.json -o relaxed.zip
  molecules schema -o recipe.schema.json

Lengths are nm. 'molecules COMMAND --help' lists the options of a command.

Exit codes:
  0  done
  1  stopped before it was done
  2  invalid input, or a file cannot be read or written";
