//! Which species is where is random, and the same for the same seed.

use bevy_rapier_molecules::membrane::{Composition, Membrane, MembraneConfig, membrane};
use bevy_rapier_molecules::prelude::*;
use glam::Vec3;

use super::fixtures::{barrel, flat, rod, species_of, sphere};
use bevy_rapier_molecules::membrane::{ProteinEntry, ProteinPlaces};

const SEEDS: u64 = 60;

/// Allowed deviation of a mean over all seeds, in units of its own standard error.
const SIGMAS: f64 = 4.0;

/// A short and a long lipid, 1:1.
fn mixture(config: MembraneConfig, seed: u64) -> Membrane {
    let species = [rod("short", 8, 0.65), rod("long", 14, 0.65)];
    let config = MembraneConfig {
        outer: Some(Composition::ratios(&[(0, 1.0), (1, 1.0)])),
        seed,
        ..config
    };
    membrane(&species, &config).unwrap()
}

/// Checks that the mean of samples is `expected` within its standard error.
fn check_mean(samples: &[f64], expected: f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    assert!(
        error > 0.0 && (mean - expected).abs() < SIGMAS * error,
        "{mean} ± {error}, expected {expected}"
    );
}

#[test]
fn neighbors_in_a_mixture_are_of_other_species_as_often_as_by_chance() {
    let periodic = flat(12.0).periodic_box.unwrap();
    let mut expected = 0.0;
    let samples: Vec<f64> = (0..SEEDS)
        .map(|seed| {
            let built = mixture(flat(12.0), seed);
            let species = species_of(&built, Leaflet::Outer);
            let lipids = species.len() as f64;
            let shorts = species.iter().filter(|species| **species == 0).count() as f64;
            // Hypergeometric: both orders of two different ones.
            expected = 2.0 * shorts * (lipids - shorts) / (lipids * (lipids - 1.0));
            let members = built.crowd.members();
            let [mut pairs, mut mixed] = [0.0, 0.0];
            for a in 0..species.len() {
                for b in 0..a {
                    let apart = members[a].pose.position - members[b].pose.position;
                    let apart = periodic.shortest(apart.as_dvec3()).truncate().length();
                    // Neighbors of a hexagonal lattice are 0.87 nm apart.
                    if apart < 1.2 {
                        pairs += 1.0;
                        mixed += f64::from(species[a] != species[b]);
                    }
                }
            }
            assert!(pairs > 2.5 * lipids, "{pairs} neighbors of {lipids}");
            mixed / pairs
        })
        .collect();
    check_mean(&samples, expected);
}

#[test]
fn species_do_not_depend_on_latitude() {
    for axis in Vec3::AXES {
        let samples: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let built = mixture(sphere(5.0), seed);
                let species = species_of(&built, Leaflet::Outer);
                let members = built.crowd.members().iter().zip(species);
                // Normals, as the species have different depths.
                let heights = members.map(|(member, species)| {
                    let sign = if species == 0 { 1.0 } else { -1.0 };
                    sign * f64::from(member.pose.position.normalize().dot(axis))
                });
                heights.sum::<f64>()
            })
            .collect();
        check_mean(&samples, 0.0);
    }
}

#[test]
fn species_do_not_depend_on_the_distance_from_a_protein() {
    let samples: Vec<f64> = (0..SEEDS)
        .map(|seed| {
            let config = MembraneConfig {
                proteins: vec![ProteinEntry::new(barrel(1.5), ProteinPlaces::Random(1))],
                ..flat(10.0)
            };
            let periodic = config.periodic_box.unwrap();
            let built = mixture(config, seed);
            let center = built.crowd.members()[0].pose.position;
            let lipids = &built.crowd.members()[built.outer.clone()];
            let near = lipids.iter().zip(species_of(&built, Leaflet::Outer));
            let signs = near.filter_map(|(member, species)| {
                let apart = (member.pose.position - center).as_dvec3();
                let distance = periodic.shortest(apart).truncate().length();
                (distance < 2.4).then_some(if species == 0 { 1.0 } else { -1.0 })
            });
            signs.sum::<f64>()
        })
        .collect();
    check_mean(&samples, 0.0);
}

#[test]
fn the_same_seed_gives_the_same_membrane_on_any_number_of_threads() {
    let build = |seed| {
        let config = MembraneConfig {
            proteins: vec![ProteinEntry::new(barrel(1.0), ProteinPlaces::Random(3))],
            ..flat(10.0)
        };
        mixture(config, seed)
    };
    let one = build(7);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let again = pool.unwrap().install(|| build(7));
    assert_eq!(one.crowd.members(), again.crowd.members());
    assert_eq!(one.kinds, again.kinds);
    assert_eq!(one.report, again.report);
    let other = build(8);
    assert_eq!(one.report, other.report);
    assert_ne!(one.crowd.members(), other.crowd.members());
    assert_ne!(one.kinds, other.kinds);
}
