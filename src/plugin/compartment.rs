//! Compartments as entities, and the molecules confined to them.

use std::sync::Arc;

use bevy::mesh::{Indices, Mesh, MeshAccessError, PrimitiveTopology, VertexAttributeValues};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::rapier::geometry::SharedShape;
use thiserror::Error;

use crate::compartment::{
    CompartmentError, Confinement, Leaflet, Placement, ShapeCompartment, SphereShell, Surface,
    bilayer_depth, up_and_head,
};
use crate::force::SpringLaw;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// A surface or volume that molecules are confined to, at the [`Transform`] of its entity.
/// Lengths are nm, in the frame of the entity; the scale of the transform is ignored.
///
/// It acts on molecules that refer to it in [`InCompartment`] and does not collide with
/// others. If it is invalid, because a length is not positive or a mesh is not closed, it
/// confines nothing and an error is logged.
#[derive(Clone, Debug, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Transform, Visibility)]
#[non_exhaustive]
pub enum Compartment {
    /// The surface of a sphere, such as a vesicle. Default, with a radius of 10 nm.
    SphereShell {
        /// Radius, nm.
        radius: f32,
    },
    /// A box.
    Box {
        /// Half extents, nm.
        half_extents: Vec3,
    },
    /// A capsule along y, such as a rod-shaped bacterium.
    Capsule {
        /// Half the distance between the centers of its ends, nm.
        half_height: f32,
        /// Radius, nm.
        radius: f32,
    },
    /// A parry shape.
    Shape(ParryShape),
    /// The surface of a closed triangle mesh, once it is loaded.
    Mesh(Handle<Mesh>),
    /// Any other surface, such as a ring, a region without its organelles, or one of the app.
    Surface(SharedSurface),
}

impl Default for Compartment {
    fn default() -> Self {
        Self::SphereShell { radius: 10.0 }
    }
}

impl Compartment {
    /// Its surface in the frame of `entity`, which has it; none if it is invalid or not loaded.
    pub(super) fn local_surface(&self, world: &World, entity: Entity) -> Option<Arc<dyn Surface>> {
        if let Some(surface) = world.get::<CompartmentSurface>(entity) {
            return Some(surface.local.clone());
        }
        let (surface, _) = build_surface(self, world.get_resource::<Assets<Mesh>>())?.ok()?;
        Some(surface)
    }
}

/// A parry shape that implements `Reflect`, but cannot be saved in a scene. Default: a ball of
/// 1 nm.
#[derive(Clone, Debug, Reflect, Deref)]
#[reflect(opaque)]
#[reflect(Clone, Debug, Default)]
pub struct ParryShape(pub SharedShape);

impl Default for ParryShape {
    fn default() -> Self {
        Self(SharedShape::ball(1.0))
    }
}

/// A [`Surface`] that implements `Reflect`, but cannot be saved in a scene. Gizmos draw only spheres
/// and parry shapes.
///
/// Its own frame becomes that of the entity, whatever its pose:
///
/// ```
/// # use std::sync::Arc;
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{compartment::Torus, plugin::*, prelude::*};
/// fn spawn_ring(mut commands: Commands) -> Result {
///     let ring = Torus::new(12.0, 4.0, Pose::IDENTITY)?;
///     let ring = Compartment::Surface(SharedSurface(Arc::new(ring)));
///     commands.spawn((ring, Transform::from_xyz(0.0, 8.0, 0.0)));
///     Ok(())
/// }
/// ```
///
/// Periodic surfaces must not be rotated.
#[derive(Clone, Debug, Reflect, Deref)]
#[reflect(opaque)]
#[reflect(Clone, Debug)]
pub struct SharedSurface(pub Arc<dyn Surface>);

/// The region of a compartment that a molecule is confined to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum CompartmentRegion {
    /// In the surface, head outwards: the outer leaflet of a bilayer. Default.
    #[default]
    OuterLeaflet,
    /// In the surface, head inwards: the inner leaflet of a bilayer.
    InnerLeaflet,
    /// Inside, with any orientation.
    Inside,
    /// Outside, with any orientation.
    Outside,
    /// Inside with every atom, with any orientation; `leeway` is the minimum gap.
    WholeInside,
    /// Outside with every atom, with any orientation; `leeway` is the minimum gap.
    WholeOutside,
}

