//! Proteins in a capsule, the shape of many bacteria, that turns.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::CompartmentRegion;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Maximum length of a frame: that of Rapier.
const FRAME: Duration = Duration::from_micros(16_666);

/// Radius of the capsule and half the length of its straight part, nm.
const RADIUS: f32 = 6.0;
const HALF_HEIGHT: f32 = 7.0;

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default(),
    ))
    // On a slow computer, the capsule turns as slowly as the proteins move.
    .insert_resource(Time::<Virtual>::from_max_delta(FRAME))
    .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Molecule,
        ..default()
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(Update, turn);
}

fn spawn_scene(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let compartment = Compartment::Capsule {
        half_height: HALF_HEIGHT,
        radius: RADIUS,
    };
    let glass = StandardMaterial {
        base_color: Color::srgba(0.5, 0.75, 1.0, 0.15),
        alpha_mode: AlphaMode::Blend,
        ..default()
    };
    let cell = commands.spawn((
        compartment,
        Mesh3d(meshes.add(Capsule3d::new(RADIUS, 2.0 * HALF_HEIGHT))),
        MeshMaterial3d(materials.add(glass)),
        Transform::from_rotation(Quat::from_rotation_z(1.2)),
    ));
    // Springs keep the proteins inside, wherever the compartment moves.
    let inside = InCompartment::new(cell.id(), CompartmentRegion::Inside);
    let protein = assets.load("molecules/1ubq.cif");
    for k in 0..15 {
        let [x, y, z] = [k / 3 % 5 - 2, k % 3 - 1, 0].map(|k| 4.2 * k as f32);
        commands.spawn((
            Molecule(protein.clone()),
            inside,
            Transform::from_xyz(x, 0.6 * y, z + y),
        ));
    }
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 3.0, 32.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

fn turn(time: Res<Time>, mut compartment: Single<&mut Transform, With<Compartment>>) {
    compartment.rotate_z(-0.4 * time.delta_secs());
}
