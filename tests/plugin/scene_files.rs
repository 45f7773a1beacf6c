//! Scenes with molecules, saved to text and loaded in another app.

use bevy::asset::LoadFromPath;
use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy::world_serialization::serde::WorldDeserializer;
use bevy_rapier_molecules::force::SpringLaw;
use bevy_rapier_molecules::plugin::{CompartmentRegion, PreparedMolecule, molecule_scene_filter};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::MoleculeHighlight;
use bevy_rapier3d::prelude::*;
use serde::de::DeserializeSeed;

use super::test_app::*;

const FILES: [&str; 3] = [
    "assets/molecules/popc.pdb",
    "assets/molecules/1ubq.cif",
    "assets/molecules/1gzx.pdb#ChainA",
];

/// An app in which the files are already loaded, so that all molecules start in the same frame.
/// The handles must be kept.
fn app_with_files() -> (App, [Handle<MoleculeTemplate>; 3]) {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let handles = FILES.map(|file| server.load(file));
    wait_for(&mut app, |_| {
        handles.iter().all(|handle| server.is_loaded(handle))
    });
    (app, handles)
}

/// Molecules that fall onto each other and are held by a compartment, with all components set.
fn spawn_scene(app: &mut App, [lipid, protein, chain]: &[Handle<MoleculeTemplate>; 3]) {
    let world = app.world_mut();
    let cell = Compartment::Capsule {
        half_height: 4.0,
        radius: 9.0,
    };
    let cell = world
        .spawn((cell, Transform::from_rotation(Quat::from_rotation_x(0.3))))
        .id();
    let floor = (
        Molecule(chain.clone()),
        StaticMolecule,
        MoleculeTint {
            color: Color::srgba(0.9, 0.3, 0.1, 0.7),
            opacity: 0.6,
        },
        MoleculeHighlight::default(),
        MoleculeEventsEnabled,
        Transform::from_xyz(0.0, -3.0, 0.0),
    );
    let floor = world.spawn(floor).id();
    let falling = (
        Molecule(protein.clone()),
        MoleculeMaterial {
            frequency_hz: 50.0,
            ..default()
        },
        (
            Restitution::coefficient(0.25),
            Friction::coefficient(0.7),
            CollisionGroups::new(Group::GROUP_2, Group::ALL),
        ),
        Velocity {
            linear: Vec3::new(0.1, -3.0, 0.3),
            angular: Vec3::new(1.0, 2.0, 3.0),
        },
        AccelerationBound(30.0),
        CollisionOutcome::Pass,
        Transform::from_xyz(0.3, 2.0, 0.1).with_rotation(Quat::from_rotation_y(1.0 / 3.0)),
    );
    world.spawn(falling);
    let confined = InCompartment {
        leeway: 0.3,
        spring: SpringLaw::default(),
        ..InCompartment::new(cell, CompartmentRegion::Inside)
    };
    world.spawn((
        Molecule(lipid.clone()),
        MoleculeDetail::Residues,
        GravityScale(0.5),
        confined,
        Transform::from_xyz(7.0, 0.1, 0.2),
    ));
    world.spawn((
        Molecule(lipid.clone()),
        CrowdOnly,
        Visibility::Hidden,
        Transform::from_xyz(0.5, 6.0, 0.4),
        ChildOf(floor),
    ));
}

/// The entities of a scene, in order.
fn members(app: &mut App) -> Vec<Entity> {
    let world = app.world_mut();
    let mut query = world.query_filtered::<Entity, Or<(With<Molecule>, With<Compartment>)>>();
    let mut members: Vec<Entity> = query.iter(world).collect();
    members.sort();
    members
}

fn extract(app: &mut App) -> DynamicWorld {
    let members = members(app);
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let mut scene = DynamicWorldBuilder::from_world(app.world(), &registry)
        .with_component_filter(molecule_scene_filter())
        .extract_entities(members.into_iter())
        .build();
    scene.entities.reverse();
    scene
}

fn save(app: &mut App) -> String {
    let scene = extract(app);
    let registry = app.world().resource::<AppTypeRegistry>().read();
    scene.serialize(&registry).unwrap()
}

