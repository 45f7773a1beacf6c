//! Box searches find exactly the pairs of brute force.

use std::collections::HashMap;
use std::sync::Mutex;

use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::search::boxes::{
    AutoBoxes, BoxError, BoxGrid, BoxSearch, BoxSet, MAX_COORDINATE_NM,
};
use bevy_rapier_molecules::search::{
    BruteForce, LinearKdTree, Pair, PairBuffer, SearchError, SweepAndPrune,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::thread_pool::with_threads;

fn searches() -> Vec<Box<dyn BoxSearch>> {
    vec![
        Box::new(BoxGrid::new()),
        Box::new(BoxGrid::scalar()),
        Box::new(AutoBoxes::new()),
        Box::new(SweepAndPrune::new()),
        Box::new(SweepAndPrune::new().without_rebuilds()),
        Box::new(LinearKdTree::new()),
        Box::new(LinearKdTree::with_duplicates()),
        Box::new(LinearKdTree::new().without_splitting()),
        Box::new(LinearKdTree::new().with_finest_leaves()),
        Box::new(LinearKdTree::new().scalar()),
        Box::new(LinearKdTree::with_duplicates().scalar()),
        Box::new(RapierBvh::new()),
    ]
}

/// Compares every search with brute force, reusing it from scene to scene. Returns the number of
/// pairs of the last scene.
#[track_caller]
fn assert_exact<'a>(scenes: impl IntoIterator<Item = &'a BoxSet> + Clone) -> usize {
    let mut count = 0;
    for mut search in searches() {
        let [mut expected, mut found] = [PairBuffer::new(), PairBuffer::new()];
        for boxes in scenes.clone() {
            BruteForce.find_box_pairs(boxes, &mut expected).unwrap();
            search.find_box_pairs(boxes, &mut found).unwrap();
            let (found, expected) = (found.to_sorted_vec(), expected.to_sorted_vec());
            assert!(
                found == expected,
                "{} finds {} of {} pairs of {} boxes",
                search.name(),
                found.len(),
                expected.len(),
                boxes.len()
            );
            count = expected.len();
        }
    }
    count
}

/// Boxes with sides up to `side` in a cube, three boxes per owner.
fn scattered(count: u32, edge: f32, side: f32, random: &mut Pcg64Mcg) -> BoxSet {
    let mut boxes = BoxSet::new();
    for k in 0..count {
        let low = Vec3::from_array(std::array::from_fn(|_| edge * random.random::<f32>()));
        let size = Vec3::from_array(std::array::from_fn(|_| side * random.random::<f32>()));
        boxes.push(low, low + size, k / 3).unwrap();
    }
    boxes
}

fn moved(boxes: &BoxSet, by: impl Fn(usize) -> Vec3) -> BoxSet {
    let mut moved = BoxSet::new();
    for index in 0..boxes.len() {
        let by = by(index);
        let (low, high) = (boxes.low(index) + by, boxes.high(index) + by);
        moved.push(low, high.max(low), boxes.owner(index)).unwrap();
    }
    moved
}

#[test]
fn sets_of_all_sizes_are_exact() {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for (count, edge) in [(0, 1.0), (1, 1.0), (2, 0.1), (100, 5.0), (3000, 12.0)] {
        assert_exact([&scattered(count, edge, 1.5, &mut random)]);
    }
}

#[test]
fn a_tree_selects_each_overlapping_pair_one_to_eight_times() {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    for boxes in [
        scattered(1000, 8.0, 1.5, &mut random),
        scattered(300, 4.0, 1.5, &mut random),
    ] {
        let mut expected = PairBuffer::new();
        BruteForce.find_box_pairs(&boxes, &mut expected).unwrap();
        let tree = LinearKdTree::new();
        for mut tree in [tree.clone(), tree.with_finest_leaves()] {
            let selected = Mutex::new(HashMap::<Pair, u32>::new());
            let selection = tree.select(&boxes, |pair| {
                *selected.lock().unwrap().entry(pair).or_default() += 1;
            });
            let (selection, selected) = (selection.unwrap(), selected.into_inner().unwrap());
            let total: u32 = selected.values().sum();
            assert_eq!(selection.pairs, u64::from(total));
            assert!(expected.iter().all(|pair| selected.contains_key(&pair)));
            let overlapping = selected
                .iter()
                .filter(|(pair, _)| boxes.overlap(pair.a as usize, pair.b as usize));
            assert!(overlapping.clone().all(|(_, times)| *times <= 8));
            assert!(overlapping.clone().any(|(_, times)| *times > 1));
            assert!(tree.memory_bytes() >= 32 * selection.sub_elements);
        }
    }
}

