//! One test per shape type: all queries in both orders against the oracle.

use std::sync::Arc;

use bevy_rapier_molecules::rapier::MoleculeShape;
use glam::Vec3;
use rapier3d::parry::math::{IVector, Pose3};
use rapier3d::parry::query::{
    ClosestPoints, ContactManifold, DefaultQueryDispatcher, NonlinearRigidMotion,
    PersistentQueryDispatcher, QueryDispatcher, ShapeCastOptions,
};
use rapier3d::parry::shape::*;
use rapier3d::parry::utils::Array2;

use crate::molecule_shape::fixtures::{dispatcher, poses, small, ubiquitin};
use crate::molecule_shape::oracle::Oracle;

const TOLERANCE: f32 = 1.0e-4;
const PREDICTION: f32 = 0.05;
/// Difference between parry's casts of the same pair in two orders, at unit speed.
const CAST_TOLERANCE: f32 = 5.0e-3;

fn check(other: &dyn Shape) {
    for (molecule, count, seed) in [(small(), 48, 1), (ubiquitin(), 10, 2)] {
        let oracle = Oracle::new(&molecule, other);
        for pose in poses(&molecule, other, count, seed) {
            check_overlap(&molecule, other, &pose, &oracle);
            check_contact(&molecule, other, &pose, &oracle);
            check_manifolds(&molecule, other, &pose, &oracle);
            check_cast(&molecule, other, &pose, &oracle);
            check_nonlinear_cast(&molecule, other, &pose);
        }
    }
}

fn check_overlap(molecule: &MoleculeShape, other: &dyn Shape, pose: &Pose3, oracle: &Oracle) {
    let (dispatcher, back) = (dispatcher(), pose.inverse());
    let expected = oracle.distance(pose);
    let distance = dispatcher.distance(pose, molecule, other).unwrap();
    let swapped = dispatcher.distance(&back, other, molecule).unwrap();
    assert!(
        (distance - expected).abs() < TOLERANCE,
        "{distance} {expected} {pose:?}"
    );
    assert!(
        (swapped - expected).abs() < TOLERANCE,
        "{swapped} {expected} {pose:?}"
    );
    let chained = dispatcher.clone().chain(DefaultQueryDispatcher);
    assert_eq!(chained.distance(pose, molecule, other), Ok(distance));

    if expected > TOLERANCE || expected == 0.0 {
        let overlap = expected == 0.0;
        assert_eq!(
            dispatcher.intersection_test(pose, molecule, other),
            Ok(overlap)
        );
        assert_eq!(
            dispatcher.intersection_test(&back, other, molecule),
            Ok(overlap)
        );
    }

    match dispatcher
        .closest_points(pose, molecule, other, 0.4)
        .unwrap()
    {
        ClosestPoints::Intersecting => assert!(expected < TOLERANCE),
        ClosestPoints::Disjoint => assert!(expected > 0.4 - TOLERANCE),
        ClosestPoints::WithinMargin(p1, p2) => {
            assert!((p1.distance(pose * p2) - expected).abs() < TOLERANCE);
            assert!(molecule.nearest_atom(p1, f32::MAX).unwrap().1.abs() < TOLERANCE);
            let swapped = dispatcher.closest_points(&back, other, molecule, 0.4);
            let ClosestPoints::WithinMargin(q2, q1) = swapped.unwrap() else {
                panic!("no points in the other order");
            };
            assert!(p1.distance(q1) < 0.01 && p2.distance(q2) < 0.01);
        }
    }
}

fn check_contact(molecule: &MoleculeShape, other: &dyn Shape, pose: &Pose3, oracle: &Oracle) {
    let (dispatcher, back) = (dispatcher(), pose.inverse());
    let expected = oracle.deepest(pose, PREDICTION);
    let contact = dispatcher
        .contact(pose, molecule, other, PREDICTION)
        .unwrap();
    let swapped = dispatcher
        .contact(&back, other, molecule, PREDICTION)
        .unwrap();
    let Some(expected) = expected else {
        assert!(contact.is_none_or(|c| c.dist > PREDICTION - TOLERANCE));
        return;
    };
    if expected > PREDICTION - TOLERANCE {
        return;
    }
    let contact = contact.unwrap();
    assert!(
        (contact.dist - expected).abs() < TOLERANCE,
        "{contact:?} {expected} {pose:?}"
    );
    assert!((swapped.unwrap().dist - expected).abs() < TOLERANCE);
    assert!((contact.normal1 + pose.rotation * contact.normal2).length() < TOLERANCE);
    assert!(contact.normal1.is_normalized());
    let between = pose * contact.point2 - contact.point1;
    assert!((between.dot(contact.normal1) - contact.dist).abs() < TOLERANCE);
}

