//! Compartments as entities, and molecules that belong in them.

use std::sync::Arc;
use std::time::Instant;

use bevy::mesh::{Indices, Mesh, VertexAttributeValues};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{RapierContextEntityLink, RapierRigidBodySet};
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::prepare::PreparedMolecule;
use super::substep::moving_body;
use super::world::MoleculeWorld;
use crate::compartment::{
    Belonging, CompartmentError, Excess, Leaflet, Placement, ShapeCompartment, SphereShell,
    Surface, bilayer_depth, head_and_axis,
};
use crate::dynamics::{Impulse, MovingBody};
use crate::force::{Body, SpringLaw, Velocity, spring_impulse, steadying_impulse};
use crate::pose::Pose;

/// A surface or volume that holds molecules, at the entity's [`Transform`]. Lengths
/// are nm; the scale of the transform is ignored.
///
/// It acts on molecules that name it in [`InCompartment`], and is no obstacle to
/// others.
#[derive(Clone, Debug, Component, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(Transform, Visibility)]
pub enum Compartment {
    /// The surface of a sphere: a vesicle.
    SphereShell {
        /// Radius, nm.
        radius: f32,
    },
    /// A box.
    Box {
        /// Half its extents, nm.
        half_extents: Vec3,
    },
    /// A capsule along y: a rod-shaped bacterium.
    Capsule {
        /// Half the distance between the centres of its ends, nm.
        half_height: f32,
        /// Radius, nm.
        radius: f32,
    },
    /// Any parry shape.
    Shape(ParryShape),
    /// The surface of a closed triangle mesh, when it is loaded.
    Mesh(Handle<Mesh>),
}

impl Default for Compartment {
    /// A sphere of 10 nm.
    fn default() -> Self {
        Self::SphereShell { radius: 10.0 }
    }
}

/// A parry shape that can be reflected.
#[derive(Clone, Debug, Reflect, Deref)]
#[reflect(opaque)]
#[reflect(Debug, Default)]
pub struct ParryShape(pub SharedShape);

impl Default for ParryShape {
    fn default() -> Self {
        Self(SharedShape::ball(1.0))
    }
}

/// Which part of a compartment a molecule belongs in.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Debug, Default, PartialEq)]
pub enum CompartmentPlace {
    /// In the surface, head outwards: the outer leaflet of a bilayer.
    OuterLeaflet,
    /// In the surface, head inwards: the inner leaflet of a bilayer.
    InnerLeaflet,
    /// Inside, any way round.
    Inside,
    /// Outside, any way round.
    Outside,
}

impl Default for CompartmentPlace {
    fn default() -> Self {
        Self::OuterLeaflet
    }
}

/// The spring that brings a molecule back.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Debug, Default, PartialEq)]
pub enum CompartmentSpring {
    /// A damped spring, stable however stiff.
    Damped {
        /// Swings a second without damping, Hz.
        frequency_hz: f32,
        /// Damping; 1 is critical.
        damping_ratio: f32,
    },
    /// The law of the thesis: undamped, as strong as the way to the centre.
    Thesis {
        /// Acceleration for each nm between molecule and centre, 1/s².
        force: f32,
        /// Angular acceleration for each radian of tilt, 1/s².
        torque: f32,
    },
}

impl Default for CompartmentSpring {
    /// Critically damped, 2 Hz.
    fn default() -> Self {
        Self::Damped {
            frequency_hz: 2.0,
            damping_ratio: 1.0,
        }
    }
}

impl CompartmentSpring {
    fn law(self) -> SpringLaw {
        match self {
            Self::Damped {
                frequency_hz,
                damping_ratio,
            } => SpringLaw::CriticallyDamped {
                frequency_hz,
                damping_ratio,
            },
            Self::Thesis { force, torque } => SpringLaw::Thesis { force, torque },
        }
    }
}

/// Ties a molecule to a [`Compartment`]: a spring acts when it leaves its place.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let vesicle = commands.spawn(Compartment::SphereShell { radius: 8.0 }).id();
///     commands.spawn((
///         Molecule(assets.load("molecules/popc.pdb")),
///         InCompartment::new(vesicle, CompartmentPlace::OuterLeaflet),
///         Transform::from_xyz(0.0, 9.0, 0.0),
///     ));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Debug, Default, PartialEq)]
pub struct InCompartment {
    /// The entity with the [`Compartment`].
    #[entities]
    pub compartment: Entity,
    /// Which part of it.
    pub place: CompartmentPlace,
    /// In a leaflet: how far the centre of mass may leave its depth before the spring
    /// acts, nm. Inside and outside: how close the molecule may come to the surface,
    /// nm. Default: 0.1 nm.
    pub leeway: f32,
    /// In a leaflet: how far the head may lean before the spring acts, radian.
    /// Default: 0.2.
    pub tilt_leeway: f32,
    /// In a leaflet: distance of the centre of mass from the surface, nm. Default:
    /// such that the tails of two leaflets meet.
    pub depth: Option<f32>,
    /// In a leaflet: direction from tail to head in the body frame. Default: along the
    /// longest axis to the end with the phosphorus, or the polar atoms.
    pub up: Option<Vec3>,
    /// The spring. Default: critically damped, 2 Hz.
    pub spring: CompartmentSpring,
}

impl Default for InCompartment {
    fn default() -> Self {
        Self::new(Entity::PLACEHOLDER, CompartmentPlace::default())
    }
}

