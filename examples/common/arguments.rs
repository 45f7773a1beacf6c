//! `--threads`, `--report` and `--quiet`.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::AnyError;
use super::report::check_target;

/// Path that stands for standard output.
const STDOUT: &str = "-";

/// Options of every example.
#[derive(Args)]
pub struct CommonArguments {
    /// Threads to use, 0 for one a core. The result does not depend on them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Write a JSON report to this file, - for standard output.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Show no progress and no summary.
    #[arg(long)]
    pub quiet: bool,
}

impl CommonArguments {
    /// Finds out whether the report can be written after the work, and starts the threads.
    /// To be called once, before anything else.
    pub fn prepare(&self) -> Result<(), AnyError> {
        if let Some(path) = &self.report {
            check_target(path)?;
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.into());
        Ok(pool.build_global()?)
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
    pub fn tell(
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
