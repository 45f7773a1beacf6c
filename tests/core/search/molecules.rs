//! A search by molecules finds the pairs of a grid over all spheres, index for index, whatever it
//! remembers.

use std::sync::Arc;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scenes::{
    CrowdedBoxConfig, VesicleConfig, VesicleSize, VesicleStart, crowded_box, vesicle,
};
use bevy_rapier_molecules::search::{
    AutoGrid, FoundPairs, FoundPairsSink, MoleculeSearch, Pair, PairBuffer, PairSearch,
    RigidSpheres, SearchError,
};
use bevy_rapier_molecules::spheres::{SphereError, SphereSet};
use glam::{Mat3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::thread_pool::with_threads;

pub(super) fn molecule(file: &str) -> Arc<MoleculeTemplate> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let loaded = load(path, &LoadOptions::default());
    Arc::new(loaded.unwrap_or_else(|error| panic!("{error}")))
}

/// Molecules and their poses.
pub(super) struct Scene {
    pub(super) molecules: Vec<Arc<RigidSpheres>>,
    pub(super) poses: Vec<Pose>,
}

impl Scene {
    fn of(crowd: &Crowd) -> Self {
        let templates = crowd.templates().iter();
        let templates: Vec<_> = templates
            .map(|template| Arc::new(RigidSpheres::atoms(template)))
            .collect();
        let members = crowd.members().iter();
        Self {
            molecules: members
                .clone()
                .map(|member| templates[member.template as usize].clone())
                .collect(),
            poses: members.map(|member| member.pose).collect(),
        }
    }

    fn copies(molecule: &Arc<RigidSpheres>, poses: Vec<Pose>) -> Self {
        Self {
            molecules: vec![molecule.clone(); poses.len()],
            poses,
        }
    }

    /// Proteins, lipids, DNA and a small molecule.
    pub(super) fn mixture(molecules: u32, spacing: f32) -> Self {
        let files = [
            "1gzx.pdb",
            "popc.pdb",
            "4c64_dna.pdb",
            "p_xylene.pdb",
            "1ubq.cif",
        ];
        Self::mixture_of(&files, molecules, spacing)
    }

    /// A crowded box of molecules of these kinds.
    pub(super) fn mixture_of(files: &[&str], molecules: u32, spacing: f32) -> Self {
        let config = CrowdedBoxConfig {
            molecules,
            spacing,
            ..CrowdedBoxConfig::default()
        };
        let kinds: Vec<_> = files.iter().map(|file| molecule(file)).collect();
        Self::of(&crowded_box(&kinds, &config).unwrap())
    }

    pub(super) fn search(&self) -> MoleculeSearch {
        let mut search = MoleculeSearch::new();
        search.set_molecules(self.molecules.clone()).unwrap();
        search
    }

    /// The spheres in the world, and the pairs of a grid.
    fn grid_pairs(&self, margin: f32) -> (SphereSet, Vec<Pair>) {
        let mut spheres = SphereSet::new();
        for (owner, (molecule, pose)) in self.molecules.iter().zip(&self.poses).enumerate() {
            // How a crowd places its spheres.
            let rotation = Mat3::from_quat(pose.rotation);
            for (&local, &radius) in molecule.centers().iter().zip(molecule.radii()) {
                let center = rotation * local + pose.position;
                spheres.push(center, radius, owner as u32).unwrap();
            }
        }
        let mut pairs = PairBuffer::new();
        AutoGrid::new()
            .find_pairs(&spheres, margin, &mut pairs)
            .unwrap();
        let pairs = pairs.to_sorted_vec();
        (spheres, pairs)
    }

    /// Moves and turns each molecule at random by up to `step` nm and radian.
    pub(super) fn shake(&mut self, step: f32, random: &mut Pcg64Mcg) {
        for pose in &mut self.poses {
            let mut number = || step * (2.0 * random.random::<f32>() - 1.0);
            pose.position += Vec3::new(number(), number(), number());
            let turn = Quat::from_scaled_axis(Vec3::new(number(), number(), number()));
            pose.rotation = (turn * pose.rotation).normalize();
        }
    }
}

