//! In a periodic box, a search by molecules finds the pairs of all images: those of brute force in
//! 64 bits.

use std::sync::Arc;

use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::{
    FoundPairs, FoundPairsSink, MoleculeSearch, Pair, RigidSpheres, SearchError,
};
use glam::{DMat3, DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::molecules::molecule;
use crate::common::thread_pool::with_threads;

/// Largest difference of a gap from that in 64 bits, nm.
const BAND: f64 = 1.0e-5;

/// Molecules in a periodic box.
struct Scene {
    periodic: PeriodicBox,
    molecules: Vec<Arc<RigidSpheres>>,
    poses: Vec<Pose>,
}

/// What is found of a pair of spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Contact {
    pair: Pair,
    gap: f32,
    centers: [Vec3; 2],
    shift: Vec3,
}

/// The contacts of each part, in the order in which they are found.
type Found = Vec<Vec<Contact>>;

fn atoms(file: &str) -> Arc<RigidSpheres> {
    Arc::new(RigidSpheres::atoms(&molecule(file)))
}

fn ball(radius: f32) -> Arc<RigidSpheres> {
    Arc::new(RigidSpheres::new([(Vec3::ZERO, radius)]).unwrap())
}

/// A number with few bits, so that sums with whole edges are exact.
fn rounded(number: f32) -> f32 {
    (number * 1024.0).round() / 1024.0
}

fn random_vector(random: &mut Pcg64Mcg) -> Vec3 {
    let [x, y, z] = [(); 3].map(|()| random.random::<f32>());
    Vec3::new(x, y, z)
}

