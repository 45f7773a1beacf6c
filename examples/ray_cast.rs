//! A ray sweeps over hemoglobin. The log names each residue that it hits; an arrow shows the normal.
//!
//! Space stops and restarts the ray.

use bevy::input::common_conditions::input_toggle_active;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Residue;
use bevy_rapier_molecules::plugin::MoleculeQueryFilter;
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
    .insert_resource(Sweep(0.0))
    .add_systems(Startup, spawn_scene)
    .add_systems(
        Update,
        (
            sweep.run_if(input_toggle_active(true, KeyCode::Space)),
            cast_ray,
        )
            .chain(),
    );
}

/// Time that the ray has moved, s.
#[derive(Resource)]
struct Sweep(f32);

fn sweep(time: Res<Time>, mut sweep: ResMut<Sweep>) {
    sweep.0 += time.delta_secs();
}

fn cast_ray(
    sweep: Res<Sweep>,
    molecules: MoleculeQueries,
    mut gizmos: Gizmos,
    mut residue: Local<Option<Residue>>,
) {
    let origin = Vec3::new(-6.0, 2.5, 4.0);
    let target = Vec3::new(0.0, 2.5 * (0.7 * sweep.0).sin(), 2.0 * sweep.0.cos());
    let (direction, max_distance) = (target - origin, 30.0);
    let all = MoleculeQueryFilter::default();
    let Some(hit) = molecules.cast_ray(origin, direction, max_distance, &all) else {
        let end = origin + direction.normalize() * max_distance;
        gizmos.line(origin, end, Color::srgb(0.5, 0.5, 0.5));
        return;
    };
    gizmos.line(origin, hit.point, Color::srgb(1.0, 0.8, 0.2));
    gizmos.arrow(hit.point, hit.point + 1.5 * hit.normal, Color::WHITE);
    if let Some(label) = molecules.atom_label(hit)
        && residue.as_ref() != Some(&label.residue)
    {
        info!("the ray hits {label} after {:.2} nm", hit.distance);
        *residue = Some(label.residue);
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
        Transform::from_xyz(-3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 3.0, 13.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
