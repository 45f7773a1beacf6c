//! A thousand hemoglobins in a crowded box: the contacts of their atoms, found by a grid over
//! all atoms and by a refined search, whose time includes moving the spheres.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
use bevy_rapier_molecules::search::{
    AutoGrid, PairBuffer, PairSearch, PlacedMolecule, RefinedSearch,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Mat3;

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
    let atoms = scenes
        .each_ref()
        .map(|scene| atoms(crowd.templates(), scene));
    let mut competitors = [
        (
            Competitor::Grid(Box::new(AutoGrid::new())),
            PairBuffer::new(),
        ),
        (
            Competitor::Refined(Box::new(RefinedSearch::new(crowd.templates())?)),
            PairBuffer::new(),
        ),
    ];
    let samples = interleave(
        Rounds::exactly(rounds),
        &mut competitors,
        |round, (competitor, pairs)| {
            let scene = (round + 1) % 2;
            match competitor {
                Competitor::Grid(grid) => grid
                    .find_pairs(&atoms[scene], 0.0, pairs)
                    .expect("the scene is finite"),
                Competitor::Refined(search) => search
                    .find_pairs(&scenes[scene], 0.0, pairs)
                    .expect("the scene is finite"),
            }
        },
    );
    assert!(
        competitors[0].1.to_sorted_vec() == competitors[1].1.to_sorted_vec(),
        "refined contacts differ from the contacts of the atoms"
    );
    let columns = vec![
        Column::text("search"),
        Column::number("pairs"),
        Column::measured("ms per step", "ms"),
        Column::number("speed-up"),
    ];
    let title = format!(
        "{molecules} hemoglobins, {} atoms: all pairs of atoms of different molecules, ms.",
        crowd.atom_count()
    );
    let mut table = run.table(&title, columns);
    let grid = ms(samples[0].best());
    let names = ["grid over all atoms", "refined"];
    for ((name, (_, pairs)), samples) in names.iter().zip(&competitors).zip(&samples) {
        let time = ms(samples.best());
        table.row(cells![*name, pairs.len(), time, grid / time]);
    }
    Ok(())
}

enum Competitor {
    Grid(Box<AutoGrid>),
    Refined(Box<RefinedSearch>),
}

/// The atoms of a scene, placed as a crowd places them.
fn atoms(templates: &[Arc<MoleculeTemplate>], scene: &[PlacedMolecule]) -> SphereSet {
    let mut atoms = SphereSet::new();
    for (owner, molecule) in (0..).zip(scene) {
        let template = &templates[molecule.template as usize];
        let rotation = Mat3::from_quat(molecule.pose.rotation);
        for (&local, &radius) in template.positions().iter().zip(template.radii()) {
            let center = rotation * local + molecule.pose.position;
            atoms
                .push(center, radius, owner)
                .expect("the scene is finite");
        }
    }
    atoms
}