/// Confines a molecule to a [`Compartment`] by a spring that acts when the molecule leaves
/// its region (section 4.3 of the thesis, plus a damped spring).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let vesicle = commands.spawn(Compartment::SphereShell { radius: 8.0 }).id();
///     commands.spawn((
///         Molecule(assets.load("molecules/popc.pdb")),
///         InCompartment::new(vesicle, CompartmentRegion::OuterLeaflet),
///         Transform::from_xyz(0.0, 9.0, 0.0),
///     ));
/// }
/// ```
///
/// If the compartment does not exist, the molecule is free and a warning is logged.
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct InCompartment {
    /// The entity with the [`Compartment`]. Default: `Entity::PLACEHOLDER`, which confines nothing.
    #[entities]
    pub compartment: Entity,
    /// The region of the compartment. Default: the outer leaflet.
    pub region: CompartmentRegion,
    /// In a leaflet: how far the center of mass may leave its depth before the spring acts, nm.
    /// Inside and outside: minimum gap between molecule and surface, nm. Default: 0.1 nm.
    pub leeway: f32,
    /// In a leaflet: how far the molecule may tilt before the spring acts, radians. Default: 0.2.
    pub tilt_leeway: f32,
    /// Distance of the center of mass from the surface, nm; inside and outside, the minimum. Unused
    /// for whole molecules.
    /// Default: in a leaflet, such that the tails of two leaflets touch; inside and outside, such
    /// that the gap is at least `leeway` in any orientation.
    pub depth: Option<f32>,
    /// In a leaflet: direction from tail to head in the body frame.
    /// Default: along the longest axis, towards the end with phosphorus or polar atoms.
    pub up: Option<Vec3>,
    /// The spring. Default: critically damped, 2 Hz.
    pub spring: SpringLaw,
}

impl Default for InCompartment {
    fn default() -> Self {
        Self::new(Entity::PLACEHOLDER, CompartmentRegion::default())
    }
}

impl InCompartment {
    /// Confines to a `region` of a `compartment`, with the default leeways and spring.
    #[must_use]
    pub fn new(compartment: Entity, region: CompartmentRegion) -> Self {
        Self {
            compartment,
            region,
            leeway: 0.1,
            tilt_leeway: 0.2,
            depth: None,
            up: None,
            spring: SpringLaw::default(),
        }
    }

    /// The confinement of a molecule with this template.
    pub(super) fn confinement(&self, template: &MoleculeTemplate) -> Confinement {
        let touching = || self.leeway + template.bounding_radius();
        let distance = self.depth.unwrap_or_else(touching);
        let leaflet = match self.region {
            CompartmentRegion::Inside => return Confinement::Inside { distance },
            CompartmentRegion::Outside => return Confinement::Outside { distance },
            CompartmentRegion::WholeInside => {
                return Confinement::WholeInside {
                    clearance: self.leeway,
                };
            }
            CompartmentRegion::WholeOutside => {
                return Confinement::WholeOutside {
                    clearance: self.leeway,
                };
            }
            CompartmentRegion::OuterLeaflet => Leaflet::Outer,
            CompartmentRegion::InnerLeaflet => Leaflet::Inner,
        };
        Confinement::Surface(Placement {
            leaflet,
            depth: self.depth.unwrap_or_else(|| bilayer_depth(template)),
            up: self.up.unwrap_or_else(|| up_and_head(template).0),
            leeway: self.leeway,
            tilt_leeway: self.tilt_leeway,
        })
    }
}

/// The surface of a valid [`Compartment`]. Inserted by the plugin.
///
/// Scenes do not save it: the plugin inserts it again.
#[derive(Clone, Debug, Component, Reflect)]
#[reflect(opaque)]
#[reflect(Clone, Debug)]
pub struct CompartmentSurface {
    /// In the frame of the entity.
    local: Arc<dyn Surface>,
    /// In the world frame.
    world: Arc<dyn Surface>,
    shape: Option<SharedShape>,
}

impl CompartmentSurface {
    /// The surface as a parry shape in the frame of the entity, for drawing or for a
    /// collider; none if it is a [`Compartment::Surface`] that has no such shape. A mesh is closed
    /// and welded.
    #[must_use]
    pub fn shape(&self) -> Option<&SharedShape> {
        self.shape.as_ref()
    }

    /// The surface in the world frame.
    #[must_use]
    pub fn surface(&self) -> &dyn Surface {
        &*self.world
    }
}

