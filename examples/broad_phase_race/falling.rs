//! Poirrier's workload: spheres that fall on a floor, early and late.

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
use crate::table::{self, Tables};
use crate::timing::{MOST_FOR_SLOW_ONES, SphereRunner, overlapping};

/// Fewest spheres.
pub const FEWEST: u32 = 1000;

/// Part of space that the spheres fill at the start: the paper's d.
const RATIO: f32 = 0.1;

/// Seed of the places at the start.
const SEED: u64 = 1;

/// The paper's early and late steps.
const EARLY: RangeInclusive<u32> = 0..=10;
const LATE: RangeInclusive<u32> = 50..=60;

/// Most spheres that the hashed grid is given: a pile of a million takes half a minute.
const MOST_FOR_HASH_GRID: u32 = 300_000;

/// Gravities beside the one of the scene, in units of it.
const GRAVITIES: [f32; 5] = [4.0, 2.0, 1.0, 0.5, 0.25];

/// What one number of spheres gave at one stage.
struct Outcome {
    count: u32,
    /// Median time of each search, ms.
    times: Vec<(&'static str, Option<f64>)>,
    /// Candidates for each sphere: what the tree selects, overlapping boxes, and
    /// overlapping spheres.
    candidates: [f64; 3],
}

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<(), AnyError> {
    let most = if arguments.quick {
        FEWEST
    } else {
        arguments.most
    };
    let counts = [
        FEWEST, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000,
    ];
    let counts: Vec<u32> = counts.into_iter().filter(|count| *count <= most).collect();
    let all = 2 * counts.len() + GRAVITIES.len();
    let mut done = 0;
    for (stage, steps) in [("early", EARLY), ("late", LATE)] {
        let mut outcomes = Vec::new();
        for &count in &counts {
            outcomes.push(measure(count, steps.clone(), |step| {
                let last = steps.end();
                tables.come_to(done, all, || {
                    format!("falling, {stage}: {count} spheres, step {step} of {last}")
                });
            })?);
            done += 1;
        }
        report(tables, stage, &steps, &outcomes)?;
        draw(arguments, stage, &outcomes)?;
    }
    let few = |count: &&u32| **count as usize <= MOST_FOR_SLOW_ONES;
    let counts: Vec<u32> = counts.iter().filter(few).copied().collect();
    gravities(&counts, tables, done)
}

/// Lets the spheres fall, and times every search in `steps`. Tells each step before it.
fn measure(
    count: u32,
    steps: RangeInclusive<u32>,
    mut tell: impl FnMut(u32),
) -> Result<Outcome, AnyError> {
    let mut runners = SphereRunner::for_spheres(count as usize);
    runners
        .retain(|runner| count <= MOST_FOR_HASH_GRID || runner.name != SearchKind::HashGrid.name());
    let mut candidates = Candidates::default();
    let falling = FallingSpheres::new(count, RATIO, SEED)?;
    fall(falling, *steps.end(), |step, spheres, pairs| {
        tell(step);
        // The step before lets those that remember get to know the scene.
        if step + 1 < *steps.start() {
            return Ok(());
        }
        let counts = steps.contains(&step);
        let inside = overlapping(spheres, pairs);
        for runner in &mut runners {
            runner.frame(spheres, counts)?;
            let found = overlapping(spheres, runner.pairs());
            if found != inside {
                let name = runner.name;
                return Err(format!("{name} finds {found} pairs, the grid {inside}").into());
            }
        }
        if counts {
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
        candidates: candidates.for_each_of(count),
    })
}

/// Lets spheres fall, and shows each step up to `last` before spheres are parted.
fn fall(
    mut falling: FallingSpheres,
    last: u32,
    mut show: impl FnMut(u32, &SphereSet, &PairBuffer) -> Result<(), AnyError>,
) -> Result<(), AnyError> {
    let (mut grid, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    for step in 0..=last {
        falling.advance();
        grid.find_pairs(falling.spheres(), 0.0, &mut pairs)?;
        show(step, falling.spheres(), &pairs)?;
        falling.respond(&pairs);
    }
    Ok(())
}

/// Candidates of some steps.
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

    /// Selected pairs, boxes and spheres for each of `count` spheres and each step.
    fn for_each_of(&self, count: u32) -> [f64; 3] {
        let each = f64::from(self.steps.max(1)) * f64::from(count);
        [self.selected, self.boxes, self.spheres].map(|candidates| candidates as f64 / each)
    }
}

/// How the candidates of the late steps depend on gravity, which the paper does not give.
/// So many things are done before.
fn gravities(counts: &[u32], tables: &mut Tables, done: usize) -> Result<(), AnyError> {
    let mut rows = Vec::new();
    for (step, gravity) in GRAVITIES.into_iter().enumerate() {
        tables.come_to(done + step, done + GRAVITIES.len(), || {
            format!("falling: gravity times {gravity}")
        });
        let steps = STEPS_TO_FALL / gravity.sqrt();
        let mut row = vec![gravity.to_string(), format!("{steps:.0}")];
        for &count in counts {
            let mut candidates = Candidates::default();
            let falling = FallingSpheres::new(count, RATIO, SEED)?.with_steps_to_fall(steps);
            fall(falling, *LATE.end(), |step, spheres, pairs| {
                if LATE.contains(&step) {
                    candidates.add(spheres, pairs)?;
                }
                Ok(())
            })?;
            let [_, boxes, spheres] = candidates.for_each_of(count);
            row.push(format!("{spheres:.2} ({boxes:.2})"));
        }
        rows.push(row);
    }
    let mut header = table::words(&["gravity", "steps to fall"]);
    header.extend(counts.iter().map(|count| format!("{count} spheres")));
    tables.add(
        "**Candidates for each sphere** in the late steps: of kd-tree-2, and in brackets boxes.",
        header,
        rows,
    )
}

fn time_of(outcome: &Outcome, name: &str) -> Option<f64> {
    let (_, time) = outcome.times.iter().find(|(other, _)| *other == name)?;
    *time
}

fn report(
    tables: &mut Tables,
    stage: &str,
    steps: &RangeInclusive<u32>,
    outcomes: &[Outcome],
) -> Result<(), AnyError> {
    let names: Vec<&str> = outcomes
        .first()
        .map(|outcome| outcome.times.iter().map(|(name, _)| *name).collect())
        .unwrap_or_default();
    let mut header = table::words(&["spheres"]);
    header.extend(table::words(&names));
    header.push("s&p ÷ kd-tree-2".to_owned());
    header.extend(table::words(&["selected / N", "boxes / N", "spheres / N"]));
    let rows: Vec<Vec<String>> = outcomes
        .iter()
        .map(|outcome| {
            let mut row = vec![outcome.count.to_string()];
            row.extend(
                names
                    .iter()
                    .map(|name| table::number(time_of(outcome, name))),
            );
            let ratio = time_of(outcome, "sweep-and-prune").zip(time_of(outcome, "kd-tree-2"));
            row.push(table::number(ratio.map(|(sweep, tree)| sweep / tree)));
            row.extend(outcome.candidates.map(|each| table::number(Some(each))));
            row
        })
        .collect();
    let title = format!(
        "**Falling spheres, {stage}** (steps {} to {}, d = {RATIO}); candidates for each sphere in the \
         last columns: pairs that the tree selects, boxes, and spheres, those of kd-tree-2.",
        steps.start(),
        steps.end()
    );
    tables.add(&title, header, rows)
}

fn draw(arguments: &Arguments, stage: &str, outcomes: &[Outcome]) -> Result<(), AnyError> {
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
                .filter_map(|outcome| Some((f64::from(outcome.count), time_of(outcome, name)?)))
                .collect(),
        })
        .collect();
    let plot = Plot {
        title: &format!("Falling spheres, {stage} steps"),
        names: ["spheres", "ms a step"],
        logarithmic: true,
        lines: &lines,
    };
    let plotted = plot.write(&arguments.out.join(format!("falling_{stage}")));
    Ok(plotted.map_err(|error| error.to_string())?)
}
