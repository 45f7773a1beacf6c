//! Pointer events on molecules, without a window and without an adapter.

use std::sync::{Arc, Mutex};

use bevy::asset::uuid::Uuid;
use bevy::camera::visibility::RenderLayers;
use bevy::camera::{
    CameraPlugin, CameraUpdateSystems, NormalizedRenderTarget, RenderTarget, Viewport,
};
use bevy::input::InputPlugin;
use bevy::math::DVec3;
use bevy::mesh::MeshPlugin;
use bevy::picking::backend::HitData;
use bevy::picking::pointer::{
    Location, PointerAction, PointerButton, PointerId, PointerInput, PointerInteraction,
};
use bevy::prelude::*;
use bevy::render::camera::camera_system;
use bevy::render::texture::ManualTextureViews;
use bevy::window::PrimaryWindow;
use bevy_rapier_molecules::plugin::{
    MoleculePickingCamera, MoleculePickingSettings, PickedAtom, PreparedMolecule,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{MoleculeInstance, ViewStyle};

use super::test_app::*;

/// Size of the target of the cameras, pixels.
const SIZE: UVec2 = UVec2::new(240, 160);

const POINTER: PointerId = PointerId::Custom(Uuid::from_u128(22));

/// A weightless app with a pointer, and a camera 12 nm in front of the origin.
fn picking_app() -> (App, Entity) {
    let mut app = bare_app();
    app.add_plugins((
        WindowPlugin {
            primary_window: None,
            ..default()
        },
        InputPlugin,
        MeshPlugin,
        CameraPlugin,
        DefaultPickingPlugins,
        MoleculePlugins::default().with_backend(Backend::Cpu),
    ));
    app.init_asset::<Image>()
        .init_resource::<ManualTextureViews>()
        .add_systems(PostUpdate, camera_system.in_set(CameraUpdateSystems));
    start(&mut app);
    // Bevy compares targets with that of the primary window, even if there is none.
    app.world_mut().spawn(PrimaryWindow);
    app.world_mut().spawn(POINTER);
    let camera = app.world_mut().spawn(camera(Vec3::Z * 12.0)).id();
    weightless(&mut app);
    (app, camera)
}

fn camera(position: Vec3) -> impl Bundle {
    (
        Camera3d::default(),
        RenderTarget::None { size: SIZE },
        Transform::from_translation(position),
    )
}

fn send(app: &mut App, position: Vec2, action: PointerAction) {
    let target = NormalizedRenderTarget::None {
        width: SIZE.x,
        height: SIZE.y,
    };
    let location = Location { target, position };
    app.world_mut()
        .write_message(PointerInput::new(POINTER, location, action));
    app.update();
}

/// Moves the pointer, and returns what it is over, the nearest first.
fn hits_at(app: &mut App, position: Vec2) -> Vec<(Entity, HitData)> {
    send(app, position, PointerAction::Move { delta: Vec2::ONE });
    let world = app.world_mut();
    let mut pointers = world.query::<(&PointerId, &PointerInteraction)>();
    let mut pointers = pointers.iter(world);
    let (_, interaction) = pointers.find(|(id, _)| **id == POINTER).unwrap();
    interaction.to_vec()
}

/// The pixel at which a camera shows a point.
fn pixel_of(app: &App, camera: Entity, point: Vec3) -> Vec2 {
    let transform = app.world().get::<GlobalTransform>(camera).unwrap();
    let camera = app.world().get::<Camera>(camera).unwrap();
    camera.world_to_viewport(transform, point).unwrap()
}

fn entities_at(app: &mut App, position: Vec2) -> Vec<Entity> {
    let hits = hits_at(app, position);
    hits.into_iter().map(|(entity, _)| entity).collect()
}

/// The first atom that a ray enters, in 64-bit floats: entity, instance, atom and distance.
fn brute_force(app: &mut App, ray: Ray3d, scale: f64) -> Option<(PickedIndex, f64)> {
    let origin = ray.origin.as_dvec3();
    let direction = ray.direction.as_dvec3().normalize();
    let entry = |center: DVec3, radius: f64| {
        let along = (center - origin).dot(direction);
        let chord = radius * radius - (center - origin - along * direction).length_squared();
        let distance = along - chord.max(0.0).sqrt();
        (chord >= 0.0 && distance >= 0.0).then_some(distance)
    };
    let world = app.world_mut();
    let mut hits = Vec::new();
    let mut molecules = world.query::<(Entity, &PreparedMolecule, &GlobalTransform)>();
    for (entity, prepared, transform) in molecules.iter(world) {
        let template = prepared.template();
        for (atom, &center) in template.positions().iter().enumerate() {
            let center = transform.transform_point(center).as_dvec3();
            let radius = f64::from(template.radii()[atom]) * scale;
            let hit = entry(center, radius);
            hits.extend(hit.map(|distance| ((entity, None, atom), distance)));
        }
    }
    let mut instanced = world.query::<(Entity, &InstancedMolecules, &GlobalTransform)>();
    for (entity, instances, transform) in instanced.iter(world) {
        let size = f64::from(transform.scale().x) * scale;
        for (index, molecule) in instances.molecules.iter().enumerate() {
            let template = &instances.templates[molecule.template as usize];
            for (atom, &center) in template.positions().iter().enumerate() {
                let center = molecule.pose.transform_point(center);
                let center = transform.transform_point(center).as_dvec3();
                let hit = entry(center, f64::from(template.radii()[atom]) * size);
                hits.extend(hit.map(|distance| ((entity, Some(index), atom), distance)));
            }
        }
    }
    hits.into_iter()
        .min_by(|one, other| one.1.total_cmp(&other.1))
}

/// Entity, instance and atom.
type PickedIndex = (Entity, Option<usize>, usize);

#[test]
fn pointers_are_over_the_same_atoms_as_in_brute_force() {
    let (mut app, camera) = picking_app();
    let protein = add(&mut app, real("1ubq.cif"));
    // With and without a collider, and instances with a transform of their own.
    let with_collider = spawn(&mut app, &protein, Vec3::X * -3.0);
    let turned = Transform::from_xyz(2.0, 0.5, 1.0).with_rotation(Quat::from_rotation_y(1.0));
    let crowd_only = (Molecule(protein.clone()), CrowdOnly, turned);
    let crowd_only = app.world_mut().spawn(crowd_only).id();
    let lipids = (0..4).map(|k| {
        let pose = Pose::new(
            Vec3::new(k as f32 - 1.5, 0.0, 0.3 * k as f32),
            Quat::from_rotation_x(k as f32),
        );
        MoleculeInstance::new(0, pose)
    });
    let instances = InstancedMolecules {
        templates: vec![Arc::new(real("popc.pdb"))],
        molecules: lipids.collect(),
        ..default()
    };
    let place = Transform::from_xyz(0.0, -2.5, 0.0)
        .with_rotation(Quat::from_rotation_z(0.3))
        .with_scale(Vec3::splat(1.2));
    let instanced = app.world_mut().spawn((instances, place)).id();
    run(&mut app, 3);
    for radius_scale in [1.0, 0.6, 1.4] {
        // The style of the camera overrides the global one.
        let style = |radius_scale| MoleculeStyle {
            radius_scale,
            ..default()
        };
        app.insert_resource(style(0.1));
        app.world_mut()
            .entity_mut(camera)
            .insert(ViewStyle(style(radius_scale)));
        let mut found = Vec::new();
        for y in (0..SIZE.y).step_by(5) {
            for x in (0..SIZE.x).step_by(5) {
                let pixel = Vec2::new(x as f32, y as f32) + 0.3;
                let hits = hits_at(&mut app, pixel);
                let transform = app.world().get::<GlobalTransform>(camera).unwrap();
                let view = app.world().get::<Camera>(camera).unwrap();
                let ray = view.viewport_to_world(transform, pixel).unwrap();
                let expected = brute_force(&mut app, ray, f64::from(radius_scale));
                let Some((expected, distance)) = expected else {
                    assert!(hits.is_empty(), "{pixel}: {hits:?}");
                    continue;
                };
                let Some((entity, hit)) = hits.first() else {
                    panic!("{pixel}: {expected:?} was missed");
                };
                let picked = hit.extra_as::<PickedAtom>().unwrap();
                assert!((f64::from(hit.depth) - distance).abs() < 1.0e-3, "{pixel}");
                assert_eq!((picked.entity, hit.camera), (*entity, camera));
                let is_same = (picked.entity, picked.instance, picked.atom) == expected;
                assert!(is_same, "{pixel}: {picked:?} instead of {expected:?}");
                let position = hit.position.unwrap();
                assert!(position.distance(ray.get_point(hit.depth)) < 1.0e-3);
                let normal = hit.normal.unwrap();
                assert!(normal.dot(*ray.direction) < 1.0e-2 && normal.is_normalized());
                found.push(*entity);
            }
        }
        for entity in [with_collider, crowd_only, instanced] {
            let count = found.iter().filter(|found| **found == entity).count();
            assert!(count > 20, "{radius_scale}: {count}");
        }
    }
}

#[test]
fn events_have_the_atom_in_their_hit_data() {
    let (mut app, camera) = picking_app();
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    let log = Arc::new(Mutex::new(Vec::new()));
    macro_rules! record {
        ($event:ty, $name:literal) => {{
            let log = log.clone();
            app.world_mut()
                .entity_mut(molecule)
                .observe(move |event: On<Pointer<$event>>| {
                    let picked = event.hit.extra_as::<PickedAtom>().cloned();
                    log.lock().unwrap().push(($name, picked.unwrap()));
                });
        }};
    }
    record!(Over, "over");
    record!(Press, "press");
    record!(Click, "click");
    record!(Out, "out");
    run(&mut app, 3);
    // The second atom of seven, 0.12 nm apart.
    let atom = pixel_of(&app, camera, Vec3::X * -0.24);
    send(&mut app, atom, PointerAction::Move { delta: Vec2::ONE });
    let button = PointerButton::Primary;
    send(&mut app, atom, PointerAction::Press(button));
    send(&mut app, atom, PointerAction::Release(button));
    send(
        &mut app,
        Vec2::ONE,
        PointerAction::Move { delta: Vec2::ONE },
    );
    let log = log.lock().unwrap();
    let names: Vec<&str> = log.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["over", "press", "click", "out"]);
    for (_, picked) in &*log {
        assert_eq!((picked.entity, picked.instance), (molecule, None));
        assert_eq!((picked.atom, picked.label.atom.as_str()), (1, "C"));
    }
}

