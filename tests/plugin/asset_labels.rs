//! Parts of structure files as labeled assets.

use bevy::asset::AssetPath;
use bevy::prelude::*;
use bevy::world_serialization::{WorldInstance, WorldSerializationPlugin};
use bevy_rapier_molecules::molecule::{AssemblyChoice, ModelChoice, load_instances};
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;

use super::test_app::*;

/// Loads an asset completely.
fn loaded<A: Asset>(app: &mut App, path: &str) -> Handle<A> {
    let server = app.world().resource::<AssetServer>().clone();
    let handle = server.load(AssetPath::parse(path).into_owned());
    wait_for(app, |_| {
        let state = server.load_state(&handle);
        assert!(!state.is_failed(), "{path}: {state:?}");
        state.is_loaded()
    });
    handle
}

fn template(app: &mut App, path: &str) -> MoleculeTemplate {
    let handle = loaded(app, path);
    let assets = app.world().resource::<Assets<MoleculeTemplate>>();
    assets.get(&handle).unwrap().clone()
}

/// A bundled file, loaded without Bevy.
fn file(name: &str, options: &LoadOptions) -> MoleculeTemplate {
    let path = format!("{}/assets/molecules/{name}", env!("CARGO_MANIFEST_DIR"));
    load(path, options).unwrap()
}

#[test]
fn chains_models_and_assemblies_are_labeled() {
    let mut app = app(ContactModel::Crowd);
    let chain = LoadOptions {
        chains: Some(vec!["A".to_owned()]),
        ..default()
    };
    let model = LoadOptions {
        model: ModelChoice::Number(2),
        ..default()
    };
    let assembly = LoadOptions {
        assembly: AssemblyChoice::OneBody("1".to_owned()),
        ..default()
    };
    for (name, label, options) in [
        ("1gzx.pdb", "ChainA", chain.clone()),
        ("4hhb.bcif.gz", "ChainA", chain),
        ("multi.pdb", "Model2", model),
        ("4udv.pdb", "Assembly1", assembly),
    ] {
        let path = format!("assets/molecules/{name}#{label}");
        let part = template(&mut app, &path);
        assert!(part == file(name, &options), "{path}");
        assert!(part != file(name, &LoadOptions::default()), "{path}");
    }
}

#[test]
fn a_label_keeps_the_other_settings() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let handle: Handle<MoleculeTemplate> = server
        .load_builder()
        .with_settings(|options: &mut LoadOptions| options.radius_scale = 0.5)
        .load("assets/molecules/1gzx.pdb#ChainB");
    wait_for(&mut app, |_| server.is_loaded(&handle));
    let options = LoadOptions {
        chains: Some(vec!["B".to_owned()]),
        radius_scale: 0.5,
        ..default()
    };
    let assets = app.world().resource::<Assets<MoleculeTemplate>>();
    assert!(*assets.get(&handle).unwrap() == file("1gzx.pdb", &options));
}

#[test]
fn the_shape_of_a_labeled_part_is_built_by_the_loader() {
    let mut app = app(ContactModel::Crowd);
    let handle: Handle<MoleculeTemplate> = loaded(&mut app, "assets/molecules/1gzx.pdb#ChainC");
    let assets = app.world().resource::<Assets<MoleculeTemplate>>();
    // Clones share the shape only if it exists.
    let clone = assets.get(&handle).unwrap().clone();
    let clone = add(&mut app, clone);
    let [a, b] = [handle, clone].map(|template| spawn(&mut app, &template, Vec3::ZERO));
    run(&mut app, 2);
    let template = |molecule| {
        let prepared = app.world().get::<PreparedMolecule>(molecule).unwrap();
        std::sync::Arc::as_ptr(prepared.template())
    };
    assert_eq!(template(a), template(b));
}