/// Pairs, gaps and centers in the order in which they are found, part by part.
pub(super) type Found = Vec<Vec<(Pair, f32, [Vec3; 2])>>;

pub(super) fn find(
    search: &mut MoleculeSearch,
    scene: &Scene,
    margin: f32,
    found: &mut Found,
) -> Result<(), SearchError> {
    let sink = FoundPairsSink {
        parts: found,
        keep_unmoved: |_: &Vec<_>| true,
        with_centers: true,
        clear: Vec::clear,
        repeat: |_: &mut Vec<_>, _| false,
        receive: |part: &mut Vec<_>, found: &FoundPairs<'_>| {
            for ((&pair, &gap), &centers) in found.pairs.iter().zip(found.gaps).zip(found.centers) {
                part.push((pair, gap, centers));
            }
        },
    };
    search
        .find(|molecule| scene.poses[molecule], margin, sink)
        .map(|_| ())
}

/// Compares what was found with a grid over all spheres; returns the number of pairs.
#[track_caller]
pub(super) fn assert_exact(scene: &Scene, margin: f32, found: &Found) -> usize {
    let (spheres, expected) = scene.grid_pairs(margin);
    let mut pairs: Vec<Pair> = found.iter().flatten().map(|(pair, ..)| *pair).collect();
    pairs.sort_unstable();
    let counts = (pairs.len(), expected.len());
    assert!(pairs == expected, "{counts:?} pairs");
    for (pair, gap, [a, b]) in found.iter().flatten() {
        assert_eq!(*gap, pair.gap(&spheres));
        assert_eq!(*a, spheres.center(pair.a as usize));
        assert_eq!(*b, spheres.center(pair.b as usize));
    }
    expected.len()
}

/// Compares a new search with a grid over all spheres; returns the number of pairs.
#[track_caller]
fn assert_exact_at_once(scene: &Scene, margin: f32) -> usize {
    let mut found = Found::new();
    find(&mut scene.search(), scene, margin, &mut found).unwrap();
    assert_exact(scene, margin, &found)
}

#[test]
fn pairs_of_crowded_proteins_are_those_of_the_atoms() {
    for (spacing, margin) in [(0.7, 0.0), (1.2, 0.0), (1.6, 0.3)] {
        let pairs = assert_exact_at_once(&Scene::mixture(30, spacing), margin);
        assert!(pairs > 100, "{pairs} pairs at {spacing}");
    }
}

#[test]
fn pairs_of_a_vesicle_are_those_of_the_atoms() {
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer: 60,
            inner: 6,
            radius: 3.2,
        },
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    let crowd = vesicle(molecule("popc.pdb"), &config).unwrap().crowd;
    assert!(assert_exact_at_once(&Scene::of(&crowd), 0.0025) > 1000);
}

/// Far from the origin, positions are rounded to more than the distance of atoms.
#[test]
fn pairs_far_from_the_origin_are_those_of_the_atoms() {
    let protein = Arc::new(RigidSpheres::atoms(&molecule("1ubq.cif")));
    for far in [1.0e3, 1.0e5, 1.0e7] {
        let pose = |k: u8| {
            let position = Vec3::new(far, -far, far) + Vec3::X * 2.0 * f32::from(k);
            Pose::new(position, Quat::from_rotation_y(f32::from(k)))
        };
        let scene = Scene::copies(&protein, (0..8).map(pose).collect());
        assert!(assert_exact_at_once(&scene, 0.0) > 0, "{far} nm");
    }
}

#[test]
fn coincident_molecules_a_single_one_and_none_are_exact() {
    let molecule = Arc::new(RigidSpheres::atoms(&molecule("p_xylene.pdb")));
    let copies = |count: usize| Scene::copies(&molecule, vec![Pose::IDENTITY; count]);
    let atoms = molecule.len();
    assert_eq!(assert_exact_at_once(&copies(0), 0.0), 0);
    assert_eq!(assert_exact_at_once(&copies(1), 5.0), 0);
    assert!(assert_exact_at_once(&copies(5), 0.0) >= 10 * atoms);
    // Every atom overlaps every other.
    assert_eq!(assert_exact_at_once(&copies(3), 50.0), 3 * atoms * atoms);
}