#[test]
fn pickable_layers_and_visibility_are_respected() {
    let (mut app, camera) = picking_app();
    let template = add(&mut app, bar());
    let [front, back] = [1.0, 0.0].map(|z| spawn(&mut app, &template, Vec3::Z * z));
    let row = InstancedMolecules {
        templates: vec![Arc::new(bar())],
        molecules: vec![MoleculeInstance::default()],
        ..default()
    };
    let last = app
        .world_mut()
        .spawn((row, Transform::from_xyz(0.0, 0.0, -1.0)));
    let last = last.id();
    run(&mut app, 3);
    let middle = pixel_of(&app, camera, Vec3::ZERO);
    let insert = |app: &mut App, entity: Entity, pickable: Pickable| {
        app.world_mut().entity_mut(entity).insert(pickable);
        run(app, 1);
        entities_at(app, middle)
    };
    // Only the first is reported to the app, unless it lets events through.
    assert_eq!(insert(&mut app, front, Pickable::default()), [front]);
    let through = Pickable {
        should_block_lower: false,
        is_hoverable: true,
    };
    assert_eq!(insert(&mut app, front, through), [front, back]);
    assert_eq!(insert(&mut app, back, through), [front, back, last]);
    assert_eq!(insert(&mut app, front, Pickable::IGNORE), [back, last]);
    let wall = Pickable {
        should_block_lower: true,
        is_hoverable: false,
    };
    assert_eq!(insert(&mut app, back, wall), []);
    assert_eq!(insert(&mut app, back, Pickable::IGNORE), [last]);
    for entity in [front, back] {
        app.world_mut().entity_mut(entity).remove::<Pickable>();
    }
    let insert = |app: &mut App, entity: Entity, bundle: Visibility| {
        app.world_mut().entity_mut(entity).insert(bundle);
        run(app, 1);
        entities_at(app, middle)
    };
    assert_eq!(insert(&mut app, front, Visibility::Hidden), [back]);
    assert_eq!(insert(&mut app, back, Visibility::Hidden), [last]);
    assert_eq!(insert(&mut app, front, Visibility::Visible), [front]);
    let layer = RenderLayers::layer(3);
    app.world_mut().entity_mut(front).insert(layer.clone());
    assert_eq!(entities_at(&mut app, middle), [last]);
    app.world_mut().entity_mut(last).insert(layer.clone());
    assert_eq!(entities_at(&mut app, middle), []);
    app.world_mut().entity_mut(camera).insert(layer);
    assert_eq!(entities_at(&mut app, middle), [front]);
    // Only marked entities and cameras.
    app.insert_resource(MoleculePickingSettings {
        require_markers: true,
    });
    app.world_mut().entity_mut(last).insert(Pickable::default());
    assert_eq!(entities_at(&mut app, middle), []);
    app.world_mut()
        .entity_mut(camera)
        .insert(MoleculePickingCamera);
    assert_eq!(entities_at(&mut app, middle), [last]);
}

