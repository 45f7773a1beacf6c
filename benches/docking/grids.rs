//! The full grid of cells and the hashed one.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::molecule::{HashedLocalGrid, LocalGrid};
use glam::Vec3;

use super::{Scene, micros};

pub fn print(scene: &Scene, rounds: usize) {
    let receptor = scene.receptor.template();
    let (positions, radii) = (receptor.positions(), receptor.radii());
    let full = LocalGrid::new(positions, radii);
    let hashed = HashedLocalGrid::new(positions, radii);
    let mut best = [Duration::MAX; 2];
    for _ in 0..rounds {
        let looks: [&dyn Fn(Vec3, f32) -> usize; 2] = [
            &|centre, radius| {
                let mut found = 0;
                let _ = full.visit_touching(centre, radius, |_| {
                    found += 1;
                    ControlFlow::<()>::Continue(())
                });
                found
            },
            &|centre, radius| {
                let mut found = 0;
                let _ = hashed.visit_touching(centre, radius, |_| {
                    found += 1;
                    ControlFlow::<()>::Continue(())
                });
                found
            },
        ];
        for (best, look) in best.iter_mut().zip(looks) {
            let begin = Instant::now();
            for (pose, _) in &scene.poses {
                let ligand = scene.ligand.template();
                for (position, radius) in ligand.positions().iter().zip(ligand.radii()) {
                    black_box(look(pose.transform_point(*position), *radius));
                }
            }
            *best = (*best).min(begin.elapsed());
        }
    }
    let [full, hash] = best.map(micros);
    println!(
        "\nAll atoms of the drug in the cells of the receptor, without the map of the room around it, microseconds: full grid {full:.2}, hashed grid {hash:.2}, ratio {:.1}; {:.1} atoms in a bucket.",
        hash / full,
        hashed.mean_occupancy()
    );
}
