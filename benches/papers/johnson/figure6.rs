//! Figure 6: time of a step with the naive algorithm, cells, A, B and C.

use std::path::Path;

use bevy_rapier_molecules::search::swept::SweptAlgorithm;

use super::scene::{Scene, Walker, race, ratio};
use crate::common::{Cell, Column, Done, Run};
use crate::plots::{Line, Plot};

/// Numbers of particles.
const COUNTS: [u32; 7] = [50, 100, 200, 500, 1000, 2000, 4000];

/// Filled fractions of the box.
const FILLED: [f64; 7] = [1.0e-6, 1.0e-5, 1.0e-4, 1.0e-3, 0.01, 0.1, 0.3];

/// Largest number of pairs that the naive algorithm checks per step: a fifth of a second.
const MAX_CHECKS: f64 = 4.0e7;

/// Largest number of particles times searches per step for the others: a quarter of a second.
const MAX_SEARCHED: f64 = 1.2e5;

/// Times closer than this ratio count as equal in the order of the algorithms.
const EQUAL: f64 = 1.05;

/// Results of a scene: number of particles, and for each algorithm the time of a step, ms, and
/// the checks per search and particle.
struct Measured {
    count: u32,
    times: [Option<f64>; 5],
    checks: [Option<f64>; 5],
}

pub fn run(run: &mut Run, out: &Path) -> Done {
    let counts = run.pick(&COUNTS[..], &COUNTS[..2]);
    let fractions = run.pick(&FILLED[..], &FILLED[3..5]);
    let mut results = Vec::new();
    for &filled in fractions {
        let of_fraction = figure(run, filled, counts)?;
        plot(&of_fraction, filled, out)?;
        results.push((filled, of_fraction));
    }
    growth(run, &results);
    let [a, b, c] = [2, 3, 4];
    ratios(run, "A ÷ B", [a, b], &results);
    ratios(run, "C ÷ B", [c, b], &results);
    Ok(())
}

fn name(algorithm: usize) -> &'static str {
    SweptAlgorithm::ALL[algorithm].name()
}

fn figure(
    run: &mut Run,
    filled: f64,
    counts: &[u32],
) -> Result<Vec<Measured>, Box<dyn std::error::Error>> {
    let title = format!("**Figure 6**, filled fraction {filled}: ms per step.");
    let mut columns = vec![
        Column::number("particles"),
        Column::number("collisions per step"),
    ];
    columns.extend(SweptAlgorithm::ALL.map(|one| Column::measured(one.name(), "ms")));
    columns.push(Column::text("order"));
    let mut results = Vec::new();
    let mut rows = Vec::new();
    for &count in counts {
        let scene = Scene::new(count, filled);
        let searches = 1.0 + scene.expected_collisions();
        let particles = f64::from(count);
        if searches * particles > MAX_SEARCHED {
            continue;
        }
        let skips_naive = searches * particles * particles / 2.0 > MAX_CHECKS;
        let raced = &SweptAlgorithm::ALL[usize::from(skips_naive)..];
        let walkers = raced.iter().map(|&algorithm| scene.walker(algorithm));
        let mut walkers = walkers.collect::<Result<Vec<_>, _>>()?;
        race(run, &mut walkers)?;
        let mut measured = Measured {
            count,
            times: [None; 5],
            checks: [None; 5],
        };
        let skipped = SweptAlgorithm::ALL.len() - walkers.len();
        for (walker, place) in walkers.iter().zip(skipped..) {
            measured.times[place] = Some(walker.ms());
            measured.checks[place] = Some(walker.per_search(walker.work.checks));
        }
        let collisions = walkers.iter().map(Walker::collisions);
        let mut row = vec![
            Cell::from(count),
            Cell::from(collisions.sum::<f64>() / walkers.len() as f64),
        ];
        row.extend(measured.times.map(Cell::from));
        row.push(Cell::from(order(&measured.times)));
        rows.push(row);
        results.push(measured);
    }
    let mut table = run.table(&title, columns);
    for row in rows {
        table.row(row);
    }
    Ok(results)
}

/// The algorithms from slow to fast.
fn order(times: &[Option<f64>; 5]) -> String {
    let present = times.iter().enumerate();
    let mut sorted: Vec<(usize, f64)> = present
        .filter_map(|(algorithm, time)| Some((algorithm, (*time)?)))
        .collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut text = String::new();
    for (place, &(algorithm, time)) in sorted.iter().enumerate() {
        if place > 0 {
            let is_equal = sorted[place - 1].1 < EQUAL * time;
            text.push_str(if is_equal { " ≈ " } else { " > " });
        }
        text.push_str(name(algorithm));
    }
    text
}

fn plot(results: &[Measured], filled: f64, out: &Path) -> Done {
    let lines: Vec<Line> = (0..SweptAlgorithm::ALL.len())
        .map(|algorithm| {
            let point = |one: &Measured| Some((f64::from(one.count), one.times[algorithm]?));
            let mut line = Line::new(name(algorithm));
            line.points = results.iter().filter_map(point).collect();
            line
        })
        .collect();
    let plot = Plot {
        title: &format!("Figure 6: filled fraction {filled}"),
        names: ["particles", "ms per step"],
        logarithmic: true,
        lines: &lines,
    };
    plot.write(&out.join(format!("johnson_figure_6_filled_{filled}").replace('.', "_")))
}

/// Checks per search and particle: constant for an algorithm that is linear.
fn growth(run: &mut Run, results: &[(f64, Vec<Measured>)]) {
    let title = "**Potential collisions**: pairs checked per search and particle.";
    let mut columns = vec![
        Column::number("filled fraction"),
        Column::number("particles"),
    ];
    columns.extend(SweptAlgorithm::ALL.map(|one| Column::number(one.name())));
    let mut table = run.table(title, columns);
    for (filled, of_fraction) in results {
        let ends = [
            0,
            of_fraction.len() / 2,
            of_fraction.len().saturating_sub(1),
        ];
        for (place, end) in ends.into_iter().enumerate() {
            if let Some(measured) = of_fraction
                .get(end)
                .filter(|_| !ends[..place].contains(&end))
            {
                let mut row = vec![Cell::from(format!("{filled}")), Cell::from(measured.count)];
                row.extend(measured.checks.map(Cell::from));
                table.row(row);
            }
        }
    }
}

/// Time of one algorithm divided by that of another.
fn ratios(run: &mut Run, what: &str, [one, other]: [usize; 2], results: &[(f64, Vec<Measured>)]) {
    let title = format!("**{what}**: ratio of the times of figure 6.");
    let mut columns = vec![Column::text("filled fraction")];
    let most = results.iter().map(|(_, of_fraction)| of_fraction);
    let most = most.max_by_key(|of_fraction| of_fraction.len());
    let counts: Vec<u32> = most.into_iter().flatten().map(|one| one.count).collect();
    let column = |count: &u32| Column::number(format!("{count} particles")).decimals(2);
    columns.extend(counts.iter().map(column));
    let mut table = run.table(&title, columns);
    for (filled, of_fraction) in results {
        let mut row = vec![Cell::from(format!("{filled}"))];
        row.extend(counts.iter().map(|count| {
            let measured = of_fraction.iter().find(|measured| measured.count == *count);
            let times = measured.map(|measured| measured.times);
            Cell::from(times.and_then(|times| ratio(times[one]?, times[other]?)))
        }));
        table.row(row);
    }
}