impl Scene {
    /// Copies of a molecule at random poses in the box, whose edges are multiples of the smallest
    /// ones for this margin.
    fn random(molecule: &Arc<RigidSpheres>, count: usize, edges: Vec3, margin: f32) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(count as u64);
        let smallest = 2.0 * molecule.bounding_radius() + margin;
        let size = (edges * smallest).map(|edge| (edge * 64.0).ceil() / 64.0);
        let poses = (0..count).map(|_| {
            let position = (random_vector(&mut random) * size).map(rounded);
            let turn = 6.0 * random_vector(&mut random);
            Pose::new(position, Quat::from_scaled_axis(turn))
        });
        Self {
            periodic: PeriodicBox::new(size).unwrap(),
            poses: poses.collect(),
            molecules: vec![molecule.clone(); count],
        }
    }

    /// Moves each molecule by up to `edges` whole edges.
    fn move_by_edges(&mut self, edges: f32, seed: u64) {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        for pose in &mut self.poses {
            let number = (2.0 * random_vector(&mut random) - 1.0) * edges;
            pose.position += number.round() * self.periodic.size();
        }
    }

    /// Moves and turns each molecule at random by up to `step` nm and radian.
    fn shake(&mut self, step: f32, random: &mut Pcg64Mcg) {
        for pose in &mut self.poses {
            pose.position += step * (2.0 * random_vector(random) - 1.0);
            let turn = Quat::from_scaled_axis(step * (2.0 * random_vector(random) - 1.0));
            pose.rotation = (turn * pose.rotation).normalize();
        }
    }

    fn search(&self) -> MoleculeSearch {
        let mut search = MoleculeSearch::new();
        search.set_periodic_box(Some(self.periodic));
        search.set_molecules(self.molecules.clone()).unwrap();
        search
    }

    fn find(&self, margin: f32) -> Found {
        let mut found = Found::new();
        find(&mut self.search(), self, margin, &mut found).unwrap();
        found
    }

    /// The spheres of a molecule relative to its position: center and radius, nm.
    fn spheres(&self, molecule: usize) -> impl Iterator<Item = (DVec3, f64)> {
        let rotation = DMat3::from_quat(self.poses[molecule].rotation.as_dquat());
        let molecule = &self.molecules[molecule];
        let radii = molecule.radii().iter().map(|&radius| f64::from(radius));
        let centers = molecule.centers().iter();
        centers
            .map(move |center| rotation * center.as_dvec3())
            .zip(radii)
    }

    /// All pairs of spheres of different molecules and images with a gap below `limit`, nm,
    /// compared one by one, sorted.
    fn brute_force(&self, limit: f64) -> Vec<(Pair, f64)> {
        let size = self.periodic.size().as_dvec3();
        let mut first_sphere = vec![0_u32];
        for molecule in &self.molecules {
            first_sphere.push(first_sphere[first_sphere.len() - 1] + molecule.len() as u32);
        }
        let mut pairs = Vec::new();
        for b in 0..self.poses.len() {
            let others: Vec<_> = self.spheres(b).collect();
            for a in 0..b {
                let [from, to] = [a, b].map(|index| self.poses[index].position.as_dvec3());
                let nearest = to - from - ((to - from) / size).round() * size;
                let radii = [a, b].map(|index| f64::from(self.molecules[index].bounding_radius()));
                for number in 0..5 * 5 * 5 {
                    let image = [number / 25, number / 5 % 5, number % 5].map(|k| f64::from(k - 2));
                    let offset = nearest + DVec3::from_array(image) * size;
                    if offset.length() > radii[0] + radii[1] + limit + BAND {
                        continue;
                    }
                    for ((own, own_radius), i) in self.spheres(a).zip(first_sphere[a]..) {
                        for (&(other, radius), j) in others.iter().zip(first_sphere[b]..) {
                            let reach = own_radius + radius + limit;
                            let apart = offset + other - own;
                            if apart.length_squared() < reach * reach {
                                let gap = apart.length() - own_radius - radius;
                                pairs.push((Pair { a: i, b: j }, gap));
                            }
                        }
                    }
                }
            }
        }
        pairs.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        pairs
    }

    /// Compares what was found with brute force; returns the number of contacts, and of those
    /// through a face.
    #[track_caller]
    fn assert_exact(&self, margin: f32, found: &Found) -> [usize; 2] {
        let margin = f64::from(margin);
        let mut contacts: Vec<Contact> = found.iter().flatten().copied().collect();
        contacts.sort_by(|one, other| {
            let gaps = one.gap.total_cmp(&other.gap);
            one.pair.cmp(&other.pair).then(gaps)
        });
        let mut contacts_left = contacts.iter().peekable();
        let expected = self.brute_force(margin + BAND);
        for of_pair in expected.chunk_by(|one, other| one.0 == other.0) {
            for &(pair, gap) in of_pair {
                match contacts_left.next_if(|contact| contact.pair == pair) {
                    Some(contact) => {
                        let error = (f64::from(contact.gap) - gap).abs();
                        assert!(error < BAND, "{pair:?}: {error} nm");
                    }
                    None => assert!(gap > margin - BAND, "{pair:?} at {gap} nm is missing"),
                }
            }
        }
        assert_eq!(contacts_left.next(), None);
        let through_faces = |contact: &&Contact| contact.shift != Vec3::ZERO;
        [
            contacts.len(),
            contacts.iter().filter(through_faces).count(),
        ]
    }
}

fn find(
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
            let rows = found.pairs.iter().zip(found.gaps).zip(found.centers);
            part.extend(rows.map(|((&pair, &gap), &centers)| Contact {
                pair,
                gap,
                centers,
                shift: found.shift,
            }));
        },
    };
    search
        .find(|molecule| scene.poses[molecule], margin, sink)
        .map(|_| ())
}

