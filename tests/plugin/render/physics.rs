//! Molecules of the physics world are drawn where they are, and can be picked.

use bevy::ecs::system::RunSystemOnce;
use bevy::math::Ray3d;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::stage::{Picture, SIZE, alone, atom, bright, eye_before, shoot, stage, start};
use crate::common::gpu_device::device;

fn lit(picture: &Picture) -> usize {
    let dark = |pixel: &&[u8; 4]| pixel[..3] == [0, 0, 0];
    picture.pixels.len() - picture.pixels.iter().filter(dark).count()
}

/// A physics world before a camera, with that camera's picture.
fn empty_world(color: ColorMode) -> (App, Handle<Image>) {
    let mut app = stage();
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default().with_backend(Backend::Cpu),
    ));
    start(&mut app);
    app.insert_resource(bright(color));
    let picture = eye_before(&mut app, 5.0);
    (app, picture)
}

/// Two atoms that overlap, and one apart, without gravity.
fn physics() -> (App, Handle<Image>, [Entity; 3]) {
    let (mut app, picture) = empty_world(ColorMode::Collision);
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
    (app, picture, molecules)
}

/// The pixel that shows a point of the plane z = 0.
fn pixel(picture: &Picture, x: f32) -> [u8; 4] {
    let per_nm = SIZE.y as f32 / 2.0 / (5.0 * std::f32::consts::FRAC_PI_8.tan());
    picture.at((SIZE.x as f32 / 2.0 + x * per_nm) as u32, SIZE.y / 2)
}

#[test]
fn molecules_show_whether_they_collide() {
    if device().is_none() {
        return;
    }
    let (mut app, picture, molecules) = physics();
    let shot = shoot(&mut app, &picture);
    let [one, other, free] = [-2.1, -1.4, 2.0].map(|x| pixel(&shot, x));
    // Shades differ from molecule to molecule, from dark to bright.
    let is_more = |more: u8, less: u8| i32::from(more) > i32::from(less) + 60;
    assert!(
        is_more(one[0], one[1]) && is_more(other[0], other[1]),
        "{one:?} {other:?}"
    );
    assert!(is_more(free[1], free[0]), "{free:?}");
    // Deep overlaps are brighter than none.
    app.world_mut().resource_mut::<MoleculeStyle>().color = ColorMode::Penetration;
    let shot = shoot(&mut app, &picture);
    let [one, free] = [-2.1, 2.0].map(|x| pixel(&shot, x));
    let sum = |pixel: [u8; 4]| pixel[..3].iter().map(|&part| u32::from(part)).sum::<u32>();
    assert!(sum(one) > sum(free) + 100, "{one:?} {free:?}");
    // What is hidden, undrawn or gone is not there.
    let all = lit(&shot);
    app.world_mut()
        .entity_mut(molecules[2])
        .insert(Visibility::Hidden);
    let two = lit(&shoot(&mut app, &picture));
    app.world_mut()
        .entity_mut(molecules[1])
        .insert(NoMoleculeRendering);
    let one = lit(&shoot(&mut app, &picture));
    app.world_mut().despawn(molecules[0]);
    let none = lit(&shoot(&mut app, &picture));
    assert!(
        all > two && two > one && one > 50 && none == 0,
        "{all} {two} {one} {none}"
    );
}

#[test]
fn the_atom_under_the_cursor_has_a_name() {
    if device().is_none() {
        return;
    }
    let (mut app, _, molecules) = physics();
    let lipid = super::stage::real("popc.pdb");
    let crowd = InstancedMolecules {
        templates: vec![atom(Element::N, 0.4), lipid.clone()],
        molecules: vec![
            MoleculeInstance::new(0, Pose::from_translation(Vec3::new(0.0, 40.0, 0.0))),
            MoleculeInstance::new(1, Pose::from_translation(Vec3::new(2.0, 0.0, 3.0))),
        ],
        ..default()
    };
    let crowd = app.world_mut().spawn(crowd).id();
    app.update();
    let pick = |app: &mut App, x: f32| {
        let ray = Ray3d::new(Vec3::new(x, 0.0, 9.0), Dir3::NEG_Z);
        app.world_mut()
            .run_system_once(move |picker: MoleculePicker| picker.pick(ray))
            .unwrap()
    };
    let molecule = pick(&mut app, -2.2).unwrap();
    assert_eq!((molecule.entity, molecule.molecule), (molecules[0], None));
    assert_eq!(molecule.label.element, Element::O);
    // The lipid is in front of the third molecule.
    let in_crowd = pick(&mut app, 2.0).unwrap();
    assert_eq!((in_crowd.entity, in_crowd.molecule), (crowd, Some(1)));
    assert_eq!(in_crowd.label.residue, *lipid.residue_of(in_crowd.atom));
    assert_eq!(in_crowd.label.atom, lipid.atom_names()[in_crowd.atom]);
    assert!(!in_crowd.label.residue.name.is_empty());
    app.world_mut().entity_mut(crowd).insert(Visibility::Hidden);
    app.update();
    assert_eq!(pick(&mut app, 2.0).unwrap().entity, molecules[2]);
    assert_eq!(pick(&mut app, 7.0), None);
}

#[test]
fn crowds_may_be_drawn_before_anything_is_loaded() {
    if device().is_none() {
        return;
    }
    let (mut app, picture) = empty_world(ColorMode::Element);
    let missing = app
        .world()
        .resource::<AssetServer>()
        .load("there/is/no/such.pdb");
    app.world_mut().spawn(Molecule(missing));
    app.world_mut().spawn(alone(atom(Element::O, 1.0)));
    assert!(lit(&shoot(&mut app, &picture)) > 100);
}
