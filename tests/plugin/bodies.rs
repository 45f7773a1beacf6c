//! Molecules as bodies: gravity, collisions, joints and sleep, in both contact models.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{MoleculeWorld, PreparedMolecule};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

#[test]
fn a_molecule_falls_under_gravity() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        let template = add(&mut app, bar());
        let molecule = spawn(&mut app, &template, Vec3::Y * 5.0);
        run(&mut app, 61);
        let fallen = 5.0 - position(&app, molecule).y;
        assert!((4.0..5.5).contains(&fallen), "{model:?}: {fallen}");
    }
}

#[test]
fn a_molecule_lands_on_a_floor_and_rests() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        spawn_floor(&mut app);
        let template = add(&mut app, real("1ubq.cif"));
        let molecule = spawn(&mut app, &template, Vec3::Y * 4.0);
        run(&mut app, 300);
        let speed = velocity(&app, molecule).length();
        let height = position(&app, molecule).y;
        assert!(speed < 0.05, "{model:?}: {speed}");
        assert!((0.8..2.5).contains(&height), "{model:?}: {height}");
    }
}

#[test]
fn collisions_of_molecules_conserve_momentum() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        weightless(&mut app);
        let template = add(&mut app, real("1ubq.cif"));
        let left = spawn(&mut app, &template, Vec3::X * -3.0);
        let right = spawn(&mut app, &template, Vec3::X * 3.0);
        for (molecule, speed) in [(left, 4.0), (right, -4.0)] {
            app.world_mut()
                .entity_mut(molecule)
                .insert(Velocity::linear(Vec3::X * speed));
        }
        run(&mut app, 120);
        let (left, right) = (velocity(&app, left), velocity(&app, right));
        assert!(left.x < 1.0 && right.x > -1.0, "{model:?}: {left} {right}");
        assert!(
            (left + right).length() < 8.0e-5 * 8.0,
            "{model:?}: {left} {right}"
        );
    }
}

#[test]
fn a_static_molecule_does_not_move_until_it_is_freed() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        let template = add(&mut app, bar());
        let receptor = spawn(&mut app, &template, Vec3::ZERO);
        app.world_mut().entity_mut(receptor).insert(StaticMolecule);
        let ligand = spawn(&mut app, &template, Vec3::Y * 0.5);
        run(&mut app, 120);
        assert_eq!(position(&app, receptor), Vec3::ZERO, "{model:?}");
        assert_eq!(
            *app.world().get::<RigidBody>(receptor).unwrap(),
            RigidBody::Fixed
        );
        let height = position(&app, ligand).y;
        assert!((0.15..0.3).contains(&height), "{model:?}: {height}");
        app.world_mut()
            .entity_mut(receptor)
            .remove::<StaticMolecule>();
        run(&mut app, 30);
        assert!(position(&app, receptor).y < -0.5, "{model:?}");
    }
}

#[test]
fn the_order_of_static_and_molecule_components_does_not_matter() {
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let receptor = app.world_mut().spawn(StaticMolecule).id();
    app.world_mut()
        .entity_mut(receptor)
        .insert(Molecule(template));
    run(&mut app, 30);
    let entity = app.world().entity(receptor);
    assert!(entity.contains::<PreparedMolecule>());
    assert_eq!(entity.get::<RigidBody>(), Some(&RigidBody::Fixed));
    assert_eq!(position(&app, receptor), Vec3::ZERO);
}

/// The molecules of all contexts.
fn members(app: &mut App) -> Vec<Entity> {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    worlds
        .iter(world)
        .flat_map(MoleculeWorld::molecules)
        .collect()
}

#[test]
fn removing_the_molecule_component_removes_its_body() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        weightless(&mut app);
        let template = add(&mut app, bar());
        let [other, molecule] = [0.0, 0.05].map(|y| spawn(&mut app, &template, Vec3::Y * y));
        let has_body = |app: &App| {
            let entity = app.world().entity(molecule);
            [
                entity.contains::<PreparedMolecule>(),
                entity.contains::<Collider>(),
                entity.contains::<AdditionalMassProperties>(),
            ]
        };
        run(&mut app, 2);
        assert_eq!(has_body(&app), [true; 3], "{model:?}");
        assert!(app.world().get::<Colliding>(other).unwrap().any());

        app.world_mut().entity_mut(molecule).remove::<Molecule>();
        assert_eq!(has_body(&app), [false; 3], "{model:?}");
        run(&mut app, 2);
        assert_eq!(members(&mut app), [other], "{model:?}");
        for entity in [other, molecule] {
            let colliding = app.world().get::<Colliding>(entity).unwrap();
            assert!(!colliding.any(), "{model:?}");
        }
        assert_eq!(mass_of(&app, molecule), 0.0, "{model:?}");

        let again = Molecule(template.clone());
        app.world_mut().entity_mut(molecule).insert(again.clone());
        run(&mut app, 2);
        assert_eq!(has_body(&app), [true; 3], "{model:?}");
        assert_eq!(members(&mut app).len(), 2, "{model:?}");
        assert!((mass_of(&app, molecule) - bar().mass()).abs() < 0.01);

        // Removal and insertion within one frame.
        let mut commands = app.world_mut().commands();
        commands.entity(molecule).remove::<Molecule>().insert(again);
        run(&mut app, 2);
        assert_eq!(has_body(&app), [true; 3], "{model:?}");
        assert_eq!(members(&mut app).len(), 2, "{model:?}");

        app.world_mut().despawn(molecule);
        run(&mut app, 2);
        assert_eq!(members(&mut app), [other], "{model:?}");
    }
}

