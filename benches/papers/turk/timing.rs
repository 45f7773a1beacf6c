//! Table 2 and section 5.4: memory and times of both grids.

use std::hint::black_box;
use std::time::Duration;

use bevy_rapier_molecules::docking::is_free;
use bevy_rapier_molecules::pose::{Pose, RigidMotion};
use glam::{Quat, Vec3};

use super::cell_lists::{CellLists, Hash, Storage, Within};
use super::check::Receptor;
use super::molecules::{DHFR, TRIMETHOPRIM, balls, molecule, structures};
use super::scene::{Call, Scene};
use crate::common::interleave::{Rounds, interleave};
use crate::common::{Column, Done, Run, cells};

/// Rounds; the best one is reported.
const ROUNDS: usize = 15;

/// Motions of the session into the active site.
const CALLS: usize = 1000;

/// Frames of the rotating ligand, as in the paper.
const FRAMES: usize = 100;

/// Rotation of the ligand per frame, radian.
const TURN_PER_FRAME: f32 = 0.05;

/// Poses at the surface of each receptor.
const POSES: usize = 64;

/// Duration of a frame at 60 Hz, µs.
const FRAME_MICROS: f64 = 1.0e6 / 60.0;

/// Distance of the rotating ligand from the receptor, nm: "somewhat removed" in the paper.
const REMOVED_NM: f32 = 0.5;

pub fn run(run: &mut Run) -> Done {
    memory(run)?;
    receptors(run)?;
    let scene = Scene::new(DHFR, TRIMETHOPRIM)?;
    rotating_ligand(run, &scene)?;
    session(run, &scene)
}

/// Memory and construction.
fn memory(run: &mut Run) -> Done {
    let rounds = run.pick(ROUNDS, 1);
    let columns = vec![
        Column::text("structure"),
        Column::number("atoms"),
        Column::number("cells, full"),
        Column::number("entries, full"),
        Column::measured("bytes, full", "B"),
        Column::measured("bytes, hashed", "B"),
        Column::number("hashed ÷ full, bytes").decimals(2),
        Column::measured("build, full, µs", "µs").decimals(1),
        Column::measured("build, hashed, µs", "µs").decimals(1),
        Column::number("hashed ÷ full, build").decimals(2),
    ];
    let title = format!(
        "**Memory and construction** of both grids; 4,096 hashed cells, wrapped. Best of {rounds} \
         interleaved rounds. A list takes 4 bytes, and 8 for each of its entries; the atoms \
         themselves are not counted."
    );
    let files = structures(run);
    let mut table = run.table(&title, columns);
    for &file in files {
        let atoms = balls(&molecule(file)?);
        let build = |storage| CellLists::new(&atoms, storage, Within::Box);
        let mut storages = [Storage::Full, Storage::Hashed(Hash::Wrapped)];
        let [full, hashed] = storages.map(build);
        let (full, hashed) = (full?, hashed?);
        let samples = interleave(Rounds::exactly(rounds), &mut storages, |_, storage| {
            black_box(build(*storage).is_ok());
        });
        let [full_time, hashed_time] = [0, 1].map(|at| micros(samples[at].best()));
        table.row(cells![
            file,
            atoms.len(),
            full.density().lists,
            full.density().entries,
            full.bytes(),
            hashed.bytes(),
            hashed.bytes() as f64 / full.bytes() as f64,
            full_time,
            hashed_time,
            hashed_time / full_time,
        ]);
    }
    Ok(())
}

/// The same ligand at receptors of all sizes.
fn receptors(run: &mut Run) -> Done {
    let (rounds, poses) = (run.pick(ROUNDS, 1), run.pick(POSES, 4));
    let columns = vec![
        Column::text("receptor"),
        Column::number("atoms"),
        Column::number("tests, full").decimals(0),
        Column::number("tests, wrapped").decimals(0),
        Column::number("tests, mixed").decimals(0),
        Column::measured("µs, brute force", "µs"),
        Column::measured("µs, full", "µs").decimals(2),
        Column::measured("µs, wrapped", "µs").decimals(2),
        Column::measured("µs, mixed", "µs").decimals(2),
        Column::measured("µs, ours", "µs").decimals(2),
        Column::number("wrapped ÷ full, µs").decimals(2),
        Column::number("checks per s, full"),
    ];
    let title = format!(
        "**Static checks** of trimethoprim, 21 atoms, at {poses} poses at the surface: pairs of \
         atoms tested, and µs, per check. Best of {rounds} interleaved rounds, one thread."
    );
    let files = structures(run);
    let mut table = run.table(&title, columns);
    for &file in files {
        let scene = Scene::new(file, TRIMETHOPRIM)?;
        let poses = scene.surface_poses(poses)?;
        let calls: Vec<Call> = poses
            .into_iter()
            .map(|pose| (pose, RigidMotion::default()))
            .collect();
        scene.compare(&calls)?;
        let [brute, full, wrapped, mixed, ours] = measure(&calls, rounds, &checks(&scene));
        table.row(cells![
            file,
            scene.receptor.atom_count(),
            full.tests,
            wrapped.tests,
            mixed.tests,
            brute.micros,
            full.micros,
            wrapped.micros,
            mixed.micros,
            ours.micros,
            wrapped.micros / full.micros,
            1.0e6 / full.micros,
        ]);
    }
    Ok(())
}

