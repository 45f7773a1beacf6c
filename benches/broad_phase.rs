//! How fast are broad phases, on boxes of molecules and on falling spheres?
//!
//! The tables of benches/README.md come from the example `broad_phase_race`, which has more
//! scenes; this bench watches the searches for changes. With `--features parallel` Rapier's tree has
//! all threads.

mod common;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::scenes::FallingSpheres;
use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchKind, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use common::molecules::{popc, vesicle_of};
use common::turns::{Laps, Rounds, in_turns, ms};
use common::{Column, Done, NoSwitches, Part, Run, cells};
use glam::Vec3;

/// How far every lipid moves from frame to frame along each axis, nm: further than Rapier's
/// boxes have to spare.
const MOTION_NM: f32 = 0.1;

/// Lipids of the vesicles.
const LIPIDS: [u32; 2] = [7462, 29_850];

/// Falling spheres.
const SPHERES: [u32; 2] = [1000, 10_000];

/// Rounds of each scene.
const ROUNDS: Rounds = Rounds {
    least: 10,
    most: 200,
    time: Duration::from_secs(10),
};

fn main() -> ExitCode {
    let about = "How fast broad phases are, on boxes of molecules and on falling spheres";
    let parts = [
        Part::new(
            "boxes",
            "boxes of the molecules of a vesicle, all of them moving",
            molecule_boxes,
        ),
        Part::new("falling", "spheres that lie on a heap", falling_spheres),
    ];
    common::run("broad_phase", about, &parts)
}

fn molecule_boxes(run: &mut Run, _: &NoSwitches) -> Done {
    let rounds = run.pick(ROUNDS, Rounds::exactly(1));
    let vesicles = run.pick(LIPIDS, [150, 300]);
    let title = "Boxes of the lipids of a vesicle, all of them moving; frames in turns.";
    let mut table = run.table(title, columns("lipids"));
    for lipids in vesicles {
        let frames = vesicle_frames(lipids);
        let quick = [SearchKind::BoxGrid, SearchKind::KdTree2];
        let own = quick.into_iter().filter_map(SearchKind::box_search);
        let rapier: Box<dyn BoxSearch> = Box::new(RapierBvh::new());
        let searches = own.chain([rapier]);
        let mut searches: Vec<_> = searches.map(|one| (one, PairBuffer::new())).collect();
        let laps = in_turns(rounds, &mut searches, |round, (search, pairs)| {
            let boxes = &frames[round % frames.len()];
            search
                .find_box_pairs(boxes, pairs)
                .expect("boxes are finite")
        });
        for ((search, _), laps) in searches.iter().zip(&laps) {
            table.row(cells![lipids, search.name(), best(laps), median(laps)]);
        }
    }
    Ok(())
}

/// The boxes of a vesicle's lipids in four places each.
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

fn falling_spheres(run: &mut Run, _: &NoSwitches) -> Done {
    let rounds = run.pick(ROUNDS, Rounds::exactly(1));
    let numbers = run.pick(&SPHERES[..], &SPHERES[..1]);
    let title = "Falling spheres, steps 50 to 60 to and fro; frames in turns.";
    let mut table = run.table(title, columns("spheres"));
    for &count in numbers {
        let frames = late_frames(count);
        // To and fro: each frame follows one of its neighbors in time.
        let frames: Vec<&SphereSet> = frames.iter().chain(frames.iter().rev()).collect();
        let mut searches = SearchKind::ALL.map(|kind| (kind.search(), PairBuffer::new()));
        let laps = in_turns(rounds, &mut searches, |round, (search, pairs)| {
            let spheres = frames[round % frames.len()];
            search
                .find_pairs(spheres, 0.0, pairs)
                .expect("spheres are finite")
        });
        for (kind, laps) in SearchKind::ALL.iter().zip(&laps) {
            table.row(cells![count, kind.name(), best(laps), median(laps)]);
        }
    }
    Ok(())
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

fn columns(of: &str) -> Vec<Column> {
    vec![
        Column::number(of),
        Column::text("search"),
        Column::measured("best, ms", "ms"),
        Column::measured("median, ms", "ms"),
    ]
}

fn best(laps: &Laps) -> f64 {
    ms(laps.best())
}

fn median(laps: &Laps) -> f64 {
    ms(laps.median())
}
