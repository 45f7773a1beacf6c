//! The energy from a lattice and by the sum over all pairs.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::docking::energy::{
    EnergyConfig, EnergyGrid, TypedMolecule, direct_interaction,
};
use bevy_rapier_molecules::pose::Pose;

use super::{Scene, micros};

pub fn print(scene: &Scene, rounds: usize) {
    let [large, small] = [&scene.receptor, &scene.ligand]
        .map(|molecule| TypedMolecule::new(Arc::clone(molecule.template())));
    let (config, home) = (EnergyConfig::default(), Pose::IDENTITY);
    let begin = Instant::now();
    let grid = EnergyGrid::new(&large, &small, &config).expect("the lattice fits");
    let made = begin.elapsed();
    let mut best = [Duration::MAX; 2];
    for _ in 0..rounds {
        let ways: [&dyn Fn(&Pose) -> f64; 2] = [
            &|pose| direct_interaction(&small, pose, &large, &home, &config).energy(),
            &|pose| grid.interaction(pose, &home).energy(),
        ];
        for (best, way) in best.iter_mut().zip(ways) {
            let begin = Instant::now();
            for (pose, _) in &scene.poses {
                black_box(way(pose));
            }
            *best = (*best).min(begin.elapsed());
        }
    }
    let squares = scene.poses.iter().map(|(pose, _)| {
        let exact = direct_interaction(&small, pose, &large, &home, &config).energy();
        (grid.energy(pose, &home) - exact).powi(2)
    });
    let off = (squares.sum::<f64>() / scene.poses.len() as f64).sqrt();
    let [direct, read] = best.map(micros);
    println!(
        "\nEnergy, force and torque, microseconds: all pairs {direct:.1}, lattice {read:.2}, ratio {:.0}; {off:.2} kJ/mol off (root mean square at these poses). The lattice takes {:.1} MB and was made in {:.2} s.",
        direct / read,
        grid.bytes() as f64 / 1.0e6,
        made.as_secs_f64()
    );
}
