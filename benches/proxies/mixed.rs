//! A hundred thousand spheres with radii from 0.1 to 10, the range of Kim, Guibas and Shin:
//! one grid against a hierarchy of grids.

use bevy_rapier_molecules::scenes::{RadiusSpread, mixed_spheres};
use bevy_rapier_molecules::search::{
    BruteForce, HierarchicalGrid, PairBuffer, PairSearch, UniformGrid,
};

use crate::turns::best_of;

/// Number of spheres.
const SPHERES: u32 = 100_000;

/// Volume of the spheres in that of their box. Those of the paper fill nearly half of theirs.
const FILL: f32 = 0.4;

/// Rounds of the contest.
const ROUNDS: usize = 3;

pub fn run() {
    println!("\n{SPHERES} spheres, radii from 0.1 to 10, all pairs, ms\n");
    println!("| radii | pairs | uniform-grid | hierarchical-grid | levels | ratio |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, spread) in [
        (
            "as much volume in each octave",
            RadiusSpread::VolumeByOctave,
        ),
        (
            "as many spheres in each octave",
            RadiusSpread::NumberByOctave,
        ),
        ("as many spheres of each radius", RadiusSpread::Even),
    ] {
        let spheres =
            mixed_spheres(SPHERES, 0.1..10.0, spread, FILL, 1).expect("radii are positive");
        let mut uniform = UniformGrid::new();
        let mut hierarchy = HierarchicalGrid::new();
        let mut found = [PairBuffer::new(), PairBuffer::new()];
        let [one, several] = &mut found;
        let times = best_of(
            ROUNDS,
            &mut [
                &mut || {
                    let _ = uniform.find_pairs(&spheres, 0.0, one).expect("finite");
                },
                &mut || {
                    let _ = hierarchy
                        .find_pairs(&spheres, 0.0, several)
                        .expect("finite");
                },
            ],
        );
        let mut truth = PairBuffer::new();
        BruteForce
            .find_pairs(&spheres, 0.0, &mut truth)
            .expect("finite");
        let truth = truth.to_sorted_vec();
        for found in &found {
            assert!(
                found.to_sorted_vec() == truth,
                "{name}: other pairs than brute force"
            );
        }
        println!(
            "| {name} | {} | {:.2} | {:.2} | {} | {:.1} |",
            truth.len(),
            times[0],
            times[1],
            hierarchy.level_count(),
            times[0] / times[1]
        );
    }
}
