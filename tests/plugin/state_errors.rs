//! Invalid states are reported and do not affect other molecules.

use bevy::prelude::*;
use bevy_rapier_molecules::dynamics::ContactMaterial;
use bevy_rapier_molecules::plugin::{
    MoleculeStateError, MoleculeSubstep, MoleculeWorld, StateErrorKind,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

#[derive(Resource, Default)]
struct Errors(Vec<MoleculeStateError>);

fn recording_app() -> App {
    let mut app = app(ContactModel::Crowd);
    app.init_resource::<Errors>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeStateError>, mut errors: ResMut<Errors>| {
            errors.0.extend(messages.read());
        },
    );
    app
}

fn errors(app: &App) -> &[MoleculeStateError] {
    &app.world().resource::<Errors>().0
}

/// Both contact models, with a bystander and a molecule that has fallen for three frames.
fn falling_molecules() -> [(ContactModel, App, Entity, Entity); 2] {
    [ContactModel::Crowd, ContactModel::Solver].map(|model| {
        let mut app = recording_app();
        app.insert_resource(model);
        let bystander = spawn_bystander(&mut app);
        let template = add(&mut app, bar());
        let molecule = spawn(&mut app, &template, Vec3::Y);
        run(&mut app, 3);
        (model, app, bystander, molecule)
    })
}

/// A falling molecule that must not be affected.
fn spawn_bystander(app: &mut App) -> Entity {
    let template = add(app, bar());
    spawn(app, &template, Vec3::new(30.0, 30.0, 0.0))
}

fn assert_unharmed(app: &App, bystander: Entity) {
    let position = position(app, bystander);
    let falls = position.x == 30.0 && position.y < 30.0;
    assert!(position.is_finite() && falls, "{position}");
}

#[test]
fn a_scale_is_ignored_and_reported() {
    let mut app = recording_app();
    let bystander = spawn_bystander(&mut app);
    let template = add(&mut app, bar());
    let scaled = Transform::from_scale(Vec3::splat(2.0));
    let molecule = app.world_mut().spawn((Molecule(template), scaled)).id();
    run(&mut app, 10);
    let kind = StateErrorKind::Scaled {
        scale: Vec3::splat(2.0),
    };
    assert_eq!(errors(&app), [MoleculeStateError { molecule, kind }]);
    assert!(position(&app, molecule).y < 0.0);
    // A new scale is reported again.
    for scale in [Vec3::ONE, Vec3::new(1.0, 3.0, 1.0)] {
        let mut transform = app.world_mut().get_mut::<Transform>(molecule).unwrap();
        transform.scale = scale;
        run(&mut app, 2);
    }
    assert_eq!(errors(&app).len(), 2);
    assert_unharmed(&app, bystander);
}

#[test]
fn a_non_finite_pose_is_restored() {
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
        assert_eq!(errors(&app), [MoleculeStateError { molecule, kind }]);
        assert_unharmed(&app, bystander);
    }
}

#[test]
fn a_non_finite_pose_of_a_child_is_restored_in_the_frame_of_its_parent() {
    let mut app = recording_app();
    weightless(&mut app);
    let parent = Transform::from_xyz(5.0, -3.0, 2.0)
        .with_rotation(Quat::from_rotation_z(1.1) * Quat::from_rotation_x(0.4));
    let local = Vec3::new(1.0, 2.0, 3.0);
    let position = parent.transform_point(local);
    let parent = app.world_mut().spawn((parent, Visibility::default())).id();
    let template = add(&mut app, bar());
    let child = spawn(&mut app, &template, local);
    app.world_mut().entity_mut(parent).add_child(child);
    run(&mut app, 3);
    // While Rapier is paused, it does not overwrite the local transform.
    let world = app.world_mut();
    let mut configurations = world.query::<&mut RapierConfiguration>();
    for mut configuration in configurations.iter_mut(world) {
        configuration.physics_pipeline_active = false;
    }
    app.world_mut()
        .get_mut::<Transform>(child)
        .unwrap()
        .translation = Vec3::NAN;
    run(&mut app, 3);
    let global = app.world().get::<GlobalTransform>(child).unwrap();
    let distance = global.translation().distance(position);
    assert!(distance < 1.0e-5, "{global:?}, expected {position}");
    let kind = StateErrorKind::NotFinite;
    let molecule = child;
    assert_eq!(errors(&app), [MoleculeStateError { molecule, kind }]);
}