#[test]
fn molecules_without_spheres_have_no_pairs() {
    let mut scene = Scene::mixture(8, 0.7);
    scene.molecules[3] = Arc::new(RigidSpheres::default());
    assert!(assert_exact_at_once(&scene, 0.0) > 0);
}

#[test]
fn spheres_of_very_different_sizes_are_exact() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let ball = |radius: f32| Arc::new(RigidSpheres::new([(Vec3::ZERO, radius)]).unwrap());
    let molecules: Vec<_> = (0..60)
        .map(|k| {
            ball(if k % 10 == 0 {
                5.0
            } else {
                0.0 + 0.1 * (k % 3) as f32
            })
        })
        .collect();
    let poses = (0..60).map(|_| {
        let mut number = || 12.0 * random.random::<f32>();
        Pose::from_translation(Vec3::new(number(), number(), number()))
    });
    let scene = Scene {
        poses: poses.collect(),
        molecules,
    };
    assert!(assert_exact_at_once(&scene, 0.2) > 50);
}

/// From trembling to leaps, and back.
#[test]
fn remembered_pairs_are_exact_while_molecules_move() {
    let mut scene = Scene::mixture(40, 0.9);
    let mut search = scene.search();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut found = Found::new();
    let mut renewed = Vec::new();
    for step in [1.0e-4, 1.0e-3, 1.0e-2, 0.1, 1.0, 1.0e-2, 1.0e-4] {
        for _ in 0..6 {
            scene.shake(step, &mut random);
            find(&mut search, &scene, 0.05, &mut found).unwrap();
            assert!(assert_exact(&scene, 0.05, &found) > 100);
            renewed.push(search.work().renewed);
        }
    }
    assert_eq!(renewed[1..6], [0; 5], "while they tremble");
    assert!(renewed[20] > 0, "while they move");
}

/// Two turn about a common center, as a rigid pile does.
#[test]
fn motion_that_two_molecules_share_renews_nothing() {
    let protein = Arc::new(RigidSpheres::atoms(&molecule("1ubq.cif")));
    let poses = [Vec3::ZERO, Vec3::X * 2.5].map(Pose::from_translation);
    let mut scene = Scene::copies(&protein, poses.to_vec());
    let mut search = scene.search();
    let mut found = Found::new();
    for k in 0..40 {
        let shared = Pose::new(
            Vec3::Y * 0.3 * k as f32,
            Quat::from_rotation_z(0.1 * k as f32),
        );
        scene.poses = poses.iter().map(|pose| shared * *pose).collect();
        find(&mut search, &scene, 0.0, &mut found).unwrap();
        assert!(assert_exact(&scene, 0.0, &found) > 0);
        assert_eq!(search.work().renewed, u64::from(k == 0), "step {k}");
    }
}

#[test]
fn a_part_without_motion_is_left_alone() {
    let mut scene = Scene::mixture(40, 0.8);
    let mut search = scene.search();
    let mut found = Found::new();
    find(&mut search, &scene, 0.0, &mut found).unwrap();
    let expected = assert_exact(&scene, 0.0, &found);
    find(&mut search, &scene, 0.0, &mut found).unwrap();
    assert_eq!(search.work().sphere_pairs, 0);
    assert_eq!(assert_exact(&scene, 0.0, &found), expected);
    // One moves, then rests again.
    scene.poses[7].position += Vec3::X * 0.3;
    for _ in 0..2 {
        find(&mut search, &scene, 0.0, &mut found).unwrap();
        assert_exact(&scene, 0.0, &found);
    }
    // Another margin changes all parts.
    find(&mut search, &scene, 0.3, &mut found).unwrap();
    assert!(assert_exact(&scene, 0.3, &found) > expected);
}