#[test]
fn a_tree_is_chosen_if_many_boxes_would_share_each_cell_of_a_grid() {
    let mut random = Pcg64Mcg::seed_from_u64(13);
    let mut search = AutoBoxes::new();
    let mut rods = BoxSet::new();
    for owner in 0..2000 {
        let low: [f32; 3] = std::array::from_fn(|_| 200.0 * random.random::<f32>());
        let size: [f32; 3] = std::array::from_fn(|_| 0.1 * 1000_f32.powf(random.random()));
        let low = Vec3::from_array(low);
        rods.push(low, low + Vec3::from_array(size), owner).unwrap();
    }
    let similar = scattered(2000, 12.0, 1.5, &mut random);
    let mut with_giant = similar.clone();
    with_giant
        .push(Vec3::ZERO, Vec3::splat(10.0), 5000)
        .unwrap();
    for (boxes, uses_tree) in [
        (&rods, true),
        (&similar, false),
        (&with_giant, false),
        (&BoxSet::new(), false),
    ] {
        let [mut expected, mut found] = [PairBuffer::new(), PairBuffer::new()];
        BruteForce.find_box_pairs(boxes, &mut expected).unwrap();
        search.find_box_pairs(boxes, &mut found).unwrap();
        assert_eq!(found.to_sorted_vec(), expected.to_sorted_vec());
        assert_eq!(search.uses_tree(), uses_tree);
    }
}

#[test]
fn sweep_and_prune_swaps_end_points_as_boxes_pass_each_other() {
    let mut random = Pcg64Mcg::seed_from_u64(12);
    let count = 3000;
    let scenes = [(); 2].map(|()| scattered(count, 50.0, 0.5, &mut random));
    let mut pairs = PairBuffer::new();
    let mut swaps = |mut search: SweepAndPrune| {
        // From scratch, after everything has moved, and at rest.
        [0, 1, 1].map(|scene| {
            search.find_box_pairs(&scenes[scene], &mut pairs).unwrap();
            search.swaps() / u64::from(count)
        })
    };
    let [first, moved, rest] = swaps(SweepAndPrune::new().without_rebuilds());
    // Random orders of 2 N end points differ by N² inversions per axis.
    assert!(
        (2.8..3.2).contains(&(moved as f64 / f64::from(count))),
        "{moved}"
    );
    assert_eq!([first, rest], [0, 0]);
    assert_eq!(swaps(SweepAndPrune::new()), [0, 4096, 0]);
}

#[test]
fn boxes_that_touch_overlap() {
    let mut boxes = BoxSet::new();
    for x in 0..4 {
        for y in 0..4 {
            for z in 0..4 {
                let low = Vec3::new(x as f32, y as f32, z as f32);
                boxes.push(low, low + 1.0, boxes.len() as u32).unwrap();
            }
        }
    }
    // 64 cubes: common faces, edges and corners.
    assert_eq!(assert_exact([&boxes]), 144 + 216 + 108);
}

#[test]
fn points_and_coincident_boxes_are_exact() {
    let mut boxes = BoxSet::new();
    for owner in 0..40 {
        let point = Vec3::splat((owner % 4) as f32);
        boxes.push(point, point, owner).unwrap();
        boxes.push(Vec3::ZERO, Vec3::ONE, owner).unwrap();
    }
    assert!(assert_exact([&boxes]) > 700);
    // Zeros of both signs are the same coordinate.
    let mut zeros = BoxSet::new();
    for (owner, x) in [(0, -1.0), (1, 0.0), (2, -0.0)] {
        zeros.push(Vec3::splat(x), Vec3::ZERO * x, owner).unwrap();
    }
    assert_eq!(assert_exact([&zeros]), 3);
}

