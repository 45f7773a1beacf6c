//! What cannot be simulated is said clearly, and bystanders are left alone.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::StateErrorKind;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

#[derive(Resource, Default)]
struct Faults(Vec<MoleculeStateError>);

fn faulty_app() -> App {
    let mut app = app(ContactModel::Crowd);
    app.init_resource::<Faults>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeStateError>, mut faults: ResMut<Faults>| {
            faults.0.extend(messages.read());
        },
    );
    app
}

fn faults(app: &App) -> &[MoleculeStateError] {
    &app.world().resource::<Faults>().0
}

/// Either way of contacts, with a bystander and a molecule that has fallen for three frames.
fn falling_molecules() -> [(ContactModel, App, Entity, Entity); 2] {
    [ContactModel::Crowd, ContactModel::Rapier].map(|model| {
        let mut app = faulty_app();
        app.insert_resource(model);
        let bystander = spawn_bystander(&mut app);
        let template = add(&mut app, bar());
        let molecule = spawn(&mut app, &template, Vec3::Y);
        run(&mut app, 3);
        (model, app, bystander, molecule)
    })
}

/// A molecule that falls next to what goes wrong.
fn spawn_bystander(app: &mut App) -> Entity {
    let template = add(app, bar());
    spawn(app, &template, Vec3::new(30.0, 30.0, 0.0))
}

fn assert_unharmed(app: &App, bystander: Entity) {
    let place = position(app, bystander);
    assert!(
        place.is_finite() && place.x == 30.0 && place.y < 30.0,
        "{place}"
    );
}

#[test]
fn a_scale_is_refused_and_the_molecule_keeps_its_size() {
    let mut app = faulty_app();
    let bystander = spawn_bystander(&mut app);
    let template = add(&mut app, bar());
    let scaled = Transform::from_scale(Vec3::splat(2.0));
    let molecule = app.world_mut().spawn((Molecule(template), scaled)).id();
    run(&mut app, 10);
    let kind = StateErrorKind::Scaled {
        scale: Vec3::splat(2.0),
    };
    assert_eq!(faults(&app), [MoleculeStateError { molecule, kind }]);
    assert!(position(&app, molecule).y < 0.0, "it falls nevertheless");
    // A scale that comes later is told again.
    for scale in [Vec3::ONE, Vec3::new(1.0, 3.0, 1.0)] {
        let mut transform = app.world_mut().get_mut::<Transform>(molecule).unwrap();
        transform.scale = scale;
        run(&mut app, 2);
    }
    assert_eq!(faults(&app).len(), 2);
    assert_unharmed(&app, bystander);
}

#[test]
fn a_pose_that_is_no_number_is_put_back() {
    for (_, mut app, bystander, molecule) in falling_molecules() {
        let before = position(&app, molecule);
        app.world_mut()
            .get_mut::<Transform>(molecule)
            .unwrap()
            .translation = Vec3::NAN;
        run(&mut app, 3);
        let after = position(&app, molecule);
        assert!(after.distance(before) < 0.1, "{after}");
        let kind = StateErrorKind::NotFinite;
        assert_eq!(faults(&app), [MoleculeStateError { molecule, kind }]);
        assert_unharmed(&app, bystander);
    }
}

#[test]
fn a_molecule_spawned_nowhere_is_put_at_the_origin() {
    let mut app = faulty_app();
    let bystander = spawn_bystander(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::splat(f32::INFINITY));
    run(&mut app, 3);
    assert!(position(&app, molecule).length() < 1.0);
    assert_eq!(faults(&app).len(), 1);
    assert_unharmed(&app, bystander);
}

#[test]
fn a_velocity_that_is_no_number_harms_no_one_else() {
    for (model, mut app, bystander, molecule) in falling_molecules() {
        app.world_mut()
            .get_mut::<Velocity>(molecule)
            .unwrap()
            .linear = Vec3::NAN;
        run(&mut app, 5);
        assert!(!faults(&app).is_empty(), "{model:?}");
        assert!(position(&app, molecule).is_finite(), "{model:?}");
        assert_unharmed(&app, bystander);
    }
}

#[test]
fn a_molecule_despawned_in_mid_step_is_gone_without_a_trace() {
    let mut app = faulty_app();
    let bystander = spawn_bystander(&mut app);
    let template = add(&mut app, bar());
    let stays = spawn(&mut app, &template, Vec3::ZERO);
    let goes = spawn(&mut app, &template, Vec3::Y * 0.15);
    run(&mut app, 1);
    // Between two substeps, in the middle of a contact.
    app.add_systems(
        MoleculeSubstep,
        (move |mut commands: Commands, mut done: Local<u32>| {
            *done += 1;
            if *done == 3 {
                commands.entity(goes).despawn();
            }
        })
        .after(MoleculeSystems::Detect)
        .before(MoleculeSystems::Respond),
    );
    run(&mut app, 5);
    assert!(app.world().get_entity(goes).is_err());
    assert!(position(&app, stays).is_finite());
    assert_unharmed(&app, bystander);
}

#[test]
fn molecules_heaped_up_in_one_point_are_set_aside() {
    // A thousand molecules of a thousand atoms: a million spheres in one point.
    let mut app = faulty_app();
    weightless(&mut app);
    let template = add(&mut app, bar());
    let bystanders = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::new(30.0, y, 0.0)));
    let heap = add(&mut app, carbons(&vec![Vec3::ZERO; 1000]));
    for _ in 0..1000 {
        let molecule = spawn(&mut app, &heap, Vec3::ZERO);
        app.world_mut().entity_mut(molecule).insert(CrowdOnly);
    }
    run(&mut app, 2);
    let crowded = faults(&app)
        .iter()
        .filter(|fault| fault.kind == StateErrorKind::Crowded);
    assert_eq!(crowded.count(), 1000);
    run(&mut app, 60);
    let apart = position(&app, bystanders[1]) - position(&app, bystanders[0]);
    assert!(apart.y > 0.195, "{apart}");
}

#[test]
fn a_template_without_atoms_cannot_be_made() {
    let empty = MoleculeTemplate::new("nothing", Vec::new(), Vec::new());
    assert!(empty.is_err());
}

#[test]
fn impossible_materials_become_the_default() {
    let mut app = faulty_app();
    let bystander = spawn_bystander(&mut app);
    let material = MoleculeMaterial {
        friction: f32::NAN,
        restitution: -3.0,
        ..default()
    };
    app.world_mut().entity_mut(bystander).insert(material);
    run(&mut app, 10);
    let friction = app.world().get::<Friction>(bystander).unwrap();
    assert_eq!(friction.coefficient, MoleculeMaterial::default().friction);
    assert_unharmed(&app, bystander);
}
