//! Loading of structure files, and reports of failures.

use std::sync::Arc;

use bevy::asset::AsAssetId;
use bevy::ecs::template::{FromTemplate, Template, TemplateContext};
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::ModelChoice;
use bevy_rapier_molecules::plugin::{MoleculeLoadFailed, MoleculeWorld, PreparedMolecule};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

fn atoms_of(app: &App, molecule: Entity) -> usize {
    let prepared = app.world().get::<PreparedMolecule>(molecule).unwrap();
    prepared.template().atom_count()
}

#[test]
fn all_formats_are_loaded_by_their_extension() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let files = ["popc.pdb", "1ubq.cif", "4hhb.bcif.gz"];
    let molecules = files.map(|file| {
        let handle = server.load(format!("assets/molecules/{file}"));
        app.world_mut().spawn(Molecule(handle)).id()
    });
    wait_for(&mut app, |world| {
        molecules
            .iter()
            .all(|&molecule| world.get::<PreparedMolecule>(molecule).is_some())
    });
    for (file, molecule) in files.into_iter().zip(molecules) {
        let template = real(file);
        assert_eq!(atoms_of(&app, molecule), template.atom_count(), "{file}");
        let mass = app.world().get::<AdditionalMassProperties>(molecule);
        assert!(
            matches!(mass, Some(AdditionalMassProperties::MassProperties(body))
                if body.mass == template.mass()),
            "{file}"
        );
        assert!(app.world().get::<Collider>(molecule).is_some(), "{file}");
    }
}

#[test]
fn load_options_select_the_atoms() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let without_hydrogens = |options: &mut LoadOptions| options.hydrogens = false;
    let template = server
        .load_builder()
        .with_settings(without_hydrogens)
        .load("assets/molecules/popc.pdb");
    let molecule = app.world_mut().spawn(Molecule(template)).id();
    wait_for(&mut app, |world| {
        world.get::<PreparedMolecule>(molecule).is_some()
    });
    assert_eq!(atoms_of(&app, molecule), 52);
}

#[test]
fn a_meta_file_sets_the_options() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let handle: Handle<MoleculeTemplate> = server.load("assets/molecules/multi.pdb");
    wait_for(&mut app, |_| server.is_loaded(&handle));
    let options = LoadOptions {
        model: ModelChoice::Number(2),
        ..default()
    };
    let path = format!("{}/assets/molecules/multi.pdb", env!("CARGO_MANIFEST_DIR"));
    let assets = app.world().resource::<Assets<MoleculeTemplate>>();
    let template = assets.get(&handle).unwrap();
    assert!(*template == load(path, &options).unwrap());
    assert!(*template != real("multi.pdb"));
}

#[derive(Resource, Default)]
struct Failures(Vec<MoleculeLoadFailed>);

/// An app that records failures.
fn recording_app() -> App {
    let mut app = app(ContactModel::Crowd);
    app.init_resource::<Failures>();
    app.add_systems(
        Update,
        |mut messages: MessageReader<MoleculeLoadFailed>, mut failures: ResMut<Failures>| {
            failures.0.extend(messages.read().cloned());
        },
    );
    app
}

#[test]
fn missing_and_invalid_files_are_reported() {
    let mut app = recording_app();
    let server = app.world().resource::<AssetServer>().clone();
    let template = add(&mut app, bar());
    let bystander = spawn(&mut app, &template, Vec3::Y * 50.0);
    let missing = app
        .world_mut()
        .spawn(Molecule(server.load("assets/molecules/none.pdb")))
        .id();
    let broken = app
        .world_mut()
        .spawn(Molecule(server.load("tests/data/broken.pdb")))
        .id();
    wait_for(&mut app, |world| world.resource::<Failures>().0.len() >= 2);
    let failures = &app.world().resource::<Failures>().0;
    assert_eq!(failures.len(), 2);
    for (molecule, file) in [(missing, "none.pdb"), (broken, "broken.pdb")] {
        let failure = failures
            .iter()
            .find(|failure| failure.molecule == molecule)
            .unwrap();
        assert!(
            failure.path.ends_with(file) && !failure.error.is_empty(),
            "{failure:?}"
        );
    }
    let height = position(&app, bystander).y;
    run(&mut app, 10);
    assert!(position(&app, bystander).y < height);
}

