//! From which spread of sizes on a hierarchy of grids pays: what
//! [`MIXED_OCCUPANCY`](bevy_rapier_molecules::search::MIXED_OCCUPANCY) is chosen by.

use bevy_rapier_molecules::scenes::{RadiusSpread, mixed_spheres};
use bevy_rapier_molecules::search::{
    AutoGrid, HierarchicalGrid, PairBuffer, PairSearch, UniformGrid,
};

use crate::turns::best_of;

/// Number of spheres.
const SPHERES: u32 = 100_000;

/// Volume of the spheres in that of their box.
const FILL: f32 = 0.4;

/// Rounds of the contest.
const ROUNDS: usize = 3;

pub fn run() {
    println!("\n{SPHERES} spheres, the largest so many times larger than the smallest, ms\n");
    println!(
        "| spread | largest ÷ smallest | uniform-grid | hierarchical-grid | ratio | auto takes |"
    );
    println!("|---|--:|--:|--:|--:|---|");
    for (name, spread) in [
        ("volume by octave", RadiusSpread::VolumeByOctave),
        ("number by octave", RadiusSpread::NumberByOctave),
    ] {
        for ratio in [1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0] {
            let spheres = mixed_spheres(SPHERES, 0.1..0.1 * ratio, spread, FILL, 1);
            let spheres = spheres.expect("radii are positive");
            let mut uniform = UniformGrid::new();
            let mut hierarchy = HierarchicalGrid::new();
            let mut auto = AutoGrid::new();
            let mut pairs = PairBuffer::new();
            let mut more = PairBuffer::new();
            let times = best_of(
                ROUNDS,
                &mut [
                    &mut || {
                        let _ = uniform
                            .find_pairs(&spheres, 0.0, &mut pairs)
                            .expect("finite");
                    },
                    &mut || {
                        let _ = hierarchy
                            .find_pairs(&spheres, 0.0, &mut more)
                            .expect("finite");
                    },
                ],
            );
            assert_eq!(pairs.len(), more.len());
            auto.find_pairs(&spheres, 0.0, &mut pairs).expect("finite");
            println!(
                "| {name} | {ratio} | {:.2} | {:.2} | {:.2} | {} |",
                times[0],
                times[1],
                times[0] / times[1],
                if auto.is_hierarchical() {
                    "hierarchy"
                } else {
                    "uniform"
                },
            );
        }
    }
}
