//! The simple alternative: a grid at a fixed step short enough to miss no collision.

use bevy_rapier_molecules::motion::unknown_trajectories::{SphereMotion, TimeVaryingConfig};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use bevy_rapier_molecules::search::{HierarchicalGrid, PairBuffer, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::common::{Column, Done, NoOptions, Run, cells, cpu_time};
use crate::simulate;

/// Largest undetected penetration, in units of the smallest radius.
const DEPTH: f64 = 0.1;

/// Assumed largest speed, in units of the largest initial speed.
const MAX_SPEED_FACTOR: f64 = 2.0;

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let numbers: &[u32] = run.pick(&[300, 1000, 3000], &[100]);
    let (steps, simulated) = run.pick((500, 2.0), (10, 0.1));
    let title = format!(
        "**Fixed steps**: seconds per simulated second, one thread. In a step two spheres \
         approach by at most {DEPTH} of the smallest radius."
    );
    let columns = vec![
        Column::number("spheres"),
        Column::number("steps per second").decimals(0),
        Column::measured("uniform grid", "s").decimals(2),
        Column::measured("hierarchical grid", "s").decimals(2),
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
        let dt = DEPTH * config.radii[0] / (2.0 * MAX_SPEED_FACTOR * config.speeds[1]);
        let uniform = pool.install(|| time(&config, dt, steps, &mut UniformGrid::new()))?;
        let hierarchy = pool.install(|| time(&config, dt, steps, &mut HierarchicalGrid::new()))?;
        let own = simulate(&config, &TimeVaryingConfig::default(), simulated)?.seconds;
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

/// CPU seconds per simulated second to move all spheres and find the overlaps. The response is
/// left out, in favor of the fixed step.
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
    let begin = cpu_time::thread_seconds();
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
    Ok((cpu_time::thread_seconds() - begin) / (f64::from(steps) * dt))
}
