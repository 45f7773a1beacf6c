//! Loads parts of structure files, with settings in code and in a `.meta` file.
//!
//! - Settings in code: `1ubq.cif` with half the van der Waals radii.
//! - Settings in a file: `multi.pdb.meta` selects the second of the two models of `multi.pdb`.
//! - A label: one of the four chains of `1gzx.pdb`, without settings.
//! - A label for a scene: `4udv.pdb` contains one protein, and the poses of its 49 copies in a
//!   virus coat.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default(),
    ))
    .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Chain,
        ..default()
    })
    .add_systems(Startup, (spawn_molecules, spawn_scene))
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
    commands.spawn((WorldAssetRoot(coat), Transform::from_xyz(0.0, 14.0, -20.0)));
}

/// Floor, light and camera. One unit is 1 nm.
fn spawn_scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Collider::cuboid(20.0, 0.5, 30.0),
        Mesh3d(meshes.add(Cuboid::new(40.0, 1.0, 60.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.3, 0.33, 0.38))),
        Transform::from_xyz(0.0, -0.5, -10.0),
    ));
    let view = Transform::from_xyz(-8.0, 16.0, 34.0).looking_at(Vec3::Y * 5.0, Vec3::Y);
    commands.spawn((DirectionalLight::default(), view));
    commands.spawn((Camera3d::default(), view));
}

fn print_loaded(loaded: Query<(&Molecule, &PreparedMolecule), Added<PreparedMolecule>>) {
    for (molecule, prepared) in &loaded {
        let atoms = prepared.template().atom_count();
        if let Some(path) = molecule.0.path() {
            info!("{path}: {atoms} atoms");
        }
    }
}