#[test]
fn cameras_pick_in_their_viewport_and_by_their_order() {
    let (mut app, left) = picking_app();
    let half = UVec2::new(SIZE.x / 2, SIZE.y);
    let viewport = |x| {
        Some(Viewport {
            physical_position: UVec2::new(x, 0),
            physical_size: half,
            ..default()
        })
    };
    app.world_mut().get_mut::<Camera>(left).unwrap().viewport = viewport(0);
    let right = app
        .world_mut()
        .spawn(camera(Vec3::new(40.0, 0.0, 12.0)))
        .id();
    app.world_mut().get_mut::<Camera>(right).unwrap().viewport = viewport(half.x);
    let template = add(&mut app, bar());
    let molecules = [0.0, 40.0].map(|x| spawn(&mut app, &template, Vec3::X * x));
    run(&mut app, 3);
    let middle = half.as_vec2() / 2.0;
    assert_eq!(entities_at(&mut app, middle), [molecules[0]]);
    let in_right = middle + Vec2::X * half.x as f32;
    assert_eq!(entities_at(&mut app, in_right), [molecules[1]]);
    // A camera that is drawn later comes first, whatever the depth.
    let later = app
        .world_mut()
        .spawn((camera(Vec3::new(0.0, 80.0, 60.0)), RenderLayers::layer(1)));
    let later = later.id();
    let mut view = app.world_mut().get_mut::<Camera>(later).unwrap();
    view.order = 1;
    view.viewport = viewport(0);
    let overlay = spawn(&mut app, &template, Vec3::Y * 80.0 + Vec3::Z * 50.0);
    let overlay_layers = RenderLayers::layer(1);
    app.world_mut().entity_mut(overlay).insert(overlay_layers);
    run(&mut app, 3);
    assert_eq!(entities_at(&mut app, middle), [overlay]);
}
