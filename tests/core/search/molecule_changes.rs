//! After molecules were added or removed, a search finds what a new one finds, index for index,
//! and compares only the new molecules from scratch.

use std::sync::Arc;

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::{MoleculeSearch, Pair, RigidSpheres, SearchError};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::molecules::{Found, Scene, assert_exact, find};
use crate::common::thread_pool::with_threads;

const MARGIN: f32 = 0.05;

/// Proteins, lipids and small molecules that overlap.
fn crowd(molecules: u32) -> Scene {
    Scene::mixture_of(&["popc.pdb", "p_xylene.pdb", "1ubq.cif"], molecules, 0.7)
}

/// A scene whose molecules change, and the search that follows it.
struct ChangingScene {
    scene: Scene,
    search: MoleculeSearch,
    found: Found,
}

impl ChangingScene {
    fn new(molecules: u32) -> Self {
        let scene = crowd(molecules);
        let mut changing = Self {
            search: scene.search(),
            scene,
            found: Found::new(),
        };
        changing.find();
        changing
    }

    fn find(&mut self) {
        find(&mut self.search, &self.scene, MARGIN, &mut self.found).unwrap();
    }

    /// Moves all molecules at random, or none at all.
    fn shake(&mut self, step: f32, random: &mut Pcg64Mcg) {
        if step > 0.0 {
            self.scene.shake(step, random);
        }
    }

    fn first_spheres(&self) -> Vec<u32> {
        let mut first = vec![0];
        for molecule in &self.scene.molecules {
            first.push(first[first.len() - 1] + molecule.len() as u32);
        }
        first
    }

    /// The molecules with their poses and indices.
    fn list(&self) -> Vec<(Arc<RigidSpheres>, Pose, Option<u32>)> {
        let molecules = self.scene.molecules.iter().zip(&self.scene.poses).zip(0..);
        let list = molecules.map(|((spheres, pose), index)| (spheres.clone(), *pose, Some(index)));
        list.collect()
    }

    /// Replaces the molecules by `list`: each with its pose and its previous index.
    fn replace(&mut self, list: Vec<(Arc<RigidSpheres>, Pose, Option<u32>)>) {
        let before = self.first_spheres();
        let mut current = vec![None; self.scene.molecules.len()];
        for ((_, _, previous), index) in list.iter().zip(0_usize..) {
            if let Some(previous) = previous {
                current[*previous as usize] = Some(index);
            }
        }
        let updates = list
            .iter()
            .map(|(spheres, _, previous)| (spheres, *previous));
        self.search.update_molecules(updates).unwrap();
        self.scene.poses = list.iter().map(|(_, pose, _)| *pose).collect();
        self.scene.molecules = list.into_iter().map(|(spheres, ..)| spheres).collect();
        let after = self.first_spheres();
        let rename = |sphere: u32| {
            let owner = before.partition_point(|first| *first <= sphere) - 1;
            Some(after[current[owner]?] + sphere - before[owner])
        };
        for part in &mut self.found {
            for (pair, ..) in part.iter_mut() {
                match (rename(pair.a), rename(pair.b)) {
                    (Some(a), Some(b)) => *pair = Pair { a, b },
                    // Its part is found again.
                    _ => *pair = Pair { a: 0, b: 0 },
                }
            }
        }
    }

    /// Removes about `removed` of all molecules and adds about `added` of them between the others.
    fn change(&mut self, removed: f32, added: f32, random: &mut Pcg64Mcg) {
        let Scene { molecules, poses } = &self.scene;
        let mut list = Vec::new();
        for (spheres, (pose, index)) in molecules.iter().zip(poses.iter().zip(0..)) {
            if random.random::<f32>() < added {
                let kind = random.random_range(0..molecules.len());
                let near = poses[random.random_range(0..poses.len())].position;
                let [x, y, z, turn] = [(); 4].map(|()| 2.0 * random.random::<f32>() - 1.0);
                let pose = Pose::new(near + Vec3::new(x, y, z), Quat::from_rotation_x(3.0 * turn));
                list.push((molecules[kind].clone(), pose, None));
            }
            if random.random::<f32>() >= removed {
                list.push((spheres.clone(), *pose, Some(index)));
            }
        }
        self.replace(list);
    }

    /// Compares what was found with a new search and with a grid over all spheres.
    #[track_caller]
    fn assert_as_from_scratch(&self) {
        let mut expected = Found::new();
        find(&mut self.scene.search(), &self.scene, MARGIN, &mut expected).unwrap();
        let same = self.found.iter().flatten().eq(expected.iter().flatten());
        assert!(same, "another order than from scratch");
        assert_exact(&self.scene, MARGIN, &self.found);
    }
}

