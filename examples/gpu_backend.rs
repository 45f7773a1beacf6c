//! Proteins fall onto a floor. Their contacts are found and solved by compute shaders.
//!
//! G switches between GPU and CPU. The title of the window shows the backend and its time per frame.

use bevy::input::common_conditions::input_just_pressed;
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{MoleculeBackend, MoleculeBackendFailed, MoleculeWorld};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        // The default is `Backend::Auto`: a hardware GPU, for crowds that are worth it.
        MoleculePlugins::default().with_backend(Backend::Gpu),
    ))
    .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Molecule,
        ..default()
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(
        Update,
        (
            switch_backend.run_if(input_just_pressed(KeyCode::KeyG)),
            show_backend,
            log_failures,
        ),
    );
}

fn switch_backend(mut backend: ResMut<MoleculeBackend>) {
    backend.requested = match backend.requested {
        Backend::Gpu => Backend::Cpu,
        _ => Backend::Gpu,
    };
}

fn show_backend(
    backend: Res<MoleculeBackend>,
    world: Single<&MoleculeWorld>,
    mut window: Single<&mut Window>,
) {
    let ms = 1e3 * (world.times().detect + world.times().respond).as_secs_f32();
    let name = backend.adapter().unwrap_or("CPU");
    window.title = format!("contacts in {ms:.1} ms on {name}");
}

/// Without a GPU, the CPU does the same work.
fn log_failures(mut failures: MessageReader<MoleculeBackendFailed>) {
    for failure in failures.read() {
        warn!("contacts on the CPU: {}", failure.error);
    }
}

fn spawn_scene(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let protein = assets.load("molecules/1ubq.cif");
    for k in 0..27 {
        let [x, y, z] = [k % 3, k / 9, k / 3 % 3].map(|k| 4.0 * k as f32);
        let position = Vec3::new(x - 4.0, y + 3.0, z - 4.0) + 0.4 * (k as f32).sin();
        let transform = Transform::from_translation(position);
        let transform = transform.with_rotation(Quat::from_rotation_y(k as f32));
        commands.spawn((Molecule(protein.clone()), transform));
    }
    commands.spawn((
        Collider::cuboid(11.0, 0.5, 11.0),
        Mesh3d(meshes.add(Cuboid::new(22.0, 1.0, 22.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.2, 0.24, 0.3))),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(5.0, 10.0, 26.0).looking_at(Vec3::Y * 5.0, Vec3::Y),
    ));
}