/// The image of each contact is a pair of its own, even of the same two spheres.
#[test]
fn brute_force_by_molecules_is_brute_force_by_spheres() {
    let scene = Scene::random(&atoms("p_xylene.pdb"), 8, Vec3::new(1.0, 1.1, 1.5), 0.1);
    let size = scene.periodic.size().as_dvec3();
    let mut spheres = Vec::new();
    for (owner, pose) in scene.poses.iter().enumerate() {
        let placed = scene.spheres(owner);
        spheres.extend(
            placed.map(|(center, radius)| (center + pose.position.as_dvec3(), radius, owner)),
        );
    }
    let mut expected = Vec::new();
    for (b, other) in spheres.iter().enumerate() {
        for (a, one) in spheres[..b]
            .iter()
            .enumerate()
            .filter(|(_, one)| one.2 != other.2)
        {
            for number in 0..7 * 7 * 7 {
                let image = [number / 49, number / 7 % 7, number % 7].map(|k| f64::from(k - 3));
                let apart = other.0 - one.0 + DVec3::from_array(image) * size;
                let gap = apart.length() - one.1 - other.1;
                if gap < 0.1 {
                    expected.push((Pair::new(a as u32, b as u32), gap));
                }
            }
        }
    }
    expected.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let pairs = scene.brute_force(0.1);
    assert!(expected.len() > 100, "{}", expected.len());
    assert_eq!(pairs.len(), expected.len());
    for (pair, expected) in pairs.iter().zip(&expected) {
        assert_eq!(pair.0, expected.0);
        assert!((pair.1 - expected.1).abs() < 1.0e-9);
    }
}

#[test]
fn pairs_of_lipids_in_boxes_of_all_sizes_are_exact() {
    let lipid = atoms("popc.pdb");
    for (count, edges) in [
        (0, Vec3::ONE),
        (1, Vec3::ONE),
        (2, Vec3::ONE),
        (2, Vec3::new(1.0, 1.2, 2.0)),
        (12, Vec3::ONE),
        (30, Vec3::new(2.5, 1.0, 1.4)),
        (100, Vec3::splat(2.9)),
        (100, Vec3::new(6.0, 2.0, 1.01)),
    ] {
        for margin in [0.0, 0.05] {
            let scene = Scene::random(&lipid, count, edges, margin);
            let [contacts, through_faces] = scene.assert_exact(margin, &scene.find(margin));
            if count >= 12 {
                assert!(contacts > 100 && through_faces > 50, "{count} {edges}");
            }
        }
    }
}

#[test]
fn pairs_of_proteins_are_exact() {
    let protein = atoms("1ubq.cif");
    for (count, edges) in [
        (1, Vec3::ONE),
        (2, Vec3::ONE),
        (6, Vec3::new(1.0, 1.3, 1.9)),
        (30, Vec3::new(2.5, 1.5, 1.8)),
    ] {
        let scene = Scene::random(&protein, count, edges, 0.0);
        let [contacts, through_faces] = scene.assert_exact(0.0, &scene.find(0.0));
        let expected = if count > 2 { 100 } else { 0 };
        assert!(
            contacts >= expected && through_faces >= expected / 2,
            "{count} {edges}"
        );
    }
}

#[test]
fn pairs_of_molecules_of_different_sizes_are_exact() {
    let mut scene = Scene::random(&atoms("1ubq.cif"), 60, Vec3::new(1.5, 2.0, 1.0), 0.02);
    let small = [
        atoms("p_xylene.pdb"),
        atoms("popc.pdb"),
        ball(0.2),
        ball(0.0),
    ];
    for (k, molecule) in scene
        .molecules
        .iter_mut()
        .enumerate()
        .filter(|(k, _)| k % 12 != 0)
    {
        *molecule = small[k % small.len()].clone();
    }
    scene.molecules[9] = Arc::new(RigidSpheres::default());
    let [contacts, through_faces] = scene.assert_exact(0.02, &scene.find(0.02));
    assert!(
        contacts > 100 && through_faces > 100,
        "{contacts} {through_faces}"
    );
}

