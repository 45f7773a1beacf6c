//! Molecules diffuse in a box of water, and lines show their paths. Small ones are faster.
//!
//! Up and down arrow keys change the pace.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{BrownianMotionConfig, CompartmentRegion};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Half the size of the box, nm.
const HALF_EXTENTS: Vec3 = Vec3::new(16.0, 10.0, 6.0);

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default(),
    ))
    // A second on screen is 10 ns, in which ubiquitin diffuses about 3 nm.
    .insert_resource(BrownianMotionConfig {
        pace: 1.0e-8,
        ..default()
    })
    .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Template,
        ..default()
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(Update, (change_pace, draw_paths));
}

/// Where a molecule has been.
#[derive(Component, Default)]
struct Path(Vec<Vec3>);

fn spawn_scene(mut commands: Commands, assets: Res<AssetServer>) {
    let half_extents = HALF_EXTENTS;
    let water = commands.spawn(Compartment::Box { half_extents }).id();
    let files = ["4c64_dna.pdb", "1gzx.pdb", "1ubq.cif"];
    for k in 0..15 {
        let [x, y] = [k % 5 - 2, k / 5 - 1].map(|k| 5.8 * k as f32);
        commands.spawn((
            Molecule(assets.load(format!("molecules/{}", files[k as usize % 3]))),
            BrownianMotion::default(),
            InCompartment::new(water, CompartmentRegion::Inside),
            Path::default(),
            Transform::from_xyz(x, y, 0.0),
        ));
    }
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(5.0, 5.0, 33.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

fn change_pace(keys: Res<ButtonInput<KeyCode>>, mut config: ResMut<BrownianMotionConfig>) {
    for (key, factor) in [(KeyCode::ArrowUp, 2.0), (KeyCode::ArrowDown, 0.5)] {
        if keys.just_pressed(key) {
            config.pace *= factor;
            info!("one second shows {:.1e} s", config.pace);
        }
    }
}

fn draw_paths(mut gizmos: Gizmos, mut molecules: Query<(&Transform, &mut Path)>) {
    let size = Transform::from_scale(2.0 * HALF_EXTENTS);
    gizmos.cube(size, Color::srgb(0.3, 0.5, 0.7));
    for (transform, mut path) in &mut molecules {
        path.0.push(transform.translation);
        gizmos.linestrip(path.0.iter().copied(), Color::srgb(1.0, 0.8, 0.2));
    }
}
