//! The simulation on a thread of its own, so that the window never waits for it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::preset::Preset;
use super::simulation::{Change, Sample, Simulation, SimulationError, Snapshot};

/// How long it iterates before it looks for orders: less than anybody notices.
const BUDGET: Duration = Duration::from_millis(25);

/// Least time between two snapshots; screens show no more.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(30);

/// What the worker is told.
enum Order {
    /// Take a preset over.
    Change(Box<Preset>),
    /// Start again from the preset.
    Restart(Box<Preset>),
    /// Iterate, for ever or up to so many iterations since the start.
    Run { until: Option<u32> },
    /// Stop iterating.
    Pause,
    /// One iteration.
    Step,
    /// Write a structure file.
    Export(PathBuf),
}

/// What the worker has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The simulation has started again, and why.
    Restarted,
    /// A preset was taken over.
    TakenOver,
    /// A preset is impossible; the simulation goes on with the old one.
    Refused(String),
    /// The simulation cannot go on.
    Broken(String),
    /// A file was written.
    Exported(String),
    /// A file was not written.
    NotExported(String),
}

/// What waits for the window.
#[derive(Default)]
pub struct Outbox {
    /// The latest snapshot, if it was not taken yet.
    pub snapshot: Option<Snapshot>,
    /// Samples that were not taken yet.
    pub samples: Vec<Sample>,
    /// News that were not taken yet.
    pub news: Vec<News>,
    /// Whether it iterates.
    pub running: bool,
}

/// The thread. It ends when this is dropped.
pub struct Worker {
    orders: Option<Sender<Order>>,
    outbox: Arc<Mutex<Outbox>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts a simulation that was built already, at rest.
    pub fn new(simulation: Simulation) -> Self {
        let (orders, inbox) = channel();
        let outbox = Arc::new(Mutex::new(Outbox::default()));
        let for_thread = Arc::clone(&outbox);
        let thread = thread::spawn(move || {
            Working {
                simulation,
                inbox,
                outbox: for_thread,
                running: false,
                until: None,
                last_snapshot: None,
            }
            .work();
        });
        Self {
            orders: Some(orders),
            outbox,
            thread: Some(thread),
        }
    }

    /// What there is to take. The worker waits meanwhile: be quick.
    pub fn outbox(&self) -> MutexGuard<'_, Outbox> {
        lock(&self.outbox)
    }

    /// Takes a preset over.
    pub fn change(&self, preset: Preset) {
        self.order(Order::Change(Box::new(preset)));
    }

    /// Starts again from a preset.
    pub fn restart(&self, preset: Preset) {
        self.order(Order::Restart(Box::new(preset)));
    }

    /// Iterates, for ever or up to so many iterations since the start.
    pub fn run(&self, until: Option<u32>) {
        self.order(Order::Run { until });
    }

    /// Stops iterating.
    pub fn pause(&self) {
        self.order(Order::Pause);
    }

    /// One iteration.
    pub fn step(&self) {
        self.order(Order::Step);
    }

    /// Writes a structure file.
    pub fn export(&self, path: PathBuf) {
        self.order(Order::Export(path));
    }

    fn order(&self, order: Order) {
        let sent = self.orders.as_ref().map(|orders| orders.send(order));
        if !matches!(sent, Some(Ok(()))) {
            let news = News::Broken("the simulation has ended: start the program again".into());
            let mut outbox = self.outbox();
            if outbox.news.last() != Some(&news) {
                outbox.news.push(news);
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Without orders to come the thread ends.
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, that was said on standard error.
            let _ = thread.join();
        }
    }
}

fn lock(outbox: &Mutex<Outbox>) -> MutexGuard<'_, Outbox> {
    outbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The other side.
struct Working {
    simulation: Simulation,
    inbox: Receiver<Order>,
    outbox: Arc<Mutex<Outbox>>,
    running: bool,
    until: Option<u32>,
    last_snapshot: Option<Instant>,
}

impl Working {
    fn work(mut self) {
        self.publish();
        loop {
            match self.next_orders() {
                None => return,
                Some(orders) => orders.into_iter().for_each(|order| self.obey(order)),
            }
            if self.running {
                self.iterate(BUDGET, self.until);
            }
        }
    }

    /// All orders that have come; waits for one if there is nothing else to do. None if
    /// there will never be one again.
    fn next_orders(&self) -> Option<Vec<Order>> {
        let mut orders: Vec<Order> = Vec::new();
        if !self.running {
            orders.push(self.inbox.recv().ok()?);
        }
        loop {
            match self.inbox.try_recv() {
                Ok(order) => {
                    // While a slider is dragged only its last place counts.
                    if matches!(order, Order::Change(_))
                        && matches!(orders.last(), Some(Order::Change(_)))
                    {
                        orders.pop();
                    }
                    orders.push(order);
                }
                Err(TryRecvError::Empty) => return Some(orders),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Change(preset) => match self.simulation.change(*preset) {
                Ok(Change::Restarted) => self.restarted(),
                Ok(Change::Adjusted) => {
                    self.say(News::TakenOver);
                    self.publish();
                }
                Ok(Change::Nothing) => self.say(News::TakenOver),
                Err(error) => self.say(News::Refused(error.to_string())),
            },
            Order::Restart(preset) => match Simulation::new(*preset) {
                Ok(simulation) => {
                    self.simulation = simulation;
                    self.restarted();
                }
                Err(error) => self.say(News::Refused(error.to_string())),
            },
            Order::Run { until } => {
                self.until = until;
                self.set_running(true);
            }
            Order::Pause => {
                self.set_running(false);
                self.publish();
            }
            Order::Step => {
                self.set_running(false);
                let next = self.simulation.iterations().saturating_add(1);
                self.iterate(BUDGET, Some(next));
                self.publish();
            }
            Order::Export(path) => {
                let news = match self.simulation.export(&path) {
                    Ok(text) => News::Exported(text),
                    Err(error) => News::NotExported(error.to_string()),
                };
                self.say(news);
            }
        }
    }

    fn restarted(&mut self) {
        self.outbox().samples.clear();
        self.say(News::Restarted);
        self.publish();
    }

    fn iterate(&mut self, budget: Duration, until: Option<u32>) {
        let mut samples = Vec::new();
        let outcome = self.simulation.run(budget, until, &mut samples);
        self.outbox().samples.append(&mut samples);
        let done = until.is_some_and(|most| self.simulation.iterations() >= most);
        if let Err(error) = outcome {
            self.broken(&error);
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
            Err(error) => self.broken(&error),
        }
        self.last_snapshot = Some(Instant::now());
    }

    fn broken(&mut self, error: &SimulationError) {
        self.set_running(false);
        self.say(News::Broken(error.to_string()));
    }

    fn set_running(&mut self, running: bool) {
        self.running = running;
        self.outbox().running = running;
    }

    fn say(&self, news: News) {
        self.outbox().news.push(news);
    }

    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        lock(&self.outbox)
    }
}