#[test]
fn a_giant_among_many_small_boxes_is_found() {
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let mut boxes = scattered(1000, 20.0, 0.5, &mut random);
    let without_giants = assert_exact([&boxes]);
    boxes
        .push(Vec3::splat(-5.0), Vec3::splat(15.0), 5000)
        .unwrap();
    boxes
        .push(Vec3::splat(3.0), Vec3::splat(60.0), 5001)
        .unwrap();
    boxes
        .push(Vec3::splat(-1.0e9), Vec3::splat(1.0e9), 5002)
        .unwrap();
    assert!(assert_exact([&boxes]) > without_giants + 1000);
}

#[test]
fn boxes_far_away_and_everywhere_are_exact() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let near = scattered(200, 3.0, 0.5, &mut random);
    for exponent in [3, 6, 9, 12, 20, 30, 37] {
        let far = 10.0_f32.powi(exponent);
        let offset = moved(&near, |_| Vec3::splat(far));
        let scattered = moved(&near, |k| if k < 5 { Vec3::X * -far } else { Vec3::ZERO });
        assert_exact([&offset]);
        assert_exact([&scattered]);
    }
}

/// For searches that retain state: small motions, none, large ones, and back.
#[test]
fn boxes_in_motion_are_exact_at_every_step() {
    let mut random = Pcg64Mcg::seed_from_u64(4);
    let mut scenes = vec![scattered(400, 6.0, 1.0, &mut random)];
    for step in 0..12 {
        let size = [0.01, 0.2, 0.0, 5.0][step % 4];
        let by: Vec<Vec3> = (0..400)
            .map(|_| {
                Vec3::from_array(std::array::from_fn(|_| {
                    size * (random.random::<f32>() - 0.5)
                }))
            })
            .collect();
        let next = moved(&scenes[step], |k| by[k]);
        scenes.push(next);
    }
    scenes.push(scenes[0].clone());
    assert_exact(&scenes);
}

#[test]
fn an_invalid_box_is_not_added() {
    let mut boxes = BoxSet::new();
    boxes.push(Vec3::ZERO, Vec3::ZERO, 0).unwrap();
    for (low, high) in [
        (Vec3::ONE, Vec3::ZERO),
        (Vec3::NAN, Vec3::ONE),
        (Vec3::ZERO, Vec3::INFINITY),
        (Vec3::splat(-f32::MAX), Vec3::ZERO),
        (Vec3::ZERO, Vec3::splat(1.1 * MAX_COORDINATE_NM)),
    ] {
        let error = boxes.push(low, high, 1);
        assert!(matches!(error, Err(BoxError::BadBox { index: 1, .. })));
    }
    assert_eq!(boxes.len(), 1);
}

#[test]
fn boxes_around_spheres_contain_them_at_any_offset() {
    for offset in [0.0, 1.0e3, -1.0e6, 1.0e12, 1.0e30] {
        let mut spheres = SphereSet::new();
        spheres.push(Vec3::splat(offset), 0.17, 7).unwrap();
        spheres.push(Vec3::splat(offset + 0.3), 0.05, 7).unwrap();
        let [mut each, mut whole] = [BoxSet::new(), BoxSet::new()];
        each.set_around_spheres(&spheres, 0.2).unwrap();
        whole.set_around_runs(&spheres, &[0..2, 0..1], 0.2).unwrap();
        assert_eq!((each.owner(1), whole.owner(0)), (7, 7));
        for index in 0..2 {
            let center = spheres.center(index).as_dvec3();
            let reach = f64::from(spheres.radius(index)) + 0.1;
            for (boxes, index) in [(&each, index), (&whole, 0)] {
                let (low, high) = (boxes.low(index), boxes.high(index));
                assert!(low.as_dvec3().cmple(center - reach).all());
                assert!(high.as_dvec3().cmpge(center + reach).all());
            }
        }
    }
}

#[test]
fn boxes_around_spheres_leave_half_of_the_margin() {
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ZERO, 0.17, 7).unwrap();
    spheres.push(Vec3::X, 0.17, 7).unwrap();
    let [mut each, mut runs] = [BoxSet::new(), BoxSet::new()];
    each.set_around_spheres(&spheres, 0.2).unwrap();
    runs.set_around_runs(&spheres, &[0..2, 0..1], 0.2).unwrap();
    let (low, high) = (Vec3::splat(-0.27), Vec3::splat(0.27));
    for (boxes, index, low, high) in [
        (&each, 0, low, high),
        (&each, 1, low + Vec3::X, high + Vec3::X),
        (&runs, 0, low, high + Vec3::X),
        (&runs, 1, low, high),
    ] {
        let found = [boxes.low(index), boxes.high(index)];
        assert!(found[0].abs_diff_eq(low, 1.0e-6), "{found:?}");
        assert!(found[1].abs_diff_eq(high, 1.0e-6), "{found:?}");
    }
}

