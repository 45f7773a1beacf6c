//! Options of the command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy_rapier_molecules::backend::Backend;
use clap::{Args, ValueEnum};

use super::AnyError;
use super::report_file::{STDOUT, check_target};
use crate::backend;

/// Options of every example that relaxes a scene.
#[derive(Args)]
pub struct RelaxArguments {
    /// How molecules answer to overlaps [default: projection].
    #[arg(long, value_enum)]
    pub law: Option<Law>,
    /// Seed of the random start; the same seed gives the same bits [default: 1].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Threads to use, 0 for one a core. The result does not depend on them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Who does the work: a GPU if there is a real one, the processor, or any GPU, even
    /// one in software [default: auto].
    #[arg(long, value_name = "WHERE")]
    #[arg(value_parser = backend::parser())]
    pub backend: Option<Backend>,
    /// Most iterations [default: 5000].
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// Longest time of the relaxation, seconds [default: none].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    max_seconds: Option<f64>,
    /// Run without a window, which is also what happens where there is no display, and
    /// with --report, --export or --quiet.
    #[arg(long)]
    headless: bool,
    /// Write a JSON report to this file, - for standard output.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Write the molecules to this .pdb, .ent, .cif or .mmcif, or the same with .gz.
    #[arg(long, value_name = "FILE")]
    pub(super) export: Option<PathBuf>,
    /// Show no progress, no warnings and no summary.
    #[arg(long)]
    pub(super) quiet: bool,
}

/// The laws by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum Law {
    /// The heuristic forces of Pauschenwein (2022).
    Thesis,
    /// Rigid position-based projection.
    Projection,
}

impl RelaxArguments {
    /// Whether everything is asked for that a window would not do.
    pub fn is_headless(&self) -> bool {
        self.headless || self.report.is_some() || self.export.is_some() || self.quiet
    }

    /// Longest time of the relaxation.
    pub fn max_time(&self) -> Result<Option<Duration>, AnyError> {
        let Some(seconds) = self.max_seconds else {
            return Ok(None);
        };
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
            format!("--max-seconds must be a number of seconds, not negative, and is {seconds}")
        })?;
        Ok(Some(time))
    }

    /// Whether standard output belongs to the report.
    pub(super) fn report_is_on_stdout(&self) -> bool {
        self.report.as_deref() == Some(Path::new(STDOUT))
    }

    /// Finds out before the work what would spoil it after: files that cannot be written.
    pub(super) fn check_targets(&self) -> Result<(), AnyError> {
        if let Some(path) = &self.export {
            check_target(path)?;
        }
        if let Some(path) = &self.report
            && !self.report_is_on_stdout()
        {
            check_target(path)?;
        }
        Ok(())
    }
}
