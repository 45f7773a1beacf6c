//! Meshes and materials of the props, colors of the molecules, and gizmo lines.

use bevy::asset::RenderAssetUsages;
use bevy::light::NotShadowCaster;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::DepthCue;

use super::scene::{Prop, ScenePlan};
use super::window::SKY;

/// Draws the props and styles the molecules.
pub struct AppearancePlugin {
    /// Initial value of [`ColorCollisions`].
    pub color_collisions: bool,
}

impl Plugin for AppearancePlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(ColorCollisions(self.color_collisions))
            .add_systems(Update, (add_meshes, style_molecules, draw_lines));
    }
}

/// Whether colors show which molecules overlap others, instead of their chains.
#[derive(Resource)]
pub struct ColorCollisions(pub bool);

fn style_molecules(color_collisions: Res<ColorCollisions>, mut style: ResMut<MoleculeStyle>) {
    if color_collisions.is_changed() {
        *style = MoleculeStyle {
            color: match color_collisions.0 {
                true => ColorMode::Collision,
                false => ColorMode::Chain,
            },
            depth_cue: DepthCue {
                strength: 0.25,
                color: SKY,
                ..default()
            },
            ..default()
        };
    }
}

fn add_meshes(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    added: Query<(Entity, &Prop), Added<Prop>>,
    scene: Option<Res<ScenePlan>>,
) {
    for (entity, prop) in &added {
        let (mesh, color) = match prop {
            Prop::Block { half_extents } => (
                Cuboid::from_size(2.0 * half_extents).into(),
                Color::srgb(0.62, 0.66, 0.70),
            ),
            Prop::Ball { radius } => (
                Sphere::new(*radius).mesh().build(),
                Color::srgb(0.92, 0.92, 0.88),
            ),
            Prop::Floor { half_extents } => (
                Cuboid::from_size(2.0 * half_extents).into(),
                Color::srgb(0.70, 0.72, 0.74),
            ),
            Prop::Ramp => match &scene {
                Some(scene) => (triangle_mesh(scene.ramp()), Color::srgb(0.45, 0.56, 0.52)),
                None => continue,
            },
            Prop::Wall | Prop::Rope { .. } => continue,
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
        if matches!(prop, Prop::Floor { .. }) {
            commands.entity(entity).insert(NotShadowCaster);
        }
    }
}

/// A mesh with flat shading.
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

/// Draws the edges of the box, and the rope.
fn draw_lines(
    scene: Option<Res<ScenePlan>>,
    ropes: Query<(&Prop, &GlobalTransform)>,
    transforms: Query<&GlobalTransform>,
    mut gizmos: Gizmos,
) {
    let Some(scene) = scene else {
        return;
    };
    let edge = Color::srgb(0.35, 0.40, 0.46);
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let corners = corners.map(|(x, z)| Vec3::new(x, 0.0, z) * scene.half_width);
    let up = Vec3::Y * (2.2 * scene.spacing).min(scene.wall_height);
    for (k, corner) in corners.into_iter().enumerate() {
        let next = corners[(k + 1) % corners.len()];
        gizmos.line(corner, corner + up, edge);
        gizmos.line(corner, next, edge);
        gizmos.line(corner + up, next + up, edge);
    }
    for (prop, hook) in &ropes {
        if let Prop::Rope { end, protein } = prop
            && let Ok(protein) = transforms.get(*protein)
        {
            let end = protein.transform_point(*end);
            gizmos.line(hook.translation(), end, Color::srgb(0.2, 0.2, 0.2));
            gizmos.sphere(hook.translation(), 0.25, Color::srgb(0.2, 0.2, 0.2));
        }
    }
}