#[test]
fn molecules_on_faces_and_corners_and_in_the_same_place_are_exact() {
    let lipid = atoms("popc.pdb");
    let mut scene = Scene::random(&lipid, 24, Vec3::new(1.0, 1.5, 2.5), 0.0);
    let size = scene.periodic.size();
    for (k, pose) in scene.poses.iter_mut().enumerate() {
        let place = [k % 3, k / 3 % 3, k / 9 % 3].map(|third| [0.0, 1.0, 0.5][third]);
        pose.position = Vec3::from_array(place) * size;
    }
    let [contacts, through_faces] = scene.assert_exact(0.0, &scene.find(0.0));
    assert!(
        contacts > 1000 && through_faces > 1000,
        "{contacts} {through_faces}"
    );
    // Just outside of the faces.
    for pose in &mut scene.poses {
        pose.position = pose.position.map(f32::next_down);
    }
    scene.assert_exact(0.0, &scene.find(0.0));
}

#[test]
fn two_spheres_may_touch_in_several_images() {
    for edges in [Vec3::ONE, Vec3::new(1.0, 1.1, 1.3)] {
        let mut scene = Scene::random(&ball(0.2), 2, edges, 0.0);
        let size = scene.periodic.size();
        scene.poses[0].position = Vec3::ZERO;
        scene.poses[1].position = Vec3::X * 0.5 * size.x;
        let found = scene.find(0.0);
        let [contacts, _] = scene.assert_exact(0.0, &found);
        assert!(contacts >= 2, "{found:?}");
        let pairs = scene.search().find_pairs(&scene.poses, 0.0).unwrap();
        assert_eq!(pairs, vec![Pair { a: 0, b: 1 }; contacts]);
    }
}

#[test]
fn positions_far_outside_of_the_box_are_as_exact() {
    let lipid = atoms("popc.pdb");
    for edges in [3.0, 50.0, 1000.0] {
        for size in [Vec3::splat(1.01), Vec3::new(1.0, 2.5, 1.7)] {
            let mut scene = Scene::random(&lipid, 30, size, 0.01);
            scene.move_by_edges(edges, 1);
            let [contacts, through_faces] = scene.assert_exact(0.01, &scene.find(0.01));
            assert!(contacts > 100 && through_faces > 100, "{edges} {size}");
        }
    }
}

#[test]
fn a_very_long_box_is_as_exact() {
    let mut scene = Scene::random(&atoms("popc.pdb"), 20, Vec3::new(1.0, 1.0, 1.8), 0.0);
    let size = scene.periodic.size();
    scene.periodic = PeriodicBox::new(size.with_z(1.0e7)).unwrap();
    for pose in &mut scene.poses {
        pose.position.z -= 0.5 * size.z;
    }
    let [contacts, through_faces] = scene.assert_exact(0.0, &scene.find(0.0));
    assert!(
        contacts > 100 && through_faces > 100,
        "{contacts} {through_faces}"
    );
}

#[test]
fn whole_edges_change_nothing() {
    let mut scene = Scene::random(&atoms("popc.pdb"), 40, Vec3::new(1.2, 2.0, 3.0), 0.01);
    let bits = |found: Found| -> Vec<_> {
        let contacts = found.into_iter().flatten();
        contacts.map(|one| (one.pair, one.gap.to_bits())).collect()
    };
    let expected = bits(scene.find(0.01));
    assert!(expected.len() > 100);
    for (edges, seed) in [(1.0, 1), (5.0, 2), (900.0, 3)] {
        scene.move_by_edges(edges, seed);
        assert_eq!(bits(scene.find(0.01)), expected, "{edges}");
    }
}