#[test]
fn a_modified_template_updates_its_molecules() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 3);
    assert!((mass_of(&app, molecule) - bar().mass()).abs() < 0.01);
    let other = real("1ubq.cif");
    let expected = other.mass();
    app.world_mut()
        .resource_mut::<Assets<MoleculeTemplate>>()
        .insert(template.id(), other)
        .unwrap();
    run(&mut app, 4);
    let mass = mass_of(&app, molecule);
    assert!((mass - expected).abs() < 0.1, "{mass}");
    assert_eq!(atoms_of(&app, molecule), real("1ubq.cif").atom_count());
}

#[test]
fn a_new_handle_takes_effect_when_its_file_is_loaded() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 3);
    let later = app
        .world()
        .resource::<Assets<MoleculeTemplate>>()
        .reserve_handle();
    app.world_mut()
        .entity_mut(molecule)
        .insert(Molecule(later.clone()));
    run(&mut app, 3);
    assert_eq!(atoms_of(&app, molecule), bar().atom_count());
    let other = real("1ubq.cif");
    let (atoms, expected) = (other.atom_count(), other.mass());
    app.world_mut()
        .resource_mut::<Assets<MoleculeTemplate>>()
        .insert(later.id(), other)
        .unwrap();
    run(&mut app, 3);
    assert_eq!(atoms_of(&app, molecule), atoms);
    let mass = mass_of(&app, molecule);
    assert!((mass - expected).abs() < 0.1, "{mass}");
}

#[test]
fn a_molecule_with_the_handle_of_a_failed_file_is_reported_once() {
    let mut app = recording_app();
    let server = app.world().resource::<AssetServer>().clone();
    let handle: Handle<MoleculeTemplate> = server.load("tests/data/broken.pdb");
    wait_for(&mut app, |_| server.load_state(&handle).is_failed());
    run(&mut app, 3);
    assert_eq!(app.world().resource::<Failures>().0, []);

    // A new molecule, and one that gets the handle later.
    let new = app.world_mut().spawn(Molecule(handle.clone())).id();
    let template = add(&mut app, bar());
    let changed = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 3);
    app.world_mut().get_mut::<Molecule>(changed).unwrap().0 = handle;
    run(&mut app, 5);
    let failures = &app.world().resource::<Failures>().0;
    let molecules: Vec<Entity> = failures.iter().map(|failure| failure.molecule).collect();
    assert_eq!(molecules, [new, changed]);
    for failure in failures {
        let is_complete = failure.path == "tests/data/broken.pdb" && !failure.error.is_empty();
        assert!(is_complete, "{failure:?}");
    }
}

#[test]
fn a_molecule_is_used_like_a_mesh() {
    let mut app = app(ContactModel::Crowd);
    let handle = add(&mut app, bar());
    let molecule = Molecule::from(handle.clone());
    assert_eq!(molecule, Molecule(handle.clone()));
    assert_ne!(molecule, Molecule::default());
    // By `Deref`.
    assert_eq!(molecule.id(), handle.id());
    assert_eq!(AssetId::from(&molecule), handle.id());
    assert_eq!(molecule.as_asset_id(), handle.id());

    // By `FromTemplate`, as `bsn!` does: `Molecule("assets/molecules/popc.pdb")`.
    type Template = <Molecule as FromTemplate>::Template;
    let mut template = Template::default();
    let file = &mut template.0;
    *file = "assets/molecules/popc.pdb".into();
    let (mut entity, mut references) = (app.world_mut().spawn_empty(), default());
    let mut context = TemplateContext::new(&mut entity, &mut references);
    let from_path: Molecule = template.build_template(&mut context).unwrap();
    let path = from_path.0.path().unwrap().to_string();
    assert_eq!(path, "assets/molecules/popc.pdb");

    // By `AsAssetId`: entities whose template was modified.
    #[derive(Resource, Default)]
    struct Modified(usize);
    app.init_resource::<Modified>().add_systems(
        Last,
        |molecules: Query<(), AssetChanged<Molecule>>, mut modified: ResMut<Modified>| {
            modified.0 = molecules.iter().count();
        },
    );
    app.world_mut().spawn(molecule);
    run(&mut app, 3);
    assert_eq!(app.world().resource::<Modified>().0, 0);
    let mut assets = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>();
    assets.insert(handle.id(), bar()).unwrap();
    run(&mut app, 1);
    assert_eq!(app.world().resource::<Modified>().0, 1);
}