fn check_manifolds(molecule: &MoleculeShape, other: &dyn Shape, pose: &Pose3, oracle: &Oracle) {
    let real = oracle.contacts(pose, PREDICTION + 10.0 * TOLERANCE);
    let expected = oracle.deepest(pose, PREDICTION);
    for flipped in [false, true] {
        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
        let (pos12, g1, g2): (_, &dyn Shape, &dyn Shape) = if flipped {
            (pose.inverse(), other, molecule)
        } else {
            (*pose, molecule, other)
        };
        dispatcher()
            .contact_manifolds(&pos12, g1, g2, PREDICTION, &mut manifolds, &mut None)
            .unwrap();
        let mut deepest: Option<f32> = None;
        for manifold in &manifolds {
            assert!(!manifold.points.is_empty() && manifold.points.len() <= 4);
            assert!(manifold.local_n1.is_normalized() && manifold.local_n2.is_normalized());
            let sum = manifold.local_n1 + pos12.rotation * manifold.local_n2;
            assert!(sum.length() < TOLERANCE);
            for point in &manifold.points {
                let (atom, on_atom) = if flipped {
                    (point.fid2.unpack().unwrap_face(), point.local_p2)
                } else {
                    (point.fid1.unpack().unwrap_face(), point.local_p1)
                };
                let is_real = real.iter().any(|(k, contact)| {
                    *k == atom as usize
                        && (contact.dist - point.dist).abs() < TOLERANCE
                        && (contact.point1.distance(on_atom) < 0.01 || contact.dist < -0.05)
                });
                assert!(is_real, "atom {atom}: {point:?} at {pose:?}");
                deepest = Some(deepest.map_or(point.dist, |d| d.min(point.dist)));
            }
        }
        match (deepest, expected) {
            (Some(a), Some(b)) => assert!((a - b).abs() < TOLERANCE, "{a} {b} {pose:?}"),
            (None, Some(b)) => assert!(b > PREDICTION - TOLERANCE, "found nothing, expected {b}"),
            (Some(a), None) => assert!(a > PREDICTION - TOLERANCE, "found {a}, expected nothing"),
            (None, None) => {}
        }
    }
}

fn check_cast(molecule: &MoleculeShape, other: &dyn Shape, pose: &Pose3, oracle: &Oracle) {
    let (dispatcher, back) = (dispatcher(), pose.inverse());
    // Towards the molecule, past its center.
    let velocity = (Vec3::new(0.1, -0.2, 0.15) - pose.translation).normalize_or(Vec3::X);
    let options = ShapeCastOptions::with_max_time_of_impact(50.0);
    let expected = oracle.cast(pose, velocity, options);
    let hit = dispatcher.cast_shapes(pose, velocity, molecule, other, options);
    let local_velocity = -(pose.rotation.inverse() * velocity);
    let swapped = dispatcher.cast_shapes(&back, local_velocity, other, molecule, options);
    let times = [hit, swapped].map(|hit| hit.unwrap().map(|hit| hit.time_of_impact));
    for time in times {
        match (time, expected) {
            (Some(a), Some(b)) => assert!((a - b).abs() < CAST_TOLERANCE, "{a} {b} {pose:?}"),
            (a, b) => assert_eq!(a, b, "{pose:?}"),
        }
    }
}

