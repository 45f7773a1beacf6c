//! Options of the command line.

use std::path::{Path, PathBuf};

use bevy_rapier_molecules::prelude::{Backend, ContactModel};
use clap::{Parser, ValueEnum};

use super::AnyError;
use super::picture::PictureArguments;
use super::report_file::{STDOUT, check_target};

/// Steps without a window, unless told otherwise: ten seconds.
const STEPS: u32 = 600;

/// What the end of `--help` says.
const AFTER_HELP: &str = "\
Keys: C contacts by crowd or solver, Space pause, R start again, N another protein, \
T colour what collides, Esc quit. Mouse: left grabs and throws, right turns, wheel zooms.

A step is 1/60 s. One unit is a nanometre, masses are dalton.

Exit codes:
  0  done
  2  the input cannot be used, or a file cannot be read or written";

/// Drops proteins into a box with blocks, balls, a ramp and one of them on a rope.
///
/// With a window you can grab and throw them; without, a report says how they lie.
#[derive(Parser)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// How many proteins.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub proteins: u32,
    /// How proteins meet each other.
    #[arg(long, value_enum, default_value_t = Contacts::Crowd)]
    pub contacts: Contacts,
    /// Who finds the contacts of a crowd: cpu, gpu, or auto for a GPU if there is a real
    /// one. The result does not depend on it.
    #[arg(long, value_name = "BACKEND", default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// Substeps of a step; more make contacts stiffer.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub substeps: u16,
    /// Seed of the random start; the same seed gives the same bits.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads to use, 0 for one a core. The result does not depend on them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Run without a window, which is also what happens where there is no display.
    #[arg(long, conflicts_with = "screenshot")]
    pub headless: bool,
    /// Without a window: how many steps. With --screenshot: steps before the picture.
    #[arg(long, value_name = "N", default_value_t = STEPS)]
    pub steps: u32,
    /// Without a window: write a JSON report to this file, - for standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "screenshot")]
    pub report: Option<PathBuf>,
    /// Show no progress and no summary.
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub picture: PictureArguments,
    /// Start with the colours of what collides.
    #[arg(long)]
    pub tint: bool,
}

/// The contact models by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum Contacts {
    /// By the search and the solver of this crate.
    Crowd,
    /// By Rapier's own.
    Solver,
}

impl From<Contacts> for ContactModel {
    fn from(contacts: Contacts) -> Self {
        match contacts {
            Contacts::Crowd => Self::Crowd,
            Contacts::Solver => Self::Solver,
        }
    }
}

impl Arguments {
    /// Whether standard output belongs to the report.
    pub fn report_is_on_stdout(&self) -> bool {
        self.report.as_deref() == Some(Path::new(STDOUT))
    }

    /// Finds out before the work what would spoil it after: files that cannot be written.
    pub fn check_targets(&self) -> Result<(), AnyError> {
        if let Some(path) = &self.report
            && !self.report_is_on_stdout()
        {
            check_target(path)?;
        }
        Ok(())
    }
}
