//! Loads a recipe, packs its molecules and lets them fall to the bottom of their box.
//!
//! With `--features file_watcher`, the scene follows the file: set `"count": 20` in
//! `assets/recipes/proteins_in_a_box.json` to 40 and save it. The new molecules appear among the
//! others. If the file is invalid, the log says where, and the scene stays as it is.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{RecipePacked, RecipeState};
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
    .add_systems(Startup, spawn_scene)
    .add_systems(Update, (draw_box, log_progress))
    .add_observer(log_changes);
}

fn spawn_scene(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn(PackedRecipe(assets.load("recipes/proteins_in_a_box.json")));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(12.0, 8.0, 26.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

/// Draws the bounding box of the recipe, whose springs keep the molecules inside.
fn draw_box(mut gizmos: Gizmos) {
    let size = Transform::from_scale(Vec3::splat(16.0));
    gizmos.cube(size, Color::srgb(0.3, 0.5, 0.7));
}

fn log_progress(states: Query<&RecipeState, Changed<RecipeState>>) {
    for state in &states {
        info!("the recipe is {state:?}");
    }
}

fn log_changes(packed: On<RecipePacked>) {
    let (added, removed) = (packed.added.len(), packed.removed.len());
    info!(
        "{added} molecules added, {removed} removed, {} kept",
        packed.kept
    );
}
