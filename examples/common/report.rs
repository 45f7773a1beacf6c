//! `--report` and `--quiet`: JSON for programs, a summary for people.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy_rapier_molecules::backend::Backend;
use clap::Args;
use serde::Serialize;

use super::AnyError;

/// Path that stands for standard output.
const STDOUT: &str = "-";

/// Options of every example.
#[derive(Args)]
pub struct OutputArguments {
    /// Write a JSON report to this file, - for standard output.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Show no progress and no summary.
    #[arg(long)]
    pub quiet: bool,
}

impl OutputArguments {
    /// Finds out before the work whether the report can be written after it.
    pub fn check(&self) -> Result<(), AnyError> {
        match &self.report {
            Some(path) => check_target(path),
            None => Ok(()),
        }
    }

    /// Writes the report, if one is asked for.
    pub fn write(&self, report: &impl Serialize) -> Result<(), AnyError> {
        let Some(path) = &self.report else {
            return Ok(());
        };
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        if path == Path::new(STDOUT) {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        } else {
            fs::write(path, text)
                .map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
        }
        Ok(())
    }

    /// Tells people on standard output, unless that belongs to the report, or they want to
    /// be left alone.
    pub fn tell(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        if self.quiet || self.report.as_deref() == Some(Path::new(STDOUT)) {
            return Ok(());
        }
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        out.flush()
    }
}

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
    /// Seed of what is random; null if nothing is, or no option sets it.
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
