//! Edge cases: coincident, deep, distant and non-finite poses.

use bevy_rapier_molecules::rapier::{MoleculeDispatcher, MoleculePairFilter};
use glam::{Quat, Vec3};
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{
    ContactManifold, NonlinearRigidMotion, PersistentQueryDispatcher, PointQuery, QueryDispatcher,
    Ray, RayCast, ShapeCastOptions, Unsupported,
};
use rapier3d::parry::shape::{Ball, Cuboid, HalfSpace, Shape, Triangle};

use crate::molecule_shape::fixtures::{dispatcher, molecule, small, ubiquitin};

type Manifolds = Vec<ContactManifold<(), u32>>;

fn manifolds(pose: &Pose3, g1: &dyn Shape, g2: &dyn Shape) -> Manifolds {
    let mut manifolds = Manifolds::new();
    dispatcher()
        .contact_manifolds(pose, g1, g2, 0.02, &mut manifolds, &mut None)
        .unwrap();
    manifolds
}

fn assert_valid(manifolds: &Manifolds) {
    for manifold in manifolds {
        assert!(manifold.local_n1.is_normalized() && manifold.local_n2.is_normalized());
        for point in &manifold.points {
            assert!(point.local_p1.is_finite() && point.local_p2.is_finite());
            assert!(point.dist.is_finite());
        }
    }
}

#[test]
fn coincident_molecules_have_finite_manifolds() {
    for shape in [small(), ubiquitin(), molecule(&[Vec3::ZERO], &[0.1])] {
        let found = manifolds(&Pose3::IDENTITY, &shape, &shape.clone());
        assert!(!found.is_empty() && found.len() <= 26);
        assert_valid(&found);
        let contact = dispatcher().contact(&Pose3::IDENTITY, &shape, &shape.clone(), 0.0);
        let contact = contact.unwrap().unwrap();
        assert!(contact.normal1.is_normalized() && contact.dist < 0.0);
    }
}

#[test]
fn atoms_deep_inside_and_on_the_surface_have_finite_normals() {
    let atom = molecule(&[Vec3::ZERO], &[0.1]);
    let cuboid = Cuboid::new(Vec3::ONE);
    let triangle = Triangle::new(Vec3::X, Vec3::Z, Vec3::new(-1.0, 0.0, -1.0));
    let floor = HalfSpace::new(Vec3::Y);
    for offset in [
        Vec3::ZERO,
        Vec3::Y,
        Vec3::splat(1.0),
        Vec3::new(0.3, 0.0, 0.0),
    ] {
        let pose = Pose3::from_translation(offset);
        for other in [&cuboid as &dyn Shape, &triangle, &floor] {
            assert_valid(&manifolds(&pose, &atom, other));
            assert_valid(&manifolds(&pose.inverse(), other, &atom));
        }
    }
    // Deep in the floor, the separation direction is up.
    let found = manifolds(&Pose3::translation(0.0, 0.5, 0.0), &atom, &floor);
    assert_eq!(found[0].local_n1, Vec3::NEG_Y);
    assert!((found[0].points[0].dist + 0.6).abs() < 1.0e-6);
}

#[test]
fn distant_shapes_have_no_contacts() {
    let shape = small();
    let dispatcher = dispatcher();
    for far in [1.0e4, 1.0e6, 1.0e15] {
        let pose = Pose3::translation(far, -far, far);
        for other in [&shape.clone() as &dyn Shape, &Cuboid::new(Vec3::ONE)] {
            assert!(manifolds(&pose, &shape, other).is_empty());
            assert_eq!(
                dispatcher.intersection_test(&pose, &shape, other),
                Ok(false)
            );
            assert!(dispatcher.distance(&pose, &shape, other).unwrap() > far);
            assert_eq!(dispatcher.contact(&pose, &shape, other, 0.1), Ok(None));
        }
    }
}

#[test]
fn non_finite_poses_have_no_contacts() {
    let shape = small();
    let dispatcher = dispatcher();
    let options = ShapeCastOptions::default();
    for bad in [f32::NAN, f32::INFINITY] {
        for pose in [
            Pose3::translation(bad, 0.0, 0.0),
            Pose3::from_rotation(Quat::from_xyzw(bad, 0.0, 0.0, 1.0)),
        ] {
            for other in [
                &shape.clone() as &dyn Shape,
                &Ball::new(1.0),
                &HalfSpace::new(Vec3::Y),
            ] {
                assert!(manifolds(&pose, &shape, other).is_empty());
                let _ = dispatcher.distance(&pose, &shape, other);
                let _ = dispatcher.contact(&pose, &shape, other, 0.1);
                let _ = dispatcher.intersection_test(&pose, &shape, other);
                let _ = dispatcher.cast_shapes(&pose, Vec3::X, &shape, other, options);
                let motion = NonlinearRigidMotion::constant_position(pose);
                let still = NonlinearRigidMotion::identity();
                let hit = dispatcher
                    .cast_shapes_nonlinear(&still, &shape, &motion, other, 0.0, 1.0, false);
                assert!(hit.unwrap().is_none());
            }
        }
        let point = Vec3::splat(bad);
        assert!(!shape.contains_local_point(point));
        let _ = shape.project_local_point_and_get_feature(point);
        let _ = shape.cast_local_ray(&Ray::new(point, Vec3::X), 1.0, true);
    }
}

