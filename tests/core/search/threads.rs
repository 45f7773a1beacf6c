//! The order of the pairs depends on the spheres only.

use bevy_rapier_molecules::scenes::{RadiusDistribution, polydisperse_spheres};
use bevy_rapier_molecules::search::{HierarchicalGrid, Pair, PairBuffer, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

use crate::common::thread_pool::with_threads;
use crate::search::searches::{Guarantee, Selection, with_searches};
use crate::search::sizes::liquid;

/// Enough for several tasks in every stage of the search.
const SPHERES: u32 = 70_000;

fn sequence(search: &mut dyn PairSearch, spheres: &SphereSet, threads: usize) -> Vec<Pair> {
    let mut pairs = PairBuffer::new();
    with_threads(threads, || search.find_pairs(spheres, 0.01, &mut pairs))
        .expect("the scene is finite");
    pairs.iter().collect()
}

/// Liquids; a distant sphere makes the grid fold.
fn scenes() -> Vec<SphereSet> {
    let mut scenes = vec![liquid(SPHERES, false, 5), liquid(SPHERES, true, 5)];
    let mut folded = liquid(SPHERES, true, 6);
    folded
        .push(Vec3::splat(1.0e12), 0.1, u32::MAX)
        .expect("a kilometer is finite");
    scenes.push(folded);
    let spread = RadiusDistribution::NumberByOctave;
    let octaves = polydisperse_spheres(SPHERES, 0.1..10.0, spread, 0.3, 7);
    scenes.push(octaves.expect("radii are positive"));
    scenes
}

#[test]
fn the_order_does_not_depend_on_the_number_of_threads() {
    for spheres in scenes() {
        let make: [fn() -> Box<dyn PairSearch>; 2] = [
            || Box::new(UniformGrid::new()),
            || Box::new(HierarchicalGrid::new()),
        ];
        for make in make {
            let expected = sequence(&mut *make(), &spheres, 1);
            assert!(expected.len() > 10_000);
            for threads in [2, 3, 8] {
                let found = sequence(&mut *make(), &spheres, threads);
                assert!(found == expected, "{threads} threads differ from one");
            }
        }
    }
}

#[test]
fn all_uniform_grids_have_the_same_order() {
    for spheres in scenes() {
        let expected = sequence(&mut UniformGrid::new(), &spheres, 2);
        with_searches(Selection::All, &spheres, |search, guarantee| {
            let same =
                guarantee != Guarantee::UniformOrder || sequence(search, &spheres, 2) == expected;
            if same { Ok(()) } else { Err(search.name()) }
        })
        .unwrap_or_else(|name| panic!("{name} has another order"));
    }
}

#[test]
fn a_reused_search_has_the_order_of_a_new_one() {
    let mut used = UniformGrid::new();
    for spheres in scenes() {
        let expected = sequence(&mut UniformGrid::new(), &spheres, 2);
        sequence(&mut used, &liquid(1000, true, 9), 2);
        assert!(sequence(&mut used, &spheres, 2) == expected);
    }
}
