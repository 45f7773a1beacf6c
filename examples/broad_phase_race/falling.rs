//! Poirrier's workload: spheres that fall on a floor, in early and late steps.

use std::ops::RangeInclusive;

use bevy_rapier_molecules::scenes::{FallingSpheres, STEPS_TO_FALL};
use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{
    LinearKdTree, PairBuffer, PairSearch, SearchKind, UniformGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::Arguments;
use crate::common::AnyError;
use crate::plots::{Line, Plot};
use crate::runners::{MAX_FOR_SLOW_SEARCHES, SphereRunner, overlapping};
use crate::table::{self, Tables};

/// Min number of spheres.
pub const MIN_SPHERES: u32 = 1000;

/// Initial volume fraction of the spheres, d in the paper.
const VOLUME_FRACTION: f32 = 0.1;

/// Seed of the initial positions.
const SEED: u64 = 1;

/// The paper's early and late steps.
const EARLY: RangeInclusive<u32> = 0..=10;
const LATE: RangeInclusive<u32> = 50..=60;

/// Max number of spheres for the hashed grid: a pile of a million takes half a minute.
const MAX_FOR_HASH_GRID: u32 = 300_000;

/// Factors of the scene's gravity.
const GRAVITIES: [f32; 5] = [4.0, 2.0, 1.0, 0.5, 0.25];

/// The results for a number of spheres.
struct Outcome {
    count: u32,
    /// Median time of each search, ms.
    times: Vec<(&'static str, Option<f64>)>,
    /// Candidate pairs per sphere: selected by the tree, overlapping boxes, and overlapping
    /// spheres.
    candidates: [f64; 3],
}

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<(), AnyError> {
    let max = if arguments.quick {
        MIN_SPHERES
    } else {
        arguments.most
    };
    let counts = [
        MIN_SPHERES,
        3000,
        10_000,
        30_000,
        100_000,
        300_000,
        1_000_000,
        3_000_000,
    ];
    let counts: Vec<u32> = counts.into_iter().filter(|count| *count <= max).collect();
    let all = 2 * counts.len() + GRAVITIES.len();
    let mut done = 0;
    for (stage, steps) in [("early", EARLY), ("late", LATE)] {
        let mut outcomes = Vec::new();
        for &count in &counts {
            outcomes.push(measure(count, steps.clone(), |step| {
                let last = steps.end();
                tables.progress(done, all, || {
                    format!("falling, {stage}: {count} spheres, step {step} of {last}")
                });
            })?);
            done += 1;
        }
        add_table(tables, stage, &steps, &outcomes)?;
        write_plot(arguments, stage, &outcomes)?;
    }
    let few = |count: &&u32| **count as usize <= MAX_FOR_SLOW_SEARCHES;
    let counts: Vec<u32> = counts.iter().filter(few).copied().collect();
    gravities(&counts, tables, done)
}

/// Lets the spheres fall, and times every search in `steps`. Calls `progress` before each step.
fn measure(
    count: u32,
    steps: RangeInclusive<u32>,
    mut progress: impl FnMut(u32),
) -> Result<Outcome, AnyError> {
    let mut runners = SphereRunner::for_spheres(count as usize);
    runners
        .retain(|runner| count <= MAX_FOR_HASH_GRID || runner.name != SearchKind::HashGrid.name());
    let mut candidates = Candidates::default();
    let falling = FallingSpheres::new(count, VOLUME_FRACTION, SEED)?;
    fall(falling, *steps.end(), |step, spheres, pairs| {
        progress(step);
        // The step before the first warms incremental searches up.
        if step + 1 < *steps.start() {
            return Ok(());
        }
        let timed = steps.contains(&step);
        let expected = overlapping(spheres, pairs);
        for runner in &mut runners {
            runner.frame(spheres, timed)?;
            let found = overlapping(spheres, runner.pairs());
            if found != expected {
                let name = runner.name;
                return Err(
                    format!("{name} finds {found} pairs, the uniform grid {expected}").into(),
                );
            }
        }
        if timed {
            candidates.add(spheres, pairs)?;
        }
        Ok(())
    })?;
    Ok(Outcome {
        count,
        times: runners
            .iter_mut()
            .map(|runner| (runner.name, runner.median()))
            .collect(),
        candidates: candidates.per_sphere(count),
    })
}

/// Lets the spheres fall up to step `last`. Calls `visit` in each step before the collision
/// response.
fn fall(
    mut falling: FallingSpheres,
    last: u32,
    mut visit: impl FnMut(u32, &SphereSet, &PairBuffer) -> Result<(), AnyError>,
) -> Result<(), AnyError> {
    let (mut grid, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    for step in 0..=last {
        falling.advance();
        grid.find_pairs(falling.spheres(), 0.0, &mut pairs)?;
        visit(step, falling.spheres(), &pairs)?;
        falling.respond(&pairs);
    }
    Ok(())
}

/// Sums of candidate pairs over steps.
#[derive(Default)]
struct Candidates {
    steps: u32,
    selected: u64,
    boxes: u64,
    spheres: u64,
    overlapping: PairBuffer,
}

impl Candidates {
    fn add(&mut self, spheres: &SphereSet, pairs: &PairBuffer) -> Result<(), AnyError> {
        let mut boxes = BoxSet::new();
        boxes.set_around_spheres(spheres, 0.0)?;
        let mut tree = LinearKdTree::new();
        self.selected += tree.select(&boxes, &|_| {})?.pairs;
        tree.find_box_pairs(&boxes, &mut self.overlapping)?;
        self.boxes += self.overlapping.len() as u64;
        self.spheres += pairs.len() as u64;
        self.steps += 1;
        Ok(())
    }

    /// Selected pairs, boxes and spheres per sphere and step.
    fn per_sphere(&self, count: u32) -> [f64; 3] {
        let divisor = f64::from(self.steps.max(1)) * f64::from(count);
        [self.selected, self.boxes, self.spheres].map(|candidates| candidates as f64 / divisor)
    }
}

/// How the candidates of the late steps depend on gravity, which the paper does not specify.
/// `done` measurements are done before.
fn gravities(counts: &[u32], tables: &mut Tables, done: usize) -> Result<(), AnyError> {
    let mut rows = Vec::new();
    for (step, gravity) in GRAVITIES.into_iter().enumerate() {
        tables.progress(done + step, done + GRAVITIES.len(), || {
            format!("falling: gravity times {gravity}")
        });
        let steps = STEPS_TO_FALL / gravity.sqrt();
        let mut row = vec![gravity.to_string(), format!("{steps:.0}")];
        for &count in counts {
            let mut candidates = Candidates::default();
            let falling =
                FallingSpheres::new(count, VOLUME_FRACTION, SEED)?.with_steps_to_fall(steps);
            fall(falling, *LATE.end(), |step, spheres, pairs| {
                if LATE.contains(&step) {
                    candidates.add(spheres, pairs)?;
                }
                Ok(())
            })?;
            let [_, boxes, spheres] = candidates.per_sphere(count);
            row.push(format!("{spheres:.2} ({boxes:.2})"));
        }
        rows.push(row);
    }
    let mut header = table::strings(&["gravity", "steps to fall"]);
    header.extend(counts.iter().map(|count| format!("{count} spheres")));
    tables.add(
        "**Candidates per sphere** in the late steps: of kd-tree-2, and in parentheses boxes.",
        header,
        rows,
    )
}

fn median_time(outcome: &Outcome, name: &str) -> Option<f64> {
    let (_, time) = outcome.times.iter().find(|(other, _)| *other == name)?;
    *time
}

fn add_table(
    tables: &mut Tables,
    stage: &str,
    steps: &RangeInclusive<u32>,
    outcomes: &[Outcome],
) -> Result<(), AnyError> {
    let names: Vec<&str> = outcomes
        .first()
        .map(|outcome| outcome.times.iter().map(|(name, _)| *name).collect())
        .unwrap_or_default();
    let mut header = table::strings(&["spheres"]);
    header.extend(table::strings(&names));
    header.push("s&p ÷ kd-tree-2".to_owned());
    header.extend(table::strings(&[
        "selected / N",
        "boxes / N",
        "spheres / N",
    ]));
    let rows: Vec<Vec<String>> = outcomes
        .iter()
        .map(|outcome| {
            let mut row = vec![outcome.count.to_string()];
            row.extend(
                names
                    .iter()
                    .map(|name| table::format_number(median_time(outcome, name))),
            );
            let ratio =
                median_time(outcome, "sweep-and-prune").zip(median_time(outcome, "kd-tree-2"));
            row.push(table::format_number(
                ratio.map(|(sweep, tree)| sweep / tree),
            ));
            row.extend(
                outcome
                    .candidates
                    .map(|each| table::format_number(Some(each))),
            );
            row
        })
        .collect();
    let title = format!(
        "**Falling spheres, {stage}** (steps {} to {}, d = {VOLUME_FRACTION}); the last columns are \
         candidates per sphere: pairs selected by kd-tree-2, overlapping boxes and spheres.",
        steps.start(),
        steps.end()
    );
    tables.add(&title, header, rows)
}

fn write_plot(arguments: &Arguments, stage: &str, outcomes: &[Outcome]) -> Result<(), AnyError> {
    let Some(first) = outcomes.first() else {
        return Ok(());
    };
    let lines: Vec<Line> = first
        .times
        .iter()
        .map(|(name, _)| Line {
            name: (*name).to_owned(),
            points: outcomes
                .iter()
                .filter_map(|outcome| Some((f64::from(outcome.count), median_time(outcome, name)?)))
                .collect(),
        })
        .collect();
    let plot = Plot {
        title: &format!("Falling spheres, {stage} steps"),
        names: ["spheres", "ms per step"],
        logarithmic: true,
        lines: &lines,
    };
    let plotted = plot.write(&arguments.out.join(format!("falling_{stage}")));
    Ok(plotted.map_err(|error| error.to_string())?)
}
