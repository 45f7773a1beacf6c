//! Cameras of every kind: several, multisampled, HDR, with a look or a layer of their own.

use bevy::camera::Hdr;
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;

use super::stage::{
    Picture, SIZE, alone, at_home, atom, bright, camera, eye_before, shoot, started, target,
};

/// Pixels that are not black.
fn lit(picture: &Picture) -> usize {
    let black = |pixel: &&[u8; 4]| pixel[..3].iter().all(|&part| part < 3);
    picture.pixels.len() - picture.pixels.iter().filter(black).count()
}

#[test]
fn every_pipeline_of_bevy_draws_the_same_atom() {
    let Some(mut app) = started(bright(ColorMode::Element)) else {
        return;
    };
    app.world_mut().spawn(alone(atom(Element::O, 1.0)));
    let picture = target(&mut app, SIZE);
    let eye = app.world_mut().spawn((camera(&picture), at_home())).id();
    let plain = shoot(&mut app, &picture);
    let middle = plain.at(SIZE.x / 2, SIZE.y / 2);
    assert!(
        lit(&plain) > 500 && middle[0] > 150 && middle[1] < 90,
        "{middle:?}"
    );
    for (msaa, hdr) in [
        (Msaa::Sample4, false),
        (Msaa::Off, true),
        (Msaa::Sample4, true),
    ] {
        let mut eye = app.world_mut().entity_mut(eye);
        eye.insert(msaa);
        if hdr {
            eye.insert(Hdr);
        } else {
            eye.remove::<Hdr>();
        }
        let shot = shoot(&mut app, &picture);
        let mut partly = 0;
        for (index, (one, other)) in shot.pixels.iter().zip(&plain.pixels).enumerate() {
            let apart = (0..3).map(|k| one[k].abs_diff(other[k])).max().unwrap_or(0);
            let (x, y) = (index as u32 % SIZE.x, index as u32 / SIZE.x);
            // The edge of an orange circle: pixels there may be partly covered.
            let neighbors = [(0, 1), (2, 1), (1, 0), (1, 2)].map(|(dx, dy)| {
                let x = (x + dx).saturating_sub(1).min(SIZE.x - 1);
                let y = (y + dy).saturating_sub(1).min(SIZE.y - 1);
                plain.at(x, y)[0] > 10
            });
            let rim = neighbors.iter().any(|&n| n != neighbors[0]);
            assert!(
                apart <= 4 || rim,
                "{msaa:?} HDR {hdr}: {x} {y}: {one:?} {other:?}"
            );
            partly += usize::from(apart > 4);
        }
        // Multisampling makes the rim smooth, and nothing else changes.
        assert_eq!(
            partly > 20,
            msaa == Msaa::Sample4,
            "{msaa:?} HDR {hdr}: {partly}"
        );
    }
}

#[test]
fn each_camera_has_its_own_view_look_and_layers() {
    let Some(mut app) = started(bright(ColorMode::Element)) else {
        return;
    };
    let pictures = [0; 3].map(|_| target(&mut app, SIZE));
    // Two atoms in different layers, left and right of the middle.
    let left = alone(atom(Element::O, 0.5));
    let mut right = alone(atom(Element::N, 0.5));
    right.molecules[0].colliding = true;
    app.world_mut()
        .spawn((left, Transform::from_xyz(-1.0, 0.0, 0.0)));
    app.world_mut().spawn((
        right,
        Transform::from_xyz(1.0, 0.0, 0.0),
        RenderLayers::layer(3),
    ));
    for (order, picture) in pictures.iter().enumerate() {
        let mut eye = app.world_mut().spawn((camera(picture), at_home()));
        eye.entry::<Camera>()
            .and_modify(|mut camera| camera.order = order as isize);
        match order {
            0 => {}
            1 => {
                eye.insert(RenderLayers::from_layers(&[0, 3]));
            }
            _ => {
                let look = ViewStyle(bright(ColorMode::Collision));
                eye.insert((RenderLayers::layer(3), look));
            }
        }
    }
    let [first, both, second] = pictures.map(|picture| shoot(&mut app, &picture));
    let center_of = |picture: &Picture, left: bool| {
        let away = 16.0 / (4.0 * (std::f32::consts::FRAC_PI_8).tan()) * 2.0;
        let x = SIZE.x as f32 / 2.0 + if left { -away } else { away };
        picture.at(x as u32, SIZE.y / 2)
    };
    let red = |pixel: [u8; 4]| pixel[0] > 2 * pixel[2].max(20);
    let blue = |pixel: [u8; 4]| pixel[2] > 2 * pixel[0].max(20);
    let black = |pixel: [u8; 4]| pixel[..3] == [0, 0, 0];
    assert!(red(center_of(&first, true)) && black(center_of(&first, false)));
    assert!(red(center_of(&both, true)) && blue(center_of(&both, false)));
    // The third shows the color of a collision.
    assert!(black(center_of(&second, true)) && red(center_of(&second, false)));
}

