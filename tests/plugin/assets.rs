//! Loading of structure files, and reports of failures.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{MoleculeLoadFailed, PreparedMolecule};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

/// Maximum number of frames to load a file.
const MAX_FRAMES: usize = 2000;

fn wait_for(app: &mut App, done: impl Fn(&mut World) -> bool) {
    for _ in 0..MAX_FRAMES {
        app.update();
        if done(app.world_mut()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("timed out");
}

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

#[derive(Resource, Default)]
struct Failures(Vec<MoleculeLoadFailed>);

#[test]
fn missing_and_invalid_files_are_reported() {
    let mut app = app(ContactModel::Crowd);
    app.init_resource::<Failures>();
    app.add_systems(
        Update,
        |mut messages: MessageReader<MoleculeLoadFailed>, mut failures: ResMut<Failures>| {
            failures.0.extend(messages.read().cloned());
        },
    );
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
