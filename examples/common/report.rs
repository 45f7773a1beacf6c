//! The common part of all reports.

use std::time::Duration;

use serde::Serialize;

use super::Device;

/// The first fields of every report.
#[derive(Debug, Serialize)]
pub struct Head {
    /// Name of the example.
    pub scene: &'static str,
    /// Seed of the random numbers; null if there are none, or several seeds.
    pub seed: Option<u64>,
    pub threads: usize,
    #[serde(flatten)]
    pub device: Device,
    /// Time of the computation, s: without reading, placing, drawing and writing.
    pub seconds: f64,
}

impl Head {
    /// The head of this example's report.
    pub fn new(seed: Option<u64>, device: Device, time: Duration) -> Self {
        Self {
            scene: env!("CARGO_CRATE_NAME"),
            seed,
            threads: rayon::current_num_threads(),
            device,
            seconds: round(time.as_secs_f64()),
        }
    }
}

/// Rounds a measured value to four decimals.
pub fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
