//! The docking search for p-xylene in T4 lysozyme.

use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::search::{DockingSearch, DockingSearchConfig};

use crate::Scene;
use crate::common::{Column, Done, NoOptions, Run, cells};

/// Seeds of the searches.
const SEEDS: u64 = 5;

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let scene = Scene::xylene();
    let seeds = run.pick(SEEDS, 1);
    let (ligand, receptor) = (&scene.ligand, &scene.receptor);
    let (crystal, home) = (
        ligand.template().file_pose(),
        receptor.template().file_pose(),
    );
    let columns = vec![
        Column::number("seed"),
        Column::measured("seconds", "s").decimals(2),
        Column::measured("energy, kJ/mol", "kJ/mol").decimals(1),
        Column::measured("from the crystal's center, nm", "nm").decimals(3),
    ];
    let mut table = run.table(
        "Search on all threads, including the construction of the lattice.",
        columns,
    );
    for seed in 1..=seeds {
        let begin = Instant::now();
        let [large, small] = [receptor, ligand]
            .map(|molecule| ForceFieldMolecule::new(Arc::clone(molecule.template())));
        let energy =
            EnergyGrid::new(&large, &small, &EnergyConfig::default()).expect("the lattice fits");
        let docking = DockingSearch {
            ligand,
            receptor,
            receptor_pose: home,
            energy: &energy,
        };
        let config = DockingSearchConfig {
            seed,
            ..DockingSearchConfig::default()
        };
        let found = docking.run(&config, &|_, _| ()).expect("free poses exist");
        table.row(cells![
            seed,
            begin.elapsed().as_secs_f64(),
            found[0].energy,
            f64::from(found[0].pose.position.distance(crystal.position)),
        ]);
    }
    Ok(())
}
