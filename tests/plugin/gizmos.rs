//! Gizmos, without a window or a render app.

use std::any::TypeId;

use bevy::gizmos::{GizmoHandles, GizmoPlugin};
use bevy::mesh::MeshPlugin;
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{CompartmentRegion, CompartmentSurface, ParryShape};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::test_app::*;

/// Line vertices of a color in the gizmo group of this frame.
fn vertices(app: &App, color: Color) -> Vec<Vec3> {
    let world = app.world();
    let handles = world.resource::<GizmoHandles>().handles();
    let Some(Some(handle)) = handles.get(&TypeId::of::<MoleculeGizmos>()) else {
        return Vec::new();
    };
    let asset = world.resource::<Assets<GizmoAsset>>().get(handle).unwrap();
    let buffer = asset.buffer().buffer();
    assert_eq!(buffer.list_positions.len(), buffer.list_colors.len());
    let lists = buffer.list_positions.iter().zip(buffer.list_colors);
    let strips = buffer.strip_positions.iter().zip(buffer.strip_colors);
    lists
        .chain(strips)
        .filter(|(position, found)| **found == color.to_linear() && position.is_finite())
        .map(|(position, _)| *position)
        .collect()
}

fn all_enabled() -> MoleculeGizmos {
    MoleculeGizmos {
        cells: true,
        contacts: true,
        spheres: true,
        compartments: true,
        springs: true,
        deep_color: MoleculeGizmos::default().touch_color,
        ..default()
    }
}

fn group(app: &mut App) -> Mut<'_, MoleculeGizmos> {
    let store = app.world_mut().resource_mut::<GizmoConfigStore>();
    store.map_unchanged(|store| store.config_mut::<MoleculeGizmos>().1)
}

/// An app with gizmos, with Bevy's plugin before or after ours.
fn gizmo_app(model: ContactModel, first: bool) -> App {
    let mut app = bare_app();
    // Bevy's gizmos of skinned meshes need its assets.
    app.add_plugins(MeshPlugin);
    if first {
        app.add_plugins(GizmoPlugin);
    }
    app.add_plugins(MoleculePlugins::default().with_contacts(model));
    if !first {
        app.add_plugins(GizmoPlugin);
    }
    start(&mut app);
    app
}

/// A floor, two crossed bars, and one outside its compartment.
fn populate(app: &mut App) -> [Entity; 3] {
    weightless(app);
    spawn_floor(app);
    let template = add(app, bar());
    let one = spawn(app, &template, Vec3::Y * 0.09);
    let two = app
        .world_mut()
        .spawn((
            Molecule(template.clone()),
            Transform::from_xyz(0.0, 0.25, 0.0).with_rotation(Quat::from_rotation_y(1.0)),
        ))
        .id();
    let compartment = app
        .world_mut()
        .spawn((
            Compartment::SphereShell { radius: 3.0 },
            Transform::from_xyz(0.0, 20.0, 0.0),
        ))
        .id();
    let outside = spawn(app, &template, Vec3::Y * 30.0);
    app.world_mut()
        .entity_mut(outside)
        .insert(InCompartment::new(compartment, CompartmentRegion::Inside));
    [one, two, outside]
}

#[test]
fn nothing_is_drawn_by_default() {
    let mut app = gizmo_app(ContactModel::Crowd, true);
    populate(&mut app);
    run(&mut app, 3);
    let handles = app.world().resource::<GizmoHandles>().handles();
    assert!(matches!(
        handles.get(&TypeId::of::<MoleculeGizmos>()),
        Some(None)
    ));
    *group(&mut app) = all_enabled();
    app.world_mut()
        .resource_mut::<GizmoConfigStore>()
        .config_mut::<MoleculeGizmos>()
        .0
        .enabled = false;
    run(&mut app, 1);
    assert!(vertices(&app, all_enabled().cell_color).is_empty());
}

#[test]
fn all_gizmos_draw_lines() {
    for (model, first) in [
        (ContactModel::Crowd, true),
        (ContactModel::Crowd, false),
        (ContactModel::Solver, true),
    ] {
        let mut app = gizmo_app(model, first);
        *group(&mut app) = all_enabled();
        let [_, _, outside] = populate(&mut app);
        run(&mut app, 3);
        let config = all_enabled();
        // Three molecules of seven atoms, three circles each.
        let spheres = vertices(&app, config.sphere_color);
        assert!(spheres.len() >= 21 * 36, "{}", spheres.len());
        let cells = vertices(&app, config.cell_color);
        assert_eq!(cells.is_empty(), model == ContactModel::Solver);
        let contacts = vertices(&app, config.touch_color);
        assert!(contacts.len() >= 4, "{model:?}: {}", contacts.len());
        assert!(contacts.iter().all(|point| point.length() < 1.5));
        let compartment = vertices(&app, config.compartment_color);
        assert!(compartment.len() >= 3 * 2 * 32);
        for point in &compartment {
            assert!((point.distance(Vec3::Y * 20.0) - 3.0).abs() < 1.0e-3);
        }
        let springs = vertices(&app, config.spring_color);
        let [from, to] = springs[..] else {
            panic!("{springs:?}")
        };
        assert!(from.distance(position(&app, outside)) < 1.0e-4);
        // The whole bar must be below the surface, with the leeway.
        assert!((to.y - (23.0 - 0.1 - 0.46)).abs() < 1.0e-2, "{to}");
    }
}

