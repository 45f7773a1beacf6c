//! Poirrier's workload: spheres that fall on a floor, early and late.

use std::error::Error;
use std::ops::RangeInclusive;

use bevy_rapier_molecules::scenes::FallingSpheres;
use bevy_rapier_molecules::search::boxes::{BoxGrid, BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{LinearKdTree, PairBuffer, PairSearch, UniformGrid};

use crate::Arguments;
use crate::plots::{Line, plot};
use crate::table;
use crate::timing::SphereRunner;

/// Part of space that the spheres fill at the start: the paper's d.
const RATIO: f32 = 0.1;

/// Seed of the places at the start.
const SEED: u64 = 1;

/// The paper's early and late steps.
const STAGES: [(&str, RangeInclusive<u32>); 2] = [("early", 0..=10), ("late", 50..=60)];

/// What one number of spheres gave at one stage.
struct Outcome {
    count: u32,
    /// Median time of each search, ms.
    times: Vec<(&'static str, Option<f64>)>,
    /// Candidates for each sphere: kd-tree-1, sweep and prune (boxes), kd-tree-2 (spheres).
    candidates: [f64; 3],
}

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let most = if arguments.quick {
        1000
    } else {
        arguments.most
    };
    let counts: Vec<u32> = [
        1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000,
    ]
    .into_iter()
    .filter(|count| *count <= most)
    .collect();
    for (stage, steps) in STAGES {
        let mut outcomes = Vec::new();
        for &count in &counts {
            outcomes.push(measure(count, steps.clone())?);
        }
        report(stage, &steps, &outcomes);
        draw(arguments, stage, &outcomes)?;
    }
    Ok(())
}

/// Lets the spheres fall, and times every search in `steps`.
fn measure(count: u32, steps: RangeInclusive<u32>) -> Result<Outcome, Box<dyn Error>> {
    let mut falling = FallingSpheres::new(count, RATIO, SEED)?;
    let (mut grid, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    let mut runners = SphereRunner::for_spheres(count as usize);
    let mut selected = 0;
    let mut boxed = 0;
    let mut found = 0;
    for step in 0..=*steps.end() {
        falling.advance();
        grid.find_pairs(falling.spheres(), 0.0, &mut pairs)?;
        if step + 1 >= *steps.start() {
            // The step before lets those that remember get to know the scene.
            let counts = steps.contains(&step);
            for runner in &mut runners {
                let same = runner.frame(falling.spheres(), counts)?;
                if same.abs_diff(pairs.len()) > 2 + pairs.len() / 10_000 {
                    let (name, grid) = (runner.name, pairs.len());
                    return Err(format!("{name} finds {same} pairs, the grid {grid}").into());
                }
            }
        }
        if step == *steps.end() {
            let mut boxes = BoxSet::new();
            boxes.set_around_spheres(falling.spheres(), 0.0)?;
            selected = LinearKdTree::new().select(&boxes, &|_| {})?.pairs;
            let mut overlapping = PairBuffer::new();
            BoxGrid::new().find_box_pairs(&boxes, &mut overlapping)?;
            boxed = overlapping.len() as u64;
            found = pairs.len() as u64;
        }
        falling.respond(&pairs);
    }
    let each = |candidates: u64| candidates as f64 / f64::from(count);
    Ok(Outcome {
        count,
        times: runners
            .iter_mut()
            .map(|runner| (runner.name, runner.median()))
            .collect(),
        candidates: [selected, boxed, found].map(each),
    })
}

fn time_of(outcome: &Outcome, name: &str) -> Option<f64> {
    let (_, time) = outcome.times.iter().find(|(other, _)| *other == name)?;
    *time
}

fn report(stage: &str, steps: &RangeInclusive<u32>, outcomes: &[Outcome]) {
    let names: Vec<&str> = outcomes
        .first()
        .map(|outcome| outcome.times.iter().map(|(name, _)| *name).collect())
        .unwrap_or_default();
    let mut header = table::words(&["spheres"]);
    header.extend(table::words(&names));
    header.push("s&p ÷ kd-tree-2".to_owned());
    header.extend(table::words(&[
        "kd-tree-1 / N",
        "boxes / N",
        "kd-tree-2 / N",
    ]));
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
        "**Falling spheres, {stage}** (steps {} to {}, d = {RATIO}); candidates for each sphere \
         in the last columns.",
        steps.start(),
        steps.end()
    );
    table::print(&title, &header, &rows);
}

fn draw(arguments: &Arguments, stage: &str, outcomes: &[Outcome]) -> Result<(), Box<dyn Error>> {
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
    let file = arguments.out.join(format!("falling_{stage}.svg"));
    plot(
        &file,
        &format!("Falling spheres, {stage} steps"),
        ["spheres", "ms a step"],
        &lines,
    )
}