#[test]
fn centers_are_those_of_the_image_next_to_the_first_molecule() {
    let mut scene = Scene::random(&atoms("popc.pdb"), 20, Vec3::new(1.0, 1.5, 2.0), 0.0);
    scene.move_by_edges(2.0, 1);
    let size = scene.periodic.size();
    let mut placed = Vec::new();
    for (owner, pose) in scene.poses.iter().enumerate() {
        let spheres = scene.spheres(owner);
        placed.extend(spheres.map(|(center, radius)| (center.as_vec3() + pose.position, radius)));
    }
    let mut count = 0;
    for contact in scene.find(0.0).iter().flatten() {
        let [a, b] = [contact.pair.a, contact.pair.b].map(|index| placed[index as usize]);
        let edges = contact.shift / size;
        assert!(edges.abs_diff_eq(edges.round(), 1.0e-5), "{contact:?}");
        assert!(contact.centers[0].abs_diff_eq(a.0, 1.0e-5), "{contact:?}");
        assert!(
            contact.centers[1].abs_diff_eq(b.0 + contact.shift, 1.0e-5),
            "{contact:?}"
        );
        let distance = contact.centers[0].distance(contact.centers[1]);
        let gap = distance - (a.1 + b.1) as f32;
        assert!((gap - contact.gap).abs() < 1.0e-5, "{contact:?}");
        count += usize::from(contact.shift != Vec3::ZERO);
    }
    assert!(count > 100, "{count}");
}

#[test]
fn remembered_pairs_are_those_of_a_new_search() {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for (count, edges) in [(20, Vec3::new(1.0, 1.2, 2.0)), (60, Vec3::splat(2.5))] {
        let mut scene = Scene::random(&atoms("popc.pdb"), count, edges, 0.02);
        let mut search = scene.search();
        let mut found = Found::new();
        let mut renewed = 0;
        for step in 0..50 {
            scene.shake(if step < 25 { 0.004 } else { 0.05 }, &mut random);
            // Some jump to another image.
            if step % 10 == 9 {
                scene.poses[step % count].position += scene.periodic.size() * Vec3::NEG_Y;
            }
            find(&mut search, &scene, 0.02, &mut found).unwrap();
            renewed += u64::from(search.work().renewed > 0);
            let fresh = scene.find(0.02);
            let sorted = |found: &Found| {
                let mut all: Vec<_> = found.iter().flatten().copied().collect();
                all.sort_by(|one, other| {
                    let gaps = one.gap.total_cmp(&other.gap);
                    one.pair.cmp(&other.pair).then(gaps)
                });
                all
            };
            assert!(sorted(&found) == sorted(&fresh), "step {step}");
            if step % 10 == 0 {
                scene.assert_exact(0.02, &found);
            }
        }
        assert!((2..50).contains(&renewed), "{renewed} searches");
        // Without motion, what was found stays.
        let before = found.clone();
        find(&mut search, &scene, 0.02, &mut found).unwrap();
        assert_eq!(search.work().sphere_pairs, 0);
        assert_eq!(found, before);
    }
}

#[test]
fn molecules_that_come_and_go_are_exact() {
    let mut scene = Scene::random(&atoms("popc.pdb"), 30, Vec3::splat(1.5), 0.0);
    let mut search = scene.search();
    let mut found = Found::new();
    find(&mut search, &scene, 0.0, &mut found).unwrap();
    for step in 0..6_usize {
        let mut list: Vec<Option<u32>> = (0..scene.poses.len() as u32).map(Some).collect();
        let gone = 5 * step % scene.poses.len();
        list.remove(gone);
        scene.poses.remove(gone);
        if step % 2 == 0 {
            list.push(None);
            let position = Vec3::splat(step as f32) - scene.periodic.size();
            scene.poses.push(Pose::from_translation(position));
        }
        scene.molecules.truncate(scene.poses.len());
        let kept = scene.molecules.iter().zip(list);
        search.update_molecules(kept).unwrap();
        let mut found = Found::new();
        find(&mut search, &scene, 0.0, &mut found).unwrap();
        let [contacts, _] = scene.assert_exact(0.0, &found);
        assert!(contacts > 100, "{contacts}");
    }
}

