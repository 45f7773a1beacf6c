//! Loads parts of structure files, with settings in code and in a `.meta` file.
//!
//! - Settings in code: `1ubq.cif` with half the van der Waals radii.
//! - Settings in a file: `multi.pdb.meta` selects the second of the two models of `multi.pdb`.
//! - A label: one of the four chains of `1gzx.pdb`, without settings.
//! - A label for a scene: `4udv.pdb` contains one protein, and the poses of its 49 copies in a
//!   virus coat.
//!
//! ```sh
//! cargo run --example load_settings
//! ```

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// The plugins and systems of the example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default(),
    ))
    .add_systems(Startup, (spawn_molecules, spawn_view))
    .add_systems(Update, print_loaded);
}

fn spawn_molecules(mut commands: Commands, assets: Res<AssetServer>) {
    let half_radii = |options: &mut LoadOptions| options.radius_scale = 0.5;
    let ubiquitin = assets
        .load_builder()
        .with_settings(half_radii)
        .load("molecules/1ubq.cif");
    let second_model = assets.load("molecules/multi.pdb");
    let chain = assets.load("molecules/1gzx.pdb#ChainA");
    for (x, template) in [(-8.0, ubiquitin), (0.0, second_model), (8.0, chain)] {
        let transform = Transform::from_xyz(x, 6.0, 0.0);
        commands.spawn((Molecule(template), transform));
    }
    // As one body it would be `Molecule(assets.load("molecules/4udv.pdb#Assembly1"))`.
    let coat = assets.load("molecules/4udv.pdb#Assembly1/Scene");
    commands.spawn((WorldAssetRoot(coat), Transform::from_xyz(0.0, 14.0, -40.0)));
    commands.spawn((Collider::cuboid(40.0, 0.1, 60.0), Transform::default()));
}

fn spawn_view(mut commands: Commands) {
    let view = Transform::from_xyz(0.0, 14.0, 40.0).looking_at(Vec3::Y * 6.0, Vec3::Y);
    commands.spawn((Camera3d::default(), view));
    commands.spawn((DirectionalLight::default(), view));
}

fn print_loaded(loaded: Query<(&Molecule, &PreparedMolecule), Added<PreparedMolecule>>) {
    for (molecule, prepared) in &loaded {
        let atoms = prepared.template().atom_count();
        if let Some(path) = molecule.0.path() {
            info!("{path}: {atoms} atoms");
        }
    }
}