/// Builds the surfaces of new and changed compartments.
pub(super) fn build_surfaces(
    mut commands: Commands,
    compartments: Query<(Entity, Ref<Compartment>)>,
    meshes: Option<Res<Assets<Mesh>>>,
    mut mesh_events: MessageReader<AssetEvent<Mesh>>,
) {
    let changed_meshes: HashSet<AssetId<Mesh>> = mesh_events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, compartment) in &compartments {
        let mesh = match &*compartment {
            Compartment::Mesh(handle) => Some(handle),
            _ => None,
        };
        let mesh_changed = mesh.is_some_and(|mesh| changed_meshes.contains(&mesh.id()));
        if !(compartment.is_changed() || mesh_changed) {
            continue;
        }
        let Some(built) = build_surface(&compartment, meshes.as_deref()) else {
            continue;
        };
        match built {
            Ok((local, shape)) => {
                commands.entity(entity).try_insert(CompartmentSurface {
                    world: local.clone(),
                    local,
                    shape,
                });
            }
            Err(error) => {
                error!("compartment {entity} is invalid and confines nothing: {error}");
                commands.entity(entity).try_remove::<CompartmentSurface>();
            }
        }
    }
}

/// Removes the surface of a removed compartment.
pub(super) fn remove_surface(removed: On<Remove, Compartment>, mut commands: Commands) {
    if let Ok(mut entity) = commands.get_entity(removed.entity) {
        entity.try_remove::<CompartmentSurface>();
    }
}

/// Moves the surfaces with their entities.
pub(super) fn move_surfaces(
    mut surfaces: Query<
        (Entity, &GlobalTransform, &mut CompartmentSurface),
        Or<(Changed<GlobalTransform>, Changed<CompartmentSurface>)>,
    >,
) {
    for (entity, transform, mut surface) in &mut surfaces {
        let (_, rotation, position) = transform.to_scale_rotation_translation();
        match surface.local.with_pose(&Pose::new(position, rotation)) {
            Ok(world) => surface.bypass_change_detection().world = world,
            Err(error) => error!("compartment {entity} does not move: {error}"),
        }
    }
}

/// A surface and its shape.
type SurfaceAndShape = (Arc<dyn Surface>, Option<SharedShape>);

/// Why a compartment has no surface.
#[derive(Debug, Error)]
enum SurfaceError {
    /// The shape is invalid.
    #[error(transparent)]
    Shape(#[from] CompartmentError),
    /// The mesh is only in the render world.
    #[error("{0}; create the mesh with RenderAssetUsages::MAIN_WORLD")]
    MeshAccess(#[from] MeshAccessError),
    /// The mesh is not a list of triangles.
    #[error("the mesh is a {0:?}, but must be a TriangleList")]
    Topology(PrimitiveTopology),
}

/// Builds the surface of a compartment, or returns `None` while its mesh is not loaded.
fn build_surface(
    compartment: &Compartment,
    meshes: Option<&Assets<Mesh>>,
) -> Option<Result<SurfaceAndShape, SurfaceError>> {
    let solid = match compartment {
        Compartment::SphereShell { radius } => {
            let shell = SphereShell::new(Vec3::ZERO, *radius).map_err(SurfaceError::from);
            return Some(shell.map(|shell| with_shape(Arc::new(shell))));
        }
        Compartment::Box { half_extents } => {
            ShapeCompartment::cuboid(*half_extents, Pose::IDENTITY).map_err(Into::into)
        }
        Compartment::Capsule {
            half_height,
            radius,
        } => ShapeCompartment::capsule(*half_height, *radius, Pose::IDENTITY).map_err(Into::into),
        Compartment::Shape(shape) => {
            ShapeCompartment::new(shape.0.clone(), Pose::IDENTITY).map_err(Into::into)
        }
        Compartment::Mesh(handle) => mesh_compartment(meshes?.get(handle)?),
        Compartment::Surface(surface) => {
            let surface = surface.with_pose(&Pose::IDENTITY);
            return Some(surface.map(with_shape).map_err(Into::into));
        }
    };
    Some(solid.map(|solid| with_shape(Arc::new(solid))))
}

/// A surface in its own frame, with its shape.
fn with_shape(surface: Arc<dyn Surface>) -> SurfaceAndShape {
    let shape = match (surface.as_sphere(), surface.as_shape()) {
        (Some((_, radius)), _) => Some(SharedShape::ball(radius)),
        (None, Some((shape, _))) => Some(shape.clone()),
        (None, None) => None,
    };
    (surface, shape)
}

fn mesh_compartment(mesh: &Mesh) -> Result<ShapeCompartment, SurfaceError> {
    let topology = mesh.primitive_topology();
    if topology != PrimitiveTopology::TriangleList {
        return Err(SurfaceError::Topology(topology));
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
    Ok(ShapeCompartment::mesh(
        &vertices,
        triangles,
        Pose::IDENTITY,
    )?)
}
