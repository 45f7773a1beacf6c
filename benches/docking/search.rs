//! The search for where the drug belongs.

use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, TypedMolecule};
use bevy_rapier_molecules::docking::search::{Docking, SearchConfig};

use super::Scene;

pub fn print(scene: &Scene, seeds: u64) {
    let (ligand, receptor) = (&scene.ligand, &scene.receptor);
    let (crystal, home) = (
        ligand.template().file_pose(),
        receptor.template().file_pose(),
    );
    println!("\nSearch, all threads, with making the lattice:\n");
    println!("| seed | seconds | energy, kJ/mol | from the crystal's centre, nm |");
    println!("|--:|--:|--:|--:|");
    for seed in 1..=seeds {
        let begin = Instant::now();
        let [large, small] =
            [receptor, ligand].map(|molecule| TypedMolecule::new(Arc::clone(molecule.template())));
        let energy =
            EnergyGrid::new(&large, &small, &EnergyConfig::default()).expect("the lattice fits");
        let docking = Docking {
            ligand,
            receptor,
            receptor_pose: home,
            energy: &energy,
        };
        let config = SearchConfig {
            seed,
            ..SearchConfig::default()
        };
        let found = docking
            .search(&config, &|_, _| ())
            .expect("there is room outside");
        println!(
            "| {seed} | {:.2} | {:.1} | {:.3} |",
            begin.elapsed().as_secs_f64(),
            found[0].energy,
            found[0].pose.position.distance(crystal.position)
        );
    }
}
