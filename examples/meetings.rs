//! Pairs of proteins meet: ubiquitins on the left stick together, lysozymes on the right bounce.
//! The log has the time of each meeting.
//!
//! Space breaks the bonds.

use bevy::input::common_conditions::input_just_pressed;
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::StickJoint;
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
        color: ColorMode::Template,
        ..default()
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(
        Update,
        (
            log_meetings,
            break_bonds.run_if(input_just_pressed(KeyCode::Space)),
        ),
    );
}

fn log_meetings(mut collisions: MessageReader<MoleculeCollision>) {
    for it in collisions.read() {
        let (molecule, other, time) = (it.molecule, it.other, it.time);
        info!(
            "{molecule} and {other} meet after {time:.4} s: {:?}",
            it.outcome
        );
    }
}

/// Two molecules that stick have a joint, which is an entity.
fn break_bonds(mut commands: Commands, joints: Query<(Entity, &StickJoint)>) {
    for (joint, StickJoint { a, b, .. }) in &joints {
        info!("{a} and {b} part");
        commands.entity(joint).despawn();
    }
}

fn spawn_scene(mut commands: Commands, assets: Res<AssetServer>) {
    let kinds = [
        ("molecules/1ubq.cif", CollisionOutcome::Stick),
        ("molecules/t4_lysozyme_l99a.pdb", CollisionOutcome::Bounce),
    ];
    for k in 0..12 {
        let (kind, row, side) = (k % 2, k / 2 % 3, 2.0 * (k / 6) as f32 - 1.0);
        let (file, outcome) = kinds[kind];
        let center = Vec3::new(16.0 * kind as f32 - 8.0, 6.0 * row as f32 - 6.0, 0.0);
        commands.spawn((
            Molecule(assets.load(file)),
            Restitution::coefficient(0.9),
            outcome,
            // No force acts on them, since gravity is off.
            AccelerationBound(0.0),
            GravityScale(0.0),
            Velocity {
                linear: Vec3::X * side * -(2.0 + row as f32),
                angular: Vec3::new(0.2, 0.3, 0.4) * side,
            },
            Transform::from_translation(center + Vec3::X * side * 4.0),
        ));
    }
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 2.0, 24.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