#[test]
fn random_changes_give_the_result_of_a_new_search_on_any_number_of_threads() {
    for threads in [1, 2, 8] {
        with_threads(threads, || {
            let mut random = Pcg64Mcg::seed_from_u64(7);
            let mut changing = ChangingScene::new(100);
            // At rest, trembling, in motion; few, many, almost all molecules.
            for step in [0.0, 1.0e-3, 0.05] {
                for (removed, added) in
                    [(0.05, 0.05), (0.0, 0.1), (0.1, 0.0), (0.4, 0.6), (0.9, 0.9)]
                {
                    changing.shake(step, &mut random);
                    changing.change(removed, added, &mut random);
                    if random.random::<bool>() {
                        // Twice before a search.
                        changing.change(removed, added, &mut random);
                    }
                    changing.find();
                    changing.assert_as_from_scratch();
                    // What was remembered is still complete.
                    changing.shake(step, &mut random);
                    changing.find();
                    changing.assert_as_from_scratch();
                    if changing.scene.molecules.len() < 30 {
                        changing = ChangingScene::new(100);
                    }
                }
            }
        });
    }
}

#[test]
fn more_new_molecules_than_old_ones_are_exact() {
    let mut changing = ChangingScene::new(20);
    let Scene { molecules, poses } = &crowd(300);
    let new = molecules.iter().zip(poses);
    let mut list: Vec<_> = new.map(|(one, pose)| (one.clone(), *pose, None)).collect();
    list.extend(changing.list());
    changing.replace(list);
    changing.find();
    changing.assert_as_from_scratch();
}

#[test]
fn only_pairs_with_a_new_molecule_are_compared_from_scratch() {
    let mut changing = ChangingScene::new(120);
    let all = changing.search.work();
    assert!(all.renewed > 200, "{all:?}");
    // At rest: one is removed, and put back with its neighbors.
    let mut list = changing.list();
    list[60].2 = None;
    changing.replace(list);
    changing.find();
    changing.assert_as_from_scratch();
    let work = changing.search.work();
    assert_eq!(work.molecule_pairs, all.molecule_pairs);
    assert!(
        10 * work.renewed < all.renewed && work.renewed > 0,
        "{work:?} of {all:?}"
    );
    assert!(work.sphere_pairs < all.sphere_pairs, "{work:?} of {all:?}");
}

#[test]
fn molecules_that_only_get_other_indices_are_not_compared_at_all() {
    let mut changing = ChangingScene::new(100);
    let lone = Pose::from_translation(Vec3::splat(1.0e3));
    let mut list = changing.list();
    list.insert(3, (list[0].0.clone(), lone, None));
    changing.replace(list);
    changing.find();
    assert_eq!(changing.search.work().sphere_pairs, 0);
    changing.assert_as_from_scratch();
}

#[test]
fn molecules_in_another_order_or_with_other_spheres_count_as_new() {
    let mut changing = ChangingScene::new(60);
    let mut list = changing.list();
    list[10..30].reverse();
    list[5].0 = list[6].0.clone();
    let mut unknown = list[7].clone();
    unknown.2 = Some(1000);
    list.push(unknown);
    let updates = list
        .iter()
        .map(|(spheres, _, previous)| (spheres, *previous));
    changing.search.update_molecules(updates).unwrap();
    changing.scene.poses = list.iter().map(|(_, pose, _)| *pose).collect();
    changing.scene.molecules = list.into_iter().map(|(spheres, ..)| spheres).collect();
    changing.found.clear();
    changing.find();
    changing.assert_as_from_scratch();
}

#[test]
fn all_molecules_may_leave_and_come_back() {
    let mut changing = ChangingScene::new(40);
    let Scene { molecules, poses } = &crowd(40);
    changing.replace(Vec::new());
    changing.find();
    assert_eq!(changing.found.iter().flatten().count(), 0);
    let new = molecules.iter().zip(poses);
    changing.replace(new.map(|(one, pose)| (one.clone(), *pose, None)).collect());
    changing.find();
    changing.assert_as_from_scratch();
}

#[test]
fn a_new_molecule_with_an_invalid_pose_is_reported() {
    let mut changing = ChangingScene::new(40);
    let mut list = changing.list();
    list.insert(
        7,
        (list[0].0.clone(), Pose::from_translation(Vec3::NAN), None),
    );
    changing.replace(list);
    let error = find(
        &mut changing.search,
        &changing.scene,
        MARGIN,
        &mut changing.found,
    );
    assert!(matches!(
        error,
        Err(SearchError::BadPose { molecule: 7, .. })
    ));
    changing.scene.poses[7] = Pose::IDENTITY;
    changing.find();
    changing.assert_as_from_scratch();
}
