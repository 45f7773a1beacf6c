//! Checkpoints of a packing: saved now and then, and resumed.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bevy_rapier_molecules::recipe::Population;
use bevy_rapier_molecules::relax::{CheckpointError, RelaxCheckpoint, Relaxer};
use clap::Args;

use crate::common::{AnyError, Progress, check_target};

/// Where and when checkpoints are saved.
#[derive(Args)]
pub struct CheckpointArguments {
    /// Save the state of the relaxation to this file now and then, on Ctrl-C and at the end. If it
    /// exists, the relaxation goes on from there and ends with the same bits.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    checkpoint: Option<PathBuf>,
    /// Time between two checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    #[arg(requires = "checkpoint", allow_negative_numbers = true)]
    checkpoint_every: f64,
    /// Begin again if there is a checkpoint, and replace it.
    #[arg(long, requires = "checkpoint")]
    restart: bool,
}

impl CheckpointArguments {
    /// Checks the options before anything is read.
    pub fn check(&self) -> Result<(), AnyError> {
        if let Some(path) = &self.checkpoint {
            check_target(path)?;
        }
        self.interval().map(|_| ())
    }

    fn interval(&self) -> Result<Duration, AnyError> {
        let seconds = self.checkpoint_every;
        Duration::try_from_secs_f64(seconds).map_err(|_| {
            format!("--checkpoint-every must be finite and not negative, not {seconds} s").into()
        })
    }

    /// Reads the checkpoint to resume from, if there is one.
    pub fn load(&self, quiet: bool) -> Result<Option<RelaxCheckpoint>, AnyError> {
        let path = self.checkpoint.as_deref().filter(|path| path.exists());
        let Some(path) = path.filter(|_| !self.restart) else {
            return Ok(None);
        };
        let shown = path.display();
        let loaded = RelaxCheckpoint::load(path);
        let loaded = loaded.map_err(|error| format!("cannot resume from '{shown}': {error}"))?;
        if !quiet {
            let iterations = loaded.iterations();
            // A note that cannot be printed is no reason to stop.
            let _ = writeln!(
                io::stderr(),
                "resuming from '{shown}' after {iterations} iterations"
            );
        }
        Ok(Some(loaded))
    }

    /// The checkpoints of a relaxation that is resumed from one, or begins.
    pub fn open(
        &self,
        resumed: Option<RelaxCheckpoint>,
        population: &Population,
    ) -> Result<Checkpoints, AnyError> {
        let origin = match &self.checkpoint {
            Some(_) => population.number(),
            None => 0,
        };
        Ok(Checkpoints {
            path: self.checkpoint.clone(),
            interval: self.interval()?,
            origin,
            resumed_after: resumed.as_ref().map(RelaxCheckpoint::iterations),
            saved: resumed.as_ref().map(RelaxCheckpoint::iterations),
            resumed,
            begin: Instant::now(),
            last: Instant::now(),
            first_error: None,
        })
    }
}

/// The checkpoints of a relaxation.
pub struct Checkpoints {
    /// Where they are saved; none without checkpoints.
    path: Option<PathBuf>,
    interval: Duration,
    /// Number of the population.
    origin: u64,
    resumed: Option<RelaxCheckpoint>,
    resumed_after: Option<u32>,
    begin: Instant,
    /// When the last one was saved.
    last: Instant,
    /// Iterations before the one in the file; none if there is no file.
    saved: Option<u32>,
    /// Why the first one could not be saved.
    first_error: Option<CheckpointError>,
}

impl Checkpoints {
    /// The checkpoint to resume from.
    pub fn take_resumed(&mut self) -> Option<RelaxCheckpoint> {
        self.resumed.take()
    }

    /// Iterations before the checkpoint that was resumed from.
    pub fn resumed_after(&self) -> Option<u32> {
        self.resumed_after
    }

    /// Saves a checkpoint if it is time or the relaxation is about to stop. Breaks if the first one
    /// cannot be saved; later ones print a warning.
    pub fn watch(
        &mut self,
        relaxer: &Relaxer,
        is_stopped: bool,
        progress: &mut Progress,
    ) -> ControlFlow<()> {
        let Some(path) = &self.path else {
            return ControlFlow::Continue(());
        };
        let config = relaxer.config();
        let ends = is_stopped
            || relaxer.status().is_at_rest()
            || relaxer.is_stalled()
            || relaxer.iterations() >= config.max_iterations
            || config
                .max_time
                .is_some_and(|max| self.begin.elapsed() >= max);
        let is_due = ends || self.saved.is_none() || self.last.elapsed() >= self.interval;
        if !is_due || self.saved == Some(relaxer.iterations()) {
            return ControlFlow::Continue(());
        }
        let checkpoint = relaxer.checkpoint().with_origin(self.origin);
        match checkpoint.save(path) {
            Ok(()) => self.saved = Some(relaxer.iterations()),
            Err(error) if self.saved.is_none() => {
                self.first_error = Some(error);
                return ControlFlow::Break(());
            }
            Err(error) => {
                progress.clear();
                // A warning that cannot be printed is no reason to stop.
                let _ = writeln!(io::stderr(), "warning: {}", sentence(path, &error));
            }
        }
        self.last = Instant::now();
        ControlFlow::Continue(())
    }

    /// The error of the first checkpoint.
    pub fn check(&mut self) -> Result<(), AnyError> {
        match (self.first_error.take(), &self.path) {
            (Some(error), Some(path)) => Err(sentence(path, &error).into()),
            _ => Ok(()),
        }
    }
}

fn sentence(path: &Path, error: &CheckpointError) -> String {
    format!("cannot write '{}': {error}", path.display())
}
