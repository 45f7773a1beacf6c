//! Physics in Bevy's fixed schedule: 100 steps per second at any frame rate. A system of the app
//! pulls proteins towards the center before each step.
//!
//! Space pauses. Up and down arrow keys change the speed.

use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Physics steps per second.
const STEPS_PER_SECOND: f32 = 100.0;

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        MoleculePlugins::default(),
    ))
    .insert_resource(Time::<Fixed>::from_hz(STEPS_PER_SECOND.into()))
    // One run of the fixed schedule is one step.
    .insert_resource(TimestepMode::Fixed {
        dt: 1.0 / STEPS_PER_SECOND,
        substeps: 1,
    })
    .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Molecule,
        ..default()
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(Update, change_speed)
    .add_systems(FixedUpdate, pull.before(PhysicsSet::SyncBackend));
}

/// Sets the force on each protein: a damped spring to the center, Da·nm/s².
fn pull(
    mut proteins: Query<(
        &Transform,
        &Velocity,
        &ReadMassProperties,
        &mut ExternalForce,
    )>,
) {
    for (transform, velocity, mass, mut force) in &mut proteins {
        let acceleration = -4.0 * transform.translation - 0.5 * velocity.linear;
        force.force = mass.mass * acceleration;
    }
}

fn change_speed(keys: Res<ButtonInput<KeyCode>>, mut time: ResMut<Time<Virtual>>) {
    if keys.just_pressed(KeyCode::Space) {
        time.toggle();
    }
    for (key, factor) in [(KeyCode::ArrowUp, 2.0), (KeyCode::ArrowDown, 0.5)] {
        if keys.just_pressed(key) {
            let speed = (factor * time.relative_speed()).clamp(0.125, 4.0);
            time.set_relative_speed(speed);
        }
    }
}

fn spawn_scene(mut commands: Commands, assets: Res<AssetServer>) {
    let files = ["1ubq.cif", "t4_lysozyme_l99a.pdb", "4c64_dna.pdb"];
    for k in 0..12 {
        let angle = 2.4 * k as f32;
        let height = (k as f32 - 5.5) / 6.0;
        let position = Vec3::new(1.3 * angle.cos(), height, angle.sin()) * 8.0;
        commands.spawn((
            Molecule(assets.load(format!("molecules/{}", files[k % 3]))),
            GravityScale(0.0),
            ExternalForce::default(),
            ReadMassProperties::default(),
            Transform::from_translation(position),
        ));
    }
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 4.0, 20.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