#[test]
fn an_unknown_label_is_reported_with_all_labels() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    for (path, labels) in [
        (
            "1gzx.pdb#ChainX",
            vec!["'ChainA'", "'ChainB'", "'ChainC'", "'ChainD'", "'Model1'"],
        ),
        ("multi.pdb#Model3", vec!["'Model1'", "'Model2'"]),
        (
            "4udv.pdb#Assembly2",
            vec!["'Assembly1'", "'Assembly1/Part1'", "'Assembly1/Scene'"],
        ),
    ] {
        let handle: Handle<MoleculeTemplate> = server.load(format!("assets/molecules/{path}"));
        wait_for(&mut app, |_| server.load_state(&handle).is_failed());
        let error = format!("{:?}", server.load_state(&handle));
        let missing: Vec<_> = labels
            .into_iter()
            .filter(|label| !error.contains(&label.replace('\'', "\"")))
            .collect();
        assert!(missing.is_empty(), "{missing:?} not in {error}");
    }
}

#[test]
fn an_assembly_is_spawned_as_a_scene_of_its_instances() {
    let mut app = bare_app();
    app.add_plugins((WorldSerializationPlugin, MoleculePlugins::default()));
    start(&mut app);
    weightless(&mut app);
    let scene: Handle<WorldAsset> = loaded(&mut app, "assets/molecules/4udv.pdb#Assembly1/Scene");
    let moved = Transform::from_xyz(0.0, 100.0, 0.0);
    let root = app.world_mut().spawn((WorldAssetRoot(scene), moved)).id();
    wait_for(&mut app, |world| {
        let mut molecules = world.query_filtered::<(), With<PreparedMolecule>>();
        world.get::<WorldInstance>(root).is_some() && molecules.iter(world).count() == 49
    });

    let path = format!("{}/assets/molecules/4udv.pdb", env!("CARGO_MANIFEST_DIR"));
    let options = LoadOptions {
        assembly: AssemblyChoice::Instances("1".to_owned()),
        ..default()
    };
    let instances = &load_instances(path, &options).unwrap()[0];
    let world = app.world_mut();
    let mut molecules = world.query::<(&Molecule, &PreparedMolecule, &ChildOf, &GlobalTransform)>();
    let mut found = Vec::new();
    for (molecule, prepared, child_of, global) in molecules.iter(world) {
        assert_eq!(child_of.parent(), root);
        assert!(**prepared.template() == *instances.template);
        let path = molecule.0.path().unwrap().to_string();
        assert!(path.ends_with("4udv.pdb#Assembly1/Part1"), "{path}");
        found.push(global.translation());
    }
    let nearest = |point: Vec3| {
        let distances = found.iter().map(|other| other.distance(point));
        distances.fold(f32::INFINITY, f32::min)
    };
    for pose in &instances.poses {
        let distance = nearest(moved.transform_point(pose.position));
        assert!(distance < 1.0e-2, "{pose:?}: {distance} nm");
    }
}

#[test]
fn loading_a_label_does_not_disturb_the_molecules_of_its_file() {
    let mut app = app(ContactModel::Crowd);
    let whole: Handle<MoleculeTemplate> = loaded(&mut app, "assets/molecules/1gzx.pdb");
    let molecule = spawn(&mut app, &whole, Vec3::ZERO);
    run(&mut app, 3);
    #[derive(Resource, Default)]
    struct Completed(usize);
    app.init_resource::<Completed>().add_systems(
        Last,
        |changed: Query<(), Changed<PreparedMolecule>>, mut count: ResMut<Completed>| {
            count.0 += changed.iter().count();
        },
    );
    run(&mut app, 1);
    app.world_mut().resource_mut::<Completed>().0 = 0;
    let chain: Handle<MoleculeTemplate> = loaded(&mut app, "assets/molecules/1gzx.pdb#ChainA");
    run(&mut app, 3);
    assert_eq!(app.world().resource::<Completed>().0, 0);
    assert!(app.world().get::<PreparedMolecule>(molecule).is_some());
    drop(chain);
}