#[test]
fn removing_the_molecule_component_keeps_components_of_the_app() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let molecule = (Molecule(template), CrowdOnly, Collider::ball(0.5));
    let molecule = app.world_mut().spawn(molecule).id();
    run(&mut app, 2);
    let heavy = AdditionalMassProperties::Mass(1000.0);
    app.world_mut().entity_mut(molecule).insert(heavy);
    run(&mut app, 2);
    app.world_mut().entity_mut(molecule).remove::<Molecule>();
    run(&mut app, 2);
    let entity = app.world().entity(molecule);
    assert!(!entity.contains::<PreparedMolecule>());
    let collider = entity.get::<Collider>().unwrap();
    assert!(collider.as_ball().is_some());
    assert_eq!(entity.get::<AdditionalMassProperties>(), Some(&heavy));
    assert!(mass_of(&app, molecule) > 1000.0);
}

#[test]
fn a_molecule_on_a_joint_responds_to_forces() {
    let mut app = app(ContactModel::Crowd);
    let anchor = (RigidBody::Fixed, Transform::from_xyz(0.0, 5.0, 0.0));
    let anchor = app.world_mut().spawn(anchor).id();
    let template = add(&mut app, real("1ubq.cif"));
    let molecule = spawn(&mut app, &template, Vec3::new(0.0, 3.0, 0.0));
    let joint = RopeJointBuilder::new(2.5);
    app.world_mut()
        .entity_mut(molecule)
        .insert(ImpulseJoint::new(anchor, joint));
    run(&mut app, 300);
    let distance = position(&app, molecule).distance(Vec3::Y * 5.0);
    assert!((2.3..2.7).contains(&distance), "{distance}");
    // A horizontal force equal to its weight tilts the joint by 45 degrees.
    let weight = real("1ubq.cif").mass() * 9.81;
    app.world_mut().entity_mut(molecule).insert((
        ExternalForce {
            force: Vec3::X * weight,
            torque: Vec3::ZERO,
        },
        Damping {
            linear_damping: 2.0,
            angular_damping: 2.0,
        },
    ));
    run(&mut app, 900);
    let arm = position(&app, molecule) - Vec3::Y * 5.0;
    assert!((arm.x + arm.y).abs() < 0.3, "{arm}");
}

#[test]
fn rapier_ray_casts_hit_molecules() {
    #[derive(Resource, Default)]
    struct Hit(Option<(Entity, f32)>);
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    app.init_resource::<Hit>().add_systems(
        Update,
        |context: ReadRapierContext, mut hit: ResMut<Hit>| {
            let context = context.single().unwrap();
            hit.0 = context.cast_ray(
                Vec3::new(0.24, 5.0, 0.0),
                Vec3::NEG_Y,
                100.0,
                true,
                QueryFilter::default(),
            );
        },
    );
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 4);
    let (entity, distance) = app.world().resource::<Hit>().0.unwrap();
    assert_eq!(entity, molecule);
    assert!((distance - 4.9).abs() < 1.0e-3, "{distance}");
}

#[test]
fn a_sleeping_heap_wakes_on_impact() {
    let mut app = app(ContactModel::Crowd);
    spawn_floor(&mut app);
    let template = add(&mut app, bar());
    let low = spawn(&mut app, &template, Vec3::Y * 0.11);
    let high = spawn(&mut app, &template, Vec3::Y * 0.33);
    for molecule in [low, high] {
        app.world_mut()
            .entity_mut(molecule)
            .insert(Sleeping::default());
    }
    run(&mut app, 600);
    let asleep = |app: &App, molecule| app.world().get::<Sleeping>(molecule).unwrap().sleeping;
    assert!(asleep(&app, low) && asleep(&app, high));
    let start = position(&app, low) + Vec3::X * -3.0;
    let projectile = spawn(&mut app, &template, start);
    app.world_mut()
        .entity_mut(projectile)
        .insert((Velocity::linear(Vec3::X * 8.0), GravityScale(0.0)));
    run(&mut app, 40);
    assert!(position(&app, low).x > 0.05, "{}", position(&app, low));
}

#[test]
fn molecules_of_any_detail_separate() {
    let diameter = 2.0 * real("1ubq.cif").bounding_radius();
    for (detail, spheres, min_distance) in [
        (MoleculeDetail::Atoms, 602, 1.9),
        (MoleculeDetail::Residues, 76, 1.9),
        (MoleculeDetail::Proxies(17), 17, 1.9),
        (MoleculeDetail::Whole, 1, diameter - 0.2),
    ] {
        let mut app = app(ContactModel::Crowd);
        weightless(&mut app);
        let template = add(&mut app, real("1ubq.cif"));
        let molecules = [-1.0, 1.0].map(|x| {
            let molecule = spawn(&mut app, &template, Vec3::X * x);
            app.world_mut()
                .entity_mut(molecule)
                .insert((detail, CrowdOnly));
            molecule
        });
        run(&mut app, 600);
        for molecule in molecules {
            assert!(!app.world().entity(molecule).contains::<Collider>());
        }
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        let contacts = worlds.single(world).unwrap().contacts();
        assert_eq!(contacts.sphere_count(), 2 * spheres, "{detail:?}");
        let distance = position(&app, molecules[0]).distance(position(&app, molecules[1]));
        assert!(distance > min_distance, "{detail:?}: {distance}");
    }
}

#[test]
fn the_detail_can_change_between_frames() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, real("1ubq.cif"));
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 2);
    for (detail, spheres) in [
        (MoleculeDetail::Proxies(9), 9),
        (MoleculeDetail::Atoms, 602),
        (MoleculeDetail::Whole, 1),
        (MoleculeDetail::Residues, 76),
    ] {
        app.world_mut().entity_mut(molecule).insert(detail);
        run(&mut app, 1);
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        let contacts = worlds.single(world).unwrap().contacts();
        assert_eq!(contacts.sphere_count(), spheres, "{detail:?}");
    }
}
