//! How fast are broad phases, on boxes of molecules and on falling spheres?
//!
//! The tables of the README come from the example `broad_phase_race`, where the searches
//! take turns; this bench watches each of them for changes. With `--features parallel`
//! Rapier's tree has all threads.
#![allow(
    missing_docs,
    reason = "criterion's macro makes an undocumented function"
)]

use std::sync::Arc;
use std::time::Duration;

use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::scenes::{FallingSpheres, VesicleConfig, VesicleSize, vesicle};
use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchKind, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use glam::Vec3;

/// How far every lipid moves from frame to frame along each axis, nm: further than Rapier's
/// boxes have to spare.
const MOTION_NM: f32 = 0.1;

/// Lipids of the vesicles.
const LIPIDS: [u32; 2] = [7462, 29_850];

/// Falling spheres.
const SPHERES: [u32; 2] = [1000, 10_000];

fn molecule_boxes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("molecule_boxes");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    for lipids in LIPIDS {
        let frames = vesicle_frames(lipids);
        let quick = [SearchKind::BoxGrid, SearchKind::KdTree2];
        let own = quick.into_iter().filter_map(SearchKind::box_search);
        let rapier: Box<dyn BoxSearch> = Box::new(RapierBvh::new());
        for mut search in own.chain([rapier]) {
            let mut pairs = PairBuffer::new();
            let mut turns = frames.iter().cycle();
            group.bench_function(BenchmarkId::new(search.name(), lipids), |bencher| {
                bencher.iter(|| {
                    let boxes = turns.next().expect("there are frames");
                    search
                        .find_box_pairs(boxes, &mut pairs)
                        .expect("boxes are finite")
                });
            });
        }
    }
    group.finish();
}

/// The boxes of a vesicle's lipids in four places each.
fn vesicle_frames(lipids: u32) -> Vec<BoxSet> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb");
    let lipid = Arc::new(load(path, &LoadOptions::default()).expect("an asset"));
    let size = VesicleSize::Density {
        lipids,
        area_per_lipid: 1.23,
    };
    let config = VesicleConfig {
        size,
        ..VesicleConfig::default()
    };
    let vesicle = vesicle(Arc::clone(&lipid), &config).expect("a vesicle");
    let atoms = lipid.atom_count() as u32;
    let runs: Vec<_> = (0..lipids).map(|k| k * atoms..(k + 1) * atoms).collect();
    let directions = [Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y];
    let frames = directions.iter().map(|direction| {
        let moved = vesicle.crowd.instances().enumerate().map(|(k, (_, pose))| {
            let sign = if k % 2 == 0 { MOTION_NM } else { -MOTION_NM };
            let position = pose.position + sign * direction;
            (&*lipid, Pose { position, ..pose })
        });
        let spheres = SphereSet::from_molecules(moved).expect("a vesicle is finite");
        let mut boxes = BoxSet::new();
        boxes
            .set_around_runs(&spheres, &runs, 0.0)
            .expect("a vesicle is finite");
        boxes
    });
    frames.collect()
}

fn falling_spheres(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("falling_spheres");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    for count in SPHERES {
        let frames = late_frames(count);
        for kind in SearchKind::ALL {
            let (mut search, mut pairs) = (kind.search(), PairBuffer::new());
            // To and fro: each frame follows one of its neighbours in time.
            let mut turns = frames.iter().chain(frames.iter().rev()).cycle();
            group.bench_function(BenchmarkId::new(kind.name(), count), |bencher| {
                bencher.iter(|| {
                    let spheres = turns.next().expect("there are frames");
                    search
                        .find_pairs(spheres, 0.0, &mut pairs)
                        .expect("spheres are finite")
                });
            });
        }
    }
    group.finish();
}

/// Steps 50 to 60 of falling spheres.
fn late_frames(count: u32) -> Vec<SphereSet> {
    let mut falling = FallingSpheres::new(count, 0.1, 1).expect("a ratio");
    let (mut grid, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    let mut frames = Vec::new();
    for step in 0..=60 {
        falling.advance();
        grid.find_pairs(falling.spheres(), 0.0, &mut pairs)
            .expect("spheres are finite");
        if step >= 50 {
            frames.push(falling.spheres().clone());
        }
        falling.respond(&pairs);
    }
    frames
}

criterion_group!(benches, molecule_boxes, falling_spheres);
criterion_main!(benches);
