//! Proteins fly through each other's way. Their first contact is reported with its time; two
//! ubiquitins stick together, all others bounce.
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
    for collision in collisions.read() {
        let MoleculeCollision {
            molecule,
            other,
            time,
            outcome,
        } = collision;
        info!("{molecule} and {other} meet after {time:.4} s: {outcome:?}");
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
    for k in 0..20 {
        let (file, outcome) = kinds[k / 2 % 2];
        let side = if k % 2 == 0 { -1.0 } else { 1.0 };
        let row = (k / 2) as f32 - 4.5;
        commands.spawn((
            Molecule(assets.load(file)),
            outcome,
            // No force acts but gravity, which is off.
            AccelerationBound(0.0),
            GravityScale(0.0),
            Velocity {
                linear: Vec3::new(-side * (3.0 + 0.3 * row), 0.1 * row, 0.0),
                angular: Vec3::new(side, row, 1.0) * 0.2,
            },
            Transform::from_xyz(
                8.0 * side,
                4.5 * (row / 2.0).floor(),
                5.0 * (k / 2 % 2) as f32,
            ),
        ));
    }
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 5.0, 32.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
