//! The surfaces of compartments: made when they are new, moved when they move.

use std::sync::Arc;

use bevy::mesh::{Indices, Mesh, MeshAccessError, PrimitiveTopology, VertexAttributeValues};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::rapier::geometry::SharedShape;
use thiserror::Error;

use super::compartment::Compartment;
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
                .map(|shell| (Arc::new(shell) as _, SharedShape::ball(*radius)))
                .map_err(SurfaceError::from),
            Compartment::Box { half_extents } => {
                solid(ShapeCompartment::cuboid(*half_extents, Pose::IDENTITY))
            }
            Compartment::Capsule {
                half_height,
                radius,
            } => {
                let capsule = ShapeCompartment::capsule(*half_height, *radius, Pose::IDENTITY);
                solid(capsule)
            }
            Compartment::Shape(shape) => {
                solid(ShapeCompartment::new(shape.0.clone(), Pose::IDENTITY))
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

/// Why a compartment has no surface.
#[derive(Debug, Error)]
enum SurfaceError {
    /// The numbers cannot be.
    #[error(transparent)]
    Impossible(#[from] CompartmentError),
    /// Only the renderer has the mesh.
    #[error("{0}; give its mesh RenderAssetUsages::MAIN_WORLD as well")]
    Taken(#[from] MeshAccessError),
    /// The mesh is not a list of triangles.
    #[error("its mesh is a {0:?}, and has to be a TriangleList")]
    NoTriangles(PrimitiveTopology),
}

/// The surface of a solid, with its shape.
fn solid(compartment: Result<ShapeCompartment, CompartmentError>) -> Result<Built, SurfaceError> {
    let compartment = compartment?;
    let shape = compartment.shape().clone();
    Ok((Arc::new(compartment), shape))
}

/// The surface of a triangle mesh.
fn mesh_surface(mesh: &Mesh) -> Result<Built, SurfaceError> {
    let topology = mesh.primitive_topology();
    if topology != PrimitiveTopology::TriangleList {
        return Err(SurfaceError::NoTriangles(topology));
    }
    let vertices: Vec<Vec3> = match mesh.try_attribute_option(Mesh::ATTRIBUTE_POSITION)? {
        Some(VertexAttributeValues::Float32x3(positions)) => {
            positions.iter().copied().map(Vec3::from).collect()
        }
        _ => Vec::new(),
    };
    let indices: Vec<u32> = match mesh.try_indices_option()? {
        Some(Indices::U16(indices)) => indices.iter().map(|index| u32::from(*index)).collect(),
        Some(Indices::U32(indices)) => indices.clone(),
        None => (0..vertices.len() as u32).collect(),
    };
    let (triangles, _) = indices.as_chunks::<3>();
    solid(ShapeCompartment::mesh(&vertices, triangles, Pose::IDENTITY))
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
        match surface.local.with_pose(&Pose::new(position, rotation)) {
            Ok(world) => surface.bypass_change_detection().world = world,
            Err(error) => error!("compartment {entity} stays where it was: {error}"),
        }
    }
}
