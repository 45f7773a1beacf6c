//! Molecules of the physics world are drawn at their transforms.

use std::sync::Arc;

use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::plugin::{NoMoleculeRendering, PreparedMolecule};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::ExtractedInstanceSets;
use bevy_rapier3d::prelude::*;

use super::render_app::{
    Frame, SIZE, atom, finish_plugins, headlit, lit_pixels, render_app, screenshot,
    single_molecule, spawn_camera_at,
};
use crate::common::gpu_device::device;

/// A physics world with a camera, and the image it renders to.
fn empty_world(color: ColorMode) -> (App, Handle<Image>) {
    let mut app = render_app();
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default().with_backend(Backend::Cpu),
    ));
    finish_plugins(&mut app);
    app.insert_resource(headlit(color));
    let image = spawn_camera_at(&mut app, 5.0);
    (app, image)
}

/// Two overlapping atoms and a distant one, without gravity.
fn physics() -> (App, Handle<Image>, [Entity; 3]) {
    let (mut app, image) = empty_world(ColorMode::Collision);
    app.insert_resource(TimestepMode::Fixed {
        dt: 1.0e-6,
        substeps: 1,
    });
    let template = (*atom(Element::O, 0.5)).clone();
    let handle = app
        .world_mut()
        .resource_mut::<Assets<MoleculeTemplate>>()
        .add(template);
    let molecules = [-2.0, -1.5, 2.0].map(|x| {
        let place = Transform::from_xyz(x, 0.0, 0.0);
        app.world_mut()
            .spawn((Molecule(handle.clone()), place))
            .id()
    });
    for _ in 0..4 {
        app.update();
    }
    (app, image, molecules)
}

/// The pixel at the point (x, 0, 0).
fn pixel(image: &Frame, x: f32) -> [u8; 4] {
    let per_nm = SIZE.y as f32 / 2.0 / (5.0 * std::f32::consts::FRAC_PI_8.tan());
    image.at((SIZE.x as f32 / 2.0 + x * per_nm) as u32, SIZE.y / 2)
}

#[test]
fn colors_show_collisions_and_hidden_molecules_are_not_drawn() {
    if device().is_none() {
        return;
    }
    let (mut app, image, molecules) = physics();
    let frame = screenshot(&mut app, &image);
    let [one, other, free] = [-2.1, -1.4, 2.0].map(|x| pixel(&frame, x));
    // Shades differ between molecules, from dark to bright.
    let is_more = |more: u8, less: u8| i32::from(more) > i32::from(less) + 60;
    assert!(
        is_more(one[0], one[1]) && is_more(other[0], other[1]),
        "{one:?} {other:?}"
    );
    assert!(is_more(free[1], free[0]), "{free:?}");
    // Deeper overlaps are brighter.
    app.world_mut().resource_mut::<MoleculeStyle>().color = ColorMode::Penetration;
    let frame = screenshot(&mut app, &image);
    let [one, free] = [-2.1, 2.0].map(|x| pixel(&frame, x));
    let sum = |pixel: [u8; 4]| pixel[..3].iter().map(|&part| u32::from(part)).sum::<u32>();
    assert!(sum(one) > sum(free) + 100, "{one:?} {free:?}");
    // Hidden, excluded and despawned molecules are not drawn.
    let all = lit_pixels(&frame);
    app.world_mut()
        .entity_mut(molecules[2])
        .insert(Visibility::Hidden);
    let two = lit_pixels(&screenshot(&mut app, &image));
    app.world_mut()
        .entity_mut(molecules[1])
        .insert(NoMoleculeRendering);
    let one = lit_pixels(&screenshot(&mut app, &image));
    app.world_mut().despawn(molecules[0]);
    let none = lit_pixels(&screenshot(&mut app, &image));
    assert!(
        all > two && two > one && one > 50 && none == 0,
        "{all} {two} {one} {none}"
    );
}

#[test]
fn instances_are_drawn_while_molecules_are_loading() {
    if device().is_none() {
        return;
    }
    let (mut app, image) = empty_world(ColorMode::Element);
    let missing = app.world().resource::<AssetServer>().load("missing.pdb");
    app.world_mut().spawn(Molecule(missing));
    app.world_mut()
        .spawn(single_molecule(atom(Element::O, 1.0)));
    assert!(lit_pixels(&screenshot(&mut app, &image)) > 100);
}

#[test]
fn despawned_molecules_free_their_instances_and_templates() {
    if device().is_none() {
        return;
    }
    let (mut app, _, molecules) = physics();
    let set_count = |app: &mut App| {
        app.update();
        let render_world = app.sub_app(RenderApp).world();
        render_world.resource::<ExtractedInstanceSets>().count()
    };
    assert_eq!(set_count(&mut app), 1);
    // Each combination of layers has its own buffers.
    for (molecule, layer) in molecules.into_iter().zip(1..) {
        let layers = RenderLayers::layer(layer);
        app.world_mut().entity_mut(molecule).insert(layers);
    }
    assert_eq!(set_count(&mut app), 3);
    let prepared = app.world().get::<PreparedMolecule>(molecules[0]).unwrap();
    let template = Arc::downgrade(prepared.template());
    for (molecule, left) in molecules.into_iter().zip([2, 1, 0]) {
        app.world_mut().despawn(molecule);
        assert_eq!(set_count(&mut app), left);
    }
    // The asset is removed with its last handle.
    for _ in 0..4 {
        app.update();
    }
    assert!(template.upgrade().is_none());
}
