//! Many spheres at the density of 1,000 in the box of Kim, Guibas and Shin.

use bevy_rapier_molecules::motion::unknown_trajectories::TimeVaryingConfig;
use bevy_rapier_molecules::scenes::ForcedSpheresConfig;

use crate::common::{Column, Done, NoOptions, Run, cells};
use crate::simulate;

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let numbers: &[u32] = &[1000, 10_000, 100_000];
    let (numbers, simulated) = run.pick((numbers, 1.0), (&[500], 0.1));
    let title = format!("**Many spheres** at the density of 1,000 in 200³, {simulated} s.");
    let columns = vec![
        Column::number("spheres"),
        Column::number("side of the box").decimals(0),
        Column::measured("s per simulated s", "s").decimals(2),
        Column::number("events"),
        Column::number("µs per event").decimals(1),
        Column::number("contacts"),
    ];
    let mut table = run.table(&title, columns);
    for &count in numbers {
        let config = ForcedSpheresConfig::default().scaled_to(count);
        let result = simulate(&config, &TimeVaryingConfig::default(), simulated)?;
        let counts = &result.counts;
        let crossings = counts.entering + counts.leaving;
        let events = crossings + counts.resetting + counts.colliding + counts.at_walls;
        table.row(cells![
            count,
            config.side,
            result.seconds,
            events,
            1.0e6 * result.seconds * simulated / events as f64,
            counts.contacts,
        ]);
    }
    Ok(())
}