/// All components that can be saved, as text with files instead of handles and ranks instead of
/// entities.
fn components(app: &mut App) -> Vec<String> {
    let members = members(app);
    let mut texts = Vec::new();
    for entity in extract(app).entities {
        let molecule = app.world().get::<Molecule>(entity.entity);
        let file = molecule.map(|molecule| molecule.0.path().unwrap().to_string());
        let mut components: Vec<String> = entity
            .components
            .iter()
            .filter(|one| !one.represents::<Molecule>())
            .map(|one| format!("{} {one:?}", one.reflect_type_path()))
            .collect();
        components.sort();
        let mut text = format!("{file:?} {components:#?}");
        for (rank, member) in members.iter().enumerate() {
            text = text.replace(&format!("{member:?}"), &format!("entity {rank}"));
        }
        texts.push(text);
    }
    texts
}

fn load_scene(app: &mut App, text: &str) -> EntityHashMap<Entity> {
    let mut server = app.world().resource::<AssetServer>().clone();
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let scene = WorldDeserializer {
        type_registry: &registry.read(),
        load_from_path: &mut server as &mut dyn LoadFromPath,
    };
    let mut deserializer = ron::Deserializer::from_str(text).unwrap();
    let scene = scene.deserialize(&mut deserializer).unwrap();
    let mut map = EntityHashMap::default();
    scene.write_to_world(app.world_mut(), &mut map).unwrap();
    map
}

/// Bits of the poses and velocities.
fn state(app: &mut App) -> Vec<[u32; 13]> {
    let world = app.world_mut();
    let mut query = world.query_filtered::<(Entity, &Transform, &Velocity), With<Molecule>>();
    let mut molecules: Vec<_> = query.iter(world).collect();
    molecules.sort_by_key(|found| found.0);
    let bits = |(_, transform, velocity): (Entity, &Transform, &Velocity)| {
        let mut values = Vec::new();
        values.extend(transform.translation.to_array());
        values.extend(transform.rotation.to_array());
        values.extend(velocity.linear.to_array());
        values.extend(velocity.angular.to_array());
        <[u32; 13]>::try_from(values.into_iter().map(f32::to_bits).collect::<Vec<_>>()).unwrap()
    };
    molecules.into_iter().map(bits).collect()
}

#[test]
fn a_loaded_scene_moves_like_the_saved_one() {
    let (mut first, handles) = app_with_files();
    spawn_scene(&mut first, &handles);
    let text = save(&mut first);
    let (mut second, _handles) = app_with_files();
    load_scene(&mut second, &text);
    assert_eq!(components(&mut first), components(&mut second));

    let start = state(&mut first);
    assert_eq!(start.len(), 4);
    let mut collided = false;
    for frame in 0..60 {
        assert_eq!(state(&mut first), state(&mut second), "frame {frame}");
        run(&mut first, 1);
        run(&mut second, 1);
        let world = first.world_mut();
        collided |= world.query::<&Colliding>().iter(world).any(Colliding::any);
    }
    assert_eq!(state(&mut first), state(&mut second));
    assert_ne!(state(&mut first), start);
    assert!(collided);
}

#[test]
fn a_running_scene_is_saved_without_the_components_of_the_plugin() {
    let (mut first, handles) = app_with_files();
    spawn_scene(&mut first, &handles);
    run(&mut first, 20);
    let text = save(&mut first);
    for computed in [
        "PreparedMolecule",
        "CompartmentSurface",
        "Colliding",
        "RapierContextEntityLink",
        "GlobalTransform",
    ] {
        assert!(!text.contains(computed), "{computed} in {text}");
    }
    let (mut second, _handles) = app_with_files();
    let map = load_scene(&mut second, &text);
    assert_eq!(components(&mut first), components(&mut second));
    // The compartment of a molecule and the parent of another are those of the new world.
    let world = second.world_mut();
    let mut confined = world.query::<&InCompartment>();
    let compartment = confined.single(world).unwrap().compartment;
    assert!(world.get::<Compartment>(compartment).is_some());
    let mut children = world.query::<&ChildOf>();
    let parent = children.single(world).unwrap().parent();
    assert!(world.get::<Molecule>(parent).is_some() && map.values().any(|one| *one == parent));
    run(&mut second, 3);
    for entity in members(&mut second) {
        let is_molecule = second.world().get::<Molecule>(entity).is_some();
        let is_prepared = second.world().get::<PreparedMolecule>(entity).is_some();
        assert_eq!(is_molecule, is_prepared);
    }
}
