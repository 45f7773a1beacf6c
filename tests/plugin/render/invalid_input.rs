//! Invalid molecules, windows without area and lost devices do not panic.

use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::error_handler::{RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use bevy::window::{PrimaryWindow, WindowResolution};
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::DrawError;
use bevy_rapier_molecules::render::{DepthCue, DrawDetail, MoleculeInstance, MoleculeRenderPlugin};

use super::render_app::{
    SIZE, atom, default_camera_transform, headlit, ready_app, screenshot, single_molecule,
    spawn_camera_at,
};

#[test]
fn invalid_molecules_are_skipped() {
    let mut instances = single_molecule(atom(Element::O, 1.0));
    assert_eq!(instances.check(), Ok(()));
    let not_finite = Pose::from_translation(Vec3::new(f32::NAN, 0.0, 0.0));
    let not_unit = Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.5));
    instances
        .molecules
        .push(MoleculeInstance::new(5, Pose::IDENTITY));
    assert_eq!(
        instances.check(),
        Err(DrawError::NoSuchTemplate {
            molecule: 1,
            template: 5,
            count: 1
        })
    );
    instances.molecules[1] = MoleculeInstance::new(0, not_finite);
    assert!(matches!(
        instances.check(),
        Err(DrawError::BadPose { molecule: 1, .. })
    ));
    instances.molecules.push(MoleculeInstance::new(0, not_unit));
    instances
        .molecules
        .push(MoleculeInstance::new(u32::MAX, Pose::IDENTITY));
    instances.molecules[0].penetration = f32::NAN;
    let Some(mut app) = ready_app(headlit(ColorMode::Element)) else {
        return;
    };
    let image = spawn_camera_at(&mut app, 4.0);
    // One valid molecule, an empty component, one without templates, and one with an invalid
    // transform.
    let valid = app.world_mut().spawn(instances).id();
    app.world_mut().spawn(InstancedMolecules::default());
    app.world_mut().spawn(InstancedMolecules {
        molecules: vec![MoleculeInstance::default(); 3],
        ..default()
    });
    app.world_mut().spawn((
        single_molecule(atom(Element::N, 1.0)),
        Transform::from_scale(Vec3::new(1.0, 0.0, 1.0)),
    ));
    for mode in ColorMode::ALL {
        app.world_mut().resource_mut::<MoleculeStyle>().color = mode;
        let frame = screenshot(&mut app, &image);
        let lit = frame.pixels.iter().filter(|pixel| pixel[..3] != [0, 0, 0]);
        assert!(lit.count() > 500, "{mode:?}");
    }
    // Invalid values of the style.
    app.insert_resource(MoleculeStyle {
        headlight: f32::NAN,
        contours: f32::INFINITY,
        radius_scale: -1.0,
        max_penetration: 0.0,
        depth_cue: DepthCue {
            strength: f32::NAN,
            range: Some((f32::NAN, f32::NEG_INFINITY)),
            ..default()
        },
        detail: DrawDetail::Auto { pixels: f32::NAN },
        ..headlit(ColorMode::Element)
    });
    screenshot(&mut app, &image);
    let mut drawn = app
        .world_mut()
        .get_mut::<InstancedMolecules>(valid)
        .unwrap();
    drawn.molecules[0].pose.position = Vec3::splat(f32::MAX);
    screenshot(&mut app, &image);
}

#[test]
fn a_window_without_area_does_not_panic() {
    let Some(mut app) = ready_app(headlit(ColorMode::Element)) else {
        return;
    };
    let window = app
        .world_mut()
        .spawn((
            Window {
                resolution: WindowResolution::new(640, 360),
                ..default()
            },
            PrimaryWindow,
        ))
        .id();
    app.world_mut()
        .spawn(single_molecule(atom(Element::O, 1.0)));
    app.world_mut()
        .spawn((Camera3d::default(), default_camera_transform()));
    let image = spawn_camera_at(&mut app, 4.0);
    for size in [(640, 360), (0, 360), (0, 0), (640, 0), (320, 200)] {
        let mut window = app.world_mut().get_mut::<Window>(window).unwrap();
        window.resolution.set_physical_resolution(size.0, size.1);
        app.update();
        app.update();
    }
    // The other camera continues.
    let frame = screenshot(&mut app, &image);
    assert!(frame.at(SIZE.x / 2, SIZE.y / 2)[0] > 100);
}

#[test]
fn a_lost_device_stops_rendering_or_is_replaced() {
    for recovers in [false, true] {
        let Some(mut app) = ready_app(headlit(ColorMode::Element)) else {
            return;
        };
        app.insert_resource(RenderErrorHandler(if recovers {
            |_, _, _| RenderErrorPolicy::Recover(default())
        } else {
            |_, _, _| RenderErrorPolicy::StopRendering
        }));
        let image = spawn_camera_at(&mut app, 4.0);
        let instances = app
            .world_mut()
            .spawn(single_molecule(atom(Element::O, 1.0)))
            .id();
        let original = screenshot(&mut app, &image);
        let device = app.world().resource::<RenderDevice>().clone();
        // Complete Bevy's own callbacks, which do not expect destroyed buffers.
        device.poll(PollType::wait_indefinitely()).unwrap();
        device.wgpu_device().destroy();
        // Reports the loss to the renderer.
        let _ = device.poll(PollType::wait_indefinitely());
        for frame in 0..20 {
            // The component changes while there is no device.
            let mut drawn = app
                .world_mut()
                .get_mut::<InstancedMolecules>(instances)
                .unwrap();
            drawn.molecules[0].group = frame;
            app.update();
        }
        if recovers {
            let recovered = screenshot(&mut app, &image);
            assert_eq!(recovered.pixels, original.pixels);
        }
    }
}

#[test]
fn an_app_without_a_renderer_runs() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, MoleculeRenderPlugin));
    app.finish();
    app.cleanup();
    let instances = app
        .world_mut()
        .spawn(single_molecule(atom(Element::O, 1.0)))
        .id();
    app.update();
    app.update();
    assert!(app.get_sub_app(RenderApp).is_none());
    let drawn = app.world().get::<InstancedMolecules>(instances).unwrap();
    assert_eq!((drawn.molecules.len(), drawn.check()), (1, Ok(())));
    assert!(app.world().contains_resource::<MoleculeStyle>());
}
