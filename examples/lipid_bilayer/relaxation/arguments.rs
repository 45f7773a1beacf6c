//! Options of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::common::AnyError;

/// Options of a relaxation without a window.
#[derive(Args)]
pub struct RelaxArguments {
    /// How molecules answer to overlaps [default: projection].
    #[arg(long, value_enum)]
    pub law: Option<Law>,
    /// Most iterations [default: 5000].
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// Longest time of the relaxation, seconds [default: none].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    max_seconds: Option<f64>,
    /// Write the molecules to this .pdb, .ent, .cif or .mmcif, or the same with .gz, without
    /// a window.
    #[arg(long, value_name = "FILE", conflicts_with = "screenshot")]
    pub export: Option<PathBuf>,
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
}
