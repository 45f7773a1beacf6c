//! Proteins rain onto hemoglobin. The log lists contacts as they start and stop, and molecules are
//! red while they touch another one.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::common_conditions::on_timer;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Maximum length of a frame: that of Rapier.
const FRAME: Duration = Duration::from_micros(16_666);

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default(),
    ))
    // On a slow computer, proteins drop as slowly as they fall.
    .insert_resource(Time::<Virtual>::from_max_delta(FRAME))
    .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Collision,
        ..default()
    })
    .add_systems(Startup, (spawn_scene, drop_protein))
    .add_systems(
        Update,
        (
            drop_protein.run_if(on_timer(Duration::from_secs_f32(0.5))),
            despawn_fallen,
            log_contacts,
        ),
    );
}

fn log_contacts(
    mut started: MessageReader<MoleculeContactStarted>,
    mut stopped: MessageReader<MoleculeContactStopped>,
) {
    for MoleculeContactStarted {
        molecule,
        other,
        contact,
    } in started.read()
    {
        let (point, depth) = (contact.point, contact.depth);
        info!("{molecule} touches {other} at {point:.2} nm, {depth:.3} nm deep");
    }
    for MoleculeContactStopped {
        molecule, other, ..
    } in stopped.read()
    {
        info!("{molecule} leaves {other}");
    }
}

fn spawn_scene(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        Molecule(assets.load("molecules/1gzx.pdb")),
        StaticMolecule,
        Transform::default(),
    ));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 6.0, 22.0).looking_at(Vec3::Y * 1.5, Vec3::Y),
    ));
}

fn drop_protein(mut commands: Commands, assets: Res<AssetServer>, mut count: Local<u32>) {
    *count += 1;
    let position = Quat::from_rotation_y(2.4 * *count as f32) * Vec3::new(2.2, 8.0, 0.0);
    commands.spawn((
        Molecule(assets.load("molecules/1ubq.cif")),
        Velocity::linear(Vec3::NEG_Y * 4.0),
        Transform::from_translation(position),
    ));
}

/// A contact also stops if one of its molecules is despawned.
fn despawn_fallen(mut commands: Commands, molecules: Query<(Entity, &Transform), With<Molecule>>) {
    for (molecule, transform) in &molecules {
        if transform.translation.y < -10.0 {
            commands.entity(molecule).despawn();
        }
    }
}