/// Compares with the distance at sampled times; there is no oracle.
fn check_nonlinear_cast(molecule: &MoleculeShape, other: &dyn Shape, pose: &Pose3) {
    let dispatcher = dispatcher();
    let towards = pose.translation.normalize_or(Vec3::X);
    let motion1 = NonlinearRigidMotion::new(
        Pose3::IDENTITY,
        Vec3::ZERO,
        towards * 0.7,
        Vec3::new(0.5, 0.3, -0.4),
    );
    let motion2 = NonlinearRigidMotion::new(*pose, Vec3::ZERO, -towards, Vec3::Y * 0.2);
    let hit = dispatcher
        .cast_shapes_nonlinear(&motion1, molecule, &motion2, other, 0.0, 1.0, true)
        .unwrap();
    let swapped = dispatcher
        .cast_shapes_nonlinear(&motion2, other, &motion1, molecule, 0.0, 1.0, true)
        .unwrap();
    let distance_at = |time: f32| {
        let pos12 = motion1
            .position_at_time(time)
            .inv_mul(&motion2.position_at_time(time));
        dispatcher.distance(&pos12, molecule, other).unwrap()
    };
    let end = hit.map_or(1.0, |hit| hit.time_of_impact);
    for k in 0..5 {
        let time = end * k as f32 / 5.0;
        assert!(
            end == 0.0 || distance_at(time) > 0.0,
            "overlap at {time}, before the impact at {end}"
        );
    }
    if let Some(hit) = hit {
        assert!(distance_at(end) < 1.0e-3, "impact too early, {pose:?}");
        assert!((swapped.unwrap().time_of_impact - end).abs() < 1.0e-3);
        assert!(hit.normal1.is_normalized() && hit.normal2.is_normalized());
    }
}

fn bumpy_grid() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for (i, j) in (0..6_u32).flat_map(|i| (0..6_u32).map(move |j| (i, j))) {
        let height = 0.15 * ((i * 7 + j * 3) % 5) as f32;
        points.push(Vec3::new(
            i as f32 * 0.4 - 1.0,
            height,
            j as f32 * 0.4 - 1.0,
        ));
        if i < 5 && j < 5 {
            let at = i * 6 + j;
            triangles.extend([[at, at + 1, at + 6], [at + 1, at + 7, at + 6]]);
        }
    }
    (points, triangles)
}

macro_rules! compare_with_oracle {
    ($($name:ident: $shape:expr;)*) => {
        $(#[test]
        fn $name() {
            check(&$shape);
        })*
    };
}

compare_with_oracle! {
    molecule_and_small_molecule: small();
    molecule_and_ball: Ball::new(0.7);
    molecule_and_cuboid: Cuboid::new(Vec3::new(0.6, 0.3, 0.9));
    molecule_and_capsule: Capsule::new_y(0.6, 0.25);
    molecule_and_cylinder: Cylinder::new(0.5, 0.4);
    molecule_and_cone: Cone::new(0.6, 0.5);
    molecule_and_half_space: HalfSpace::new(Vec3::new(0.2, 1.0, -0.3).normalize());
    molecule_and_segment: Segment::new(Vec3::new(-0.5, 0.1, 0.0), Vec3::new(0.6, 0.0, 0.2));
    molecule_and_triangle: Triangle::new(Vec3::X, Vec3::new(-0.7, 0.0, 0.8), Vec3::NEG_Z);
    molecule_and_trimesh: {
        let (points, triangles) = bumpy_grid();
        TriMesh::new(points, triangles).unwrap()
    };
    molecule_and_trimesh_with_fixed_edges: {
        let (points, triangles) = bumpy_grid();
        TriMesh::with_flags(points, triangles, TriMeshFlags::FIX_INTERNAL_EDGES).unwrap()
    };
    molecule_and_height_field: HeightField::new(
        Array2::from_fn(6, 7, |i, j| 0.2 * ((i * 5 + j * 3) % 4) as f32),
        Vec3::new(2.5, 1.0, 2.0),
    );
    molecule_and_polyline: Polyline::new(
        vec![Vec3::NEG_X, Vec3::ZERO, Vec3::new(0.5, 0.6, 0.0), Vec3::new(0.5, 0.6, 0.9)],
        None,
    );
    molecule_and_convex_polyhedron: {
        let points = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y * 0.4, Vec3::Z, Vec3::NEG_Z * 0.7];
        ConvexPolyhedron::from_convex_hull(&points).unwrap()
    };
    molecule_and_compound: Compound::new(vec![
        (Pose3::translation(0.7, 0.0, 0.0), SharedShape::ball(0.4)),
        (Pose3::translation(-0.5, 0.2, 0.0), SharedShape::cuboid(0.3, 0.5, 0.2)),
        (Pose3::translation(0.0, -0.4, 0.3), SharedShape::capsule_x(0.3, 0.2)),
    ]);
    molecule_and_voxels: {
        let cells = (0..60).map(|k| IVector::new(k % 5, (k * k) % 3, k / 15));
        Voxels::new(Vec3::new(0.3, 0.25, 0.35), &cells.collect::<Vec<_>>())
    };
    molecule_and_round_cuboid: RoundShape {
        inner_shape: Cuboid::new(Vec3::new(0.5, 0.3, 0.7)),
        border_radius: 0.1,
    };
    molecule_and_round_triangle: RoundShape {
        inner_shape: Triangle::new(Vec3::X, Vec3::new(-0.7, 0.0, 0.8), Vec3::NEG_Z),
        border_radius: 0.1,
    };
    molecule_and_round_cylinder: RoundShape {
        inner_shape: Cylinder::new(0.5, 0.4),
        border_radius: 0.1,
    };
    molecule_and_round_cone: RoundShape {
        inner_shape: Cone::new(0.6, 0.5),
        border_radius: 0.1,
    };
    molecule_and_round_convex_polyhedron: {
        let points = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y * 0.4, Vec3::Z, Vec3::NEG_Z * 0.7];
        RoundShape {
            inner_shape: ConvexPolyhedron::from_convex_hull(&points).unwrap(),
            border_radius: 0.1,
        }
    };
    molecule_and_custom_composite: Pearls::new();
}