/// 100 frames of a ligand that rotates in front of the active site: table 2.
fn rotating_ligand(run: &mut Run, scene: &Scene) -> Done {
    let (entrance, inwards) = scene.entrance()?;
    let position = entrance.position - REMOVED_NM * inwards;
    let calls: Vec<Call> = (0..FRAMES)
        .map(|frame| {
            let turn = Quat::from_rotation_y(frame as f32 * TURN_PER_FRAME);
            let motion = RigidMotion {
                translation: Vec3::ZERO,
                rotation: Vec3::Y * TURN_PER_FRAME,
            };
            (Pose::new(position, turn * entrance.rotation), motion)
        })
        .collect();
    let title = "**Table 2.** Trimethoprim rotates in front of the active site of dihydrofolate \
                 reductase, 100 frames: µs per static check, and its share of a frame at 60 Hz.";
    let costs = measure(&calls, run.pick(ROUNDS, 1), &checks(scene));
    by_method(run, title, &costs);
    Ok(())
}

/// The playback of a session in which the ligand is moved into the active site: section 5.4.
fn session(run: &mut Run, scene: &Scene) -> Done {
    let calls = scene.session(run.pick(CALLS, 50))?;
    scene.compare(&calls)?;
    let count =
        |is_counted: &dyn Fn(&Call) -> bool| calls.iter().filter(|call| is_counted(call)).count();
    let end = |(pose, motion): &Call| motion.pose_at(pose, 1.0);
    let blocked = count(&|call| scene.full.collides(&scene.atoms, &end(call), &mut 0));
    let distance = |call: Option<&Call>| {
        call.map_or(0.0, |call| call.0.position.distance(scene.active_site()))
    };
    let (from, to) = (distance(calls.first()), distance(calls.last()));
    let rounds = run.pick(ROUNDS, 1);
    let title = format!(
        "**A session**: trimethoprim is moved from {from:.2} to {to:.2} nm from the active site \
         of dihydrofolate reductase in {} calls, {blocked} of which end at a contact; µs per \
         static check.",
        calls.len()
    );
    let costs = measure(&calls, rounds, &checks(scene));
    by_method(run, &title, &costs);
    let title = "The same session; µs per motion until contact (`pg_move_to_touch`).";
    let costs = measure(&calls, rounds, &motions(scene));
    by_method(run, title, &costs);
    Ok(())
}

fn by_method(run: &mut Run, title: &str, costs: &[Cost; 5]) {
    let columns = vec![
        Column::text("method"),
        Column::number("tests per call").decimals(0),
        Column::measured("µs per call", "µs").decimals(2),
        Column::number("÷ full grid").decimals(2),
        Column::number("% of a frame").decimals(3),
    ];
    let mut table = run.table(title, columns);
    for (name, cost) in METHODS.into_iter().zip(costs) {
        table.row(cells![
            name,
            cost.tests,
            cost.micros,
            cost.micros / costs[1].micros,
            100.0 * cost.micros / FRAME_MICROS,
        ]);
    }
}

/// Names of the methods of [`checks`] and [`motions`].
const METHODS: [&str; 5] = [
    "brute force",
    "full grid",
    "hashed, wrapped",
    "hashed, mixed",
    UNCOUNTED,
];

/// The method whose tests are not counted.
const UNCOUNTED: &str = "this crate";

/// A routine, which counts tests of pairs of atoms.
type Method<'a> = Box<dyn Fn(&Call, &mut u64) + 'a>;

/// Static checks at the end of the motion. Those of this crate do not count tests.
fn checks(scene: &Scene) -> [Method<'_>; 5] {
    let check = |receptor| -> Method<'_> {
        let receptor: &Receptor = receptor;
        Box::new(move |(pose, motion), tests| {
            black_box(receptor.collides(&scene.atoms, &motion.pose_at(pose, 1.0), tests));
        })
    };
    let ours: Method<'_> = Box::new(|(pose, motion), _| {
        let end = motion.pose_at(pose, 1.0);
        black_box(is_free(
            &scene.ligand,
            &end,
            &scene.receptor,
            &Pose::IDENTITY,
        ));
    });
    let [brute, full, wrapped, mixed] = scene.receptors().map(check);
    [brute, full, wrapped, mixed, ours]
}

/// Motions until contact.
fn motions(scene: &Scene) -> [Method<'_>; 5] {
    let move_to_touch = |receptor| -> Method<'_> {
        let receptor: &Receptor = receptor;
        Box::new(move |(pose, motion), tests| {
            black_box(receptor.move_to_touch(&scene.atoms, pose, motion, tests));
        })
    };
    let ours: Method<'_> = Box::new(|(pose, motion), _| {
        black_box(scene.pair(*pose).sweep(motion).is_ok());
    });
    let [brute, full, wrapped, mixed] = scene.receptors().map(move_to_touch);
    [brute, full, wrapped, mixed, ours]
}

/// Mean cost of a call.
#[derive(Clone, Copy)]
struct Cost {
    micros: f64,
    /// None if tests are not counted.
    tests: Option<f64>,
}

/// Runs all methods on all calls in turns.
fn measure(calls: &[Call], rounds: usize, methods: &[Method<'_>; 5]) -> [Cost; 5] {
    let mut tests = [0_u64; 5];
    let mut numbered: [usize; 5] = std::array::from_fn(|at| at);
    let samples = interleave(Rounds::exactly(rounds), &mut numbered, |_, at| {
        tests[*at] = 0;
        for call in calls {
            methods[*at](call, &mut tests[*at]);
        }
    });
    let count = calls.len() as f64;
    std::array::from_fn(|at| Cost {
        micros: micros(samples[at].best()) / count,
        tests: (METHODS[at] != UNCOUNTED).then(|| tests[at] as f64 / count),
    })
}

fn micros(time: Duration) -> f64 {
    1.0e6 * time.as_secs_f64()
}
