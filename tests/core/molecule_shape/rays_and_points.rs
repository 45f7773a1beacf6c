//! Ray casts, point queries and properties of the shape, against brute force over the atoms.

use bevy_rapier_molecules::rapier::MoleculeShape;
use glam::Vec3;
use rand::RngExt;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{DefaultQueryDispatcher, PointQuery, QueryDispatcher, Ray, RayCast};
use rapier3d::parry::shape::{Ball, FeatureId, Shape, SharedShape};

use crate::molecule_shape::fixtures::{random, small, ubiquitin, unit_vector};
use crate::molecule_shape::oracle::atoms;

fn points(molecule: &MoleculeShape, count: usize) -> Vec<Vec3> {
    let mut random = random(11);
    let max_radius = 1.5 * molecule.template().bounding_radius();
    (0..count)
        .map(|_| unit_vector(&mut random) * random.random_range(0.0..max_radius))
        .collect()
}

fn nearest(molecule: &MoleculeShape, point: Vec3) -> f32 {
    atoms(molecule)
        .iter()
        .map(|(center, ball)| center.distance(point) - ball.radius)
        .fold(f32::MAX, f32::min)
}

#[test]
fn rays_hit_the_first_atom() {
    for molecule in [small(), ubiquitin()] {
        let mut random = random(5);
        let mut hits = 0;
        for origin in points(&molecule, 300) {
            let ray = Ray::new(origin, unit_vector(&mut random) * 0.7 - origin * 0.3);
            for solid in [true, false] {
                let expected = atoms(&molecule)
                    .iter()
                    .filter_map(|(c, ball)| {
                        ball.cast_ray(&Pose3::from_translation(*c), &ray, 10.0, solid)
                    })
                    .min_by(f32::total_cmp);
                let found = molecule.cast_local_ray_and_get_normal(&ray, 10.0, solid);
                let time = molecule.cast_local_ray(&ray, 10.0, solid);
                assert_eq!(found.is_some(), expected.is_some());
                assert_eq!(time.is_some(), expected.is_some());
                let Some((found, expected)) = found.zip(expected) else {
                    continue;
                };
                hits += 1;
                assert!((found.time_of_impact - expected).abs() < 1.0e-4);
                assert!((time.unwrap() - expected).abs() < 1.0e-4);
                let FeatureId::Face(atom) = found.feature else {
                    panic!("the feature is not an atom");
                };
                let hit = molecule.atom_hit_by_ray(&ray, 10.0, solid).unwrap();
                assert_eq!((hit.atom, hit.time), (atom, found.time_of_impact));
                if expected > 0.0 {
                    let template = molecule.template();
                    let out = ray.point_at(expected) - template.positions()[atom as usize];
                    assert!((out.length() - template.radii()[atom as usize]).abs() < 1.0e-3);
                }
            }
        }
        assert!(hits > 200);
        let away = Ray::new(Vec3::X * 50.0, Vec3::X);
        assert!(molecule.cast_local_ray(&away, f32::MAX, true).is_none());
    }
}

#[test]
fn points_are_projected_on_the_nearest_atom() {
    for molecule in [small(), ubiquitin()] {
        for point in points(&molecule, 400) {
            let expected = nearest(&molecule, point);
            let (atom, distance) = molecule.nearest_atom(point, f32::MAX).unwrap();
            assert!((distance - expected).abs() < 1.0e-5);
            assert_eq!(molecule.contains_local_point(point), expected <= 0.0);
            assert!((molecule.distance_to_local_point(point, false) - expected).abs() < 1.0e-5);
            let solid = molecule.distance_to_local_point(point, true);
            assert!((solid - expected.max(0.0)).abs() < 1.0e-5);

            let (projection, feature) = molecule.project_local_point_and_get_feature(point);
            assert_eq!(feature, FeatureId::Face(atom));
            assert_eq!(projection.is_inside, expected <= 0.0);
            assert!((projection.point.distance(point) - expected.abs()).abs() < 1.0e-5);
            let normal = molecule.feature_normal_at_point(feature, projection.point);
            assert!(normal.unwrap().is_normalized());
            if expected <= 0.0 {
                assert_eq!(molecule.project_local_point(point, true).point, point);
            }
            let limited = molecule.project_local_point_with_max_dist(point, false, 0.3);
            assert_eq!(limited.is_some(), expected.abs() <= 0.3);
        }
    }
}

#[test]
fn atoms_touching_a_ball_match_brute_force() {
    for molecule in [small(), ubiquitin()] {
        for (k, point) in points(&molecule, 200).into_iter().enumerate() {
            let radius = [0.0, 0.1, 0.5, 5.0][k % 4];
            let expected: Vec<u32> = atoms(&molecule)
                .iter()
                .enumerate()
                .filter(|(_, (center, ball))| {
                    let sum = ball.radius + radius;
                    center.distance_squared(point) <= sum * sum
                })
                .map(|(index, _)| index as u32)
                .collect();
            assert_eq!(molecule.atoms_touching_ball(point, radius), expected);
        }
    }
}

#[test]
fn bounds_and_mass_are_those_of_the_template() {
    let molecule = ubiquitin();
    let template = molecule.template();
    let aabb = molecule.compute_local_aabb();
    for (center, ball) in atoms(&molecule) {
        assert!((center - ball.radius).cmpge(aabb.mins - 1.0e-6).all());
        assert!((center + ball.radius).cmple(aabb.maxs + 1.0e-6).all());
    }
    let sphere = molecule.compute_local_bounding_sphere();
    assert_eq!(sphere.radius, template.bounding_radius());
    let mass = molecule.mass_properties(1.0);
    assert!((mass.mass() / template.mass() - 1.0).abs() < 1.0e-5);
    let moments = mass.principal_inertia() / template.principal_inertia();
    assert!(moments.abs_diff_eq(Vec3::ONE, 1.0e-4));
    assert_eq!(molecule.mass_properties(0.0).mass(), 0.0);
    assert!(molecule.scale_dyn(Vec3::ONE, 0).is_some());
    assert!(molecule.scale_dyn(Vec3::splat(2.0), 0).is_none());
    assert!(molecule.ccd_thickness() > 0.05);
    assert!(format!("{molecule:?}").contains("atoms"));
    let shared = SharedShape::new(molecule.clone());
    assert!(shared.as_shape::<MoleculeShape>().is_some());
}

/// Rapier's scene queries use parry's own dispatcher.
#[test]
fn the_default_dispatcher_gives_the_same_distances() {
    let molecule = small();
    let ball = Ball::new(0.5);
    for k in 0..20 {
        let pose = Pose3::translation(0.1 * k as f32, 0.05, -0.02);
        let expected = crate::molecule_shape::fixtures::dispatcher()
            .distance(&pose, &molecule, &ball)
            .unwrap();
        let found = DefaultQueryDispatcher
            .distance(&pose, &molecule, &ball)
            .unwrap();
        assert!((found - expected).abs() < 1.0e-4);
        assert_eq!(
            DefaultQueryDispatcher
                .intersection_test(&pose, &molecule, &ball)
                .unwrap(),
            expected <= 0.0
        );
    }
}
