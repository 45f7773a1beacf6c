//! The ratio of radii from which a hierarchical grid pays off, which
//! `MIXED_OCCUPANCY` of [`AutoGrid`] is based on.

use bevy_rapier_molecules::scenes::{RadiusDistribution, polydisperse_spheres};
use bevy_rapier_molecules::search::{AutoGrid, PairBuffer, PairSearch};

use crate::common::{Column, Done, NoOptions, Run, cells};
use crate::{FILL, GRID_ROUNDS, Grids, SPHERES};

/// Largest radii in units of the smallest.
const RATIOS: [f32; 9] = [1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0];

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let count = run.pick(SPHERES, SPHERES / 100);
    let rounds = run.pick(GRID_ROUNDS, 1);
    let columns = vec![
        Column::text("spread"),
        Column::number("largest ÷ smallest").decimals(1),
        Column::measured("uniform-grid", "ms"),
        Column::measured("hierarchical-grid", "ms"),
        Column::number("ratio").decimals(2),
        Column::text("auto uses"),
    ];
    let title = format!("{count} spheres, the largest a multiple of the smallest, ms.");
    let mut table = run.table(&title, columns);
    for (name, spread) in [
        ("volume by octave", RadiusDistribution::VolumeByOctave),
        ("number by octave", RadiusDistribution::NumberByOctave),
    ] {
        for ratio in RATIOS {
            let spheres = polydisperse_spheres(count, 0.1..0.1 * ratio, spread, FILL, 1)?;
            let mut grids = Grids::default();
            let [one, several] = grids.race(rounds, &spheres);
            assert_eq!(grids.found[0].len(), grids.found[1].len());
            let mut auto = AutoGrid::new();
            auto.find_pairs(&spheres, 0.0, &mut PairBuffer::new())?;
            let choice = if auto.is_hierarchical() {
                "hierarchy"
            } else {
                "uniform"
            };
            let ratio = f64::from(ratio);
            table.row(cells![name, ratio, one, several, one / several, choice]);
        }
    }
    Ok(())
}
