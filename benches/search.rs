//! How fast are atoms of different molecules closer than 0.34 nm counted?
//!
//! From 10³ to 4·10⁶ atoms of a POPC vesicle at constant density, from unsorted
//! atoms, including the construction of whatever is searched, on all threads.
//! The numbers of the README come from `search_table.rs`, which runs the
//! contestants in turns.
#![allow(
    missing_docs,
    reason = "criterion's macro makes an undocumented function"
)]

mod contest;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

use contest::contestants::contestants;
use contest::scene::Scene;

/// Atoms of the scenes.
const ATOMS: [usize; 5] = [1000, 10_000, 100_000, 1_000_000, 4_000_000];

fn count_pairs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("count_pairs");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    for atoms in ATOMS {
        let scene = Scene::vesicle(atoms);
        let atoms = scene.len();
        let scenes = [scene.mirrored(), scene];
        group.throughput(Throughput::Elements(atoms as u64));
        for mut contestant in contestants(atoms) {
            let mut turns = scenes.iter().cycle();
            group.bench_function(BenchmarkId::new(contestant.name(), atoms), |bencher| {
                bencher.iter(|| turns.next().map(|scene| contestant.count(scene)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, count_pairs);
criterion_main!(benches);