#[test]
fn hidden_crowds_and_those_that_are_gone_are_not_drawn() {
    let Some(mut app) = started(bright(ColorMode::Element)) else {
        return;
    };
    let picture = eye_before(&mut app, 4.0);
    assert_eq!(lit(&shoot(&mut app, &picture)), 0);
    let crowd = app.world_mut().spawn(alone(atom(Element::O, 1.0))).id();
    let full = lit(&shoot(&mut app, &picture));
    assert!(full > 500);
    app.world_mut().entity_mut(crowd).insert(Visibility::Hidden);
    assert_eq!(lit(&shoot(&mut app, &picture)), 0);
    app.world_mut()
        .entity_mut(crowd)
        .insert(Visibility::Visible);
    assert_eq!(lit(&shoot(&mut app, &picture)), full);
    // Changes of the crowd show, and so does what grows.
    let mut drawn = app
        .world_mut()
        .get_mut::<InstancedMolecules>(crowd)
        .unwrap();
    for k in 0..200 {
        let place = Vec3::new(0.02 * k as f32, 0.0, 0.0);
        drawn
            .molecules
            .push(MoleculeInstance::new(0, Pose::from_translation(place)));
    }
    assert!(lit(&shoot(&mut app, &picture)) > full * 3 / 2);
    let mut drawn = app
        .world_mut()
        .get_mut::<InstancedMolecules>(crowd)
        .unwrap();
    drawn.molecules.truncate(1);
    drawn.templates[0] = atom(Element::O, 0.25);
    assert!(lit(&shoot(&mut app, &picture)) < full / 10);
    app.world_mut().despawn(crowd);
    assert_eq!(lit(&shoot(&mut app, &picture)), 0);
}

#[test]
fn lights_of_the_scene_light_atoms() {
    let Some(mut app) = started(MoleculeStyle::plain(ColorMode::Element)) else {
        return;
    };
    let picture = eye_before(&mut app, 4.0);
    app.world_mut().spawn(alone(atom(Element::H, 1.0)));
    assert_eq!(lit(&shoot(&mut app, &picture)), 0, "there is no light");
    let brightness = |picture: &Picture, x: u32| u32::from(picture.at(x, SIZE.y / 2)[1]);
    let (left, right) = (SIZE.x / 2 - 12, SIZE.x / 2 + 12);
    // Each lamp stands on the right.
    let place = Transform::from_xyz(4.0, 0.0, 1.0).looking_at(Vec3::ZERO, Vec3::Y);
    let lamps: [fn(&mut EntityWorldMut); 3] = [
        |lamp| {
            lamp.insert(DirectionalLight {
                illuminance: 8_000.0,
                ..default()
            });
        },
        |lamp| {
            lamp.insert(PointLight {
                intensity: 1_000_000.0,
                range: 20.0,
                ..default()
            });
        },
        |lamp| {
            lamp.insert(SpotLight {
                intensity: 1_000_000.0,
                range: 20.0,
                ..default()
            });
        },
    ];
    for (kind, lamp) in lamps.into_iter().enumerate() {
        let mut entity = app.world_mut().spawn(place);
        lamp(&mut entity);
        let entity = entity.id();
        let shot = shoot(&mut app, &picture);
        assert!(
            brightness(&shot, right) > 60 && brightness(&shot, left) < 40,
            "lamp {kind}: {} and {}",
            brightness(&shot, left),
            brightness(&shot, right)
        );
        app.world_mut().despawn(entity);
    }
    app.insert_resource(GlobalAmbientLight {
        brightness: 1000.0,
        ..default()
    });
    let shot = shoot(&mut app, &picture);
    assert!(brightness(&shot, left) > 40);
    assert_eq!(brightness(&shot, left), brightness(&shot, right));
}