/// A hundred thousand boxes in one place have 5·10⁹ pairs.
#[test]
fn a_heap_of_boxes_is_rejected_with_its_position() {
    let mut boxes = BoxSet::new();
    boxes.push(Vec3::splat(7.0), Vec3::splat(8.0), 0).unwrap();
    for owner in 1..100_000_u32 {
        boxes.push(Vec3::ZERO, Vec3::ONE, owner).unwrap();
    }
    let searches: [Box<dyn BoxSearch>; 2] =
        [Box::new(BoxGrid::new()), Box::new(LinearKdTree::new())];
    for mut search in searches {
        let mut pairs = PairBuffer::new();
        match search.find_box_pairs(&boxes, &mut pairs) {
            Err(SearchError::TooCrowded { sphere, .. }) => assert!(sphere > 0),
            other => panic!("{}: {other:?}", search.name()),
        }
        assert!(pairs.is_empty());
    }
}

#[test]
fn the_order_of_pairs_does_not_depend_on_threads() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let boxes = scattered(20_000, 30.0, 1.2, &mut random);
    let found = |search: &mut dyn BoxSearch, threads: usize| {
        let mut pairs = PairBuffer::new();
        with_threads(threads, || search.find_box_pairs(&boxes, &mut pairs)).unwrap();
        pairs.iter().collect::<Vec<_>>()
    };
    let makers: [fn() -> Box<dyn BoxSearch>; 3] = [
        || Box::new(BoxGrid::new()),
        || Box::new(LinearKdTree::new()),
        || Box::new(LinearKdTree::with_duplicates()),
    ];
    for make in makers {
        let expected = found(&mut *make(), 1);
        assert!(expected.len() > 10_000);
        for threads in [2, 3] {
            assert!(
                found(&mut *make(), threads) == expected,
                "{}",
                make().name()
            );
        }
    }
}

/// Scenes in which every box moves by up to `size` (nm) along each axis per step.
fn wandering(start: &BoxSet, size: f32, steps: usize, random: &mut Pcg64Mcg) -> Vec<BoxSet> {
    let mut scenes = vec![start.clone()];
    for step in 0..steps {
        let by: Vec<Vec3> = (0..start.len())
            .map(|_| Vec3::from_array(std::array::from_fn(|_| random.random_range(-size..=size))))
            .collect();
        let next = moved(&scenes[step], |k| by[k]);
        scenes.push(next);
    }
    scenes
}

/// Compares one grid per number of threads with brute force in every scene. The order of the pairs
/// is the same on any number of threads.
#[track_caller]
fn assert_remembered(scenes: &[BoxSet]) {
    let makers: [fn() -> BoxGrid; 3] = [BoxGrid::new, BoxGrid::scalar, BoxGrid::forgetful];
    let mut expected = PairBuffer::new();
    for make in makers {
        let mut grids = [1, 2, 3, 8].map(|threads| (threads, make(), PairBuffer::new()));
        for (step, boxes) in scenes.iter().enumerate() {
            BruteForce.find_box_pairs(boxes, &mut expected).unwrap();
            for (threads, grid, pairs) in &mut grids {
                with_threads(*threads, || grid.find_box_pairs(boxes, pairs)).unwrap();
            }
            let [(_, _, first), others @ ..] = &grids;
            assert!(
                first.to_sorted_vec() == expected.to_sorted_vec(),
                "{} of {} pairs in step {step}",
                first.len(),
                expected.len()
            );
            for (threads, _, pairs) in others {
                assert!(
                    pairs.iter().eq(first.iter()),
                    "step {step} on {threads} threads"
                );
            }
        }
    }
}

#[test]
fn remembered_boxes_are_exact_at_every_speed() {
    let mut random = Pcg64Mcg::seed_from_u64(6);
    let start = scattered(1500, 9.0, 1.0, &mut random);
    for size in [0.0, 1.0e-4, 0.002, 0.01, 0.05, 0.3, 4.0] {
        assert_remembered(&wandering(&start, size, 12, &mut random));
    }
}

