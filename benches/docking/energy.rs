//! Interaction energy from a lattice against the sum over all pairs.

use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::docking::energy::{
    EnergyConfig, EnergyGrid, ForceFieldMolecule, direct_interaction,
};
use bevy_rapier_molecules::pose::Pose;

use crate::common::{Column, Done, NoOptions, Run, cells};
use crate::{ROUNDS, Scene, micros};

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let scene = Scene::xylene();
    let [large, small] = [&scene.receptor, &scene.ligand]
        .map(|molecule| ForceFieldMolecule::new(Arc::clone(molecule.template())));
    let (config, home) = (EnergyConfig::default(), Pose::IDENTITY);
    let begin = Instant::now();
    let grid = EnergyGrid::new(&large, &small, &config).expect("the lattice fits");
    let build = begin.elapsed();
    let best = scene.best_of(
        run.pick(ROUNDS, 1),
        [
            &|pose, _| direct_interaction(&small, pose, &large, &home, &config).energy(),
            &|pose, _| grid.interaction(pose, &home).energy(),
        ],
    );
    let squares = scene.poses.iter().map(|(pose, _)| {
        let exact = direct_interaction(&small, pose, &large, &home, &config).energy();
        (grid.energy(pose, &home) - exact).powi(2)
    });
    let error = (squares.sum::<f64>() / scene.poses.len() as f64).sqrt();
    let [direct, read] = best.map(micros);
    let title = "Energy, force and torque of the ligand at these poses, microseconds; the error is \
                 the root mean square.";
    let columns = vec![
        Column::measured("all pairs", "µs"),
        Column::measured("lattice", "µs").decimals(2),
        Column::number("ratio").decimals(0),
        Column::measured("error, kJ/mol", "kJ/mol").decimals(2),
        Column::measured("lattice, MB", "MB").decimals(1),
        Column::measured("build, s", "s").decimals(2),
    ];
    run.table(title, columns).row(cells![
        direct,
        read,
        direct / read,
        error,
        grid.bytes() as f64 / 1.0e6,
        build.as_secs_f64(),
    ]);
    Ok(())
}
