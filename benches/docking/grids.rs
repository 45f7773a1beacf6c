//! The full grid of cells and the hashed one.

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
    let best = scene.best_of(
        run.pick(ROUNDS, 1),
        [
            &|pose, _| {
                touched(&scene, pose, |centre, radius, found| {
                    let _ = full.visit_touching(centre, radius, |_| next(found));
                })
            },
            &|pose, _| {
                touched(&scene, pose, |centre, radius, found| {
                    let _ = hashed.visit_touching(centre, radius, |_| next(found));
                })
            },
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

/// How many atoms the drug touches at a pose. `look` counts those that one of its atoms
/// touches.
fn touched(scene: &Scene, pose: &Pose, look: impl Fn(Vec3, f32, &mut usize)) -> usize {
    let ligand = scene.ligand.template();
    let mut found = 0;
    for (position, radius) in ligand.positions().iter().zip(ligand.radii()) {
        look(pose.transform_point(*position), *radius, &mut found);
    }
    found
}

/// One more, and on.
fn next(found: &mut usize) -> ControlFlow<()> {
    *found += 1;
    ControlFlow::Continue(())
}
