//! Options of every program: threads, report, quiet.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{AnyError, check_target};

/// The path that stands for standard output.
const STDOUT: &str = "-";

/// Options of every program.
#[derive(Args)]
pub struct CommonArguments {
    /// Number of threads, 0 for one per core. The result does not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Write a JSON report to this file, - for standard output.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print no progress and no summary.
    #[arg(long)]
    pub quiet: bool,
}

impl CommonArguments {
    /// Checks that the report can be written and starts the thread pool. Call it once, before
    /// anything else.
    pub fn prepare(&self) -> Result<(), AnyError> {
        if let Some(path) = &self.report {
            check_target(path)?;
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.into());
        Ok(pool.build_global()?)
    }

    /// Writes the report to the file of `--report`, if there is one.
    pub fn write_report(&self, report: &impl Serialize) -> Result<(), AnyError> {
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

    /// Prints to standard output, except with `--quiet` or if the report goes there.
    pub fn print(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), AnyError> {
        if self.quiet || self.report.as_deref() == Some(Path::new(STDOUT)) {
            return Ok(());
        }
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        Ok(out.flush()?)
    }
}
