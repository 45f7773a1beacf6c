//! What things look like, and the tint of molecules that overlap.

use bevy::light::NotShadowCaster;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;

use super::meshes::{molecule_mesh, triangle_mesh};
use super::scene::{Kinds, Standing, Thing};

/// Up to this many proteins, atoms are round; with more, they are edged.
const ROUND: usize = 30;

/// Gives things and molecules their looks.
pub struct LooksPlugin {
    pub tint: bool,
}

impl Plugin for LooksPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Tint(self.tint))
            .init_resource::<Wardrobe>()
            .add_systems(Update, (dress_things, dress_molecules, draw_lines))
            .add_systems(PostUpdate, tint_molecules);
    }
}

/// Whether molecules that overlap others are tinted.
#[derive(Resource)]
pub struct Tint(pub bool);

/// Meshes and materials that molecules share.
#[derive(Resource)]
struct Wardrobe {
    meshes: HashMap<AssetId<MoleculeTemplate>, Handle<Mesh>>,
    plain: Handle<StandardMaterial>,
    colliding: Handle<StandardMaterial>,
}

impl FromWorld for Wardrobe {
    fn from_world(world: &mut World) -> Self {
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        let mut coat = |base_color, emissive| {
            materials.add(StandardMaterial {
                base_color,
                emissive,
                perceptual_roughness: 0.7,
                reflectance: 0.3,
                ..default()
            })
        };
        Self {
            meshes: HashMap::default(),
            plain: coat(Color::WHITE, LinearRgba::BLACK),
            colliding: coat(
                Color::srgb(1.0, 0.72, 0.68),
                LinearRgba::rgb(0.14, 0.0, 0.0),
            ),
        }
    }
}

fn dress_molecules(
    mut commands: Commands,
    mut wardrobe: ResMut<Wardrobe>,
    mut meshes: ResMut<Assets<Mesh>>,
    kinds: Res<Kinds>,
    added: Query<(Entity, &Molecule, &PreparedMolecule), Without<Mesh3d>>,
) {
    let subdivisions = u32::from(kinds.proteins <= ROUND);
    for (entity, molecule, prepared) in &added {
        let mut kinds = kinds.templates.iter();
        let kind = kinds.position(|kind| *kind == molecule.0).unwrap_or(0);
        let mesh = wardrobe
            .meshes
            .entry(molecule.0.id())
            .or_insert_with(|| {
                let template = prepared.shared().template();
                meshes.add(molecule_mesh(template, kind, subdivisions))
            })
            .clone();
        let material = MeshMaterial3d(wardrobe.plain.clone());
        // Meshes cast shadows, which drawn molecules do not.
        let dress = (Mesh3d(mesh), material, Undrawn);
        commands.entity(entity).insert(dress);
    }
}

fn dress_things(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    added: Query<(Entity, &Thing), Added<Thing>>,
    scene: Option<Res<Standing>>,
) {
    for (entity, thing) in &added {
        let (mesh, colour) = match thing {
            Thing::Block { half_extents } => (
                Cuboid::from_size(2.0 * half_extents).into(),
                Color::srgb(0.62, 0.66, 0.70),
            ),
            Thing::Ball { radius } => (
                Sphere::new(*radius).mesh().build(),
                Color::srgb(0.92, 0.92, 0.88),
            ),
            Thing::Floor { half_extents } => (
                Cuboid::from_size(2.0 * half_extents).into(),
                Color::srgb(0.70, 0.72, 0.74),
            ),
            Thing::Ramp => match &scene {
                Some(scene) => (triangle_mesh(scene.ramp()), Color::srgb(0.45, 0.56, 0.52)),
                None => continue,
            },
            Thing::Wall | Thing::Rope { .. } => continue,
        };
        let material = StandardMaterial {
            base_color: colour,
            perceptual_roughness: 0.85,
            reflectance: 0.2,
            ..default()
        };
        commands.entity(entity).insert((
            Mesh3d(meshes.add(mesh)),
            MeshMaterial3d(materials.add(material)),
        ));
        if matches!(thing, Thing::Floor { .. }) {
            commands.entity(entity).insert(NotShadowCaster);
        }
    }
}

/// Gives molecules the material of what they are doing.
fn tint_molecules(
    tint: Res<Tint>,
    wardrobe: Res<Wardrobe>,
    mut molecules: Query<(&Colliding, &mut MeshMaterial3d<StandardMaterial>)>,
) {
    for (colliding, mut material) in &mut molecules {
        let wanted = if tint.0 && colliding.any() {
            &wardrobe.colliding
        } else {
            &wardrobe.plain
        };
        if material.0 != *wanted {
            material.0 = wanted.clone();
        }
    }
}

/// Draws the edges of the box and the rope.
fn draw_lines(
    scene: Option<Res<Standing>>,
    ropes: Query<(&Thing, &GlobalTransform)>,
    transforms: Query<&GlobalTransform>,
    mut gizmos: Gizmos,
) {
    let Some(scene) = scene else {
        return;
    };
    let edge = Color::srgb(0.35, 0.40, 0.46);
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let corners = corners.map(|(x, z)| Vec3::new(x, 0.0, z) * scene.half_width);
    let up = Vec3::Y * (2.2 * scene.pitch).min(scene.wall_height);
    for (k, corner) in corners.into_iter().enumerate() {
        let next = corners[(k + 1) % corners.len()];
        gizmos.line(corner, corner + up, edge);
        gizmos.line(corner, next, edge);
        gizmos.line(corner + up, next + up, edge);
    }
    for (thing, hook) in &ropes {
        if let Thing::Rope { end, protein } = thing
            && let Ok(protein) = transforms.get(*protein)
        {
            let end = protein.transform_point(*end);
            gizmos.line(hook.translation(), end, Color::srgb(0.2, 0.2, 0.2));
            gizmos.sphere(hook.translation(), 0.25, Color::srgb(0.2, 0.2, 0.2));
        }
    }
}