/// A custom composite shape that is not a molecule: a row of cuboids.
#[derive(Clone)]
struct Pearls(Arc<Compound>);

impl Pearls {
    fn new() -> Self {
        let pearls = (0..5).map(|k| {
            let pose = Pose3::translation(k as f32 * 0.5 - 1.0, 0.1 * (k % 2) as f32, 0.0);
            (pose, SharedShape::cuboid(0.15, 0.2, 0.1))
        });
        Self(Arc::new(Compound::new(pearls.collect())))
    }
}

mod pearls {
    //! Forwards everything to the compound.

    use rapier3d::parry::bounding_volume::{Aabb, BoundingSphere};
    use rapier3d::parry::mass_properties::MassProperties;
    use rapier3d::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};

    use super::*;

    impl RayCast for Pearls {
        fn cast_local_ray_and_get_normal(
            &self,
            ray: &Ray,
            max: f32,
            solid: bool,
        ) -> Option<RayIntersection> {
            self.0.cast_local_ray_and_get_normal(ray, max, solid)
        }
    }

    impl PointQuery for Pearls {
        fn project_local_point(&self, point: Vec3, solid: bool) -> PointProjection {
            self.0.project_local_point(point, solid)
        }

        fn project_local_point_and_get_feature(&self, p: Vec3) -> (PointProjection, FeatureId) {
            self.0.project_local_point_and_get_feature(p)
        }
    }

    impl Shape for Pearls {
        fn compute_local_aabb(&self) -> Aabb {
            self.0.compute_local_aabb()
        }

        fn compute_local_bounding_sphere(&self) -> BoundingSphere {
            self.0.compute_local_bounding_sphere()
        }

        fn clone_dyn(&self) -> Box<dyn Shape> {
            Box::new(self.clone())
        }

        fn scale_dyn(&self, _: Vec3, _: u32) -> Option<Box<dyn Shape>> {
            None
        }

        fn mass_properties(&self, density: f32) -> MassProperties {
            self.0.mass_properties(density)
        }

        fn shape_type(&self) -> ShapeType {
            ShapeType::Custom
        }

        fn as_typed_shape(&self) -> TypedShape<'_> {
            TypedShape::Custom(self)
        }

        fn ccd_thickness(&self) -> f32 {
            self.0.ccd_thickness()
        }

        fn ccd_angular_thickness(&self) -> f32 {
            self.0.ccd_angular_thickness()
        }

        fn as_composite_shape(&self) -> Option<&dyn CompositeShape> {
            Some(&*self.0)
        }
    }
}
