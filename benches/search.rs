//! Time to count the atom pairs of different molecules closer than 0.34 nm.
//!
//! Scenes are POPC vesicles of 10³ to 4·10⁶ unsorted atoms at constant density. Times include
//! building the search structure and use all threads. Rounds are interleaved and the best
//! round of each search is reported. Run it on an otherwise idle machine.

mod common;
mod peers;

use std::process::ExitCode;
use std::time::Duration;

use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchTimes, UniformGrid};
use clap::Args;
use common::interleave::{Rounds, interleave, ms};
use common::molecules::{POPC_ATOMS, atoms_from};
use common::{Cell, Column, Done, Part, Run};
use peers::TOLERANCE_NM;
use peers::pair_counters::pair_counters;
use peers::scene::Scene;

/// Default scene sizes, atoms.
const ATOMS: [usize; 6] = [1000, 10_000, 100_000, 1_000_000, 2_000_000, 4_000_000];

/// Rounds per scene.
const ROUNDS: Rounds = Rounds {
    min: 5,
    max: 200,
    time: Duration::from_secs(30),
};

/// Searches that store the pairs; the best one is reported.
const WRITE_ROUNDS: usize = 10;

/// Largest fraction by which two counts may differ: pairs exactly at the tolerance are
/// rounded differently by each search.
const BORDERLINE_FRACTION: f64 = 1.0e-5;

/// Columns after `atoms` and `pairs`.
const NAMES: [&str; 4] = ["uniform-grid", "zelll", "kiddo", "brute-force"];

#[derive(Args)]
struct Options {
    /// Scene sizes in atoms, separated by commas, at least 134 (one lipid) [default: 1,000
    /// to 4,000,000].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(POPC_ATOMS))]
    atoms: Vec<usize>,
}

fn main() -> ExitCode {
    let about = "Time to count pairs of near atoms";
    let parts = [Part::new(
        "count",
        "UniformGrid against zelll, kiddo and brute force",
        count,
    )];
    common::run("search", about, &parts)
}

fn count(run: &mut Run, options: &Options) -> Done {
    let sizes = match &options.atoms[..] {
        [] => run.pick(&ATOMS[..], &ATOMS[..1]),
        sizes => sizes,
    };
    let rounds = run.pick(ROUNDS, Rounds::exactly(1));
    let title = format!(
        "Pairs of atoms of different molecules closer than {TOLERANCE_NM} nm, from unsorted \
         atoms; ms, best of interleaved rounds. Build + walk stores the pairs, the other columns \
         only count them."
    );
    let mut columns = vec![Column::number("atoms"), Column::number("pairs")];
    columns.extend(NAMES.map(|name| Column::measured(name, "ms")));
    columns.push(Column::number("zelll ÷ uniform-grid").decimals(1));
    columns.push(Column::measured("build + walk", "ms"));
    let mut table = run.table(&title, columns);
    for &atoms in sizes {
        table.row(row(&Scene::vesicle(atoms), rounds));
    }
    Ok(())
}

/// Runs all searches on one scene.
fn row(scene: &Scene, rounds: Rounds) -> Vec<Cell> {
    let scenes = [&scene.mirrored(), scene];
    let mut counters = pair_counters(scene.len());
    let counts: Vec<u64> = counters.iter_mut().map(|one| one.count(scene)).collect();
    for (&count, counter) in counts.iter().zip(&counters) {
        let apart = count.abs_diff(counts[0]) as f64;
        assert!(
            apart <= 2.0 + BORDERLINE_FRACTION * count as f64,
            "{} counts {count} pairs, not {}",
            counter.name(),
            counts[0]
        );
    }
    let samples = interleave(rounds, &mut counters, |round, counter| {
        counter.count(scenes[round % 2])
    });
    let time_of = |name: &str| {
        let index = counters.iter().position(|one| one.name() == name)?;
        Some(ms(samples[index].best()))
    };
    let mut cells = vec![Cell::from(scene.len()), Cell::from(counts[0])];
    cells.extend(NAMES.map(|name| Cell::from(time_of(name))));
    let ratio = time_of("zelll").zip(time_of("uniform-grid"));
    cells.push(Cell::from(ratio.map(|(zelll, grid)| zelll / grid)));
    let times = build_and_walk_times(scene);
    cells.push(Cell::from([times.build, times.walk].map(ms)));
    cells
}

/// Build and walk times of the fastest search that stores the pairs.
fn build_and_walk_times(scene: &Scene) -> SearchTimes {
    let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    (0..WRITE_ROUNDS)
        .map(|_| {
            search
                .find_pairs(&scene.spheres, 0.0, &mut pairs)
                .expect("a vesicle is finite")
        })
        .min_by_key(|times| times.build + times.walk)
        .unwrap_or_default()
}
