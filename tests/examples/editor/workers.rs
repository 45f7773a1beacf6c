//! The simulation on its thread.

use std::thread;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::relax::StopReason;

use super::preset::Preset;
use super::simulation::{Simulation, Snapshot};
use super::worker::{News, Worker};
use super::{scratch, small, unwritable};

/// Longest time that a test waits for the worker.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes what comes until it is what was waited for.
fn wait<T>(worker: &Worker, mut look: impl FnMut(&mut super::worker::Outbox) -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look(&mut worker.outbox()) {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "the worker does not answer");
        thread::sleep(Duration::from_millis(2));
    }
}

fn wait_for_snapshot(worker: &Worker, is_it: impl Fn(&Snapshot) -> bool) -> Snapshot {
    wait(worker, |outbox| outbox.snapshot.take().filter(&is_it))
}

fn wait_for_news(worker: &Worker) -> News {
    wait(worker, |outbox| {
        (!outbox.news.is_empty()).then(|| outbox.news.remove(0))
    })
}

#[test]
fn it_shows_the_start_runs_to_rest_and_stops() {
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
fn a_step_is_one_iteration_and_a_run_stops_where_it_is_told() {
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
fn changes_and_restarts_are_told() {
    let worker = Worker::new(Simulation::new(small()).unwrap());
    worker.change(Preset {
        clearance: 0.001,
        ..small()
    });
    assert_eq!(wait_for_news(&worker), News::TakenOver);
    worker.change(Preset { seed: 2, ..small() });
    assert_eq!(wait_for_news(&worker), News::Restarted);
    worker.restart(small());
    assert_eq!(wait_for_news(&worker), News::Restarted);
    worker.change(Preset {
        radius: -1.0,
        ..small()
    });
    let news = wait_for_news(&worker);
    assert!(
        matches!(&news, News::Refused(why) if why.contains("radius")),
        "{news:?}"
    );
    // It goes on with the old one.
    worker.step();
    wait_for_snapshot(&worker, |snapshot| snapshot.sample.iteration == 1);
}

#[test]
fn exports_are_told_whether_they_work_or_not() {
    let worker = Worker::new(Simulation::new(small()).unwrap());
    let path = scratch("from_the_worker.cif");
    worker.export(path.clone());
    let news = wait_for_news(&worker);
    assert!(matches!(news, News::Exported(_)), "{news:?}");
    assert!(path.is_file());
    for path in unwritable("from_the_worker.pdb") {
        worker.export(path);
        let news = wait_for_news(&worker);
        assert!(
            matches!(&news, News::NotExported(why) if why.contains("from_the_worker.pdb")),
            "{news:?}"
        );
    }
}
