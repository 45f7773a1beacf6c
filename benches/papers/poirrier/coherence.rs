//! Section 7.1, temporal coherence: records that stay sorted from step to step against sorting
//! them from scratch.

use std::error::Error;
use std::ops::RangeInclusive;
use std::time::Instant;

use bevy_rapier_molecules::scenes::FallingConfig;
use bevy_rapier_molecules::search::boxes::{BoxGrid, BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{LinearKdTree, PairBuffer, SweepAndPrune};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Checked, EARLY, LATE, fall, on_one_thread};
use crate::common::cpu_time::thread_seconds;
use crate::common::{Column, Done, Run, cells};

/// Numbers of spheres.
const COUNTS: [u32; 2] = [10_000, 100_000];

/// Motion per step in the nearly static scenes along each axis, diameters.
const MOTIONS: [f32; 2] = [0.01, 0.0001];

pub fn run(run: &mut Run) -> Done {
    let counts = run.pick(&COUNTS[..], &[500]);
    let columns = vec![
        Column::text("steps"),
        Column::number("N"),
        Column::measured("kd-tree-2", "ms"),
        Column::measured("kd-tree-2, order kept", "ms"),
        Column::number("kept ÷ from scratch").decimals(2),
        Column::number("the same on all threads, wall times").decimals(2),
        Column::measured("box grid", "ms"),
        Column::measured("sweep and prune", "ms"),
    ];
    let title = "**Poirrier, section 7.1: temporal coherence.** CPU ms per step on one thread, \
                 boxes only, medians of eleven interleaved steps.";
    let mut table = run.table(title, columns);
    for &count in counts {
        for (name, frames) in scenes(count)? {
            let [scratch, kept, grid, sweep] =
                on_one_thread(|| race(&frames, thread_seconds).map_err(|e| e.to_string()))?;
            let begin = Instant::now();
            let [scratch_wall, kept_wall, _, _] =
                race(&frames[..frames.len()], || begin.elapsed().as_secs_f64())?;
            table.row(cells![
                name,
                count,
                1.0e3 * scratch,
                1.0e3 * kept,
                kept / scratch,
                kept_wall / scratch_wall,
                1.0e3 * grid,
                1.0e3 * sweep,
            ]);
        }
    }
    Ok(())
}

/// Frames of early and late steps, and of late spheres that hardly move.
fn scenes(count: u32) -> Checked<Vec<(String, Vec<BoxSet>)>> {
    let config = FallingConfig::of(count);
    let mut early = Vec::new();
    let mut late = Vec::new();
    let mut last = SphereSet::new();
    fall(&config, *LATE.end(), |step, spheres, _| {
        // One more step to warm up.
        if (*EARLY.start()..=EARLY.end() + 1).contains(&step) {
            early.push(around(spheres)?);
        }
        if (LATE.start() - 1..=*LATE.end()).contains(&step) {
            late.push(around(spheres)?);
        }
        if step == *LATE.end() {
            last.clone_from(spheres);
        }
        Ok(())
    })?;
    let named = |name: &str, steps: RangeInclusive<u32>, frames| {
        let text = format!("{name}, {} to {}", steps.start(), steps.end());
        (text, frames)
    };
    let mut scenes = vec![
        named("early", EARLY.start() + 1..=EARLY.end() + 1, early),
        named("late", LATE, late),
    ];
    for motion in MOTIONS {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let mut frames = Vec::new();
        for _ in 0..=LATE.count() {
            let mut moved = SphereSet::new();
            for index in 0..last.len() {
                let by: [f32; 3] =
                    std::array::from_fn(|_| motion * (2.0 * random.random::<f32>() - 1.0));
                let center = last.center(index) + Vec3::from_array(by);
                let pushed = moved.push(center, last.radius(index), last.owner(index));
                pushed.map_err(|error| error.to_string())?;
            }
            frames.push(around(&moved)?);
        }
        scenes.push((format!("late, moved by up to {motion} diameters"), frames));
    }
    Ok(scenes)
}

fn around(spheres: &SphereSet) -> Checked<BoxSet> {
    let mut boxes = BoxSet::new();
    let set = boxes.set_around_spheres(spheres, 0.0);
    set.map_err(|error| error.to_string()).map(|()| boxes)
}

/// Median times (s) of the searches over all frames but the first, by `clock`. All must find the
/// same pairs.
fn race(frames: &[BoxSet], clock: impl Fn() -> f64) -> Result<[f64; 4], Box<dyn Error>> {
    let mut tree = LinearKdTree::new();
    let mut kept = LinearKdTree::new().with_temporal_coherence();
    let (mut grid, mut sweep) = (BoxGrid::new(), SweepAndPrune::new());
    let mut pairs = PairBuffer::new();
    let mut times = [(); 4].map(|()| Vec::new());
    for (number, boxes) in frames.iter().enumerate() {
        let searches: [&mut dyn BoxSearch; 4] = [&mut tree, &mut kept, &mut grid, &mut sweep];
        let mut expected = None;
        for (search, times) in searches.into_iter().zip(&mut times) {
            let begin = clock();
            search.find_box_pairs(boxes, &mut pairs)?;
            let time = clock() - begin;
            if number > 0 {
                times.push(time);
            }
            let found = pairs.len();
            if *expected.get_or_insert(found) != found {
                return Err(format!("{} finds {found} pairs", search.name()).into());
            }
        }
    }
    Ok(times.map(|mut times| {
        times.sort_unstable_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or_default()
    }))
}
