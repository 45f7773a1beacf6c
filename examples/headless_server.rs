//! A simulation without window and GPU, as on a server. It logs its state each second.
//!
//! Ctrl+C ends it.

use std::time::Duration;

use bevy::app::ScheduleRunnerPlugin;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::time::common_conditions::on_timer;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

fn main() {
    let frame = Duration::from_secs_f32(1.0 / 60.0);
    App::new()
        .add_plugins((
            MinimalPlugins.set(ScheduleRunnerPlugin::run_loop(frame)),
            LogPlugin::default(),
            AssetPlugin::default(),
            TransformPlugin,
            example,
        ))
        .run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default().with_backend(Backend::Cpu),
    ))
    .add_systems(Startup, spawn_scene)
    .add_systems(Update, log_state.run_if(on_timer(Duration::from_secs(1))));
}

fn spawn_scene(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        Collider::cuboid(50.0, 0.5, 50.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let protein = assets.load("molecules/1ubq.cif");
    for k in 0..50 {
        let [x, y, z] = [k % 5, k / 25, k / 5 % 5].map(|k| 4.0 * k as f32);
        commands.spawn((
            Molecule(protein.clone()),
            Transform::from_xyz(x, y + 3.0, z),
        ));
    }
}

fn log_state(molecules: Query<&Transform, With<Molecule>>, touching: TouchingMolecules) {
    let count = molecules.iter().count();
    let height: f32 = molecules.iter().map(|it| it.translation.y).sum();
    let mean = height / count as f32;
    let pairs = touching.iter().count();
    info!("{count} proteins, {mean:.2} nm high on average; {pairs} pairs touch");
}
