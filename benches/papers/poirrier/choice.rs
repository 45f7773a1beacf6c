//! Where a linear kd-tree pays: boxes and spheres of very different sizes.

use std::error::Error;
use std::ops::Range;

use bevy_rapier_molecules::scenes::{RadiusDistribution, polydisperse_spheres};
use bevy_rapier_molecules::search::boxes::{AutoBoxes, BoxGrid, BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{
    AutoGrid, LinearKdTree, PairBuffer, PairSearch, SweepAndPrune,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::on_one_thread;
use crate::common::cpu_time::thread_seconds;
use crate::common::{Column, Done, Run, cells};

/// Number of boxes.
const BOXES: u32 = 20_000;

/// Volume fraction of the spheres.
const FILL: f32 = 0.1;

/// Rounds; the shortest time counts.
const ROUNDS: usize = 5;

pub fn run(run: &mut Run) -> Done {
    let count = run.pick(BOXES, 300);
    let rounds = run.pick(ROUNDS, 1);
    let columns = vec![
        Column::text("boxes"),
        Column::number("pairs"),
        Column::measured("box grid", "ms"),
        Column::measured("kd-tree-2", "ms"),
        Column::measured("sweep and prune, from scratch", "ms"),
        Column::measured("auto boxes", "ms"),
        Column::measured("auto grid over the spheres", "ms"),
        Column::number("box grid ÷ kd-tree-2"),
        Column::number("auto grid ÷ kd-tree-2"),
    ];
    let title = format!(
        "**Poirrier: where the linear kd-tree pays.** {count} boxes, CPU ms of one thread, best \
         of {rounds} interleaved rounds; nothing is remembered from round to round."
    );
    let mut table = run.table(&title, columns);
    for (name, spheres, boxes) in scenes(count)? {
        let (times, pairs) =
            on_one_thread(|| race(&boxes, spheres.as_ref(), rounds).map_err(|e| e.to_string()))?;
        let [grid, tree, sweep, boxes, auto] = times.map(|time| 1.0e3 * time);
        let auto = spheres.is_some().then_some(auto);
        table.row(cells![
            name,
            pairs,
            grid,
            tree,
            sweep,
            boxes,
            auto,
            grid / tree,
            auto.map(|auto| auto / tree),
        ]);
    }
    Ok(())
}

type Scene = (String, Option<SphereSet>, BoxSet);

fn scenes(count: u32) -> Result<Vec<Scene>, Box<dyn Error>> {
    let mut scenes = Vec::new();
    let around = |name: String, spheres: SphereSet| -> Result<Scene, Box<dyn Error>> {
        let mut boxes = BoxSet::new();
        boxes.set_around_spheres(&spheres, 0.0)?;
        Ok((name, Some(spheres), boxes))
    };
    use RadiusDistribution::{NumberByOctave, Uniform, VolumeByOctave};
    for (distribution, name, largest) in [
        (Uniform, "one size", 1.001),
        (NumberByOctave, "as many in each octave", 10.0),
        (NumberByOctave, "as many in each octave", 100.0),
        (NumberByOctave, "as many in each octave", 1000.0),
        (VolumeByOctave, "as much volume in each octave", 10.0),
        (VolumeByOctave, "as much volume in each octave", 100.0),
    ] {
        let spheres = polydisperse_spheres(count, 0.1..0.1 * largest, distribution, FILL, 1)?;
        scenes.push(around(
            format!("spheres, {largest:.0} : 1, {name}"),
            spheres,
        )?);
    }
    for ratio in [10.0, 100.0, 1000.0, 10_000.0] {
        let name = format!("cuboids, each edge {ratio:.0} : 1, as many in each octave");
        scenes.push((name, None, cuboids(count, 0.1..0.1 * ratio)?));
    }
    Ok(scenes)
}

/// Cuboids whose edges (nm) are independent, at random positions.
fn cuboids(count: u32, edges: Range<f32>) -> Result<BoxSet, Box<dyn Error>> {
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let mut sizes = Vec::new();
    for _ in 0..count {
        let ratio = edges.end / edges.start;
        let size: [f32; 3] = std::array::from_fn(|_| edges.start * ratio.powf(random.random()));
        sizes.push(Vec3::from_array(size));
    }
    let volume: f32 = sizes.iter().map(|size| size.element_product()).sum();
    let side = (volume / FILL).cbrt();
    let mut boxes = BoxSet::new();
    for (owner, size) in (0..).zip(sizes) {
        let low: [f32; 3] = std::array::from_fn(|_| side * random.random::<f32>());
        let low = Vec3::from_array(low);
        boxes.push(low, low + size, owner)?;
    }
    Ok(boxes)
}

/// The shortest time of each search, s, and the number of pairs of boxes.
fn race(
    boxes: &BoxSet,
    spheres: Option<&SphereSet>,
    rounds: usize,
) -> Result<([f64; 5], usize), Box<dyn Error>> {
    let mut best = [f64::INFINITY; 5];
    let mut found = [0; 4];
    let mut pairs = PairBuffer::new();
    let mut tree = LinearKdTree::new();
    let mut auto = AutoGrid::new();
    for _ in 0..rounds {
        // New objects remember nothing.
        let (mut grid, mut sweep) = (BoxGrid::new(), SweepAndPrune::new());
        let mut choice = AutoBoxes::new();
        let searches: [&mut dyn BoxSearch; 4] = [&mut grid, &mut tree, &mut sweep, &mut choice];
        for (at, search) in searches.into_iter().enumerate() {
            let begin = thread_seconds();
            search.find_box_pairs(boxes, &mut pairs)?;
            best[at] = best[at].min(thread_seconds() - begin);
            found[at] = pairs.len();
        }
        if let Some(spheres) = spheres {
            let begin = thread_seconds();
            auto.find_pairs(spheres, 0.0, &mut pairs)?;
            best[4] = best[4].min(thread_seconds() - begin);
        }
    }
    if found.iter().any(|count| *count != found[0]) {
        return Err(format!("the searches find different numbers of pairs: {found:?}").into());
    }
    Ok((best, found[0]))
}
