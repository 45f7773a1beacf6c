//! The surfaces of compartments: made when they are new, moved when they move.

use std::sync::Arc;

use bevy::mesh::{Indices, Mesh, VertexAttributeValues};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::compartments::Compartment;
use crate::compartment::{CompartmentError, ShapeCompartment, SphereShell, Surface};
use crate::pose::Pose;

/// The surface of a [`Compartment`], made by the plugin.
#[derive(Clone, Debug, Component)]
pub struct CompartmentSurface {
    /// In the frame of the entity.
    local: Arc<dyn Surface>,
    /// Where the entity is.
    world: Arc<dyn Surface>,
    /// In the frame of the entity.
    shape: SharedShape,
}

impl CompartmentSurface {
    /// The surface as a parry shape in the frame of the entity: a mesh is closed and
    /// welded. For drawing, or for a collider.
    #[must_use]
    pub fn shape(&self) -> &SharedShape {
        &self.shape
    }

    /// The surface in the world.
    #[must_use]
    pub fn surface(&self) -> &dyn Surface {
        &*self.world
    }
}

/// Makes the surfaces of new and changed compartments.
pub(super) fn make_surfaces(
    mut commands: Commands,
    compartments: Query<(Entity, Ref<Compartment>)>,
    meshes: Option<Res<Assets<Mesh>>>,
    mut mesh_events: MessageReader<AssetEvent<Mesh>>,
) {
    let altered: HashSet<AssetId<Mesh>> = mesh_events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, compartment) in &compartments {
        let built = match &*compartment {
            Compartment::Mesh(handle) => {
                // A mesh that failed is not tried again until it changes.
                if !(compartment.is_changed() || altered.contains(&handle.id())) {
                    continue;
                }
                let Some(mesh) = meshes.as_ref().and_then(|meshes| meshes.get(handle)) else {
                    continue;
                };
                mesh_surface(mesh)
            }
            _ if !compartment.is_changed() => continue,
            Compartment::SphereShell { radius } => SphereShell::new(Vec3::ZERO, *radius)
                .map(|shell| (Arc::new(shell) as _, SharedShape::ball(*radius))),
            Compartment::Box { half_extents } => {
                ShapeCompartment::cuboid(*half_extents, Pose::IDENTITY).map(with_shape)
            }
            Compartment::Capsule {
                half_height,
                radius,
            } => ShapeCompartment::capsule(*half_height, *radius, Pose::IDENTITY).map(with_shape),
            Compartment::Shape(shape) => {
                ShapeCompartment::new(shape.0.clone(), Pose::IDENTITY).map(with_shape)
            }
        };
        match built {
            Ok((local, shape)) => {
                let world = local.clone();
                commands.entity(entity).try_insert(CompartmentSurface {
                    local,
                    world,
                    shape,
                });
            }
            Err(error) => {
                error!("compartment {entity} holds nothing: {error}");
                commands.entity(entity).try_remove::<CompartmentSurface>();
            }
        }
    }
}

/// Takes the surface of a compartment that is one no more.
pub(super) fn drop_surface(removed: On<Remove, Compartment>, mut commands: Commands) {
    if let Ok(mut entity) = commands.get_entity(removed.entity) {
        entity.try_remove::<CompartmentSurface>();
    }
}

/// A surface and its shape.
type Built = (Arc<dyn Surface>, SharedShape);

fn with_shape(compartment: ShapeCompartment) -> Built {
    let shape = compartment.shape().clone();
    (Arc::new(compartment), shape)
}

/// The surface of a triangle mesh.
fn mesh_surface(mesh: &Mesh) -> Result<Built, CompartmentError> {
    let vertices: Vec<Vec3> = match mesh.attribute(Mesh::ATTRIBUTE_POSITION) {
        Some(VertexAttributeValues::Float32x3(positions)) => {
            positions.iter().copied().map(Vec3::from).collect()
        }
        _ => Vec::new(),
    };
    let indices: Vec<u32> = match mesh.indices() {
        Some(Indices::U16(indices)) => indices.iter().map(|index| u32::from(*index)).collect(),
        Some(Indices::U32(indices)) => indices.clone(),
        None => (0..vertices.len() as u32).collect(),
    };
    let (triangles, _) = indices.as_chunks::<3>();
    ShapeCompartment::mesh(&vertices, triangles, Pose::IDENTITY).map(with_shape)
}

/// Moves the surfaces to where their entities are.
pub(super) fn place_surfaces(
    mut surfaces: Query<
        (Entity, &GlobalTransform, &mut CompartmentSurface),
        Or<(Changed<GlobalTransform>, Changed<CompartmentSurface>)>,
    >,
) {
    for (entity, transform, mut surface) in &mut surfaces {
        let (_, rotation, position) = transform.to_scale_rotation_translation();
        match surface.local.at(&Pose::new(position, rotation)) {
            Ok(world) => surface.bypass_change_detection().world = world,
            Err(error) => error!("compartment {entity} stays where it was: {error}"),
        }
    }
}
