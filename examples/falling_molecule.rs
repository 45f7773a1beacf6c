//! A molecule falls onto a floor.
//!
//! Space drops another one.

use bevy::input::common_conditions::input_just_pressed;
use bevy::prelude::*;
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
    .add_systems(Startup, (spawn_scene, drop_molecule))
    .add_systems(
        Update,
        drop_molecule.run_if(input_just_pressed(KeyCode::Space)),
    );
}

/// Floor, light and camera. One unit is 1 nm.
fn spawn_scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    // Any Rapier collider will do: molecules collide with all of them.
    commands.spawn((
        Collider::cylinder(0.5, 9.0),
        Mesh3d(meshes.add(Cylinder::new(9.0, 1.0).mesh().resolution(128))),
        MeshMaterial3d(materials.add(Color::srgb(0.2, 0.24, 0.3))),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 8.0, 22.0).looking_at(Vec3::Y * 4.5, Vec3::Y),
    ));
}

/// Hemoglobin. It waits until its file is loaded, then it falls.
fn drop_molecule(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        Molecule(assets.load("molecules/1gzx.pdb")),
        Velocity::angular(Vec3::new(0.0, 0.3, 1.0)),
        Transform::from_xyz(0.0, 9.0, 0.0),
    ));
}
