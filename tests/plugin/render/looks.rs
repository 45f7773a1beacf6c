//! Tints, highlights and palettes, of molecules of the physics world and of instanced ones.

use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{
    DepthCue, MoleculeHighlight, MoleculeInstance, MoleculePalette,
};
use bevy_rapier3d::prelude::*;

use super::render_app::{
    Frame, SIZE, atom, finish_plugins, headlit, lit_pixels, ready_app, render_app, screenshot,
    spawn_camera_at,
};
use crate::common::gpu_device::device;

/// Positions of molecules on the x axis, nm, and their pixels 5 nm in front of the camera.
const PLACES: [f32; 3] = [-2.0, 0.0, 2.0];

fn pixel(frame: &Frame, x: f32) -> [u8; 3] {
    let per_nm = SIZE.y as f32 / 2.0 / (5.0 * std::f32::consts::FRAC_PI_8.tan());
    let [red, green, blue, _] = frame.at((SIZE.x as f32 / 2.0 + x * per_nm) as u32, SIZE.y / 2);
    [red, green, blue]
}

fn pixels(app: &mut App, image: &Handle<Image>) -> [[u8; 3]; 3] {
    let frame = screenshot(app, image);
    PLACES.map(|x| pixel(&frame, x))
}

#[track_caller]
fn assert_near(pixel: [u8; 3], color: Color) {
    let color = color.to_srgba().to_u8_array_no_alpha();
    // The middle of a pixel is not exactly that of the atom.
    let is_near = pixel.iter().zip(color).all(|(&a, b)| a.abs_diff(b) <= 4);
    assert!(is_near, "{pixel:?} instead of {color:?}");
}

/// The color of oxygen.
fn oxygen() -> Color {
    MoleculePalette::default().element(Element::O)
}

/// Three oxygen atoms of the physics world, 5 nm in front of the camera.
fn physics() -> Option<(App, Handle<Image>, [Entity; 3])> {
    device()?;
    let mut app = render_app();
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default().with_backend(Backend::Cpu),
    ));
    finish_plugins(&mut app);
    app.insert_resource(headlit(ColorMode::Element));
    app.insert_resource(TimestepMode::Fixed {
        dt: 1.0e-6,
        substeps: 1,
    });
    let image = spawn_camera_at(&mut app, 5.0);
    let template = (*atom(Element::O, 0.7)).clone();
    let handle = app
        .world_mut()
        .resource_mut::<Assets<MoleculeTemplate>>()
        .add(template);
    let molecules = PLACES.map(|x| {
        let place = Transform::from_xyz(x, 0.0, 0.0);
        let molecule = (Molecule(handle.clone()), place);
        app.world_mut().spawn(molecule).id()
    });
    for _ in 0..4 {
        app.update();
    }
    Some((app, image, molecules))
}

/// Three instances of oxygen, 5 nm in front of the camera.
fn instances() -> Option<(App, Handle<Image>, Entity)> {
    let mut app = ready_app(headlit(ColorMode::Element))?;
    let image = spawn_camera_at(&mut app, 5.0);
    let molecules = PLACES.map(|x| {
        let pose = Pose::from_translation(Vec3::X * x);
        MoleculeInstance::new(0, pose)
    });
    let instances = InstancedMolecules {
        templates: vec![atom(Element::O, 0.7)],
        molecules: molecules.to_vec(),
        ..default()
    };
    let instances = app.world_mut().spawn(instances).id();
    Some((app, image, instances))
}

#[test]
fn a_tint_replaces_or_mixes_the_color_until_it_is_removed() {
    let Some((mut app, image, [one, other, _])) = physics() else {
        return;
    };
    let blue = Color::linear_rgb(0.1, 0.2, 0.9);
    app.world_mut()
        .entity_mut(one)
        .insert(MoleculeTint::from(blue));
    let half = MoleculeTint::from(blue.with_alpha(0.5));
    app.world_mut().entity_mut(other).insert(half);
    let mixed = blue.to_linear().mix(&oxygen().to_linear(), 0.5).into();
    let [first, second, third] = pixels(&mut app, &image);
    assert_near(first, blue);
    assert_near(second, mixed);
    assert_near(third, oxygen());
    // In any color mode.
    app.world_mut().resource_mut::<MoleculeStyle>().color = ColorMode::Collision;
    let [first, ..] = pixels(&mut app, &image);
    assert_near(first, blue);
    app.world_mut().resource_mut::<MoleculeStyle>().color = ColorMode::Element;
    // Changed and removed.
    app.world_mut().get_mut::<MoleculeTint>(one).unwrap().color = Color::WHITE;
    app.world_mut().entity_mut(other).remove::<MoleculeTint>();
    let [first, second, _] = pixels(&mut app, &image);
    assert_near(first, Color::WHITE);
    assert_near(second, oxygen());
}