/// Address of the shape of a molecule's collider.
fn shape_of(app: &App, molecule: Entity) -> *const () {
    let collider = app.world().get::<Collider>(molecule).unwrap();
    Arc::as_ptr(&collider.raw.0).cast()
}

#[test]
fn all_molecules_of_a_file_share_one_shape() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let handle: Handle<MoleculeTemplate> = server.load("assets/molecules/popc.pdb");
    let spawn_two = |app: &mut App| {
        let molecules = [0.0, 5.0].map(|x| spawn(app, &handle, Vec3::X * x));
        wait_for(app, |world| {
            let prepared = |one: &Entity| world.get::<PreparedMolecule>(*one).is_some();
            molecules.iter().all(prepared)
        });
        molecules
    };
    let [a, b] = spawn_two(&mut app);
    let [c, d] = spawn_two(&mut app);
    let first = shape_of(&app, a);
    assert!(
        [b, c, d]
            .iter()
            .all(|&other| shape_of(&app, other) == first)
    );
    let template = |molecule| {
        let prepared = app.world().get::<PreparedMolecule>(molecule).unwrap();
        Arc::as_ptr(prepared.template())
    };
    assert!(
        [b, c, d]
            .iter()
            .all(|&other| template(other) == template(a))
    );
}

#[test]
fn the_loader_builds_the_shape() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let handle: Handle<MoleculeTemplate> = server.load("assets/molecules/popc.pdb");
    wait_for(&mut app, |_| server.is_loaded(&handle));
    // No molecule has used the file yet. Clones share a shape only if it exists.
    let assets = app.world().resource::<Assets<MoleculeTemplate>>();
    let clone = assets.get(&handle).unwrap().clone();
    let clone = add(&mut app, clone);
    let [a, b] = [handle, clone].map(|template| spawn(&mut app, &template, Vec3::ZERO));
    run(&mut app, 2);
    assert_eq!(shape_of(&app, a), shape_of(&app, b));

    // The shape of a template made in code is built when a molecule uses it.
    let handle = add(&mut app, bar());
    let assets = app.world().resource::<Assets<MoleculeTemplate>>();
    let clone = assets.get(&handle).unwrap().clone();
    let clone = add(&mut app, clone);
    let [a, b] = [handle, clone].map(|template| spawn(&mut app, &template, Vec3::X * 9.0));
    run(&mut app, 2);
    assert_ne!(shape_of(&app, a), shape_of(&app, b));
}

#[test]
fn radii_are_not_those_of_the_shape_of_a_clone() {
    let mut app = app(ContactModel::Crowd);
    let handle = add(&mut app, bar());
    let molecule = spawn(&mut app, &handle, Vec3::ZERO);
    run(&mut app, 2);
    let assets = app.world().resource::<Assets<MoleculeTemplate>>();
    let wide = assets.get(&handle).unwrap().clone();
    let wide = wide.with_scaled_radii(2.0).unwrap();
    let wide = add(&mut app, wide);
    let wide = spawn(&mut app, &wide, Vec3::Y * 9.0);
    run(&mut app, 2);
    let width = |molecule| {
        let collider = app.world().get::<Collider>(molecule).unwrap();
        collider.raw.compute_local_aabb().half_extents().y
    };
    assert_eq!(width(wide), 2.0 * width(molecule));
}

#[test]
fn proxies_of_a_file_are_ready_before_its_molecules() {
    let mut app = app(ContactModel::Crowd);
    let server = app.world().resource::<AssetServer>().clone();
    let handle: Handle<MoleculeTemplate> = server.load("assets/molecules/1gzx.pdb");
    wait_for(&mut app, |_| server.is_loaded(&handle));
    let molecules = [0.0, 50.0].map(|x| {
        let bundle = (
            Molecule(handle.clone()),
            MoleculeDetail::Proxies(17),
            Transform::from_xyz(x, 0.0, 0.0),
        );
        app.world_mut().spawn(bundle).id()
    });
    app.update();
    // The file is loaded, but a task computes the proxies.
    let is_prepared =
        |world: &World| molecules.map(|molecule| world.get::<PreparedMolecule>(molecule).is_some());
    assert_eq!(is_prepared(app.world()), [false; 2]);
    wait_for(&mut app, |world| is_prepared(world) == [true; 2]);
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    assert_eq!(worlds.single(world).unwrap().contacts().sphere_count(), 34);
}