#[test]
fn pairs_without_a_molecule_are_unsupported() {
    let ball = Ball::new(1.0);
    let pose = Pose3::IDENTITY;
    let dispatcher = dispatcher();
    assert_eq!(dispatcher.distance(&pose, &ball, &ball), Err(Unsupported));
    assert_eq!(
        dispatcher.intersection_test(&pose, &ball, &ball),
        Err(Unsupported)
    );
    let mut manifolds = Manifolds::new();
    let found = dispatcher.contact_manifolds(&pose, &ball, &ball, 0.1, &mut manifolds, &mut None);
    assert_eq!(found, Err(Unsupported));
}

#[test]
fn the_filter_excludes_only_pairs_of_molecules() {
    let shape = small();
    let (ball, pose) = (Ball::new(0.5), Pose3::translation(0.4, 0.0, 0.0));
    let filter = MoleculePairFilter::default();
    let dispatcher = MoleculeDispatcher::new(filter.clone());
    let mut molecules = Manifolds::new();
    let mut workspace = None;
    let mut count = |other: &dyn Shape| {
        dispatcher
            .contact_manifolds(&pose, &shape, other, 0.02, &mut molecules, &mut workspace)
            .unwrap();
        molecules.len()
    };
    assert!(count(&shape) > 0);
    filter.set_excluded(true);
    assert!(filter.is_excluded());
    assert_eq!(count(&shape), 0);
    assert!(count(&ball) > 0);
    filter.set_excluded(false);
    assert!(count(&shape) > 0);
    filter.set_excluded(true);

    let moving = NonlinearRigidMotion::new(
        Pose3::translation(5.0, 0.0, 0.0),
        Vec3::ZERO,
        Vec3::NEG_X * 10.0,
        Vec3::ZERO,
    );
    let still = NonlinearRigidMotion::identity();
    let hit = |other: &dyn Shape| {
        dispatcher
            .cast_shapes_nonlinear(&still, &shape, &moving, other, 0.0, 1.0, false)
            .unwrap()
    };
    assert!(hit(&shape).is_none());
    assert!(hit(&ball).is_some());
    let intersects = |other: &dyn Shape| dispatcher.intersection_test(&pose, &shape, other);
    assert_eq!(
        [intersects(&shape), intersects(&ball)],
        [Ok(false), Ok(true)]
    );
    filter.set_excluded(false);
    assert_eq!(intersects(&shape), Ok(true));
    filter.set_excluded(true);
    assert_eq!(dispatcher.distance(&pose, &shape, &shape), Ok(0.0));
}

#[test]
fn persistent_points_keep_their_data() {
    let shape = ubiquitin();
    let floor = Cuboid::new(Vec3::new(5.0, 0.5, 5.0));
    let low = shape.compute_local_aabb().mins.y;
    let pose = |sink: f32| Pose3::translation(0.0, low - 0.5 + sink, 0.0);
    let mut found = Manifolds::new();
    let mut workspace = None;
    let mut step = |sink: f32, found: &mut Manifolds| {
        dispatcher()
            .contact_manifolds(&pose(sink), &shape, &floor, 0.02, found, &mut workspace)
            .unwrap();
    };
    step(0.001, &mut found);
    assert_eq!(found.len(), 1);
    let count = found[0].points.len();
    for (k, point) in found[0].points.iter_mut().enumerate() {
        point.data = 7 + k as u32;
    }
    step(0.0011, &mut found);
    let kept: Vec<u32> = found[0].points.iter().map(|point| point.data).collect();
    assert_eq!(kept, (0..count as u32).map(|k| 7 + k).collect::<Vec<_>>());
    step(-1.0, &mut found);
    assert!(found.is_empty());
}

#[test]
fn results_do_not_depend_on_previous_queries() {
    let shape = ubiquitin();
    let pose = Pose3::translation(1.9, 0.3, 0.1);
    let first = manifolds(&pose, &shape, &shape.clone());
    let _ = manifolds(&Pose3::IDENTITY, &shape, &small());
    let second = manifolds(&pose, &shape, &shape.clone());
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
    assert!(!first.is_empty());
}
