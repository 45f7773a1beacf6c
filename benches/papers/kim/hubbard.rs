//! Table 1: time-varying bounds against Hubbard's broad phase, in equal windows.

use bevy_rapier_molecules::motion::unknown_trajectories::HubbardConfig;
use bevy_rapier_molecules::scenes::ForcedSpheresConfig;

use super::start::{Start, Window};
use super::sweep::{BestIntervals, SWEEPS};
use super::{for_each_scene, mean, spread};
use crate::common::{Column, Done, Run, cells};

/// Begin of the first window and end of the last one, s. Simulations of the paper end at 15 s.
const SIMULATED: [f64; 2] = [1.0, 15.0];

/// A row of the paper's table, and the length of our windows in s.
pub struct Row {
    pub spheres: u32,
    length: f64,
    /// CPU seconds of time-varying bounds and of Hubbard in the paper.
    paper: [f64; 2],
}

impl Row {
    /// The ratio in the paper.
    pub fn ratio(&self) -> f64 {
        self.paper[1] / self.paper[0]
    }
}

pub const ROWS: [Row; 4] = [
    Row {
        spheres: 30,
        length: 14.0,
        paper: [0.00576, 0.94064],
    },
    Row {
        spheres: 100,
        length: 14.0,
        paper: [0.02776, 13.3605],
    },
    Row {
        spheres: 300,
        length: 3.0,
        paper: [0.15844, 150.28884],
    },
    Row {
        spheres: 1000,
        length: 0.1,
        paper: [1.372, 2767.8299],
    },
];

pub fn run(run: &mut Run, scenes: u64, intervals: &[BestIntervals]) -> Done {
    let [begin, end] = SIMULATED;
    let title = format!(
        "**Table 1**: CPU seconds per simulated second, mean of {scenes} scenes and standard \
         deviation. The scenes' windows are spread evenly from {begin} to {end} s; both methods \
         run in the same ones. Hubbard at its best duration of bounds."
    );
    let columns = vec![
        Column::number("spheres"),
        Column::number("window, s").decimals(1),
        Column::measured("bounds as published", "s").decimals(5),
        Column::number("± %, published").headed("± %").decimals(0),
        Column::measured("bounds, first end", "s").decimals(5),
        Column::number("± %, first end").headed("± %").decimals(0),
        Column::measured("Hubbard, first overlap", "s").decimals(4),
        Column::number("± %, first overlap")
            .headed("± %")
            .decimals(0),
        Column::measured("Hubbard, all crossings", "s").decimals(4),
        Column::number("± %, all crossings")
            .headed("± %")
            .decimals(0),
        Column::number("all crossings ÷ published").decimals(0),
        Column::number("first overlap ÷ first end").decimals(0),
        Column::number("ratio in the paper").decimals(0),
        Column::number("contacts"),
        Column::number("scenes with the same contacts in the same order").headed("same order"),
    ];
    let rows = run.pick(&ROWS[..], &ROWS[..1]);
    let quick = run.quick;
    let mut table = run.table(&title, columns);
    for (row, best) in rows.iter().zip(intervals) {
        let length = if quick { 0.5 } else { row.length };
        let measured = for_each_scene(scenes, |seed| {
            let config = ForcedSpheresConfig {
                count: row.spheres,
                seed,
                ..ForcedSpheresConfig::default()
            };
            let place = (seed as f64 - 0.5) / scenes as f64;
            let begin = begin + place * (end - begin - length);
            let start = Start::new(&config, Window { begin, length })?;
            let mut all = vec![start.published()?, start.own()?];
            for (sweep, interval) in SWEEPS.into_iter().zip(best.intervals) {
                all.push(start.hubbard(&HubbardConfig {
                    interval,
                    sweep,
                    ..HubbardConfig::default()
                })?);
            }
            Ok(all)
        })?;
        let times = |k: usize| {
            measured
                .iter()
                .map(|all| all[k].seconds)
                .collect::<Vec<_>>()
        };
        let [published, first_end, first, whole] = [0, 1, 2, 3].map(times);
        // The published rules have moved the spheres during the warm-up, with other rounding.
        let same = measured.iter().filter(|all| {
            let mut contacts = all[1..].iter().map(|one| &one.contacts);
            contacts.all(|contacts| *contacts == all[1].contacts)
        });
        let contacts: usize = measured.iter().map(|all| all[1].contacts.len()).sum();
        table.row(cells![
            row.spheres,
            length,
            mean(&published),
            spread(&published),
            mean(&first_end),
            spread(&first_end),
            mean(&first),
            spread(&first),
            mean(&whole),
            spread(&whole),
            mean(&whole) / mean(&published),
            mean(&first) / mean(&first_end),
            row.ratio(),
            contacts,
            same.count(),
        ]);
    }
    for best in intervals {
        let [first, whole] = best.intervals;
        run.note(&format!(
            "Durations of Hubbard's bounds for {} spheres: {first} s to the first overlap, \
             {whole} s for all crossings.",
            best.spheres
        ));
    }
    Ok(())
}
