//! How fast are atoms of different molecules closer than 0.34 nm counted?
//!
//! From 10³ to 4·10⁶ atoms of a POPC vesicle at constant density, from unsorted atoms,
//! including the construction of whatever is searched, on all threads. Contestants take
//! turns and each one's best round counts. Close everything else nevertheless: two busy
//! threads suffer more from a third than one does.

mod common;
mod contest;

use std::process::ExitCode;
use std::time::Duration;

use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchTimes, UniformGrid};
use clap::Args;
use common::molecules::{POPC_ATOMS, atoms_from};
use common::turns::{Rounds, in_turns, ms};
use common::{Cell, Column, Done, Part, Run};
use contest::TOLERANCE_NM;
use contest::contestants::contestants;
use contest::scene::Scene;

/// Atoms of the scenes unless arguments say otherwise.
const ATOMS: [usize; 6] = [1000, 10_000, 100_000, 1_000_000, 2_000_000, 4_000_000];

/// Rounds go on until a scene has taken its time.
const ROUNDS: Rounds = Rounds {
    least: 5,
    most: 200,
    time: Duration::from_secs(30),
};

/// Searches that write the pairs down, of which the best counts.
const WRITTEN: usize = 10;

/// Counts of different searches may differ by pairs at the very tolerance, whose
/// distance each rounds in its own way: this fraction at most.
const UNDECIDED: f64 = 1.0e-5;

/// The columns, after the atoms and the pairs.
const NAMES: [&str; 4] = ["uniform-grid", "zelll", "kiddo", "brute-force"];

#[derive(Args)]
struct Switches {
    /// Atoms of the scenes, at least the 134 of a lipid, with commas [default: 1,000 to
    /// 4,000,000].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(POPC_ATOMS))]
    atoms: Vec<usize>,
}

fn main() -> ExitCode {
    let about = "Who counts pairs of near atoms how fast";
    let parts = [Part::new(
        "count",
        "our grid against zelll, kiddo and brute force",
        count,
    )];
    common::run("search", about, &parts)
}

fn count(run: &mut Run, switches: &Switches) -> Done {
    let sizes = match &switches.atoms[..] {
        [] => run.pick(&ATOMS[..], &ATOMS[..1]),
        sizes => sizes,
    };
    let rounds = run.pick(ROUNDS, Rounds::exactly(1));
    let title = format!(
        "Pairs of atoms of different molecules closer than {TOLERANCE_NM} nm, from unsorted \
         atoms; ms, best of interleaved rounds. Build + walk is the search that writes the \
         pairs down, the other columns count them."
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

/// Runs all contestants on one scene.
fn row(scene: &Scene, rounds: Rounds) -> Vec<Cell> {
    let scenes = [&scene.mirrored(), scene];
    let mut contestants = contestants(scene.len());
    let counts: Vec<u64> = contestants.iter_mut().map(|one| one.count(scene)).collect();
    for (&count, contestant) in counts.iter().zip(&contestants) {
        let apart = count.abs_diff(counts[0]) as f64;
        assert!(
            apart <= 2.0 + UNDECIDED * count as f64,
            "{} counts {count} pairs, not {}",
            contestant.name(),
            counts[0]
        );
    }
    let laps = in_turns(rounds, &mut contestants, |round, contestant| {
        contestant.count(scenes[round % 2])
    });
    let time_of = |name: &str| {
        let index = contestants.iter().position(|one| one.name() == name)?;
        Some(ms(laps[index].best()))
    };
    let mut cells = vec![Cell::from(scene.len()), Cell::from(counts[0])];
    cells.extend(NAMES.map(|name| Cell::from(time_of(name))));
    let ratio = time_of("zelll").zip(time_of("uniform-grid"));
    cells.push(Cell::from(ratio.map(|(zelll, grid)| zelll / grid)));
    let split = split(scene);
    cells.push(Cell::from([split.build, split.walk].map(ms)));
    cells
}

/// The two halves of the grid's fastest search that also writes the pairs down.
fn split(scene: &Scene) -> SearchTimes {
    let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    (0..WRITTEN)
        .map(|_| {
            search
                .find_pairs(&scene.spheres, 0.0, &mut pairs)
                .expect("a vesicle is finite")
        })
        .min_by_key(|times| times.build + times.walk)
        .unwrap_or_default()
}
