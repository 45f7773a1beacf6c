//! Searches in periodic boxes find the pairs of all images, compared one by one in 64 bits.

use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::search::{
    AutoGrid, BruteForce, HierarchicalGrid, ImagePair, PairSearch, PeriodicSearch, SearchError,
    SearchKind, UniformGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::thread_pool::with_threads;

/// All pairs of spheres and images in reach: every pair of spheres is compared with every image
/// that may be in reach, in 64 bits.
fn brute_force(spheres: &SphereSet, size: Vec3, margin: f32) -> Vec<ImagePair> {
    let size = size.as_dvec3();
    let mut pairs = Vec::new();
    for a in 0..spheres.len() {
        for b in a..spheres.len() {
            let [from, to] = [a, b].map(|index| spheres.center(index).as_dvec3());
            let radii = [a, b].map(|index| f64::from(spheres.radius(index)));
            let reach = radii[0] + radii[1] + f64::from(margin);
            let nearest = ((from - to) / size).round();
            let nearby = to + nearest * size - from;
            // The other images in reach are at most this many edges away.
            let steps = (DVec3::splat(reach) / size + 0.5).floor().as_ivec3();
            if nearby.abs().cmpge(reach + steps.as_dvec3() * size).any() {
                continue;
            }
            for x in -steps.x..=steps.x {
                for y in -steps.y..=steps.y {
                    for z in -steps.z..=steps.z {
                        let image = nearest + DVec3::new(x.into(), y.into(), z.into());
                        let numbers = image.to_array().map(|number| number as i32);
                        let same_body = spheres.owner(a) == spheres.owner(b) && numbers == [0; 3];
                        let is_counted = a < b || numbers > [0; 3];
                        let distance = from.distance(to + image * size);
                        if !same_body && is_counted && distance < reach {
                            pairs.push(ImagePair {
                                a: a as u32,
                                b: b as u32,
                                image: numbers,
                            });
                        }
                    }
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

fn searches() -> Vec<Box<dyn PairSearch>> {
    let mut searches: Vec<Box<dyn PairSearch>> =
        vec![Box::new(AutoGrid::new()), Box::new(HierarchicalGrid::new())];
    searches.extend(SearchKind::ALL.map(SearchKind::search));
    searches
}

/// Compares all searches with brute force; returns the number of pairs.
fn assert_exact(spheres: &SphereSet, size: Vec3, margin: f32) -> usize {
    let expected = brute_force(spheres, size, margin);
    let periodic = PeriodicBox::new(size).unwrap();
    for mut search in searches() {
        let name = search.name();
        let mut search = PeriodicSearch::new(&mut *search, periodic);
        let found = search.find_pairs(spheres, margin).unwrap();
        assert!(found.iter().all(|pair| pair.a <= pair.b));
        let differing = found
            .iter()
            .find(|pair| expected.binary_search(pair).is_err());
        assert_eq!(found.len(), expected.len(), "{name} {size} {differing:?}");
        assert!(found == expected, "{name} {size}");
    }
    expected.len()
}

/// Spheres in molecules of `atoms` spheres each, scattered over the box and some edges around it.
fn scattered(count: u32, atoms: u32, size: Vec3, radii: [f32; 2], edges: f32) -> SphereSet {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let mut spheres = SphereSet::new();
    let mut vector = || Vec3::from_array([0; 3].map(|_| random.random_range(-1.0_f32..1.0)));
    let mut middle = Vec3::ZERO;
    for sphere in 0..count {
        if sphere % atoms == 0 {
            middle = size * edges * vector();
        }
        let radius = radii[0] + (radii[1] - radii[0]) * vector().x.abs();
        spheres
            .push(middle + 0.2 * vector(), radius, sphere / atoms)
            .unwrap();
    }
    spheres
}

#[test]
fn boxes_of_any_size_and_shape_are_exact() {
    let reach = 0.34;
    for edges in [
        Vec3::splat(1.0),
        Vec3::splat(2.0),
        Vec3::splat(2.5),
        Vec3::splat(10.0),
        Vec3::new(1.0, 2.5, 30.0),
        Vec3::new(40.0, 3.0, 0.9),
    ] {
        let size = edges * reach;
        for (count, atoms) in [(0, 1), (1, 1), (2, 2), (100, 1), (100, 7)] {
            // Fewer spheres in the smallest boxes: every sphere overlaps with every other.
            let spheres = scattered(count, atoms, size, [0.17, 0.17], 3.0);
            let pairs = assert_exact(&spheres, size, 0.0);
            assert!(pairs > 0 || count < 3, "{edges} {count}");
        }
    }
}

#[test]
fn ten_thousand_spheres_are_exact() {
    for (size, radii) in [
        (Vec3::new(11.0, 7.0, 9.0), [0.11, 0.2]),
        (Vec3::new(30.0, 25.0, 1.1), [0.05, 0.5]),
    ] {
        let spheres = scattered(10_000, 20, size, radii, 1.0);
        assert!(assert_exact(&spheres, size, 0.01) > 10_000);
    }
}

#[test]
fn spheres_of_mixed_radii_are_exact() {
    let size = Vec3::new(3.0, 4.0, 2.0);
    for (radii, margin) in [([0.0, 0.4], 0.0), ([0.001, 1.0], 0.1), ([0.0, 0.0], 0.3)] {
        let spheres = scattered(300, 3, size, radii, 1.5);
        assert!(assert_exact(&spheres, size, margin) > 0);
    }
}

#[test]
fn spheres_on_faces_and_corners_are_exact() {
    let size = Vec3::new(2.0, 4.0, 8.0);
    let mut spheres = SphereSet::new();
    let mut owner = 0;
    for x in [0.0, 1.0, 2.0, -2.0] {
        for y in [0.0, 4.0, 2.0] {
            for z in [0.0, 8.0, -1.0e-9] {
                spheres.push(Vec3::new(x, y, z), 0.25, owner).unwrap();
                owner += 1;
            }
        }
    }
    // Spheres that only touch are no pair: the rows are one and two nanometers apart.
    let pairs = assert_exact(&spheres, size, 0.0);
    assert_eq!(pairs, assert_exact(&spheres, size, 0.49));
    assert!(assert_exact(&spheres, size, 0.51) > pairs);
}

#[test]
fn coincident_centers_are_exact() {
    let size = Vec3::splat(1.0);
    let mut spheres = SphereSet::new();
    for owner in 0..30 {
        let edges = Vec3::new(owner as f32 - 15.0, 0.0, (owner % 3) as f32);
        spheres.push(Vec3::splat(0.25) + edges, 0.2, owner).unwrap();
    }
    assert_eq!(assert_exact(&spheres, size, 0.0), 30 * 29 / 2);
}

#[test]
fn centers_a_thousand_edges_away_are_exact() {
    let size = Vec3::new(3.0, 2.0, 5.0);
    let near = scattered(200, 1, size, [0.1, 0.3], 1.0);
    let mut far = SphereSet::new();
    for sphere in 0..near.len() {
        let side = if sphere % 2 == 0 { 1000.0 } else { -1000.0 };
        let center = near.center(sphere) + size * side;
        far.push(center, near.radius(sphere), near.owner(sphere))
            .unwrap();
    }
    assert!(assert_exact(&far, size, 0.0) > 50);
}

#[test]
fn a_molecule_does_not_touch_itself_but_its_images() {
    let mut spheres = SphereSet::new();
    for x in [0.0, 0.1, 0.9] {
        spheres.push(Vec3::X * x, 0.1, 0).unwrap();
    }
    assert_eq!(assert_exact(&spheres, Vec3::splat(5.0), 0.0), 0);
    // In a box of one nanometer, the last sphere overlaps the image of the first one.
    assert_eq!(assert_exact(&spheres, Vec3::splat(1.0), 0.0), 1);
    let mut single = SphereSet::new();
    single.push(Vec3::splat(0.3), 0.2, 0).unwrap();
    // Six faces, each pair of opposite images once.
    assert_eq!(assert_exact(&single, Vec3::splat(0.39), 0.0), 3);
}

/// With an edge below twice the reach, a sphere may overlap another on both sides.
#[test]
fn all_images_of_a_sphere_are_pairs() {
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ZERO, 0.3, 0).unwrap();
    spheres.push(Vec3::X * 0.5, 0.3, 1).unwrap();
    let size = Vec3::new(1.0, 9.0, 9.0);
    let mut search = BruteForce;
    let mut search = PeriodicSearch::new(&mut search, PeriodicBox::new(size).unwrap());
    let pairs = search.find_pairs(&spheres, 0.0).unwrap();
    let images: Vec<_> = pairs.iter().map(|pair| pair.image).collect();
    assert_eq!(images, [[-1, 0, 0], [0, 0, 0]]);
}

#[test]
fn the_pairs_do_not_depend_on_the_number_of_threads() {
    let size = Vec3::new(6.0, 5.0, 4.0);
    let spheres = scattered(5_000, 5, size, [0.1, 0.3], 2.0);
    let find = || {
        let mut grid = AutoGrid::new();
        let mut search = PeriodicSearch::new(&mut grid, PeriodicBox::new(size).unwrap());
        search.find_pairs(&spheres, 0.0).unwrap()
    };
    assert_eq!(with_threads(1, find), with_threads(4, find));
}

#[test]
fn invalid_spheres_and_tiny_boxes_are_reported() {
    let find = |spheres: &SphereSet, size: Vec3, margin: f32| {
        let mut grid = UniformGrid::new();
        let mut search = PeriodicSearch::new(&mut grid, PeriodicBox::new(size).unwrap());
        search.find_pairs(spheres, margin)
    };
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ZERO, 0.1, 0).unwrap();
    for size in [1.0e-6, f32::MIN_POSITIVE] {
        let error = find(&spheres, Vec3::splat(size), 0.0).unwrap_err();
        assert!(
            matches!(error, SearchError::TooManyImages { .. }),
            "{error}"
        );
    }
    for margin in [-1.0, f32::NAN] {
        let error = find(&spheres, Vec3::ONE, margin).unwrap_err();
        assert!(matches!(error, SearchError::BadMargin { .. }));
    }
    spheres.push(Vec3::X * 1.0e9, 0.1, 1).unwrap();
    let error = find(&spheres, Vec3::ONE, 0.0).unwrap_err();
    assert!(matches!(error, SearchError::FarFromBox { index: 1, .. }));
}

/// The crowded place is named by a sphere, not by one of its images.
#[test]
fn too_many_spheres_in_one_place_are_reported() {
    let mut spheres = SphereSet::new();
    for owner in 0..200_000 {
        spheres.push(Vec3::ZERO, 0.1, owner).unwrap();
    }
    let mut grid = UniformGrid::new();
    let mut search = PeriodicSearch::new(&mut grid, PeriodicBox::new(Vec3::ONE).unwrap());
    match search.find_pairs(&spheres, 0.0) {
        Err(SearchError::TooCrowded { sphere, .. }) => assert!(sphere < 200_000),
        other => panic!(
            "expected an error, found {:?}",
            other.map(|pairs| pairs.len())
        ),
    }
}
