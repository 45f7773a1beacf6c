//! Tables 2 and 3: large numbers of spheres in the late steps, and memory.

use super::competitor::Kind;
use super::measure::{Experiment, Measured};
use super::{LATE, RUNS};
use crate::Options;
use crate::common::{Cell, Column, Done, Run, cells};

/// Numbers of spheres, and of runs. The default ends at [`Options::most`].
const COUNTS: [(u32, u64); 7] = [
    (10_000, RUNS),
    (30_000, RUNS),
    (50_000, RUNS),
    (100_000, RUNS),
    (300_000, 1),
    (1_000_000, 1),
    (5_000_000, 1),
];

/// Largest number of spheres for the quadratic search and for sweep and prune.
const MAX_SLOW: u32 = 100_000;

/// Mebibyte.
const MIB: f64 = 1024.0 * 1024.0;

/// CPU seconds per search and number of spheres. At least one step is measured.
const MAX_SECONDS: f64 = 5.0;

pub fn run(run: &mut Run, options: &Options) -> Done {
    let counts = COUNTS.iter().filter(|(count, _)| *count <= options.most);
    let counts: Vec<(u32, u64)> = run.pick(counts.copied().collect(), vec![(1000, 1)]);
    let mut outcomes = Vec::new();
    for (count, runs) in counts {
        let kinds = Kind::ALL.into_iter().filter(|kind| match kind {
            Kind::Quadratic | Kind::SweepAndPrune | Kind::LimitedSweepAndPrune => count <= MAX_SLOW,
            _ => true,
        });
        let experiment = Experiment {
            count,
            steps: if run.quick { 50..=51 } else { LATE },
            runs,
            kinds: &kinds.collect::<Vec<_>>(),
            max_seconds: MAX_SECONDS,
        };
        outcomes.push((count, experiment.run()?));
    }
    times(run, &outcomes);
    candidates(run, &outcomes);
    memory(run, &outcomes);
    Ok(())
}

type Outcomes = [(u32, Vec<Measured>)];

/// The measurement of a broad phase.
fn of(outcome: &[Measured], kind: Kind) -> Option<&Measured> {
    outcome.iter().find(|measured| measured.kind == kind)
}

fn times(run: &mut Run, outcomes: &Outcomes) {
    let mut columns = vec![Column::number("N")];
    columns.extend(Kind::ALL.map(|kind| Column::measured(kind.name(), "ms")));
    columns.push(Column::number("quadratic ÷ kd-tree-1").decimals(0));
    columns.push(Column::number("sweep and prune ÷ kd-tree-1").decimals(0));
    columns.push(Column::number("kd-tree-2 ÷ kd-tree-1").decimals(2));
    columns.push(Column::text("steps measured"));
    let title = "**Poirrier, table 2: times.** CPU ms per step on one thread, means over runs of \
                 steps 50 to 60. Slow searches skip steps.";
    let mut table = run.table(title, columns);
    for (count, outcome) in outcomes {
        let time = |kind| of(outcome, kind).map(Measured::mean_ms);
        let ratio = |one, other| Some(time(one)? / time(other)?);
        let steps = outcome.iter().map(|measured| measured.seconds.len());
        let [least, most] = [steps.clone().min(), steps.max()].map(Option::unwrap_or_default);
        let mut row: Vec<Cell> = vec![(*count).into()];
        row.extend(Kind::ALL.map(|kind| time(kind).into()));
        row.extend(cells![
            ratio(Kind::Quadratic, Kind::KdTree1),
            ratio(Kind::SweepAndPrune, Kind::KdTree1),
            ratio(Kind::KdTree2, Kind::KdTree1),
            match least == most {
                true => most.to_string(),
                false => format!("{least} to {most}"),
            },
        ]);
        table.row(row);
    }
}

fn candidates(run: &mut Run, outcomes: &Outcomes) {
    let decimal = |name: &str| Column::number(name).decimals(2);
    let columns = vec![
        Column::number("N"),
        decimal("quadratic / N"),
        decimal("kd-tree-1, selected / N").decimals(1),
        decimal("sweep and prune, boxes / N"),
        decimal("kd-tree-2, spheres / N"),
        Column::number("swaps of sweep and prune / N").decimals(0),
    ];
    let title = "**Poirrier, tables 2 and 3: candidates** per sphere and step, in the same runs.";
    let mut table = run.table(title, columns);
    for (count, outcome) in outcomes {
        let each = f64::from(*count);
        let candidates = |kind| of(outcome, kind).map(|found| found.candidates() / each);
        table.row(cells![
            *count,
            0.5 * (each - 1.0),
            candidates(Kind::KdTree1),
            candidates(Kind::SortedKdTree1).or(candidates(Kind::LimitedSweepAndPrune)),
            candidates(Kind::KdTree2),
            of(outcome, Kind::SweepAndPrune).map(|found| found.swaps() / each),
        ]);
    }
}

fn memory(run: &mut Run, outcomes: &Outcomes) {
    let mut columns = vec![Column::number("N")];
    let kinds = [Kind::KdTree1, Kind::SortedKdTree1, Kind::KdTree2];
    columns.extend(kinds.map(|kind| Column::measured(kind.name(), "MiB").decimals(1)));
    columns.extend(
        kinds.map(|kind| Column::number(format!("{}, bytes / N", kind.name())).decimals(0)),
    );
    let title = "**Poirrier, table 3: memory** of spheres, boxes, tree and list of pairs.";
    let mut table = run.table(title, columns);
    for (count, outcome) in outcomes {
        let bytes = kinds.map(|kind| of(outcome, kind).map(Measured::bytes));
        let mut row: Vec<Cell> = vec![(*count).into()];
        row.extend(bytes.map(|bytes| bytes.map(|bytes| bytes / MIB).into()));
        row.extend(bytes.map(|bytes| bytes.map(|bytes| bytes / f64::from(*count)).into()));
        table.row(row);
    }
}
