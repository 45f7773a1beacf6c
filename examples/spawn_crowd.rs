//! Packs a vesicle of lipids until none overlap, and spawns it into the physics world.
//!
//! Space shoots a protein at it.

use std::ops::ControlFlow;
use std::sync::Arc;

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
        color: ColorMode::Molecule,
        ..default()
    })
    .add_systems(Startup, (spawn_vesicle, spawn_view))
    .add_systems(Update, shoot);
}

fn spawn_vesicle(mut commands: Commands) -> Result {
    // Random lipids overlap; relaxing them takes a fraction of a second in a release build.
    let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
    let size = VesicleSize::Counts {
        outer: 60,
        inner: 6,
        radius: 3.2,
    };
    let config = VesicleConfig { size, ..default() };
    let vesicle = vesicle(Arc::new(lipid), &config)?;
    let mut relaxer = Relaxer::new(vesicle.crowd, RelaxConfig::default())?;
    relaxer.run(|_| ControlFlow::Continue(()))?;

    // All lipids, the compartment and the springs that keep them in their leaflets.
    let vesicle = commands.spawn_crowd(relaxer.crowd())?;
    for lipid in vesicle.molecules {
        commands.entity(lipid).insert(GravityScale(0.0));
    }
    Ok(())
}

fn spawn_view(mut commands: Commands) {
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 3.0, 18.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

fn shoot(mut commands: Commands, assets: Res<AssetServer>, keys: Res<ButtonInput<KeyCode>>) {
    if keys.just_pressed(KeyCode::Space) {
        commands.spawn((
            Molecule(assets.load("molecules/1ubq.cif")),
            Transform::from_xyz(-12.0, 1.0, 0.0),
            Velocity::linear(Vec3::X * 8.0),
            GravityScale(0.0),
        ));
    }
}