impl InCompartment {
    /// A molecule in `place` of `compartment`, with the default leeways and spring.
    #[must_use]
    pub fn new(compartment: Entity, place: CompartmentPlace) -> Self {
        Self {
            compartment,
            place,
            leeway: 0.1,
            tilt_leeway: 0.2,
            depth: None,
            up: None,
            spring: CompartmentSpring::default(),
        }
    }

    /// Where the molecule belongs, from what is given and what its atoms say.
    fn belonging(&self, prepared: &PreparedMolecule) -> Belonging {
        let template = prepared.shared().template();
        let margin = self.leeway + template.bounding_radius();
        let leaflet = match self.place {
            CompartmentPlace::Inside => return Belonging::Inside { margin },
            CompartmentPlace::Outside => return Belonging::Outside { margin },
            CompartmentPlace::OuterLeaflet => Leaflet::Outer,
            CompartmentPlace::InnerLeaflet => Leaflet::Inner,
        };
        Belonging::Surface(Placement {
            leaflet,
            depth: self.depth.unwrap_or_else(|| bilayer_depth(template)),
            up: self.up.unwrap_or_else(|| head_and_axis(template).0),
            leeway: self.leeway,
            tilt_leeway: self.tilt_leeway,
        })
    }
}

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

/// Where a molecule belongs, checked; made by the plugin from [`InCompartment`].
#[derive(Clone, Copy, Debug, Component)]
pub(super) struct CheckedPlace {
    belonging: Belonging,
    law: SpringLaw,
}

impl CheckedPlace {
    /// By how much a molecule at `pose` is out of place.
    pub(super) fn excess(&self, surface: &CompartmentSurface, pose: &Pose) -> Excess {
        self.belonging.excess(surface.surface(), pose)
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

/// Checks where molecules belong when they are told so.
pub(super) fn check_places(
    mut commands: Commands,
    changed: Query<
        (Entity, &InCompartment, &PreparedMolecule),
        Or<(Changed<InCompartment>, Changed<PreparedMolecule>)>,
    >,
    mut removed: RemovedComponents<InCompartment>,
) {
    for (entity, place, prepared) in &changed {
        let law = place.spring.law();
        let checked = place
            .belonging(prepared)
            .checked()
            .map_err(|error| error.to_string())
            .and_then(|belonging| match law.check() {
                Ok(()) => Ok(CheckedPlace { belonging, law }),
                Err(error) => Err(error.to_string()),
            });
        match checked {
            Ok(place) => {
                commands.entity(entity).try_insert(place);
            }
            Err(error) => {
                error!("molecule {entity} is not held by its compartment: {error}");
                commands.entity(entity).try_remove::<CheckedPlace>();
            }
        }
    }
    for entity in removed.read() {
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<CheckedPlace>();
        }
    }
}

/// Computes what the springs of this substep do.
pub(super) fn pull_springs(
    mut worlds: Query<(&mut MoleculeWorld, &RapierRigidBodySet)>,
    held: Query<(
        Entity,
        &InCompartment,
        &CheckedPlace,
        &RapierContextEntityLink,
    )>,
    surfaces: Query<&CompartmentSurface>,
    mut orphans: Local<HashSet<Entity>>,
) {
    if held.is_empty() {
        return;
    }
    let begin = Instant::now();
    for (entity, place, checked, link) in &held {
        let Ok((mut world, bodies)) = worlds.get_mut(link.0) else {
            continue;
        };
        let Some(dt) = world.substep.filter(|dt| *dt > 0.0) else {
            continue;
        };
        let Ok(surface) = surfaces.get(place.compartment) else {
            if orphans.insert(entity) {
                warn!(
                    "molecule {entity} floats free: its compartment {} is gone or not ready",
                    place.compartment
                );
            }
            continue;
        };
        orphans.remove(&entity);
        let members = &world.members;
        let Ok(at) = members.binary_search_by_key(&entity, |member| member.entity) else {
            continue;
        };
        let body = bodies.bodies.get(members[at].body);
        let Some(body) = body.and_then(|body| moving_body(body, Vec3::ZERO)) else {
            continue;
        };
        if !body.is_finite() || !body.is_movable() {
            continue;
        }
        let pose = Pose::new(body.centre, body.pose.rotation);
        let excess = checked.excess(surface, &pose);
        if body.asleep && excess.is_in_place() {
            continue;
        }
        if let Some(impulse) = spring(&checked, &body, &excess, dt) {
            world.springs.push((at as u32, impulse));
        }
    }
    let took = begin.elapsed();
    for (mut world, _) in &mut worlds {
        if world.substep.is_some() {
            world.times.respond += took;
            break;
        }
    }
}

/// What a spring gives a body that is out of its place.
fn spring(place: &CheckedPlace, moving: &MovingBody, excess: &Excess, dt: f32) -> Option<Impulse> {
    let body = Body {
        centre: moving.centre,
        inverse_mass: moving.inverse_mass.max_element(),
        inverse_inertia: moving.inverse_inertia,
    };
    let velocity = Velocity {
        linear: moving.velocity,
        angular: moving.angular_velocity,
    };
    let pull = spring_impulse(&place.law, &body, &velocity, excess, dt);
    let after = pull.apply(&body, &velocity);
    let steadied = steadying_impulse(&place.law, &body, &after, excess, dt);
    let impulse = Impulse {
        linear: pull.linear + steadied.linear,
        angular: pull.angular + steadied.angular,
    };
    (!impulse.is_zero()).then_some(impulse)
}
