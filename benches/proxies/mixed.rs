//! 100,000 spheres with radii from 0.1 to 10, the range of Kim, Guibas and Shin: uniform
//! against hierarchical grid.

use bevy_rapier_molecules::scenes::{RadiusDistribution, polydisperse_spheres};
use bevy_rapier_molecules::search::{BruteForce, PairBuffer, PairSearch};

use crate::common::{Column, Done, NoOptions, Run, cells};
use crate::{FILL, GRID_ROUNDS, Grids, SPHERES};

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let count = run.pick(SPHERES, SPHERES / 100);
    let rounds = run.pick(GRID_ROUNDS, 1);
    let columns = vec![
        Column::text("radii"),
        Column::number("pairs"),
        Column::measured("uniform-grid", "ms"),
        Column::measured("hierarchical-grid", "ms"),
        Column::number("levels"),
        Column::number("ratio").decimals(1),
    ];
    let title = format!("{count} spheres, radii from 0.1 to 10, all pairs, ms.");
    let mut table = run.table(&title, columns);
    for (name, spread) in [
        (
            "equal volume per octave",
            RadiusDistribution::VolumeByOctave,
        ),
        (
            "equal number per octave",
            RadiusDistribution::NumberByOctave,
        ),
        ("uniform", RadiusDistribution::Uniform),
    ] {
        let spheres = polydisperse_spheres(count, 0.1..10.0, spread, FILL, 1)?;
        let mut grids = Grids::default();
        let [one, several] = grids.race(rounds, &spheres);
        let mut truth = PairBuffer::new();
        BruteForce.find_pairs(&spheres, 0.0, &mut truth)?;
        let truth = truth.to_sorted_vec();
        for found in &grids.found {
            assert!(
                found.to_sorted_vec() == truth,
                "{name}: pairs differ from brute force"
            );
        }
        let levels = grids.hierarchy.level_count();
        table.row(cells![
            name,
            truth.len(),
            one,
            several,
            levels,
            one / several,
        ]);
    }
    Ok(())
}
