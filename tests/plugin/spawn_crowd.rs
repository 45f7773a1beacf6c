//! A crowd becomes entities in one call, and back again.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy_rapier_molecules::compartment::{
    CompartmentError, Confinement, DistanceAndNormal, OffsetSurface, Surface, Torus,
};
use bevy_rapier_molecules::plugin::{CompartmentRegion, CompartmentSurface, CrowdFromWorldError};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

/// A relaxed vesicle of 66 lipids.
fn relaxed_vesicle() -> Crowd {
    let size = VesicleSize::Counts {
        outer: 60,
        inner: 6,
        radius: 3.2,
    };
    let config = VesicleConfig {
        size,
        ..VesicleConfig::default()
    };
    let crowd = vesicle(Arc::new(real("popc.pdb")), &config).unwrap().crowd;
    let mut relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    assert!(report.converged());
    relaxer.crowd().clone()
}

/// Two kinds of molecules in a leaflet of a capsule, inside and outside, a free one and a fixed
/// one.
fn capsule_crowd() -> Crowd {
    let mut crowd = Crowd::new();
    let templates =
        ["popc.pdb", "p_xylene.pdb"].map(|file| crowd.add_template(Arc::new(real(file))));
    let turn = Quat::from_euler(EulerRot::XYZ, 0.3, 1.1, -2.0);
    let pose = Pose::new(Vec3::new(1.0, -2.0, 0.5), turn);
    let capsule = ShapeCompartment::capsule(3.0, 5.0, pose).unwrap();
    let compartment = crowd.add_compartment(Arc::new(capsule));
    let placement = Placement {
        leaflet: Leaflet::Inner,
        depth: 1.2,
        up: Vec3::new(0.1, 0.7, -0.3),
        leeway: 0.3,
        tilt_leeway: 0.7,
    };
    let inner = crowd.add_placement(compartment, placement).unwrap();
    let outside = Confinement::Outside { distance: -1.7 };
    let outside = crowd.add_placement(compartment, outside).unwrap();
    let inside = Confinement::Inside { distance: 0.3 };
    let inside = crowd.add_placement(compartment, inside).unwrap();
    let placements = [Some(inner), None, Some(inner), Some(outside), Some(inside)];
    for (k, placement) in placements.into_iter().enumerate() {
        let rotation = Quat::from_euler(EulerRot::XYZ, k as f32, 0.7, 2.0 * k as f32);
        let member = CrowdMember {
            template: templates[k % 2],
            placement,
            pose: Pose::new(Vec3::new(3.0 * k as f32, 0.1, -0.7), rotation),
            fixed: k == 2,
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

/// Compares crowds bit for bit, compartments by their surfaces.
#[track_caller]
fn assert_same(one: &Crowd, other: &Crowd) {
    assert_eq!(one.members(), other.members());
    assert_eq!(one.placements(), other.placements());
    let mut templates = one.templates().iter().zip(other.templates());
    assert_eq!(one.templates().len(), other.templates().len());
    assert!(templates.all(|(one, other)| one == other));
    assert_eq!(one.compartments().len(), other.compartments().len());
    for (one, other) in one.compartments().iter().zip(other.compartments()) {
        assert_eq!(one.center(), other.center());
        assert_eq!(one.pose(), other.pose());
        assert_eq!(one.as_sphere(), other.as_sphere());
        let poses = [one, other].map(|surface| surface.as_shape().map(|(_, pose)| pose));
        assert_eq!(poses[0], poses[1]);
        for k in 0..50 {
            let point = Vec3::new(k as f32, 30.0 - 2.0 * k as f32, 7.0) * 0.3;
            assert_eq!(
                one.distance_and_normal(point),
                other.distance_and_normal(point)
            );
        }
    }
}

#[test]
fn a_crowd_that_was_spawned_comes_back_bit_for_bit() {
    for crowd in [relaxed_vesicle(), capsule_crowd()] {
        let mut app = app(ContactModel::Crowd);
        let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
        assert_eq!(entities.molecules.len(), crowd.members().len());
        let back = Crowd::from_world(app.world(), &entities.molecules).unwrap();
        assert_same(&crowd, &back);
    }
}

/// A ring at a pose, which is neither a sphere nor a parry shape, with molecules inside of it as a
/// whole, in its surface and outside.
fn ring_crowd() -> Crowd {
    let mut crowd = Crowd::new();
    let template = crowd.add_template(Arc::new(real("p_xylene.pdb")));
    let turn = Quat::from_euler(EulerRot::XYZ, 0.4, -0.2, 1.0);
    let pose = Pose::new(Vec3::new(-3.0, 1.0, 2.0), turn);
    let ring = Torus::new(6.0, 2.0, pose).unwrap();
    let offset = OffsetSurface::new(Arc::new(ring), 0.5);
    let placement = Placement {
        leaflet: Leaflet::Outer,
        depth: 0.3,
        up: Vec3::Y,
        leeway: 0.1,
        tilt_leeway: 0.3,
    };
    let confinements = [
        Confinement::WholeInside { clearance: 0.2 },
        Confinement::Surface(placement),
        Confinement::WholeOutside { clearance: -0.3 },
    ];
    for surface in [Arc::new(ring) as Arc<dyn Surface>, Arc::new(offset)] {
        let compartment = crowd.add_compartment(surface);
        for confinement in confinements {
            let placement = crowd.add_placement(compartment, confinement).unwrap();
            let member = CrowdMember {
                template,
                placement: Some(placement),
                pose: Pose::from_translation(Vec3::splat(placement as f32)),
                fixed: false,
            };
            crowd.add_member(member).unwrap();
        }
    }
    crowd
}

#[test]
fn a_crowd_in_rings_comes_back_bit_for_bit() {
    let crowd = ring_crowd();
    let mut app = app(ContactModel::Crowd);
    let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
    let back = Crowd::from_world(app.world(), &entities.molecules).unwrap();
    assert_same(&crowd, &back);
    run(&mut app, 2);
    let surface = |index: usize| {
        let entity = entities.compartments[index];
        app.world().get::<CompartmentSurface>(entity).unwrap()
    };
    let point = Vec3::new(1.0, 4.0, -2.0);
    for (index, expected) in crowd.compartments().iter().enumerate() {
        let found = surface(index);
        assert!(found.shape().is_none());
        let distance = found.surface().signed_distance(point);
        assert!((distance - expected.signed_distance(point)).abs() < 1.0e-4);
    }
}

/// Regions with holes, closed meshes, spheres, cut boxes and offset surfaces.
#[test]
#[cfg(feature = "recipe")]
fn populations_of_recipes_come_back_bit_for_bit() {
    use bevy_rapier_molecules::recipe::{ReadOptions, Recipe, populate};

    for path in [
        "tests/data/recipes/nested_spheres.json",
        "assets/recipes/organelles.json",
        "assets/recipes/bentopy_crowd.bent",
    ] {
        let file = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        let recipe = Recipe::load(file, &ReadOptions::default()).unwrap();
        let crowd = populate(&recipe, None).unwrap().crowd;
        assert!(
            crowd
                .compartments()
                .iter()
                .any(|it| it.as_shape().is_none())
        );
        let mut app = app(ContactModel::Crowd);
        let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
        let back = Crowd::from_world(app.world(), &entities.molecules).unwrap();
        assert_same_members(&crowd, &back);
    }
}

/// Compares the members of crowds bit for bit. Compartments and placements may have another order.
#[track_caller]
#[cfg(feature = "recipe")]
fn assert_same_members(one: &Crowd, other: &Crowd) {
    assert_eq!(one.members().len(), other.members().len());
    for (a, b) in one.members().iter().zip(other.members()) {
        assert_eq!((a.pose, a.fixed), (b.pose, b.fixed));
        assert!(one.template_of(a) == other.template_of(b));
        let [a, b] = [(one, a), (other, b)].map(|(crowd, member)| crowd.confinement_of(member));
        let (Some((a, confinement)), Some((b, back))) = (a, b) else {
            assert!(a.is_none() && b.is_none());
            continue;
        };
        assert_eq!(confinement, back);
        for k in 0..5 {
            let point = Vec3::new(3.0 * k as f32, 20.0 - 7.0 * k as f32, 7.0);
            assert_eq!(a.distance_and_normal(point), b.distance_and_normal(point));
        }
    }
}

/// Rapier rounds the rotations when it writes them back.
#[test]
fn a_crowd_that_was_simulated_comes_back() {
    for crowd in [relaxed_vesicle(), capsule_crowd()] {
        let mut app = app(ContactModel::Crowd);
        let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
        for molecule in &entities.molecules {
            let fixed = RigidBody::Fixed;
            app.world_mut().entity_mut(*molecule).insert(fixed);
        }
        run(&mut app, 3);
        let mut surfaces = entities.compartments.iter();
        assert!(surfaces.all(|one| app.world().get::<CompartmentSurface>(*one).is_some()));
        let back = Crowd::from_world(app.world(), &entities.molecules).unwrap();
        for (member, back) in crowd.members().iter().zip(back.members()) {
            assert_eq!(member.pose.position, back.pose.position);
            let angle = member.pose.rotation.angle_between(back.pose.rotation);
            assert!(angle < 1.0e-3, "{angle}");
        }
        assert_eq!(crowd.placements(), back.placements());
    }
}

#[test]
fn commands_spawn_the_same_crowd_as_a_world() {
    let crowd = capsule_crowd();
    let mut app = app(ContactModel::Crowd);
    let spawned = crowd.clone();
    let spawn = move |mut commands: Commands| commands.spawn_crowd(&spawned).unwrap();
    let entities = app.world_mut().run_system_once(spawn).unwrap();
    let back = Crowd::from_world(app.world(), &entities.molecules).unwrap();
    assert_same(&crowd, &back);
    let held = |index: usize| app.world().get::<InCompartment>(entities.molecules[index]);
    let inner = held(0).unwrap();
    assert_eq!(inner.region, CompartmentRegion::InnerLeaflet);
    assert_eq!(inner.compartment, entities.compartments[0]);
    assert!(held(1).is_none());
    assert_eq!(held(3).unwrap().region, CompartmentRegion::Outside);
    assert_eq!(held(4).unwrap().region, CompartmentRegion::Inside);
    let body = |index: usize| app.world().get::<RigidBody>(entities.molecules[index]);
    assert_eq!(body(1), Some(&RigidBody::Dynamic));
    assert_eq!(body(2), Some(&RigidBody::Fixed));
}

#[test]
fn templates_that_are_assets_already_are_reused() {
    let crowd = capsule_crowd();
    let mut app = app(ContactModel::Crowd);
    let known = add(&mut app, real("popc.pdb"));
    let first = app.world_mut().spawn_crowd(&crowd).unwrap();
    let second = app.world_mut().spawn_crowd(&crowd).unwrap();
    assert_eq!(app.world().resource::<Assets<MoleculeTemplate>>().len(), 2);
    let handle = |molecule: Entity| app.world().get::<Molecule>(molecule).unwrap().0.clone();
    assert_eq!(handle(first.molecules[0]), known);
    for (one, other) in first.molecules.iter().zip(&second.molecules) {
        assert_eq!(handle(*one), handle(*other));
    }
}

#[test]
fn a_relaxed_vesicle_stays_free_of_deep_overlaps() {
    let crowd = relaxed_vesicle();
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
    let mut deepest = 0.0_f32;
    for _ in 0..60 {
        run(&mut app, 1);
        let world = app.world_mut();
        let mut worlds = world.query::<&bevy_rapier_molecules::plugin::MoleculeWorld>();
        let touches = worlds.single(world).unwrap().contacts().touches();
        deepest = touches
            .iter()
            .map(|touch| touch.penetration)
            .fold(deepest, f32::max);
    }
    assert!(deepest < 0.03, "{deepest} nm");
    let after = Crowd::from_world(app.world(), &entities.molecules).unwrap();
    for (before, after) in crowd.members().iter().zip(after.members()) {
        let moved = before.pose.position.distance(after.pose.position);
        assert!(moved < 0.5, "{moved} nm");
    }
}

#[test]
fn a_surface_without_a_pose_is_reported_and_nothing_is_spawned() {
    #[derive(Debug)]
    struct Plane;
    impl Surface for Plane {
        fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
            DistanceAndNormal {
                distance: point.y,
                normal: Vec3::Y,
            }
        }
        fn center(&self) -> Vec3 {
            Vec3::ZERO
        }
        fn area_at(&self, _: f32) -> f32 {
            1.0
        }
        fn sample(&self, _: f32, _: &mut dyn rand::Rng) -> Vec3 {
            Vec3::ZERO
        }
        fn with_pose(&self, _: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
            Ok(Arc::new(Self))
        }
    }
    let mut crowd = capsule_crowd();
    crowd.add_compartment(Arc::new(Plane));
    let mut app = app(ContactModel::Crowd);
    let error = app.world_mut().spawn_crowd(&crowd).unwrap_err();
    assert_eq!(
        error.to_string(),
        "compartment 1 of the crowd is a surface that does not report its pose: Plane"
    );
    let world = app.world_mut();
    assert_eq!(world.query::<&Molecule>().iter(world).count(), 0);
}

#[test]
fn entities_that_are_not_in_a_crowd_are_reported() {
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let from_world = |app: &App, molecule| Crowd::from_world(app.world(), &[molecule]).unwrap_err();
    let other = app.world_mut().spawn(Transform::default()).id();
    assert_eq!(
        from_world(&app, other),
        CrowdFromWorldError::NotAMolecule(other)
    );
    let waiting = app.world_mut().spawn(Molecule::default()).id();
    assert_eq!(
        from_world(&app, waiting),
        CrowdFromWorldError::NotLoaded(waiting)
    );
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    let confine = |app: &mut App, compartment, region| {
        let held = InCompartment::new(compartment, region);
        app.world_mut().entity_mut(molecule).insert(held);
    };
    confine(&mut app, other, CompartmentRegion::OuterLeaflet);
    let compartment = other;
    let missing = CrowdFromWorldError::NoCompartment {
        molecule,
        compartment,
    };
    assert_eq!(from_world(&app, molecule), missing);
}
