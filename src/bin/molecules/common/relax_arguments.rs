//! Options of the commands that relax molecules.

use std::time::Duration;

use bevy_rapier_molecules::relax::RelaxConfig;
use clap::Args;

use super::AnyError;

/// When a relaxation stops, at the latest.
#[derive(Args)]
pub struct RelaxArguments {
    /// Stop the relaxation after this time.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    max_time: Option<f64>,
    /// Stop the relaxation after this many iterations.
    #[arg(long, value_name = "N", default_value_t = RelaxConfig::default().max_iterations)]
    max_iterations: u32,
}

impl RelaxArguments {
    /// The config of the relaxation.
    pub fn config(&self) -> Result<RelaxConfig, AnyError> {
        let max_time = self.max_time.map(|seconds| {
            let allowed = "--max-time must be finite and not negative";
            Duration::try_from_secs_f64(seconds).map_err(|_| format!("{allowed}, not {seconds} s"))
        });
        Ok(RelaxConfig {
            max_time: max_time.transpose()?,
            max_iterations: self.max_iterations,
            ..RelaxConfig::default()
        })
    }
}

/// Checks the value of `--tolerance`, nm.
pub fn check_tolerance(tolerance: f32) -> Result<(), AnyError> {
    if tolerance.is_finite() && tolerance > 0.0 {
        return Ok(());
    }
    Err(format!("--tolerance must be positive and finite, not {tolerance} nm").into())
}