#[test]
fn a_few_boxes_that_jump_are_found() {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let start = scattered(1500, 9.0, 1.0, &mut random);
    let mut scenes = wandering(&start, 0.004, 24, &mut random);
    for (step, boxes) in scenes.iter_mut().enumerate() {
        let jumpers = [0, 1, 3, 40][step / 3 % 4];
        let offset = Vec3::splat(0.4 * step as f32);
        *boxes = moved(boxes, |k| {
            if k % 37 == 5 && k / 37 < jumpers {
                offset - boxes.low(k)
            } else {
                Vec3::ZERO
            }
        });
    }
    assert_remembered(&scenes);
}

#[test]
fn remembered_giants_and_changing_numbers_of_boxes_are_exact() {
    let mut random = Pcg64Mcg::seed_from_u64(8);
    let mut start = scattered(1000, 20.0, 0.8, &mut random);
    for (low, high) in [(-5.0, 15.0), (3.0, 60.0), (-1.0e9, 1.0e9)] {
        let owner = 5000 + start.len() as u32;
        start
            .push(Vec3::splat(low), Vec3::splat(high), owner)
            .unwrap();
    }
    let scenes = wandering(&start, 0.01, 8, &mut random);
    assert_remembered(&scenes);
    // Fewer boxes, none, and other owners at the same places.
    let mut changing = Vec::new();
    for (step, boxes) in scenes.iter().enumerate() {
        let count = [1003, 1003, 400, 0, 1, 1003, 1003, 1002, 1003][step];
        for owners in [1, 1, 7] {
            let mut some = BoxSet::new();
            for k in 0..count {
                let owner = boxes.owner(k) / owners;
                some.push(boxes.low(k), boxes.high(k), owner).unwrap();
            }
            changing.push(some);
        }
    }
    assert_remembered(&changing);
}

/// An unchanged result is written again if the buffer does not hold it any more.
#[test]
fn an_unchanged_result_is_found_in_any_buffer() {
    let mut random = Pcg64Mcg::seed_from_u64(9);
    let scenes = wandering(&scattered(500, 6.0, 1.0, &mut random), 0.01, 3, &mut random);
    let [mut one, mut other] = [BoxGrid::new(), BoxGrid::new()];
    let [mut kept, mut lent] = [PairBuffer::new(), PairBuffer::new()];
    for boxes in &scenes {
        one.find_box_pairs(boxes, &mut kept).unwrap();
        let expected = kept.to_sorted_vec();
        other.find_box_pairs(&scenes[0], &mut lent).unwrap();
        for _ in 0..3 {
            one.find_box_pairs(boxes, &mut lent).unwrap();
            assert_eq!(lent.to_sorted_vec(), expected);
            let mut copy = lent.clone();
            one.find_box_pairs(boxes, &mut copy).unwrap();
            assert_eq!(copy.to_sorted_vec(), expected);
            lent.start(1)[0].push(Pair::new(0, 1));
            one.find_box_pairs(boxes, &mut lent).unwrap();
            assert_eq!(lent.to_sorted_vec(), expected);
            lent.clear();
            one.find_box_pairs(boxes, &mut kept).unwrap();
            assert_eq!(kept.to_sorted_vec(), expected);
        }
    }
}

#[test]
fn a_grid_recovers_from_an_error() {
    let mut heap = BoxSet::new();
    for owner in 0..30_000 {
        heap.push(Vec3::ZERO, Vec3::ONE, owner).unwrap();
    }
    let mut random = Pcg64Mcg::seed_from_u64(10);
    let scenes = wandering(&scattered(500, 6.0, 1.0, &mut random), 0.01, 4, &mut random);
    let mut grid = BoxGrid::new();
    let [mut pairs, mut expected] = [PairBuffer::new(), PairBuffer::new()];
    for boxes in &scenes {
        assert!(grid.find_box_pairs(&heap, &mut pairs).is_err());
        assert!(pairs.is_empty());
        for _ in 0..2 {
            grid.find_box_pairs(boxes, &mut pairs).unwrap();
            BruteForce.find_box_pairs(boxes, &mut expected).unwrap();
            assert_eq!(pairs.to_sorted_vec(), expected.to_sorted_vec());
        }
    }
}
