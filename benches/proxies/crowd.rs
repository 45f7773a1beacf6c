//! A thousand hemoglobins in a crowded box: the contacts of their atoms, found by a grid over all
//! atoms and by molecules, from scratch and with what is remembered while they tremble.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
use bevy_rapier_molecules::search::{
    AutoGrid, FoundPairs, FoundPairsSink, MoleculeSearch, PairBuffer, PairSearch, RigidSpheres,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{Mat3, Vec3};

use crate::common::interleave::{Rounds, interleave, ms};
use crate::common::molecules::path;
use crate::common::{Column, Done, NoOptions, Run, cells};

/// Number of molecules.
const MOLECULES: u32 = 1000;

/// Rounds.
const ROUNDS: usize = 7;

/// How far the molecules move in each round, nm.
const STEP_NM: f32 = 1.0e-3;

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let (molecules, rounds) = (run.pick(MOLECULES, MOLECULES / 50), run.pick(ROUNDS, 1));
    let options = LoadOptions {
        waters: true,
        ..LoadOptions::default()
    };
    let template = load(path("1gzx.pdb"), &options)?;
    let shape = Arc::new(RigidSpheres::atoms(&template));
    let config = CrowdedBoxConfig {
        molecules,
        ..CrowdedBoxConfig::default()
    };
    let crowd = crowded_box(&[Arc::new(template)], &config)?;
    let scenes: Vec<Vec<Pose>> = (0..2)
        .map(|scene| {
            let members = crowd.members().iter().zip(0..);
            let moved = members.map(|(member, k)| {
                let side = if (k + scene) % 2 == 0 { STEP_NM } else { 0.0 };
                Pose::new(member.pose.position + Vec3::X * side, member.pose.rotation)
            });
            moved.collect()
        })
        .collect();
    let atoms: Vec<SphereSet> = scenes.iter().map(|poses| atoms(&shape, poses)).collect();
    let search = || -> Result<Competitor, Box<dyn std::error::Error>> {
        let mut search = MoleculeSearch::new();
        search.set_molecules(vec![shape.clone(); molecules as usize])?;
        Ok(Competitor::Molecules(Box::new(search), Vec::new()))
    };
    let mut competitors = [
        Competitor::Grid(Box::new(AutoGrid::new()), PairBuffer::new()),
        search()?,
        search()?,
    ];
    let mut turn = 0;
    let samples = interleave(
        Rounds::exactly(rounds),
        &mut competitors,
        |round, competitor| {
            let scene = (round + 1) % 2;
            turn += 1;
            match competitor {
                Competitor::Grid(grid, pairs) => {
                    grid.find_pairs(&atoms[scene], 0.0, pairs)
                        .expect("the scene is finite");
                }
                Competitor::Molecules(search, counts) => {
                    // The second of the three.
                    if turn % 3 == 2 {
                        search.forget();
                    }
                    let sink = FoundPairsSink {
                        parts: counts,
                        keep_unmoved: |_: &usize| true,
                        with_centers: false,
                        clear: |count: &mut usize| *count = 0,
                        repeat: |_: &mut usize, _| false,
                        receive: |count: &mut usize, found: &FoundPairs<'_>| {
                            *count += found.pairs.len();
                        },
                    };
                    let poses = &scenes[scene];
                    search
                        .find(|molecule| poses[molecule], 0.0, sink)
                        .expect("the scene is finite");
                }
            }
        },
    );
    let columns = vec![
        Column::text("search"),
        Column::number("pairs"),
        Column::number("compared per pair"),
        Column::measured("ms per step", "ms"),
        Column::number("speed-up"),
    ];
    let title = format!(
        "{molecules} hemoglobins, {} atoms: all pairs of atoms of different molecules, ms.",
        crowd.atom_count()
    );
    let mut table = run.table(&title, columns);
    let grid = ms(samples[0].best());
    let names = [
        "grid over all atoms",
        "by molecules, from scratch",
        "by molecules, remembered",
    ];
    let mut expected = None;
    for ((name, competitor), samples) in names.iter().zip(&competitors).zip(&samples) {
        let (pairs, compared) = match competitor {
            Competitor::Grid(_, pairs) => (pairs.len(), f64::NAN),
            Competitor::Molecules(search, counts) => {
                let pairs = counts.iter().sum::<usize>();
                (pairs, search.work().sphere_pairs as f64 / pairs as f64)
            }
        };
        assert_eq!(*expected.get_or_insert(pairs), pairs, "{name}");
        let time = ms(samples.best());
        table.row(cells![*name, pairs, compared, time, grid / time]);
    }
    Ok(())
}

enum Competitor {
    Grid(Box<AutoGrid>, PairBuffer),
    /// With the number of pairs that each task has found.
    Molecules(Box<MoleculeSearch>, Vec<usize>),
}

/// The atoms of a scene, placed as a crowd places them.
fn atoms(shape: &RigidSpheres, poses: &[Pose]) -> SphereSet {
    let mut atoms = SphereSet::new();
    for (owner, pose) in (0..).zip(poses) {
        let rotation = Mat3::from_quat(pose.rotation);
        for (&local, &radius) in shape.centers().iter().zip(shape.radii()) {
            atoms
                .push(rotation * local + pose.position, radius, owner)
                .expect("the scene is finite");
        }
    }
    atoms
}
