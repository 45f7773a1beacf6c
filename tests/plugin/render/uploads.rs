//! Only what has changed is sent to the GPU.

use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{
    MoleculeHighlight, MoleculeInstance, MoleculePalette, MoleculeUploads,
};
use bevy_rapier3d::prelude::*;

use super::render_app::{
    atom, finish_plugins, headlit, ready_app, render_app, screenshot, spawn_camera_at,
};
use crate::common::gpu_device::device;

/// Number of molecules along each edge of a cube.
const EDGE: usize = 10;

/// Bytes of the pose of a molecule, and upper limit of those for one that has changed.
const MOLECULE_BYTES: std::ops::RangeInclusive<u64> = 4..=64;

/// Positions of 1,000 molecules, 1 nm apart.
fn grid() -> impl Iterator<Item = Vec3> {
    (0..EDGE.pow(3)).map(|k| {
        let [x, y, z] = [k % EDGE, k / EDGE % EDGE, k / EDGE / EDGE].map(|part| part as f32);
        Vec3::new(x, y, z) - 0.5 * (EDGE - 1) as f32
    })
}

/// Bytes sent in the next frame.
fn uploaded(app: &mut App) -> u64 {
    app.update();
    app.world().resource::<MoleculeUploads>().bytes()
}

/// 1,000 sleeping molecules without gravity.
fn sleeping() -> Option<(App, Handle<Image>, Vec<Entity>)> {
    device()?;
    let mut app = render_app();
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default().with_backend(Backend::Cpu),
    ));
    finish_plugins(&mut app);
    app.insert_resource(headlit(ColorMode::Element));
    app.insert_resource(TimestepMode::Fixed {
        dt: 0.1,
        substeps: 1,
    });
    app.update();
    let world = app.world_mut();
    let mut configurations = world.query::<&mut RapierConfiguration>();
    for mut configuration in configurations.iter_mut(world) {
        configuration.gravity = Vec3::ZERO;
    }
    let image = spawn_camera_at(&mut app, 25.0);
    let template = (*atom(Element::O, 0.3)).clone();
    let mut templates = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>();
    let handle = templates.add(template);
    let molecules = grid().map(|position| {
        let place = Transform::from_translation(position);
        app.world_mut()
            .spawn((Molecule(handle.clone()), place))
            .id()
    });
    let molecules: Vec<Entity> = molecules.collect();
    // Rapier puts bodies to sleep after two seconds.
    for _ in 0..40 {
        app.update();
    }
    let world = app.world_mut();
    let mut contexts = world.query::<&RapierRigidBodySet>();
    for set in contexts.iter(world) {
        assert!(set.bodies.iter().all(|(_, body)| body.is_sleeping()));
    }
    Some((app, image, molecules))
}

#[test]
fn sleeping_molecules_are_not_sent_to_the_gpu_again() {
    let Some((mut app, image, molecules)) = sleeping() else {
        return;
    };
    for _ in 0..5 {
        assert_eq!(uploaded(&mut app), 0);
    }
    // One that is moved, tinted or highlighted.
    app.world_mut()
        .get_mut::<Transform>(molecules[555])
        .unwrap()
        .translation += Vec3::new(0.01, 0.02, 0.0);
    let bytes = uploaded(&mut app);
    assert!(MOLECULE_BYTES.contains(&bytes), "{bytes}");
    let red = MoleculeTint::from(Color::srgb(1.0, 0.0, 0.0));
    for molecule in &molecules {
        app.world_mut().entity_mut(*molecule).insert(red);
    }
    let all = uploaded(&mut app);
    assert!(all >= 1000 * 4, "{all}");
    assert_eq!(uploaded(&mut app), 0);
    app.world_mut()
        .get_mut::<MoleculeTint>(molecules[3])
        .unwrap()
        .opacity = 0.5;
    let bytes = uploaded(&mut app);
    assert!(MOLECULE_BYTES.contains(&bytes), "{bytes}");
    // Components that are inserted move entities in the ECS, but few slots change.
    app.world_mut()
        .entity_mut(molecules[7])
        .insert(MoleculeHighlight::default());
    let bytes = uploaded(&mut app);
    assert!((4..1000).contains(&bytes), "{bytes}");
    app.world_mut().despawn(molecules[7]);
    let bytes = uploaded(&mut app);
    assert!(bytes < 1000, "{bytes}");
    assert_eq!(uploaded(&mut app), 0);
    // What was sent is what is drawn.
    let frame = screenshot(&mut app, &image);
    let red = frame
        .pixels
        .iter()
        .filter(|pixel| pixel[0] > 100 && pixel[1] < 60);
    assert!(red.count() > 500);
}

#[test]
fn unchanged_instances_palettes_and_styles_are_not_sent_again() {
    let Some(mut app) = ready_app(headlit(ColorMode::Group)) else {
        return;
    };
    spawn_camera_at(&mut app, 25.0);
    let molecules = grid().map(|position| {
        let pose = Pose::from_translation(position);
        MoleculeInstance::new(0, pose)
    });
    let instances = InstancedMolecules {
        templates: vec![atom(Element::O, 0.3)],
        molecules: molecules.collect(),
        ..default()
    };
    let entity = app.world_mut().spawn(instances).id();
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(uploaded(&mut app), 0);
    let change = |app: &mut App, change: fn(&mut InstancedMolecules)| {
        let mut instances = app
            .world_mut()
            .get_mut::<InstancedMolecules>(entity)
            .unwrap();
        change(&mut instances);
        uploaded(app)
    };
    // Change detection without a change.
    assert_eq!(change(&mut app, |_| {}), 0);
    let one = change(&mut app, |instances| {
        instances.molecules[400].pose.position.x += 0.01;
    });
    assert!(MOLECULE_BYTES.contains(&one), "{one}");
    let two = change(&mut app, |instances| {
        instances.molecules[0].group = 3;
        instances.molecules[999].group = 3;
    });
    assert!((8..=128).contains(&two), "{two}");
    // The look of the whole is one batch.
    app.world_mut()
        .entity_mut(entity)
        .insert(MoleculeTint::from_opacity(0.5));
    let bytes = uploaded(&mut app);
    assert!((4..1000).contains(&bytes), "{bytes}");
    // Colors of groups do not change the spheres.
    app.world_mut().resource_mut::<MoleculePalette>().groups = vec![Color::WHITE];
    let bytes = uploaded(&mut app);
    assert!((16..4096).contains(&bytes), "{bytes}");
    assert_eq!(uploaded(&mut app), 0);
}
