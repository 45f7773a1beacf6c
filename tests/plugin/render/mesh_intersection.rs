//! Atoms and ordinary meshes intersect correctly.

use bevy::camera::ScalingMode;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;

use super::render_app::{
    SIZE, atom, camera, headlit, ready_app, screenshot, single_molecule, target,
};

#[test]
fn a_plane_intersects_an_atom_in_a_circle() {
    let Some(mut app) = ready_app(headlit(ColorMode::Element)) else {
        return;
    };
    let image = target(&mut app, SIZE);
    app.world_mut().spawn((
        camera(&image),
        Projection::Orthographic(OrthographicProjection {
            scaling_mode: ScalingMode::FixedVertical {
                viewport_height: 4.0,
            },
            ..OrthographicProjection::default_3d()
        }),
        Transform::from_xyz(0.0, 0.0, 5.0),
    ));
    // Oxygen is red; the plane is blue, 0.6 radii in front of the center of the atom.
    app.world_mut()
        .spawn(single_molecule(atom(Element::O, 1.0)));
    let mesh = app
        .world_mut()
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(3.0, 3.0));
    let blue = StandardMaterial {
        base_color: Color::srgb(0.0, 0.0, 1.0),
        unlit: true,
        ..default()
    };
    let blue = app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(blue);
    app.world_mut().spawn((
        Mesh3d(mesh),
        MeshMaterial3d(blue),
        Transform::from_xyz(0.0, 0.0, 0.6),
    ));
    let frame = screenshot(&mut app, &image);
    let nm = 4.0 / SIZE.y as f32;
    let mut seen = [0; 3];
    for y in 0..SIZE.y {
        for x in 0..SIZE.x {
            let place = Vec2::new(
                (x as f32 + 0.5 - 0.5 * SIZE.x as f32) * nm,
                (y as f32 + 0.5 - 0.5 * SIZE.y as f32) * nm,
            );
            let [red, _, blue, _] = frame.at(x, y);
            let kind = if red > blue {
                0
            } else if blue > red {
                1
            } else {
                2
            };
            seen[kind] += 1;
            // The atom is in front of the plane within a radius of 0.8.
            let (from_circle, inside) = (place.length() - 0.8, place.abs().max_element() < 1.5);
            let expected = if from_circle < 0.0 {
                0
            } else if inside {
                1
            } else {
                2
            };
            let edge = from_circle.abs() < nm || (place.abs().max_element() - 1.5).abs() < nm;
            assert!(kind == expected || edge, "{x} {y}: {kind}, not {expected}");
        }
    }
    assert!(seen.iter().all(|&pixels| pixels > 100), "{seen:?}");
}
