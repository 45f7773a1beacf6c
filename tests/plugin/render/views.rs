//! Several cameras, multisampling, HDR, styles and layers of views, and lights.

use bevy::camera::Hdr;
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{MoleculeInstance, MoleculeRenderPlugin, ViewStyle};

use super::render_app::{
    Frame, SIZE, atom, camera, default_camera_transform, headlit, lit_pixels, ready_app,
    screenshot, single_molecule, spawn_camera_at, target,
};

#[test]
fn multisampled_and_hdr_views_draw_the_same_atom() {
    let Some(mut app) = ready_app(headlit(ColorMode::Element)) else {
        return;
    };
    app.world_mut()
        .spawn(single_molecule(atom(Element::O, 1.0)));
    let image = target(&mut app, SIZE);
    let camera_entity = app
        .world_mut()
        .spawn((camera(&image), default_camera_transform()))
        .id();
    let plain = screenshot(&mut app, &image);
    let middle = plain.at(SIZE.x / 2, SIZE.y / 2);
    assert!(
        lit_pixels(&plain) > 500 && middle[0] > 150 && middle[1] < 90,
        "{middle:?}"
    );
    for (msaa, hdr) in [
        (Msaa::Sample4, false),
        (Msaa::Off, true),
        (Msaa::Sample4, true),
    ] {
        let mut camera_entity = app.world_mut().entity_mut(camera_entity);
        camera_entity.insert(msaa);
        if hdr {
            camera_entity.insert(Hdr);
        } else {
            camera_entity.remove::<Hdr>();
        }
        let frame = screenshot(&mut app, &image);
        let mut partly = 0;
        for (index, (one, other)) in frame.pixels.iter().zip(&plain.pixels).enumerate() {
            let apart = (0..3).map(|k| one[k].abs_diff(other[k])).max().unwrap_or(0);
            let (x, y) = (index as u32 % SIZE.x, index as u32 / SIZE.x);
            // Pixels at the rim may be partly covered.
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
        // Multisampling smooths the rim and changes nothing else.
        assert_eq!(
            partly > 20,
            msaa == Msaa::Sample4,
            "{msaa:?} HDR {hdr}: {partly}"
        );
    }
}

#[test]
fn each_camera_has_its_own_style_and_layers() {
    let Some(mut app) = ready_app(headlit(ColorMode::Element)) else {
        return;
    };
    let images = [0; 3].map(|_| target(&mut app, SIZE));
    // Two atoms in different layers, left and right of the center.
    let left = single_molecule(atom(Element::O, 0.5));
    let mut right = single_molecule(atom(Element::N, 0.5));
    right.molecules[0].colliding = true;
    app.world_mut()
        .spawn((left, Transform::from_xyz(-1.0, 0.0, 0.0)));
    app.world_mut().spawn((
        right,
        Transform::from_xyz(1.0, 0.0, 0.0),
        RenderLayers::layer(3),
    ));
    for (order, image) in images.iter().enumerate() {
        let mut camera_entity = app
            .world_mut()
            .spawn((camera(image), default_camera_transform()));
        camera_entity
            .entry::<Camera>()
            .and_modify(|mut camera| camera.order = order as isize);
        match order {
            0 => {}
            1 => {
                camera_entity.insert(RenderLayers::from_layers(&[0, 3]));
            }
            _ => {
                let style = ViewStyle(headlit(ColorMode::Collision));
                camera_entity.insert((RenderLayers::layer(3), style));
            }
        }
    }
    let [first, both, second] = images.map(|image| screenshot(&mut app, &image));
    let center_of = |image: &Frame, left: bool| {
        let away = 16.0 / (4.0 * (std::f32::consts::FRAC_PI_8).tan()) * 2.0;
        let x = SIZE.x as f32 / 2.0 + if left { -away } else { away };
        image.at(x as u32, SIZE.y / 2)
    };
    let red = |pixel: [u8; 4]| pixel[0] > 2 * pixel[2].max(20);
    let blue = |pixel: [u8; 4]| pixel[2] > 2 * pixel[0].max(20);
    let black = |pixel: [u8; 4]| pixel[..3] == [0, 0, 0];
    assert!(red(center_of(&first, true)) && black(center_of(&first, false)));
    assert!(red(center_of(&both, true)) && blue(center_of(&both, false)));
    // The third view shows collisions.
    assert!(black(center_of(&second, true)) && red(center_of(&second, false)));
}

#[test]
fn the_color_mode_cycles_through_all_modes_in_menu_order() {
    fn next_mode(mut style: ResMut<MoleculeStyle>) {
        let modes = ColorMode::ALL;
        let index = modes.iter().position(|mode| *mode == style.color).unwrap();
        style.color = modes[(index + 1) % modes.len()];
    }
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MoleculeRenderPlugin))
        .add_systems(Update, next_mode);
    let modes = [(); 8].map(|()| {
        app.update();
        app.world().resource::<MoleculeStyle>().color
    });
    assert_eq!(
        modes,
        [
            ColorMode::Molecule,
            ColorMode::Chain,
            ColorMode::Template,
            ColorMode::Group,
            ColorMode::Collision,
            ColorMode::Penetration,
            ColorMode::Element,
            ColorMode::Molecule,
        ]
    );
}