#[test]
fn translucent_molecules_show_what_is_behind_them() {
    let Some((mut app, image, [one, other, _])) = physics() else {
        return;
    };
    let [red, blue] = [Color::srgb(1.0, 0.0, 0.0), Color::srgb(0.0, 0.0, 1.0)];
    let tint = |color, opacity| MoleculeTint { color, opacity };
    // The second behind the first, and larger on the screen.
    let in_front = Transform::from_xyz(0.0, 0.0, 0.0);
    let behind = Transform::from_xyz(0.0, 0.0, -1.6);
    app.world_mut()
        .entity_mut(one)
        .insert((in_front, tint(red, 0.5)));
    app.world_mut()
        .entity_mut(other)
        .insert((behind, tint(blue, 1.0)));
    let counts = |app: &mut App| {
        let frame = screenshot(app, &image);
        let [x, y] = SIZE.to_array().map(|size| size / 2);
        let mut counts = [0; 3];
        // A square that both cover.
        for (dx, dy) in (0..12).flat_map(|dx| (0..12).map(move |dy| (dx, dy))) {
            let [red, _, blue, _] = frame.at(x + dx - 6, y + dy - 6);
            let which = if red > 100 {
                0
            } else if blue > 100 {
                1
            } else {
                2
            };
            counts[which] += 1;
        }
        counts
    };
    let [front, back, none] = counts(&mut app);
    assert!((60..84).contains(&front) && back == 144 - front && none == 0);
    // Through two translucent molecules the background is seen.
    app.world_mut().entity_mut(other).insert(tint(blue, 0.5));
    let [front, back, none] = counts(&mut app);
    let expected = (60..84).contains(&front) && back > 10 && none > 10;
    assert!(expected, "{front} {back} {none}");
    app.world_mut().entity_mut(one).insert(tint(red, 0.0));
    app.world_mut().entity_mut(other).insert(tint(blue, 1.0));
    assert_eq!(counts(&mut app), [0, 144, 0]);
}

#[test]
fn tints_of_instances_are_painted_over_that_of_their_entity() {
    let Some((mut app, image, entity)) = instances() else {
        return;
    };
    let [green, white] = [Color::linear_rgb(0.0, 0.5, 0.0), Color::WHITE];
    let set = |app: &mut App, index: usize, tint: MoleculeTint| {
        let mut instances = app
            .world_mut()
            .get_mut::<InstancedMolecules>(entity)
            .unwrap();
        instances.molecules[index].tint = tint;
    };
    set(&mut app, 0, MoleculeTint::from(green));
    let [first, second, _] = pixels(&mut app, &image);
    assert_near(first, green);
    assert_near(second, oxygen());
    app.world_mut()
        .entity_mut(entity)
        .insert(MoleculeTint::from(white));
    set(&mut app, 1, MoleculeTint::from_opacity(0.0));
    let [first, second, third] = pixels(&mut app, &image);
    assert_near(first, green);
    assert_eq!(second, [0; 3]);
    assert_near(third, white);
    app.world_mut().entity_mut(entity).remove::<MoleculeTint>();
    set(&mut app, 0, MoleculeTint::default());
    let [first, _, third] = pixels(&mut app, &image);
    assert_near(first, oxygen());
    assert_near(third, oxygen());
}

#[test]
fn invalid_tints_are_clamped() {
    let Some((mut app, image, molecules)) = physics() else {
        return;
    };
    let tints = [
        MoleculeTint::from_opacity(f32::NAN),
        MoleculeTint::from(Color::linear_rgba(f32::INFINITY, 0.0, 0.0, 1.0)),
        MoleculeTint {
            color: Color::linear_rgba(9.0, -9.0, 0.0, 9.0),
            opacity: 9.0,
        },
    ];
    for (molecule, tint) in molecules.into_iter().zip(tints) {
        app.world_mut().entity_mut(molecule).insert(tint);
    }
    let [first, second, third] = pixels(&mut app, &image);
    assert_near(first, oxygen());
    assert_near(second, oxygen());
    assert_near(third, Color::srgb(1.0, 0.0, 0.0));
    for molecule in molecules {
        let invisible = MoleculeTint::from_opacity(-1.0);
        app.world_mut().entity_mut(molecule).insert(invisible);
    }
    assert_eq!(lit_pixels(&screenshot(&mut app, &image)), 0);
}