#[test]
fn cells_contain_the_atoms_and_limits_apply() {
    let mut app = gizmo_app(ContactModel::Crowd, true);
    *group(&mut app) = all_enabled();
    populate(&mut app);
    run(&mut app, 3);
    let cells = vertices(&app, all_enabled().cell_color);
    let low = cells.iter().copied().reduce(Vec3::min).unwrap();
    let high = cells.iter().copied().reduce(Vec3::max).unwrap();
    assert!(low.cmple(Vec3::new(-0.36, 0.09, -0.3)).all(), "{low}");
    assert!(high.y >= 29.0, "{high}");
    let mut config = group(&mut app);
    (config.max_cells, config.max_spheres, config.max_contacts) = (2, 3, 1);
    config.max_compartment_lines = 10;
    run(&mut app, 1);
    let config = all_enabled();
    assert!((1..cells.len()).contains(&vertices(&app, config.cell_color).len()));
    assert!(vertices(&app, config.sphere_color).len() < 4 * 3 * 15);
    assert_eq!(vertices(&app, config.touch_color).len(), 2);
    assert_eq!(vertices(&app, config.compartment_color).len(), 20);
}

#[test]
fn all_compartment_shapes_are_drawn_within_their_bounds() {
    let mut app = gizmo_app(ContactModel::Crowd, true);
    *group(&mut app) = all_enabled();
    let mesh = app
        .world_mut()
        .resource_mut::<Assets<Mesh>>()
        .add(Cuboid::new(2.0, 2.0, 2.0));
    let corners: Vec<Vec3> = (0..8)
        .map(|k| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32))
        .collect();
    let shapes = [
        SharedShape::ball(1.0),
        SharedShape::cuboid(1.0, 1.0, 1.0),
        SharedShape::round_cuboid(1.0, 1.0, 1.0, 0.1),
        SharedShape::capsule_x(1.0, 0.5),
        SharedShape::capsule_z(0.01, 0.5),
        SharedShape::cylinder(1.0, 0.5),
        SharedShape::round_cylinder(1.0, 0.5, 0.1),
        SharedShape::cone(1.0, 0.5),
        SharedShape::round_cone(1.0, 0.5, 0.1),
        SharedShape::round_convex_hull(&corners, 0.1).unwrap(),
    ];
    let hull = SharedShape::convex_hull(&corners).unwrap();
    let compartments = [
        (Compartment::default(), 96..=2000),
        // Each edge once.
        (Compartment::Mesh(mesh), 18..=18),
        (Compartment::Shape(ParryShape(hull)), 12..=12),
        (
            Compartment::Box {
                half_extents: Vec3::ONE,
            },
            12..=2000,
        ),
        (
            Compartment::Capsule {
                half_height: 1.0,
                radius: 0.5,
            },
            60..=2000,
        ),
    ];
    let shapes = shapes.map(|shape| (Compartment::Shape(ParryShape(shape)), 12..=2000));
    for (compartment, expected) in compartments.into_iter().chain(shapes) {
        let name = format!("{compartment:?}");
        let entity = app
            .world_mut()
            .spawn((compartment, Transform::from_xyz(5.0, 0.0, 0.0)))
            .id();
        run(&mut app, 3);
        let points = vertices(&app, all_enabled().compartment_color);
        let lines = points.len() / 2;
        assert!(expected.contains(&lines), "{name}: {lines} lines");
        let surface = app.world().get::<CompartmentSurface>(entity).unwrap();
        let bounds = surface.shape().unwrap().compute_local_bounding_sphere();
        let center = bounds.center + Vec3::X * 5.0;
        let is_inside = |point: &Vec3| point.distance(center) <= bounds.radius * 1.01;
        assert!(points.iter().all(is_inside), "{name}");
        app.world_mut().despawn(entity);
        run(&mut app, 1);
        assert!(vertices(&app, all_enabled().compartment_color).is_empty());
    }
}

#[test]
fn an_app_without_gizmos_runs() {
    let mut app = app(ContactModel::Crowd);
    populate(&mut app);
    run(&mut app, 3);
    assert!(!app.world().contains_resource::<GizmoConfigStore>());
    let mut minimal = App::new();
    minimal.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default(),
    ));
    start(&mut minimal);
    run(&mut minimal, 3);
}