#[test]
fn a_molecule_spawned_at_infinity_is_moved_to_the_origin() {
    let mut app = recording_app();
    let bystander = spawn_bystander(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::splat(f32::INFINITY));
    run(&mut app, 3);
    assert!(position(&app, molecule).length() < 1.0);
    assert_eq!(errors(&app).len(), 1);
    assert_unharmed(&app, bystander);
}

#[test]
fn a_non_finite_velocity_does_not_affect_others() {
    for (model, mut app, bystander, molecule) in falling_molecules() {
        app.world_mut()
            .get_mut::<Velocity>(molecule)
            .unwrap()
            .linear = Vec3::NAN;
        run(&mut app, 5);
        assert!(!errors(&app).is_empty(), "{model:?}");
        assert!(position(&app, molecule).is_finite(), "{model:?}");
        assert_unharmed(&app, bystander);
    }
}

#[test]
fn a_molecule_can_be_despawned_between_substeps() {
    let mut app = recording_app();
    let bystander = spawn_bystander(&mut app);
    let template = add(&mut app, bar());
    let kept = spawn(&mut app, &template, Vec3::ZERO);
    let despawned = spawn(&mut app, &template, Vec3::Y * 0.15);
    run(&mut app, 1);
    // While it is in contact.
    app.add_systems(
        MoleculeSubstep,
        (move |mut commands: Commands, mut done: Local<u32>| {
            *done += 1;
            if *done == 3 {
                commands.entity(despawned).despawn();
            }
        })
        .after(MoleculeSystems::Detect)
        .before(MoleculeSystems::Respond),
    );
    run(&mut app, 5);
    assert!(app.world().get_entity(despawned).is_err());
    assert!(position(&app, kept).is_finite());
    assert_unharmed(&app, bystander);
}

#[test]
fn molecules_piled_up_in_one_point_are_excluded() {
    // A thousand molecules of a thousand atoms: a million spheres in one point.
    let mut app = recording_app();
    weightless(&mut app);
    let template = add(&mut app, bar());
    let bystanders = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::new(30.0, y, 0.0)));
    let heap = add(&mut app, carbons(&vec![Vec3::ZERO; 1000]));
    for _ in 0..1000 {
        let molecule = spawn(&mut app, &heap, Vec3::ZERO);
        app.world_mut().entity_mut(molecule).insert(CrowdOnly);
    }
    run(&mut app, 2);
    let crowded = errors(&app)
        .iter()
        .filter(|error| error.kind == StateErrorKind::Crowded);
    assert_eq!(crowded.count(), 1000);
    run(&mut app, 60);
    let offset = position(&app, bystanders[1]) - position(&app, bystanders[0]);
    assert!(offset.y > 0.195, "{offset}");
}

#[test]
fn a_template_without_atoms_is_an_error() {
    let empty = MoleculeTemplate::new("nothing", Vec::new(), Vec::new());
    assert!(empty.is_err());
}

#[test]
fn an_invalid_material_is_replaced_by_the_default() {
    let mut app = recording_app();
    let bystander = spawn_bystander(&mut app);
    let material = MoleculeMaterial {
        frequency_hz: f32::NAN,
        damping_ratio: -3.0,
    };
    app.world_mut().entity_mut(bystander).insert(material);
    run(&mut app, 10);
    let mut worlds = app.world_mut().query::<&MoleculeWorld>();
    let world = worlds.single(app.world()).unwrap();
    for member in world.contacts().members() {
        assert_eq!(member.surface.material, ContactMaterial::default());
    }
    assert_unharmed(&app, bystander);
}
