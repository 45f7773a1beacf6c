//! What reports have in common: where they go, how they begin, and how their numbers look.

use std::path::Path;
use std::time::Duration;

use bevy_rapier_molecules::backend::Backend;
use serde::Serialize;

use super::AnyError;

/// Finds out before the work whether a file can be written after it.
pub fn check_target(path: &Path) -> Result<(), AnyError> {
    let shown = path.display();
    if path.is_dir() || path.file_name().is_none() {
        return Err(format!("cannot write '{shown}': it is not a file").into());
    }
    match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            let folder = folder.display();
            Err(format!("cannot write '{shown}': there is no folder '{folder}'").into())
        }
        _ => Ok(()),
    }
}

/// How every report begins.
#[derive(Debug, Serialize)]
pub struct Head {
    /// Name of the example.
    pub scene: &'static str,
    /// Seed of what is random; null if nothing is, or there are several.
    pub seed: Option<u64>,
    pub threads: usize,
    #[serde(flatten)]
    pub device: Device,
    /// Time of the work, s: without reading, placing, drawing and writing.
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

/// Who did the work; the processor, unless said otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// `cpu` or `gpu`.
    pub backend: Backend,
    /// The graphics adapter; null if it was the processor.
    pub adapter: Option<String>,
    /// Why the processor did what a GPU was to do; null if it was not.
    pub fell_back: Option<String>,
}

impl Default for Device {
    fn default() -> Self {
        Self {
            backend: Backend::Cpu,
            adapter: None,
            fell_back: None,
        }
    }
}

/// A measured number with the digits that mean something: four decimals.
pub fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