#[test]
fn a_change_of_the_box_is_a_new_search() {
    let mut scene = Scene::random(&atoms("popc.pdb"), 30, Vec3::splat(1.5), 0.0);
    let mut search = scene.search();
    let mut found = Found::new();
    find(&mut search, &scene, 0.0, &mut found).unwrap();
    scene.periodic = PeriodicBox::new(scene.periodic.size() * 1.1).unwrap();
    search.set_periodic_box(Some(scene.periodic));
    assert_eq!(search.periodic_box(), Some(scene.periodic));
    find(&mut search, &scene, 0.0, &mut found).unwrap();
    let [contacts, _] = scene.assert_exact(0.0, &found);
    assert!(contacts > 100);
    search.set_periodic_box(None);
    find(&mut search, &scene, 0.0, &mut found).unwrap();
    assert!(found.iter().flatten().all(|one| one.shift == Vec3::ZERO));
    let mut open = MoleculeSearch::new();
    open.set_molecules(scene.molecules.clone()).unwrap();
    let mut expected = Found::new();
    find(&mut open, &scene, 0.0, &mut expected).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let runs = [1, 2, 3].map(|threads| {
        with_threads(threads, || {
            let mut scene = Scene::random(&atoms("popc.pdb"), 70, Vec3::new(3.0, 1.0, 2.0), 0.01);
            scene.move_by_edges(3.0, 1);
            let mut random = Pcg64Mcg::seed_from_u64(1);
            let mut search = scene.search();
            let mut found = Found::new();
            let mut all = Vec::new();
            for _ in 0..8 {
                scene.shake(0.02, &mut random);
                find(&mut search, &scene, 0.01, &mut found).unwrap();
                all.push(found.clone());
            }
            all
        })
    });
    assert!(runs[0].iter().flatten().flatten().count() > 1000);
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn a_molecule_larger_than_the_box_is_an_error() {
    let protein = atoms("1ubq.cif");
    let mut scene = Scene::random(&ball(0.1), 3, Vec3::splat(15.0), 0.0);
    scene.molecules[2] = protein.clone();
    let width = 2.0 * protein.bounding_radius() + 0.1;
    for (least, is_valid) in [(width, true), (width.next_down(), false)] {
        scene.periodic = PeriodicBox::new(Vec3::new(9.0, least, 9.0)).unwrap();
        let error = find(&mut scene.search(), &scene, 0.1, &mut Found::new()).err();
        let expected = SearchError::LargerThanBox {
            molecule: 2,
            diameter: width,
            edge: least,
        };
        assert_eq!(error, (!is_valid).then_some(expected));
    }
}

#[test]
fn a_molecule_too_far_from_the_box_is_an_error() {
    let mut scene = Scene::random(&ball(0.1), 3, Vec3::splat(5.0), 0.0);
    let mut search = scene.search();
    for far in [2.0e4, 1.0e20, -3.0e38] {
        scene.poses[1].position = Vec3::Y * far;
        let error = find(&mut search, &scene, 0.0, &mut Found::new()).unwrap_err();
        assert!(
            matches!(error, SearchError::FarFromBox { index: 1, .. }),
            "{error}"
        );
    }
    scene.poses[1].position = Vec3::Y * 1.5e4;
    find(&mut search, &scene, 0.0, &mut Found::new()).unwrap();
}

/// Skins are narrower than tiny boxes, so that there are few images.
#[test]
fn points_in_a_tiny_box_are_searched() {
    let mut scene = Scene::random(&ball(0.0), 20, Vec3::ONE, 1.0e-4);
    scene.periodic = PeriodicBox::new(Vec3::new(1.0e-3, 2.0e-4, 1.0e-3)).unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    scene.shake(1.0e-2, &mut random);
    let mut search = scene.search();
    let mut found = Found::new();
    find(&mut search, &scene, 1.0e-4, &mut found).unwrap();
    let size = scene.periodic.size().as_dvec3();
    let expected = (0..20)
        .flat_map(|b| (0..b).map(move |a| [a, b]))
        .filter(|pair| {
            let [from, to] = pair.map(|index| scene.poses[index].position.as_dvec3());
            let apart = to - from;
            (apart - (apart / size).round() * size).length() < 1.0e-4
        });
    let count = found.iter().flatten().count();
    assert_eq!(count, expected.count());
    assert!(count > 0);
}