#[test]
fn highlighted_molecules_stand_out_in_darkness_and_fog() {
    let Some((mut app, image, molecules)) = physics() else {
        return;
    };
    app.insert_resource(MoleculeStyle {
        headlight: 0.0,
        depth_cue: DepthCue {
            strength: 1.0,
            color: Color::BLACK,
            range: Some((0.0, 1.0)),
        },
        ..headlit(ColorMode::Element)
    });
    assert_eq!(lit_pixels(&screenshot(&mut app, &image)), 0);
    let green = MoleculeHighlight {
        color: Color::srgb(0.0, 1.0, 0.0),
    };
    for molecule in &molecules[..2] {
        app.world_mut().entity_mut(*molecule).insert(green);
    }
    let frame = screenshot(&mut app, &image);
    let [first, second, third] = PLACES.map(|x| pixel(&frame, x));
    assert!(first[1] > 100 && second[1] > 100, "{first:?} {second:?}");
    assert_eq!(third, [0; 3]);
    // Strongest at the rim, which is 0.7 nm from the middle.
    let rim = pixel(&frame, 0.6);
    assert!(rim[1] > second[1] + 30, "{rim:?} {second:?}");
    for molecule in molecules {
        app.world_mut()
            .entity_mut(molecule)
            .remove::<MoleculeHighlight>();
    }
    assert_eq!(lit_pixels(&screenshot(&mut app, &image)), 0);
}

#[test]
fn instances_are_highlighted_alone_or_with_their_entity() {
    let Some((mut app, image, entity)) = instances() else {
        return;
    };
    let highlight = |color| MoleculeHighlight { color };
    let [green, blue] = [Color::srgb(0.0, 1.0, 0.0), Color::srgb(0.0, 0.0, 1.0)];
    let [plain, ..] = pixels(&mut app, &image);
    let mut molecules = app
        .world_mut()
        .get_mut::<InstancedMolecules>(entity)
        .unwrap();
    molecules.molecules[1].highlight = Some(highlight(green));
    let [first, second, _] = pixels(&mut app, &image);
    assert_eq!(first, plain);
    assert!(second[1] > plain[1] + 60, "{second:?} {plain:?}");
    app.world_mut().entity_mut(entity).insert(highlight(blue));
    let [first, second, third] = pixels(&mut app, &image);
    assert!(first[2] > plain[2] + 60 && third == first, "{first:?}");
    assert!(second[1] > plain[1] + 60 && second[2] < first[2]);
}

#[test]
fn the_palette_sets_the_colors_of_each_mode() {
    let Some((mut app, image, entity)) = instances() else {
        return;
    };
    let mut molecules = app
        .world_mut()
        .get_mut::<InstancedMolecules>(entity)
        .unwrap();
    for (index, molecule) in molecules.molecules.iter_mut().enumerate() {
        molecule.group = index as u32;
        molecule.colliding = index == 1;
        molecule.penetration = 0.025 * index as f32;
    }
    let color = |red, green, blue| Color::linear_rgb(red, green, blue);
    let [a, b, c] = [
        color(1.0, 0.2, 0.0),
        color(0.0, 0.6, 0.1),
        color(0.3, 0.3, 1.0),
    ];
    let mut palette = app.world_mut().resource_mut::<MoleculePalette>();
    palette.set_element(Element::O, a);
    palette.molecules = vec![b];
    palette.chains = vec![c, a];
    palette.templates = vec![b, c];
    palette.groups = vec![a, b];
    palette.free = vec![c];
    palette.colliding = vec![a];
    palette.penetration = vec![color(0.0, 0.0, 0.0), color(1.0, 0.0, 0.0)];
    let half = color(16.0 / 31.0, 0.0, 0.0);
    for (mode, expected) in [
        (ColorMode::Element, [a, a, a]),
        (ColorMode::Molecule, [b, b, b]),
        (ColorMode::Chain, [c, c, c]),
        (ColorMode::Template, [b, b, b]),
        (ColorMode::Group, [a, b, a]),
        (ColorMode::Collision, [c, a, c]),
        (
            ColorMode::Penetration,
            [Color::BLACK, half, color(1.0, 0.0, 0.0)],
        ),
    ] {
        app.world_mut().resource_mut::<MoleculeStyle>().color = mode;
        for (pixel, expected) in pixels(&mut app, &image).into_iter().zip(expected) {
            assert_near(pixel, expected);
        }
    }
    // Without the resource, the colors are the default ones.
    app.world_mut().remove_resource::<MoleculePalette>();
    app.world_mut().resource_mut::<MoleculeStyle>().color = ColorMode::Element;
    let [first, ..] = pixels(&mut app, &image);
    assert_near(first, oxygen());
}
