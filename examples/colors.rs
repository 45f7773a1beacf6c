//! Tints, highlights, palettes and color modes.
//!
//! `cargo run --release --example colors`. Space shows the next color mode.

use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{MoleculeHighlight, MoleculePalette};
use bevy_rapier3d::prelude::*;

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default())
        .add_plugins(MoleculePlugins::default())
        .insert_resource(palette())
        .add_systems(Startup, spawn)
        .add_systems(Update, (next_mode, fade));
}

/// The default colors, with green carbon and four colors of chains.
fn palette() -> MoleculePalette {
    let mut palette = MoleculePalette::default();
    palette.set_element(Element::C, Color::srgb(0.35, 0.65, 0.4));
    palette.chains = vec![
        Color::srgb(0.86, 0.33, 0.25),
        Color::srgb(0.95, 0.75, 0.55),
        Color::srgb(0.70, 0.20, 0.35),
        Color::srgb(0.98, 0.60, 0.25),
    ];
    palette
}

/// A molecule whose opacity changes.
#[derive(Component)]
struct Ghost;

fn spawn(mut commands: Commands, assets: Res<AssetServer>, mut style: ResMut<MoleculeStyle>) {
    style.color = ColorMode::Chain;
    let [hemoglobin, protein] = ["1gzx.pdb", "1ubq.cif"].map(|file| {
        let handle = assets.load(format!("molecules/{file}"));
        (Molecule(handle), StaticMolecule)
    });
    let blue = Color::srgb(0.2, 0.45, 1.0);
    let at = |x, y| Transform::from_xyz(x, y, 0.0);
    // The colors of the palette; mixed with blue; replaced by blue.
    commands.spawn((hemoglobin.clone(), at(-7.0, 3.5)));
    let bluish = MoleculeTint::from(blue.with_alpha(0.6));
    commands.spawn((hemoglobin.clone(), at(0.0, 3.5), bluish));
    commands.spawn((hemoglobin.clone(), at(7.0, 3.5), MoleculeTint::from(blue)));
    // Highlighted, in the default and in another color.
    commands.spawn((
        hemoglobin.clone(),
        at(-7.0, -3.5),
        MoleculeHighlight::default(),
    ));
    let cyan = MoleculeHighlight {
        color: Color::srgb(0.1, 1.0, 0.9),
    };
    commands.spawn((protein.clone(), at(0.0, -3.5), cyan));
    // A translucent molecule around another one.
    let faint = MoleculeTint::from_opacity(0.3);
    commands.spawn((hemoglobin, at(7.0, -3.5), faint, Ghost));
    let white = MoleculeTint::from(Color::WHITE);
    commands.spawn((protein, at(7.0, -3.5), white));

    let eye = Transform::from_xyz(0.0, 0.0, 20.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((Camera3d::default(), eye));
    let lamp = Transform::from_xyz(-3.0, 6.0, 9.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((DirectionalLight::default(), lamp));
}

fn next_mode(keys: Res<ButtonInput<KeyCode>>, mut style: ResMut<MoleculeStyle>) {
    if keys.just_pressed(KeyCode::Space) {
        let next = (style.color as usize + 1) % ColorMode::ALL.len();
        style.color = ColorMode::ALL[next];
        info!("colors show: {:?}", style.color);
    }
}

fn fade(time: Res<Time>, mut ghosts: Query<&mut MoleculeTint, With<Ghost>>) {
    for mut tint in &mut ghosts {
        tint.opacity = 0.4 - 0.2 * time.elapsed_secs().cos();
    }
}
