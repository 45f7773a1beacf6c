//! Dense against hashed cells.

use std::hint::black_box;
use std::ops::ControlFlow;

use bevy_rapier_molecules::molecule::LocalGrid;
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::common::{Column, Done, NoOptions, Run, cells};
use crate::hashed_grid::HashedGrid;
use crate::{ROUNDS, Scene, micros};

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let scene = Scene::xylene();
    let receptor = scene.receptor.template();
    let (positions, radii) = (receptor.positions(), receptor.radii());
    let dense = LocalGrid::new(positions, radii);
    let hashed = HashedGrid::new(positions, radii);
    let in_dense = |center: Vec3, radius: f32| {
        let mut found = 0;
        let _ = dense.visit_touching(center, radius, |_| next(&mut found));
        found
    };
    let in_hashed = |center: Vec3, radius: f32| {
        let mut found = 0;
        let _ = hashed.visit_touching(center, radius, |_| next(&mut found));
        found
    };
    let best = scene.best_of(
        run.pick(ROUNDS, 1),
        [&|pose, _| query_all(&scene, pose, &in_dense), &|pose, _| {
            query_all(&scene, pose, &in_hashed);
        }],
    );
    let [dense, hash] = best.map(micros);
    let title = "All atoms of the ligand in the cells of the receptor, without the distance map, \
                 microseconds.";
    let columns = vec![
        Column::measured("dense grid", "µs").decimals(2),
        Column::measured("hashed grid", "µs").decimals(2),
        Column::number("ratio").decimals(1),
        Column::number("atoms in a bucket").decimals(1),
    ];
    let mut table = run.table(title, columns);
    let occupancy = hashed.mean_occupancy();
    table.row(cells![dense, hash, hash / dense, occupancy]);
    Ok(())
}

/// Queries the cells around each atom of the ligand.
fn query_all(scene: &Scene, pose: &Pose, query: &dyn Fn(Vec3, f32) -> usize) {
    let ligand = scene.ligand.template();
    for (position, radius) in ligand.positions().iter().zip(ligand.radii()) {
        black_box(query(pose.transform_point(*position), *radius));
    }
}

/// Counts an atom and continues.
fn next(found: &mut usize) -> ControlFlow<()> {
    *found += 1;
    ControlFlow::Continue(())
}
