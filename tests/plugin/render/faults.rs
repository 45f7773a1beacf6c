//! Nothing that can go wrong panics: bad crowds, windows of no size, a lost device.

use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::error_handler::{RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use bevy::window::{PrimaryWindow, WindowResolution};
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::DrawError;

use super::stage::{SIZE, alone, at_home, atom, bright, eye_before, shoot, started};

#[test]
fn what_cannot_be_drawn_is_left_out() {
    let mut crowd = alone(atom(Element::O, 1.0));
    assert_eq!(crowd.check(), Ok(()));
    let nowhere = Pose::from_translation(Vec3::new(f32::NAN, 0.0, 0.0));
    let squashed = Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.5));
    crowd
        .molecules
        .push(MoleculeInstance::new(5, Pose::IDENTITY));
    assert_eq!(
        crowd.check(),
        Err(DrawError::NoSuchTemplate {
            molecule: 1,
            template: 5,
            count: 1
        })
    );
    crowd.molecules[1] = MoleculeInstance::new(0, nowhere);
    assert!(matches!(
        crowd.check(),
        Err(DrawError::BadPose { molecule: 1, .. })
    ));
    crowd.molecules.push(MoleculeInstance::new(0, squashed));
    crowd
        .molecules
        .push(MoleculeInstance::new(u32::MAX, Pose::IDENTITY));
    crowd.molecules[0].penetration = f32::NAN;
    let Some(mut app) = started(bright(ColorMode::Element)) else {
        return;
    };
    let picture = eye_before(&mut app, 4.0);
    // Beside the crowd with one good molecule: an empty one, one without templates, one
    // whose transform is no place.
    let good = app.world_mut().spawn(crowd).id();
    app.world_mut().spawn(InstancedMolecules::default());
    app.world_mut().spawn(InstancedMolecules {
        molecules: vec![MoleculeInstance::default(); 3],
        ..default()
    });
    app.world_mut().spawn((
        alone(atom(Element::N, 1.0)),
        Transform::from_scale(Vec3::new(1.0, 0.0, 1.0)),
    ));
    for mode in ColorMode::ALL {
        app.world_mut().resource_mut::<MoleculeStyle>().color = mode;
        let shot = shoot(&mut app, &picture);
        let lit = shot.pixels.iter().filter(|pixel| pixel[..3] != [0, 0, 0]);
        assert!(lit.count() > 500, "{mode:?}");
    }
    // Impossible numbers of the look and of a camera.
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
        ..bright(ColorMode::Element)
    });
    shoot(&mut app, &picture);
    let mut drawn = app.world_mut().get_mut::<InstancedMolecules>(good).unwrap();
    drawn.molecules[0].pose.position = Vec3::splat(f32::MAX);
    shoot(&mut app, &picture);
}

#[test]
fn a_window_of_no_size_is_survived() {
    let Some(mut app) = started(bright(ColorMode::Element)) else {
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
    app.world_mut().spawn(alone(atom(Element::O, 1.0)));
    app.world_mut().spawn((Camera3d::default(), at_home()));
    let picture = eye_before(&mut app, 4.0);
    for size in [(640, 360), (0, 360), (0, 0), (640, 0), (320, 200)] {
        let mut window = app.world_mut().get_mut::<Window>(window).unwrap();
        window.resolution.set_physical_resolution(size.0, size.1);
        app.update();
        app.update();
    }
    // The other camera goes on.
    let shot = shoot(&mut app, &picture);
    assert!(shot.at(SIZE.x / 2, SIZE.y / 2)[0] > 100);
}

#[test]
fn a_lost_device_ends_drawing_or_is_replaced_and_never_panics() {
    for recovers in [false, true] {
        let Some(mut app) = started(bright(ColorMode::Element)) else {
            return;
        };
        app.insert_resource(RenderErrorHandler(if recovers {
            |_, _, _| RenderErrorPolicy::Recover(default())
        } else {
            |_, _, _| RenderErrorPolicy::StopRendering
        }));
        let picture = eye_before(&mut app, 4.0);
        let crowd = app.world_mut().spawn(alone(atom(Element::O, 1.0))).id();
        let before = shoot(&mut app, &picture);
        let device = app.world().resource::<RenderDevice>().clone();
        // Bevy's own callbacks do not expect to find their buffers destroyed.
        device.poll(PollType::wait_indefinitely()).unwrap();
        device.wgpu_device().destroy();
        // Now the renderer is told.
        let _ = device.poll(PollType::wait_indefinitely());
        for frame in 0..20 {
            // The crowd changes while there is nothing to draw it with.
            let mut drawn = app
                .world_mut()
                .get_mut::<InstancedMolecules>(crowd)
                .unwrap();
            drawn.molecules[0].group = frame;
            app.update();
        }
        if recovers {
            let after = shoot(&mut app, &picture);
            assert_eq!(after.pixels, before.pixels);
        }
    }
}

#[test]
fn an_app_without_a_renderer_runs() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, MoleculeRenderPlugin));
    app.finish();
    app.cleanup();
    let crowd = app.world_mut().spawn(alone(atom(Element::O, 1.0))).id();
    app.update();
    app.update();
    // Nobody draws, and all is there for whoever would.
    assert!(app.get_sub_app(RenderApp).is_none());
    let drawn = app.world().get::<InstancedMolecules>(crowd).unwrap();
    assert_eq!((drawn.molecules.len(), drawn.check()), (1, Ok(())));
    assert!(app.world().contains_resource::<MoleculeStyle>());
}
