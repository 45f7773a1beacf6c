//! Hover over a molecule to read the atom in the title of the window, click to select it, and
//! drag it with the right button to throw it.
//!
//! `cargo run --release --example picking`

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_rapier_molecules::plugin::PickedAtom;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{MoleculeHighlight, MoleculeInstance};
use bevy_rapier3d::prelude::*;

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default())
        .add_plugins(MoleculePlugins::default())
        .add_systems(Startup, spawn)
        .add_observer(show_atom)
        .add_observer(select)
        .add_observer(throw);
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) -> Result {
    for (file, x) in [("1ubq.cif", -8.0), ("1gzx.pdb", 0.0), ("dhfr.pdb", 8.0)] {
        let molecule = Molecule(assets.load(format!("molecules/{file}")));
        commands.spawn((molecule, Transform::from_xyz(x, 4.0, 0.0)));
    }
    let below = Transform::from_xyz(0.0, -4.0, 0.0);
    commands.spawn((Collider::cuboid(30.0, 0.1, 30.0), below));
    // Lipids that are only drawn: one entity, but each can be picked.
    let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
    let row = (-12..=12).map(|k| Pose::from_translation(Vec3::new(k as f32, 0.0, -6.0)));
    commands.spawn(InstancedMolecules {
        templates: vec![lipid.into()],
        molecules: row.map(|pose| MoleculeInstance::new(0, pose)).collect(),
        ..default()
    });
    let eye = Transform::from_xyz(0.0, 7.0, 24.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((Camera3d::default(), eye));
    commands.spawn((DirectionalLight::default(), eye));
    Ok(())
}

/// Shows the atom under the pointer, such as `HIS 68 A NE2`.
fn show_atom(moved: On<Pointer<Move>>, mut windows: Query<&mut Window, With<PrimaryWindow>>) {
    if let Some(picked) = moved.hit.extra_as::<PickedAtom>()
        && let Ok(mut window) = windows.single_mut()
    {
        window.title = picked.label.to_string();
    }
}

/// Selects a molecule, or one of many instances. A second click deselects it.
fn select(
    click: On<Pointer<Click>>,
    mut commands: Commands,
    selected: Query<(), With<MoleculeHighlight>>,
    mut instanced: Query<&mut InstancedMolecules>,
) {
    let Some(picked) = click.hit.extra_as::<PickedAtom>() else {
        return;
    };
    // Events go on to the parent and to the window, which are not selected.
    if click.button != PointerButton::Primary || picked.entity != click.entity {
        return;
    }
    if let (Some(index), Ok(mut instances)) = (picked.instance, instanced.get_mut(picked.entity)) {
        let highlight = &mut instances.molecules[index].highlight;
        *highlight = highlight.xor(Some(MoleculeHighlight::default()));
    } else if selected.contains(picked.entity) {
        let mut molecule = commands.entity(picked.entity);
        molecule.remove::<MoleculeHighlight>();
    } else {
        let mut molecule = commands.entity(picked.entity);
        molecule.insert(MoleculeHighlight::default());
    }
}

/// Moves a molecule with the pointer.
fn throw(drag: On<Pointer<Drag>>, mut velocities: Query<&mut Velocity>) {
    if drag.button == PointerButton::Secondary
        && let Ok(mut velocity) = velocities.get_mut(drag.entity)
    {
        velocity.linear = Vec3::new(drag.delta.x, -drag.delta.y, 0.0);
    }
}