#[test]
fn hidden_and_despawned_instances_are_not_drawn() {
    let Some(mut app) = ready_app(headlit(ColorMode::Element)) else {
        return;
    };
    let image = spawn_camera_at(&mut app, 4.0);
    assert_eq!(lit_pixels(&screenshot(&mut app, &image)), 0);
    let instances = app
        .world_mut()
        .spawn(single_molecule(atom(Element::O, 1.0)))
        .id();
    let full = lit_pixels(&screenshot(&mut app, &image));
    assert!(full > 500);
    app.world_mut()
        .entity_mut(instances)
        .insert(Visibility::Hidden);
    assert_eq!(lit_pixels(&screenshot(&mut app, &image)), 0);
    app.world_mut()
        .entity_mut(instances)
        .insert(Visibility::Visible);
    assert_eq!(lit_pixels(&screenshot(&mut app, &image)), full);
    // Changes are drawn, and buffers grow.
    let mut drawn = app
        .world_mut()
        .get_mut::<InstancedMolecules>(instances)
        .unwrap();
    for k in 0..200 {
        let place = Vec3::new(0.02 * k as f32, 0.0, 0.0);
        drawn
            .molecules
            .push(MoleculeInstance::new(0, Pose::from_translation(place)));
    }
    assert!(lit_pixels(&screenshot(&mut app, &image)) > full * 3 / 2);
    let mut drawn = app
        .world_mut()
        .get_mut::<InstancedMolecules>(instances)
        .unwrap();
    drawn.molecules.truncate(1);
    drawn.templates[0] = atom(Element::O, 0.25);
    assert!(lit_pixels(&screenshot(&mut app, &image)) < full / 10);
    app.world_mut().despawn(instances);
    assert_eq!(lit_pixels(&screenshot(&mut app, &image)), 0);
}

#[test]
fn atoms_are_lit_by_the_lights_of_the_scene() {
    let Some(mut app) = ready_app(MoleculeStyle::plain(ColorMode::Element)) else {
        return;
    };
    let image = spawn_camera_at(&mut app, 4.0);
    app.world_mut()
        .spawn(single_molecule(atom(Element::H, 1.0)));
    assert_eq!(
        lit_pixels(&screenshot(&mut app, &image)),
        0,
        "there is no light"
    );
    let brightness = |image: &Frame, x: u32| u32::from(image.at(x, SIZE.y / 2)[1]);
    let (left, right) = (SIZE.x / 2 - 12, SIZE.x / 2 + 12);
    // Each light is on the right.
    let transform = Transform::from_xyz(4.0, 0.0, 1.0).looking_at(Vec3::ZERO, Vec3::Y);
    let lights: [fn(&mut EntityWorldMut); 3] = [
        |light| {
            light.insert(DirectionalLight {
                illuminance: 8_000.0,
                ..default()
            });
        },
        |light| {
            light.insert(PointLight {
                intensity: 1_000_000.0,
                range: 20.0,
                ..default()
            });
        },
        |light| {
            light.insert(SpotLight {
                intensity: 1_000_000.0,
                range: 20.0,
                ..default()
            });
        },
    ];
    for (kind, light) in lights.into_iter().enumerate() {
        let mut entity = app.world_mut().spawn(transform);
        light(&mut entity);
        let entity = entity.id();
        let frame = screenshot(&mut app, &image);
        assert!(
            brightness(&frame, right) > 60 && brightness(&frame, left) < 40,
            "light {kind}: {} and {}",
            brightness(&frame, left),
            brightness(&frame, right)
        );
        app.world_mut().despawn(entity);
    }
    app.insert_resource(GlobalAmbientLight {
        brightness: 1000.0,
        ..default()
    });
    let frame = screenshot(&mut app, &image);
    assert!(brightness(&frame, left) > 40);
    assert_eq!(brightness(&frame, left), brightness(&frame, right));
}
