//! The full grid of cells and the hashed one.

use std::hint::black_box;
use std::ops::ControlFlow;

use bevy_rapier_molecules::molecule::{HashedLocalGrid, LocalGrid};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::common::{Column, Done, NoSwitches, Run, cells};
use crate::{ROUNDS, Scene, micros};

pub fn run(run: &mut Run, _: &NoSwitches) -> Done {
    let scene = Scene::of_drug();
    let receptor = scene.receptor.template();
    let (positions, radii) = (receptor.positions(), receptor.radii());
    let full = LocalGrid::new(positions, radii);
    let hashed = HashedLocalGrid::new(positions, radii);
    let in_full = |center: Vec3, radius: f32| {
        let mut found = 0;
        let _ = full.visit_touching(center, radius, |_| next(&mut found));
        found
    };
    let in_hashed = |center: Vec3, radius: f32| {
        let mut found = 0;
        let _ = hashed.visit_touching(center, radius, |_| next(&mut found));
        found
    };
    let best = scene.best_of(
        run.pick(ROUNDS, 1),
        [
            &|pose, _| look_around(&scene, pose, &in_full),
            &|pose, _| look_around(&scene, pose, &in_hashed),
        ],
    );
    let [full, hash] = best.map(micros);
    let title = "All atoms of the drug in the cells of the receptor, without the map of the room \
                 around it, microseconds.";
    let columns = vec![
        Column::measured("full grid", "µs").decimals(2),
        Column::measured("hashed grid", "µs").decimals(2),
        Column::number("ratio").decimals(1),
        Column::number("atoms in a bucket").decimals(1),
    ];
    let mut table = run.table(title, columns);
    let occupancy = hashed.mean_occupancy();
    table.row(cells![full, hash, hash / full, occupancy]);
    Ok(())
}

/// Looks for what each atom of the drug touches at a pose.
fn look_around(scene: &Scene, pose: &Pose, look: &dyn Fn(Vec3, f32) -> usize) {
    let ligand = scene.ligand.template();
    for (position, radius) in ligand.positions().iter().zip(ligand.radii()) {
        black_box(look(pose.transform_point(*position), *radius));
    }
}

/// One more, and on.
fn next(found: &mut usize) -> ControlFlow<()> {
    *found += 1;
    ControlFlow::Continue(())
}
