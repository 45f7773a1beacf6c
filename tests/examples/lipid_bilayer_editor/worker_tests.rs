//! The thread of the simulation.

use std::thread;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::relax::StopReason;

use super::preset::Preset;
use super::simulation::{Simulation, Snapshot};
use super::worker::{Outbox, Worker, WorkerMessage};
use super::{scratch, small, unwritable};

/// Max time to wait for the worker.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Polls the output of the worker until `take` returns a value.
fn wait<T>(worker: &Worker, mut take: impl FnMut(&mut Outbox) -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = take(&mut worker.outbox()) {
            return value;
        }
        assert!(begin.elapsed() < TIMEOUT, "the worker does not respond");
        thread::sleep(Duration::from_millis(2));
    }
}

fn wait_for_snapshot(worker: &Worker, is_expected: impl Fn(&Snapshot) -> bool) -> Snapshot {
    wait(worker, |outbox| outbox.snapshot.take().filter(&is_expected))
}

fn wait_for_message(worker: &Worker) -> WorkerMessage {
    wait(worker, |outbox| {
        (!outbox.messages.is_empty()).then(|| outbox.messages.remove(0))
    })
}

#[test]
fn it_runs_from_the_start_to_rest_and_stops() {
    let worker = Worker::new(Simulation::new(small()).unwrap());
    let first = wait_for_snapshot(&worker, |_| true);
    assert_eq!(first.sample.iteration, 0);
    assert!(first.sample.status.overlaps > 0);
    worker.run(None);
    let last = wait_for_snapshot(&worker, |snapshot| snapshot.ended.is_some());
    assert_eq!(last.ended, Some(StopReason::AtRest));
    let outbox = worker.outbox();
    assert!(!outbox.running);
    let samples: Vec<u32> = outbox
        .samples
        .iter()
        .map(|sample| sample.iteration)
        .collect();
    let all: Vec<u32> = (0..=last.sample.iteration).collect();
    assert_eq!(samples, all);
}

#[test]
fn a_step_is_one_iteration_and_a_run_stops_at_its_limit() {
    let worker = Worker::new(Simulation::new(small()).unwrap());
    worker.step();
    wait_for_snapshot(&worker, |snapshot| snapshot.sample.iteration == 1);
    worker.run(Some(4));
    let snapshot = wait_for_snapshot(&worker, |snapshot| snapshot.sample.iteration >= 4);
    assert_eq!(snapshot.sample.iteration, 4);
    assert_eq!(snapshot.ended, None);
    worker.step();
    wait_for_snapshot(&worker, |snapshot| snapshot.sample.iteration == 5);
    worker.run(None);
    worker.pause();
    assert!(!wait(&worker, |outbox| (!outbox.running)
        .then_some(outbox.running)));
}

#[test]
fn changes_and_restarts_are_reported() {
    let worker = Worker::new(Simulation::new(small()).unwrap());
    worker.change(Preset {
        clearance: 0.001,
        ..small()
    });
    assert_eq!(wait_for_message(&worker), WorkerMessage::PresetApplied);
    worker.change(Preset { seed: 2, ..small() });
    assert_eq!(wait_for_message(&worker), WorkerMessage::Restarted);
    worker.restart(small());
    assert_eq!(wait_for_message(&worker), WorkerMessage::Restarted);
    worker.change(Preset {
        radius: -1.0,
        ..small()
    });
    let message = wait_for_message(&worker);
    assert!(
        matches!(&message, WorkerMessage::PresetRejected(why) if why.contains("radius")),
        "{message:?}"
    );
    // The simulation continues with the old preset.
    worker.step();
    wait_for_snapshot(&worker, |snapshot| snapshot.sample.iteration == 1);
}

#[test]
fn exports_and_failed_exports_are_reported() {
    let worker = Worker::new(Simulation::new(small()).unwrap());
    let path = scratch("from_the_worker.cif");
    worker.export(path.clone());
    let message = wait_for_message(&worker);
    assert!(matches!(message, WorkerMessage::Exported(_)), "{message:?}");
    assert!(path.is_file());
    for path in unwritable("from_the_worker.pdb") {
        worker.export(path);
        let message = wait_for_message(&worker);
        assert!(
            matches!(&message, WorkerMessage::ExportFailed(why) if why.contains("from_the_worker.pdb")),
            "{message:?}"
        );
    }
}
