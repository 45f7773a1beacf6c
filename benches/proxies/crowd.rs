//! 1,000 hemoglobins in a crowded box: contacts by atoms, by proxies, and by proxies then
//! atoms.

use std::sync::Arc;

use bevy_rapier_molecules::detail::{Detail, MoleculeSearch, PlacedMolecule};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
use bevy_rapier_molecules::search::PairBuffer;

use crate::common::interleave::{Rounds, interleave, ms};
use crate::common::molecules::path;
use crate::common::{Column, Done, NoOptions, Run, cells};

/// Number of molecules.
const MOLECULES: u32 = 1000;

/// Rounds.
const ROUNDS: usize = 5;

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let (molecules, rounds) = (run.pick(MOLECULES, MOLECULES / 50), run.pick(ROUNDS, 1));
    let options = LoadOptions {
        waters: true,
        ..LoadOptions::default()
    };
    let template = load(path("1gzx.pdb"), &options)?;
    let config = CrowdedBoxConfig {
        molecules,
        ..CrowdedBoxConfig::default()
    };
    let crowd = crowded_box(&[Arc::new(template)], &config)?;
    let placed = |pose: &dyn Fn(Pose) -> Pose| -> Vec<PlacedMolecule> {
        let members = crowd.members().iter();
        let placed = members.map(|member| PlacedMolecule {
            template: member.template,
            pose: pose(member.pose),
        });
        placed.collect()
    };
    // Alternate between the scene and a rotated copy, to defeat caching.
    let half = glam::Quat::from_rotation_y(std::f32::consts::PI);
    let scenes = [
        placed(&|pose| pose),
        placed(&|pose| Pose::new(half * pose.position, half * pose.rotation)),
    ];
    let details = [Detail::Atoms, Detail::Proxies(17), Detail::Refined];
    let mut competitors = Vec::new();
    for detail in details {
        let search = MoleculeSearch::new(crowd.templates(), detail)?;
        competitors.push((search, PairBuffer::new()));
    }
    let samples = interleave(
        Rounds::exactly(rounds),
        &mut competitors,
        |round, (search, pairs)| {
            let times = search.find_pairs(&scenes[(round + 1) % 2], 0.0, pairs);
            times.expect("the scene is finite")
        },
    );
    assert!(
        competitors[0].1.to_sorted_vec() == competitors[2].1.to_sorted_vec(),
        "refined contacts differ from the contacts of the atoms"
    );
    let columns = vec![
        Column::text("detail"),
        Column::number("pairs"),
        Column::measured("ms per step", "ms"),
        Column::number("speed-up"),
    ];
    let title = format!(
        "{molecules} hemoglobins, {} atoms, a step: move the spheres and find all pairs, ms.",
        crowd.atom_count()
    );
    let mut table = run.table(&title, columns);
    let atoms = ms(samples[0].best());
    for ((detail, (_, pairs)), samples) in details.iter().zip(&competitors).zip(&samples) {
        let time = ms(samples.best());
        table.row(cells![
            format!("`{detail:?}`"),
            pairs.len(),
            time,
            atoms / time,
        ]);
    }
    Ok(())
}
