//! What things look like, and the colors of molecules that overlap.

use bevy::asset::RenderAssetUsages;
use bevy::light::NotShadowCaster;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;

use super::scene::{Standing, Thing};
use super::window::BACKGROUND;

/// Gives things and molecules their looks.
pub struct LooksPlugin {
    pub tint: bool,
}

impl Plugin for LooksPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Tint(self.tint))
            .add_systems(Update, (dress_things, color_molecules, draw_lines));
    }
}

/// Whether colors tell which molecules overlap others.
#[derive(Resource)]
pub struct Tint(pub bool);

/// Gives molecules the colors that are asked for: of their chains, or of what they do.
fn color_molecules(tint: Res<Tint>, mut look: ResMut<MoleculeStyle>) {
    if tint.is_changed() {
        *look = MoleculeStyle {
            color: match tint.0 {
                true => ColorMode::Collision,
                false => ColorMode::Chain,
            },
            depth_cue: DepthCue {
                strength: 0.25,
                color: BACKGROUND,
                ..default()
            },
            ..default()
        };
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
        let (mesh, color) = match thing {
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
            base_color: color,
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

/// Flat triangles.
fn triangle_mesh((corners, triangles): (Vec<Vec3>, Vec<[u32; 3]>)) -> Mesh {
    let indices = triangles.into_iter().flatten().collect();
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, corners)
    .with_inserted_indices(Indices::U32(indices))
    .with_duplicated_vertices()
    .with_computed_flat_normals()
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