#[test]
fn other_molecules_replace_what_is_remembered() {
    let mut search = MoleculeSearch::new();
    for (molecules, spacing) in [(40, 0.8), (40, 1.0), (7, 0.8), (60, 0.9)] {
        let scene = Scene::mixture(molecules, spacing);
        search.set_molecules(scene.molecules.clone()).unwrap();
        let mut found = Found::new();
        find(&mut search, &scene, 0.0, &mut found).unwrap();
        assert_exact(&scene, 0.0, &found);
    }
}

#[test]
fn the_result_depends_neither_on_threads_nor_on_what_is_remembered() {
    let run = |threads: usize, forget: bool| {
        with_threads(threads, || {
            let mut scene = Scene::mixture(60, 0.9);
            let mut search = scene.search();
            let mut random = Pcg64Mcg::seed_from_u64(2);
            let mut found = Found::new();
            for _ in 0..5 {
                if forget {
                    search.forget();
                }
                find(&mut search, &scene, 0.05, &mut found).unwrap();
                scene.shake(0.02, &mut random);
            }
            found
        })
    };
    let expected = run(1, false);
    assert!(expected.iter().flatten().count() > 1000);
    for threads in [1, 2, 3, 8] {
        assert!(run(threads, false) == expected, "{threads} threads");
        assert!(run(threads, true) == expected, "{threads} threads");
    }
}

#[test]
fn vector_and_scalar_code_find_the_same() {
    let scene = Scene::mixture(40, 0.8);
    let mut found = [Found::new(), Found::new()];
    for (mut search, found) in [MoleculeSearch::new(), MoleculeSearch::scalar()]
        .into_iter()
        .zip(&mut found)
    {
        search.set_molecules(scene.molecules.clone()).unwrap();
        find(&mut search, &scene, 0.1, found).unwrap();
    }
    assert!(found[0] == found[1]);
    assert!(assert_exact(&scene, 0.1, &found[1]) > 1000);
}

#[test]
fn invalid_poses_and_margins_are_reported_and_leave_the_search_usable() {
    let molecule = Arc::new(RigidSpheres::atoms(&molecule("p_xylene.pdb")));
    let mut scene = Scene::copies(&molecule, vec![Pose::IDENTITY; 3]);
    let mut search = scene.search();
    let mut found = Found::new();
    let mut find_with = |pose: Pose, margin: f32| {
        scene.poses[1] = pose;
        let result = find(&mut search, &scene, margin, &mut found);
        if result.is_ok() {
            assert!(assert_exact(&scene, margin, &found) > 0);
        }
        result.err()
    };
    for bad in [
        Pose::from_translation(Vec3::NAN),
        Pose::from_translation(Vec3::X * f32::INFINITY),
        Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
    ] {
        assert_eq!(find_with(Pose::IDENTITY, 0.0), None);
        let error = find_with(bad, 0.0);
        assert!(matches!(
            error,
            Some(SearchError::BadPose { molecule: 1, .. })
        ));
    }
    for margin in [-1.0, f32::NAN] {
        let error = find_with(Pose::IDENTITY, margin);
        assert!(matches!(error, Some(SearchError::BadMargin { .. })));
    }
    assert_eq!(find_with(Pose::IDENTITY, 0.0), None);
    let invalid = [(Vec3::ZERO, 0.1), (Vec3::NAN, 0.1)];
    let error = RigidSpheres::new(invalid).unwrap_err();
    assert!(matches!(error, SphereError::BadCenter { index: 1, .. }));
}

#[test]
fn too_many_spheres_in_one_place_are_reported() {
    let heap = RigidSpheres::new(vec![(Vec3::ZERO, 0.1); 1000]).unwrap();
    let scene = Scene::copies(&Arc::new(heap), vec![Pose::IDENTITY; 1000]);
    let mut search = scene.search();
    let error = find(&mut search, &scene, 0.0, &mut Found::new()).unwrap_err();
    assert!(matches!(error, SearchError::TooCrowded { .. }), "{error}");
}
