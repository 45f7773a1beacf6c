//! The simulation on its own thread, so that the window never waits for it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::preset::Preset;
use super::simulation::{Change, Sample, Simulation, SimulationError, Snapshot};

/// Time between two checks for commands: too short to notice.
const BUDGET: Duration = Duration::from_millis(25);

/// Min time between two snapshots, about that of a frame.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(30);

/// A command to the worker.
enum Command {
    /// Change the preset.
    Change(Box<Preset>),
    /// Restart with a preset.
    Restart(Box<Preset>),
    /// Iterate, optionally until a number of iterations since the start.
    Run { until: Option<u32> },
    /// Stop iterating.
    Pause,
    /// Do one iteration.
    Step,
    /// Write a structure file.
    Export(PathBuf),
}

/// A message of the worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerMessage {
    /// The simulation has restarted.
    Restarted,
    /// A preset was applied without a restart.
    PresetApplied,
    /// A preset is invalid; the simulation continues with the old one.
    PresetRejected(String),
    /// The simulation failed.
    Failed(String),
    /// A file was written.
    Exported(String),
    /// A file could not be written.
    ExportFailed(String),
}

/// The output of the worker since it was last taken.
#[derive(Default)]
pub struct Outbox {
    /// The latest snapshot.
    pub snapshot: Option<Snapshot>,
    /// All samples.
    pub samples: Vec<Sample>,
    pub messages: Vec<WorkerMessage>,
    /// Whether the worker iterates.
    pub running: bool,
}

/// The handle of the thread, which ends when this is dropped.
pub struct Worker {
    commands: Option<Sender<Command>>,
    outbox: Arc<Mutex<Outbox>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread, with the simulation paused.
    pub fn new(simulation: Simulation) -> Self {
        let (commands, inbox) = channel();
        let outbox = Arc::new(Mutex::new(Outbox::default()));
        let for_thread = Arc::clone(&outbox);
        let thread = thread::spawn(move || {
            WorkerThread {
                simulation,
                inbox,
                outbox: for_thread,
                running: false,
                until: None,
                last_snapshot: None,
            }
            .run();
        });
        Self {
            commands: Some(commands),
            outbox,
            thread: Some(thread),
        }
    }

    /// Locks the output. The worker waits until it is unlocked.
    pub fn outbox(&self) -> MutexGuard<'_, Outbox> {
        lock(&self.outbox)
    }

    /// Changes the preset.
    pub fn change(&self, preset: Preset) {
        self.send(Command::Change(Box::new(preset)));
    }

    /// Restarts with a preset.
    pub fn restart(&self, preset: Preset) {
        self.send(Command::Restart(Box::new(preset)));
    }

    /// Iterates, optionally until a number of iterations since the start.
    pub fn run(&self, until: Option<u32>) {
        self.send(Command::Run { until });
    }

    /// Stops iterating.
    pub fn pause(&self) {
        self.send(Command::Pause);
    }

    /// Does one iteration.
    pub fn step(&self) {
        self.send(Command::Step);
    }

    /// Writes a structure file.
    pub fn export(&self, path: PathBuf) {
        self.send(Command::Export(path));
    }

    fn send(&self, command: Command) {
        let sent = self
            .commands
            .as_ref()
            .map(|commands| commands.send(command));
        if !matches!(sent, Some(Ok(()))) {
            let message =
                WorkerMessage::Failed("the simulation has crashed: restart the program".into());
            let mut outbox = self.outbox();
            if outbox.messages.last() != Some(&message) {
                outbox.messages.push(message);
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing the channel ends the thread.
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            // A panic was already printed to standard error.
            let _ = thread.join();
        }
    }
}

fn lock(outbox: &Mutex<Outbox>) -> MutexGuard<'_, Outbox> {
    outbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of the thread.
struct WorkerThread {
    simulation: Simulation,
    inbox: Receiver<Command>,
    outbox: Arc<Mutex<Outbox>>,
    running: bool,
    until: Option<u32>,
    last_snapshot: Option<Instant>,
}

impl WorkerThread {
    fn run(mut self) {
        self.publish();
        loop {
            match self.next_commands() {
                None => return,
                Some(commands) => commands
                    .into_iter()
                    .for_each(|command| self.execute(command)),
            }
            if self.running {
                self.iterate(BUDGET, self.until);
            }
        }
    }

    /// All pending commands. Waits for one while paused. `None` if the channel is closed.
    fn next_commands(&self) -> Option<Vec<Command>> {
        let mut commands: Vec<Command> = Vec::new();
        if !self.running {
            commands.push(self.inbox.recv().ok()?);
        }
        loop {
            match self.inbox.try_recv() {
                Ok(command) => {
                    // Only the last of consecutive changes counts, as of a dragged slider.
                    if matches!(command, Command::Change(_))
                        && matches!(commands.last(), Some(Command::Change(_)))
                    {
                        commands.pop();
                    }
                    commands.push(command);
                }
                Err(TryRecvError::Empty) => return Some(commands),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Change(preset) => match self.simulation.change(*preset) {
                Ok(Change::Restarted) => self.restarted(),
                Ok(Change::Adjusted) => {
                    self.report(WorkerMessage::PresetApplied);
                    self.publish();
                }
                Ok(Change::Nothing) => self.report(WorkerMessage::PresetApplied),
                Err(error) => self.report(WorkerMessage::PresetRejected(error.to_string())),
            },
            Command::Restart(preset) => match self.simulation.restart(*preset) {
                Ok(()) => self.restarted(),
                Err(error) => self.report(WorkerMessage::PresetRejected(error.to_string())),
            },
            Command::Run { until } => {
                self.until = until;
                self.set_running(true);
            }
            Command::Pause => {
                self.set_running(false);
                self.publish();
            }
            Command::Step => {
                self.set_running(false);
                let next = self.simulation.iterations().saturating_add(1);
                self.iterate(BUDGET, Some(next));
                self.publish();
            }
            Command::Export(path) => {
                let message = match self.simulation.export(&path) {
                    Ok(text) => WorkerMessage::Exported(text),
                    Err(error) => WorkerMessage::ExportFailed(error.to_string()),
                };
                self.report(message);
            }
        }
    }

    fn restarted(&mut self) {
        self.outbox().samples.clear();
        self.report(WorkerMessage::Restarted);
        self.publish();
    }

    fn iterate(&mut self, budget: Duration, until: Option<u32>) {
        let mut samples = Vec::new();
        let outcome = self.simulation.run(budget, until, &mut samples);
        self.outbox().samples.append(&mut samples);
        let done = until.is_some_and(|until| self.simulation.iterations() >= until);
        if let Err(error) = outcome {
            self.fail(&error);
        } else if done || self.simulation.ended().is_some() {
            self.set_running(false);
            self.publish();
        } else if self
            .last_snapshot
            .is_none_or(|last| last.elapsed() >= SNAPSHOT_INTERVAL)
        {
            self.publish();
        }
    }

    fn publish(&mut self) {
        match self.simulation.snapshot() {
            Ok(snapshot) => self.outbox().snapshot = Some(snapshot),
            Err(error) => self.fail(&error),
        }
        self.last_snapshot = Some(Instant::now());
    }

    fn fail(&mut self, error: &SimulationError) {
        self.set_running(false);
        self.report(WorkerMessage::Failed(error.to_string()));
    }

    fn set_running(&mut self, running: bool) {
        self.running = running;
        self.outbox().running = running;
    }

    fn report(&self, message: WorkerMessage) {
        self.outbox().messages.push(message);
    }

    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        lock(&self.outbox)
    }
}
