//! Broad phases on boxes of molecules and on falling spheres.
//!
//! A regression bench. The tables in benches/README.md come from the example
//! `broad_phase_race`, which has more scenes. With `--features parallel` Rapier's BVH uses all
//! threads.

mod common;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::scenes::{FallingConfig, FallingSpheres};
use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchKind, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use common::interleave::{Rounds, Samples, interleave, ms};
use common::molecules::{popc, vesicle_of};
use common::{Column, Done, NoOptions, Part, Run, cells};
use glam::Vec3;

/// Displacement of each lipid from frame to frame, nm: more than the margin of Rapier's
/// boxes.
const MOTION_NM: f32 = 0.1;

/// Lipids in each vesicle.
const LIPIDS: [u32; 2] = [7462, 29_850];

/// Spheres in each scene.
const SPHERES: [u32; 2] = [1000, 10_000];

/// Rounds per scene.
const ROUNDS: Rounds = Rounds {
    min: 10,
    max: 200,
    time: Duration::from_secs(10),
};

fn main() -> ExitCode {
    let about = "Broad phases on boxes of molecules and on falling spheres";
    let parts = [
        Part::new(
            "boxes",
            "boxes of the molecules of a vesicle, all moving",
            molecule_boxes,
        ),
        Part::new("falling", "spheres in a settling pile", falling_spheres),
    ];
    common::run("broad_phase", about, &parts)
}

fn molecule_boxes(run: &mut Run, _: &NoOptions) -> Done {
    let rounds = run.pick(ROUNDS, Rounds::exactly(1));
    let vesicles = run.pick(LIPIDS, [150, 300]);
    let title = "Boxes of the lipids of a vesicle, all moving; interleaved rounds.";
    let mut table = run.table(title, columns("lipids"));
    for lipids in vesicles {
        let frames = vesicle_frames(lipids);
        let quick = [SearchKind::BoxGrid, SearchKind::KdTree2];
        let own = quick.into_iter().filter_map(SearchKind::box_search);
        let rapier: Box<dyn BoxSearch> = Box::new(RapierBvh::new());
        let searches = own.chain([rapier]);
        let mut searches: Vec<_> = searches.map(|one| (one, PairBuffer::new())).collect();
        let samples = interleave(rounds, &mut searches, |round, (search, pairs)| {
            let boxes = &frames[round % frames.len()];
            search
                .find_box_pairs(boxes, pairs)
                .expect("boxes are finite")
        });
        for ((search, _), samples) in searches.iter().zip(&samples) {
            table.row(cells![
                lipids,
                search.name(),
                best(samples),
                median(samples)
            ]);
        }
    }
    Ok(())
}

/// Four frames of the boxes of a vesicle's lipids.
fn vesicle_frames(lipids: u32) -> Vec<BoxSet> {
    let lipid = Arc::new(popc());
    let vesicle = vesicle_of(&lipid, lipids);
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

fn falling_spheres(run: &mut Run, _: &NoOptions) -> Done {
    let rounds = run.pick(ROUNDS, Rounds::exactly(1));
    let numbers = run.pick(&SPHERES[..], &SPHERES[..1]);
    let title = "Falling spheres, steps 50 to 60 forward and backward; interleaved rounds.";
    let mut table = run.table(title, columns("spheres"));
    for &count in numbers {
        let frames = late_frames(count);
        // Forward and backward, so that consecutive rounds are consecutive in time.
        let frames: Vec<&SphereSet> = frames.iter().chain(frames.iter().rev()).collect();
        let mut searches = SearchKind::ALL.map(|kind| (kind.search(), PairBuffer::new()));
        let samples = interleave(rounds, &mut searches, |round, (search, pairs)| {
            let spheres = frames[round % frames.len()];
            search
                .find_pairs(spheres, 0.0, pairs)
                .expect("spheres are finite")
        });
        for (kind, samples) in SearchKind::ALL.iter().zip(&samples) {
            table.row(cells![count, kind.name(), best(samples), median(samples)]);
        }
    }
    Ok(())
}

/// Steps 50 to 60 of falling spheres.
fn late_frames(count: u32) -> Vec<SphereSet> {
    let mut falling = FallingSpheres::new(&FallingConfig::of(count)).expect("a valid config");
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

fn columns(of: &str) -> Vec<Column> {
    vec![
        Column::number(of),
        Column::text("search"),
        Column::measured("best, ms", "ms"),
        Column::measured("median, ms", "ms"),
    ]
}

fn best(samples: &Samples) -> f64 {
    ms(samples.best())
}

fn median(samples: &Samples) -> f64 {
    ms(samples.median())
}
