//! A thousand haemoglobins in a crowded box: a step of finding their contacts by atoms, by
//! proxies, and by proxies first.

use std::sync::Arc;

use bevy_rapier_molecules::detail::{Detail, MoleculeSearch, PlacedMolecule};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
use bevy_rapier_molecules::search::PairBuffer;

use crate::turns::best_of;

/// Number of molecules.
const MOLECULES: u32 = 1000;

/// Rounds of the contest.
const ROUNDS: usize = 5;

pub fn run() {
    let options = LoadOptions {
        waters: true,
        ..LoadOptions::default()
    };
    let template = load("assets/molecules/1gzx.pdb", &options).expect("the file is good");
    let config = CrowdedBoxConfig {
        molecules: MOLECULES,
        ..CrowdedBoxConfig::default()
    };
    let crowd = crowded_box(&[Arc::new(template)], &config).expect("the numbers are finite");
    let placed = |pose: &dyn Fn(Pose) -> Pose| -> Vec<PlacedMolecule> {
        let members = crowd.members().iter();
        let placed = members.map(|member| PlacedMolecule {
            template: member.template,
            pose: pose(member.pose),
        });
        placed.collect()
    };
    // Two scenes in turn, one the other turned half round: nothing is left in a cache.
    let half = glam::Quat::from_rotation_y(std::f32::consts::PI);
    let scenes = [
        placed(&|pose| pose),
        placed(&|pose| Pose::new(half * pose.position, half * pose.rotation)),
    ];
    println!(
        "\n{MOLECULES} haemoglobins, {} atoms, a step: move the spheres and find all pairs, ms\n",
        crowd.atom_count()
    );
    let details = [Detail::Atoms, Detail::Proxies(17), Detail::Refined];
    let mut searches = details
        .map(|detail| MoleculeSearch::new(crowd.templates(), detail).expect("atoms are finite"));
    let mut found = details.map(|_| PairBuffer::new());
    let mut turn = [0; 3];
    let mut steps: Vec<_> = searches
        .iter_mut()
        .zip(&mut found)
        .zip(&mut turn)
        .map(|((search, pairs), turn)| {
            let scenes = &scenes;
            move || {
                *turn += 1;
                let times = search.find_pairs(&scenes[*turn % 2], 0.0, pairs);
                times.expect("the scene is finite");
            }
        })
        .collect();
    let mut contestants: Vec<&mut dyn FnMut()> = Vec::new();
    for step in &mut steps {
        contestants.push(step);
    }
    let times = best_of(ROUNDS, &mut contestants);
    drop(contestants);
    drop(steps);
    assert!(
        found[0].to_sorted_vec() == found[2].to_sorted_vec(),
        "refined contacts differ from those of the atoms"
    );
    println!("| detail | pairs | ms a step | times cheaper |");
    println!("|---|--:|--:|--:|");
    for ((detail, pairs), time) in details.iter().zip(&found).zip(&times) {
        let cheaper = times[0] / time;
        println!(
            "| {detail:?} | {} | {time:.2} | {cheaper:.1} |",
            pairs.len()
        );
    }
}
