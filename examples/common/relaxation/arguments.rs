//! Options of the command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::force::{Projection, ThesisSteps};
use bevy_rapier_molecules::relax::{ReactionLaw, RelaxConfig};
use clap::{Args, ValueEnum};

use super::AnyError;
use super::report_file::{STDOUT, check_target};
use crate::backend;

/// Options of every example that relaxes a scene.
#[derive(Args)]
pub struct RelaxArguments {
    /// How molecules answer to overlaps.
    #[arg(long, value_enum, default_value_t = Law::Projection)]
    law: Law,
    /// Seed of the random start; the same seed gives the same bits.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads to use, 0 for one a core. The result does not depend on them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=1024))]
    pub(super) threads: u16,
    /// Who does the work: a GPU if there is a real one, the processor, or any GPU, even
    /// one in software.
    #[arg(long, value_name = "WHERE", default_value_t = Backend::Auto)]
    #[arg(value_parser = backend::parser())]
    pub(super) backend: Backend,
    /// Most iterations.
    #[arg(long, value_name = "N", default_value_t = RelaxConfig::default().max_iterations)]
    max_iterations: u32,
    /// Longest time of the relaxation, seconds [default: none].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    max_seconds: Option<f64>,
    /// Run without a window. The only way for now.
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
enum Law {
    /// The heuristic forces of Pauschenwein (2022).
    Thesis,
    /// Rigid position-based projection.
    Projection,
}

impl RelaxArguments {
    /// What the relaxer is told.
    pub(super) fn config(&self) -> Result<RelaxConfig, AnyError> {
        let max_time = match self.max_seconds {
            None => None,
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
                format!("--max-seconds must be a number of seconds, not negative, and is {seconds}")
            })?),
        };
        Ok(RelaxConfig {
            law: match self.law {
                Law::Thesis => ReactionLaw::Thesis(ThesisSteps::default()),
                Law::Projection => ReactionLaw::Projection(Projection::default()),
            },
            max_iterations: self.max_iterations,
            max_time,
            ..RelaxConfig::default()
        })
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
