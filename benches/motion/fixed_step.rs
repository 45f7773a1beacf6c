//! The simple alternative: a grid at a fixed step that is short enough to miss nothing.

use bevy_rapier_molecules::motion::time_varying::{SphereMotion, TimeVaryingConfig};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use bevy_rapier_molecules::search::{HierarchicalGrid, PairBuffer, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::common::{Column, Done, Run, cells, processor};
use crate::{Switches, follow};

/// How deep spheres may get before a step sees it: a tenth of the smallest radius.
const DEPTH: f64 = 0.1;

/// How much faster than at the start spheres may become: forces and collisions push them.
const FASTER: f64 = 2.0;

pub fn run(run: &mut Run, _: &Switches) -> Done {
    let numbers: &[u32] = run.pick(&[300, 1000, 3000], &[100]);
    let (steps, simulated) = run.pick((500, 2.0), (10, 0.1));
    let title = format!(
        "**Fixed steps**: seconds for each simulated second, one thread. In a step two spheres \
         approach each other by {DEPTH} of the smallest radius at most."
    );
    let columns = vec![
        Column::number("spheres"),
        Column::number("steps a second").decimals(0),
        Column::measured("uniform grid", "s").decimals(2),
        Column::measured("hierarchy of grids", "s").decimals(2),
        Column::measured("time-varying bounds", "s").decimals(4),
        Column::number("better grid ÷ bounds").decimals(0),
    ];
    let mut table = run.table(&title, columns);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for &count in numbers {
        let config = ForcedSpheresConfig {
            count,
            ..ForcedSpheresConfig::default()
        };
        let dt = DEPTH * config.radii[0] / (2.0 * FASTER * config.speeds[1]);
        let uniform = pool.install(|| time(&config, dt, steps, &mut UniformGrid::new()))?;
        let hierarchy = pool.install(|| time(&config, dt, steps, &mut HierarchicalGrid::new()))?;
        let own = follow(&config, &TimeVaryingConfig::default(), simulated)?.seconds;
        table.row(cells![
            count,
            1.0 / dt,
            uniform,
            hierarchy,
            own,
            uniform.min(hierarchy) / own,
        ]);
    }
    Ok(())
}

/// Seconds that a simulated second takes: moving everyone and finding who overlaps. What
/// they do then is left out, in favor of the fixed step.
fn time(
    config: &ForcedSpheresConfig,
    dt: f64,
    steps: u32,
    search: &mut impl PairSearch,
) -> Result<f64, String> {
    let mut motion = ForcedSpheres::new(config).map_err(|error| error.to_string())?;
    let radii: Vec<f32> = motion
        .spheres()
        .iter()
        .map(|one| one.radius as f32)
        .collect();
    let (mut spheres, mut pairs) = (SphereSet::new(), PairBuffer::new());
    let begin = processor::of_thread();
    for step in 1..=steps {
        let now = f64::from(step) * dt;
        spheres.clear();
        for (&radius, index) in radii.iter().zip(0..) {
            let place = motion.probe(index, now).position.as_vec3();
            let pushed = spheres.push(place, radius, index);
            pushed.map_err(|error| error.to_string())?;
        }
        let found = search.find_pairs(&spheres, 0.0, &mut pairs);
        found.map_err(|error| error.to_string())?;
    }
    Ok((processor::of_thread() - begin) / (f64::from(steps) * dt))
}
