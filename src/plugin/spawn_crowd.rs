//! A [`Crowd`] as entities, and back.

use std::sync::Arc;

use bevy::ecs::entity::EntityHashMap;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy_rapier3d::prelude::RigidBody;
use thiserror::Error;

use super::compartment::{
    Compartment, CompartmentRegion, InCompartment, ParryShape, SharedSurface,
};
use super::components::Molecule;
use super::molecule_joint::{MoleculeJoint, joints_from};
use super::prepared_molecule::PreparedMolecule;
use crate::compartment::{CompartmentError, Confinement, Leaflet, Surface};
use crate::crowd::{Crowd, CrowdError, CrowdJoint, CrowdMember, CrowdPlacement};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Why a crowd is rejected.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SpawnCrowdError {
    /// A compartment is a surface of the app that does not implement
    /// [`Surface::pose`].
    #[error(
        "compartment {index} of the crowd is a surface that does not report its pose: {surface}"
    )]
    UnsupportedSurface {
        /// Index of the compartment.
        index: usize,
        /// Debug format of the surface.
        surface: String,
    },
}

/// Why molecules of a world are not a [`Crowd`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CrowdFromWorldError {
    /// An entity has no [`Molecule`] or no `Transform`.
    #[error("entity {0} is not a molecule")]
    NotAMolecule(Entity),
    /// The file of a molecule is not loaded.
    #[error("the file of molecule {0} is not loaded")]
    NotLoaded(Entity),
    /// The compartment of a molecule does not exist, or its mesh is not loaded.
    #[error("molecule {molecule} is in {compartment}, which has no valid Compartment")]
    NoCompartment {
        /// The molecule.
        molecule: Entity,
        /// What should be its compartment.
        compartment: Entity,
    },
    /// A compartment is invalid.
    #[error("compartment {compartment}: {error}")]
    BadCompartment {
        /// The compartment.
        compartment: Entity,
        /// The reason.
        error: CompartmentError,
    },
    /// A pose or placement is invalid.
    #[error("molecule {molecule}: {error}")]
    BadMember {
        /// The molecule.
        molecule: Entity,
        /// The reason.
        error: CrowdError,
    },
    /// A [`MoleculeJoint`] is invalid.
    #[error("joint {joint}: {error}")]
    BadJoint {
        /// The joint.
        joint: Entity,
        /// The reason.
        error: CrowdError,
    },
}

/// The entities of a spawned [`Crowd`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct CrowdEntities {
    /// One for each member, in their order.
    pub molecules: Vec<Entity>,
    /// One for each compartment, in their order.
    pub compartments: Vec<Entity>,
    /// One for each joint, in their order, without those across a face of a periodic box.
    pub joints: Vec<Entity>,
}

/// Spawns all molecules, compartments and joints of a [`Crowd`].
///
/// Members become [`Molecule`]s at their poses. Templates become assets, unless the app has an
/// equal one. Compartments become [`Compartment`]s, and members with a placement get an
/// [`InCompartment`] with it and the default spring. Fixed members are [`RigidBody::Fixed`].
/// Joints become [`MoleculeJoint`]s, so that fibers stay together. Worlds are open: a periodic box of
/// the crowd is ignored, and joints across its faces are left out. Compartments that are neither
/// spheres nor parry shapes become [`Compartment::Surface`]s.
/// [`Crowd::from_world`] is the inverse.
///
/// ```
/// # use std::{ops::ControlFlow, sync::Arc};
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn_vesicle(mut commands: Commands) -> Result {
///     let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
///     let vesicle = vesicle(Arc::new(lipid), &VesicleConfig::default())?;
///     let mut relaxer = Relaxer::new(vesicle.crowd, RelaxConfig::default())?;
///     relaxer.run(|_| ControlFlow::Continue(()))?;
///     let vesicle = commands.spawn_crowd(relaxer.crowd())?;
///     // More components for each molecule:
///     for molecule in vesicle.molecules {
///         commands.entity(molecule).insert(BrownianMotion::default());
///     }
///     Ok(())
/// }
/// ```
pub trait SpawnCrowd {
    /// Spawns `crowd` and returns its entities.
    ///
    /// # Errors
    /// [`SpawnCrowdError`] if a compartment is a surface of the app that does not report its
    /// [pose](Surface::pose); nothing is spawned then.
    fn spawn_crowd(&mut self, crowd: &Crowd) -> Result<CrowdEntities, SpawnCrowdError>;
}

impl SpawnCrowd for Commands<'_, '_> {
    fn spawn_crowd(&mut self, crowd: &Crowd) -> Result<CrowdEntities, SpawnCrowdError> {
        let bundles = CrowdBundles::new(crowd, |_| self.spawn_empty().id())?;
        let entities = bundles.entities();
        self.queue(move |world: &mut World| bundles.insert(world));
        Ok(entities)
    }
}

impl SpawnCrowd for World {
    fn spawn_crowd(&mut self, crowd: &Crowd) -> Result<CrowdEntities, SpawnCrowdError> {
        let bundles = CrowdBundles::new(crowd, |_| self.spawn_empty().id())?;
        let entities = bundles.entities();
        bundles.insert(self);
        Ok(entities)
    }
}

/// The components of a crowd.
pub(super) struct CrowdBundles {
    templates: Vec<Arc<MoleculeTemplate>>,
    compartments: Vec<(Entity, (Compartment, Transform))>,
    members: Vec<MemberBundle>,
    joints: Vec<(Entity, MoleculeJoint)>,
}

/// The components of a member.
struct MemberBundle {
    entity: Entity,
    template: u32,
    transform: Transform,
    body: RigidBody,
    compartment: Option<InCompartment>,
}

impl CrowdBundles {
    /// The components of `crowd`, for entities that `spawn` returns.
    ///
    /// Entities of compartments come first, then those of members, then those of the joints that
    /// `spawn` gets; none are requested if there is an error.
    pub fn new(
        crowd: &Crowd,
        mut spawn: impl FnMut(Option<&MoleculeJoint>) -> Entity,
    ) -> Result<Self, SpawnCrowdError> {
        let surfaces = crowd.compartments().iter().enumerate();
        let surfaces: Vec<_> = surfaces
            .map(|(index, surface)| {
                from_surface(surface).ok_or_else(|| SpawnCrowdError::UnsupportedSurface {
                    index,
                    surface: format!("{surface:?}"),
                })
            })
            .collect::<Result<_, _>>()?;
        let compartments: Vec<_> = surfaces
            .into_iter()
            .map(|bundle| (spawn(None), bundle))
            .collect();
        let placements = crowd.placements().iter().map(|placement| {
            let (entity, _) = compartments[placement.compartment as usize];
            in_compartment(entity, placement.confinement)
        });
        let placements: Vec<_> = placements.collect();
        let members = crowd.members().iter().map(|member| MemberBundle {
            entity: spawn(None),
            template: member.template,
            transform: to_transform(&member.pose),
            body: body_of(member.fixed),
            compartment: member.placement.map(|index| placements[index as usize]),
        });
        let members: Vec<MemberBundle> = members.collect();
        let joints = crowd.joints().iter();
        let joints = joints.filter(|joint| !crosses_a_face(crowd, joint));
        let joints = joints.map(|joint| {
            let [a, b] = joint.members.map(|index| members[index as usize].entity);
            let CrowdJoint { frames, limits, .. } = *joint;
            let joint = MoleculeJoint {
                a,
                b,
                frames,
                limits,
            };
            (spawn(Some(&joint)), joint)
        });
        Ok(Self {
            joints: joints.collect(),
            members,
            templates: crowd.templates().to_vec(),
            compartments,
        })
    }

    /// The same, with the frame of the crowd at `frame` in the world.
    #[cfg(feature = "recipe")]
    pub fn moved(mut self, frame: &Pose) -> Self {
        if *frame != Pose::IDENTITY {
            let compartments = self.compartments.iter_mut();
            let compartments = compartments.map(|(_, (_, transform))| transform);
            let members = self.members.iter_mut().map(|it| &mut it.transform);
            for transform in compartments.chain(members) {
                let pose = Pose::new(transform.translation, transform.rotation);
                *transform = to_transform(&(*frame * pose));
            }
        }
        self
    }

    pub fn entities(&self) -> CrowdEntities {
        let compartments = self.compartments.iter().map(|(entity, _)| *entity);
        CrowdEntities {
            molecules: self.members.iter().map(|member| member.entity).collect(),
            compartments: compartments.collect(),
            joints: self.joints.iter().map(|(entity, _)| *entity).collect(),
        }
    }

    /// The joints with their entities.
    #[cfg(feature = "recipe")]
    pub fn joints(&self) -> &[(Entity, MoleculeJoint)] {
        &self.joints
    }

    /// Inserts the components. Entities that were despawned in the meantime are skipped.
    pub fn insert(self, world: &mut World) {
        self.update(world, &EntityHashMap::default());
    }

    /// Inserts the components, except that known molecules change only where they have to: they
    /// move by the difference from the old pose to the new one.
    pub fn update(self, world: &mut World, known: &EntityHashMap<CrowdMember>) {
        let Some(mut assets) = world.get_resource_mut::<Assets<MoleculeTemplate>>() else {
            error!("a crowd was spawned without molecules: add MoleculePlugins");
            return;
        };
        let handles: Vec<_> = self
            .templates
            .iter()
            .map(|template| template_handle(&mut assets, template))
            .collect();
        let mut inserted = world.try_insert_batch(self.compartments);
        let bundle = |member: &MemberBundle| {
            let handle = handles[member.template as usize].clone();
            (Molecule(handle), member.transform, member.body)
        };
        let (kept, new): (Vec<_>, Vec<_>) = self
            .members
            .into_iter()
            .partition(|member| known.contains_key(&member.entity));
        for member in &kept {
            if let Some(old) = known.get(&member.entity)
                && let Ok(entity) = world.get_entity_mut(member.entity)
            {
                let molecule = Molecule(handles[member.template as usize].clone());
                update_member(entity, old, molecule, member);
            }
        }
        let (confined, free): (Vec<_>, Vec<_>) = new
            .into_iter()
            .partition(|member| member.compartment.is_some());
        inserted = inserted
            .and(world.try_insert_batch(free.iter().map(|member| (member.entity, bundle(member)))));
        let confined = confined.iter().filter_map(|member| {
            let bundle = (bundle(member), member.compartment?);
            Some((member.entity, bundle))
        });
        inserted = inserted.and(world.try_insert_batch(confined));
        for (entity, joint) in self.joints {
            // The app may have broken one that is known already.
            if let Ok(mut entity) = world.get_entity_mut(entity)
                && !entity.contains::<MoleculeJoint>()
            {
                entity.insert(joint);
            }
        }
        if let Err(error) = inserted {
            warn!("a part of a crowd was despawned before it was spawned: {error}");
        }
    }
}

/// Whether the nearest image of the second anchor of a joint is not the anchor itself.
fn crosses_a_face(crowd: &Crowd, joint: &CrowdJoint) -> bool {
    if crowd.periodic_box().is_none() {
        return false;
    }
    let poses = joint
        .members
        .map(|index| &crowd.members()[index as usize].pose);
    let image = crowd.state_of(joint).across;
    !joint.state(poses, None).across.abs_diff_eq(image, 1.0e-3)
}

/// Changes what a new member of a crowd differs in from the old one, and nothing that the app has
/// changed.
fn update_member(
    mut entity: EntityWorldMut,
    old: &CrowdMember,
    molecule: Molecule,
    new: &MemberBundle,
) {
    if entity.get::<Molecule>() != Some(&molecule) {
        entity.insert(molecule);
    }
    let was = body_of(old.fixed);
    if was != new.body && entity.get::<RigidBody>() == Some(&was) {
        entity.insert(new.body);
    }
    let known = entity.get::<InCompartment>().copied();
    match (new.compartment, known) {
        (Some(compartment), Some(known)) => {
            let spring = known.spring;
            let compartment = InCompartment {
                spring,
                ..compartment
            };
            if known != compartment {
                entity.insert(compartment);
            }
        }
        (Some(compartment), None) => {
            entity.insert(compartment);
        }
        (None, _) => {
            entity.remove::<InCompartment>();
        }
    }
    let (old, new) = (old.pose, new.transform);
    let stays = old.position == new.translation && old.rotation == new.rotation;
    if let Some(mut transform) = entity.get_mut::<Transform>()
        && !stays
    {
        transform.translation += new.translation - old.position;
        let turn = new.rotation * old.rotation.inverse();
        transform.rotation = (turn * transform.rotation).normalize();
    }
}

fn body_of(fixed: bool) -> RigidBody {
    if fixed {
        RigidBody::Fixed
    } else {
        RigidBody::Dynamic
    }
}

/// The component of molecules in a compartment.
fn in_compartment(compartment: Entity, confinement: Confinement) -> InCompartment {
    let at = |region, depth| InCompartment {
        depth: Some(depth),
        ..InCompartment::new(compartment, region)
    };
    let whole = |region, clearance| InCompartment {
        leeway: clearance,
        ..InCompartment::new(compartment, region)
    };
    match confinement {
        Confinement::Inside { distance } => at(CompartmentRegion::Inside, distance),
        Confinement::Outside { distance } => at(CompartmentRegion::Outside, distance),
        Confinement::WholeInside { clearance } => whole(CompartmentRegion::WholeInside, clearance),
        Confinement::WholeOutside { clearance } => {
            whole(CompartmentRegion::WholeOutside, clearance)
        }
        Confinement::Surface(placement) => {
            let region = match placement.leaflet {
                Leaflet::Outer => CompartmentRegion::OuterLeaflet,
                Leaflet::Inner => CompartmentRegion::InnerLeaflet,
            };
            InCompartment {
                leeway: placement.leeway,
                tilt_leeway: placement.tilt_leeway,
                up: Some(placement.up),
                ..at(region, placement.depth)
            }
        }
    }
}

/// The handle of a template that is equal to `template`, which is added if there is none.
fn template_handle(
    assets: &mut Assets<MoleculeTemplate>,
    template: &MoleculeTemplate,
) -> Handle<MoleculeTemplate> {
    let is_equal = |(id, known): (_, &MoleculeTemplate)| (known == template).then_some(id);
    let equal = assets.iter().find_map(is_equal);
    let handle = equal.and_then(|id| assets.get_strong_handle(id));
    handle.unwrap_or_else(|| assets.add(template.clone()))
}

/// The compartment with this surface; none if its pose is unknown.
fn from_surface(surface: &Arc<dyn Surface>) -> Option<(Compartment, Transform)> {
    if let Some((center, radius)) = surface.as_sphere() {
        let shell = Compartment::SphereShell { radius };
        return Some((shell, Transform::from_translation(center)));
    }
    if let Some((shape, pose)) = surface.as_shape() {
        let shape = Compartment::Shape(ParryShape(shape.clone()));
        return Some((shape, to_transform(&pose)));
    }
    let shape = Compartment::Surface(SharedSurface(surface.clone()));
    Some((shape, to_transform(&surface.pose()?)))
}

fn to_transform(pose: &Pose) -> Transform {
    Transform::from_translation(pose.position).with_rotation(pose.rotation)
}

impl Crowd {
    /// The crowd of these `molecules`, in their order, at their current poses. Molecules of one
    /// file share a template. Those with an [`InCompartment`] are placed in its region, and those
    /// with a [`RigidBody::Fixed`] are fixed. [`MoleculeJoint`]s between them are joints of the crowd,
    /// in the order of their first molecules; [`StickJoint`](super::StickJoint)s are not.
    ///
    /// The inverse of [`SpawnCrowd::spawn_crowd`]: poses, templates and compartments of the
    /// molecules are the same bit for bit until the next step of Rapier, which rounds rotations
    /// when it writes them back. Entities with a parent have their
    /// poses since the last propagation of transforms.
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_rapier_molecules::{plugin::*, prelude::*};
    /// fn relax_again(world: &mut World) -> Result {
    ///     let mut molecules = world.query_filtered::<Entity, With<Molecule>>();
    ///     let molecules: Vec<Entity> = molecules.iter(world).collect();
    ///     let crowd = Crowd::from_world(world, &molecules)?;
    ///     let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
    ///     relaxer.step()?;
    ///     for (entity, member) in molecules.iter().zip(relaxer.crowd().members()) {
    ///         let Pose { position, rotation } = member.pose;
    ///         let transform = Transform::from_translation(position).with_rotation(rotation);
    ///         world.entity_mut(*entity).insert(transform);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`CrowdFromWorldError`] names the first entity that is not a loaded molecule, is not in a
    /// valid compartment, or has an invalid joint.
    pub fn from_world(world: &World, molecules: &[Entity]) -> Result<Self, CrowdFromWorldError> {
        let mut crowd = Self::new();
        let mut templates = HashMap::new();
        let mut compartments = HashMap::new();
        for &molecule in molecules {
            let (Some(Molecule(handle)), Some(pose)) =
                (world.get::<Molecule>(molecule), pose_of(world, molecule))
            else {
                return Err(CrowdFromWorldError::NotAMolecule(molecule));
            };
            let template = match templates.get(&handle.id()) {
                Some(index) => *index,
                None => {
                    let template = template_of(world, molecule, handle);
                    let template = template.ok_or(CrowdFromWorldError::NotLoaded(molecule))?;
                    let index = crowd.add_template(template);
                    templates.insert(handle.id(), index);
                    index
                }
            };
            let placement = match world.get::<InCompartment>(molecule) {
                None => None,
                Some(in_compartment) => {
                    let entity = in_compartment.compartment;
                    let compartment = match compartments.get(&entity) {
                        Some(index) => *index,
                        None => {
                            let surface = surface_of(world, molecule, entity)?;
                            let index = crowd.add_compartment(surface);
                            compartments.insert(entity, index);
                            index
                        }
                    };
                    let template = &crowd.templates()[template as usize];
                    Some(CrowdPlacement {
                        compartment,
                        confinement: in_compartment.confinement(template),
                    })
                }
            };
            let bad_member = |error| CrowdFromWorldError::BadMember { molecule, error };
            let placement = placement.map(|placement| crowd.find_placement(placement));
            let member = CrowdMember {
                template,
                placement: placement.transpose().map_err(bad_member)?,
                pose,
                fixed: world.get::<RigidBody>(molecule) == Some(&RigidBody::Fixed),
            };
            crowd.add_exact_member(member).map_err(bad_member)?;
        }
        add_joints(&mut crowd, world, molecules)?;
        Ok(crowd)
    }
}

/// Adds the joints between `molecules`, which are the members of the crowd.
fn add_joints(
    crowd: &mut Crowd,
    world: &World,
    molecules: &[Entity],
) -> Result<(), CrowdFromWorldError> {
    let indices: EntityHashMap<u32> = molecules.iter().copied().zip(0..).collect();
    for (&molecule, first) in molecules.iter().zip(0..) {
        for (entity, joint) in joints_from(world, molecule) {
            let Some(&second) = indices.get(&joint.b) else {
                continue;
            };
            let added = crowd.add_joint(CrowdJoint {
                members: [first, second],
                frames: joint.frames,
                limits: joint.limits,
            });
            added.map_err(|error| CrowdFromWorldError::BadJoint {
                joint: entity,
                error,
            })?;
        }
    }
    Ok(())
}

/// World pose of an entity.
fn pose_of(world: &World, entity: Entity) -> Option<Pose> {
    let transform = match world.get::<ChildOf>(entity) {
        // Without a parent, the transform is exact and up to date.
        None => *world.get::<Transform>(entity)?,
        Some(_) => world.get::<GlobalTransform>(entity)?.compute_transform(),
    };
    Some(Pose::new(transform.translation, transform.rotation))
}

/// Template of a molecule, if it is loaded.
fn template_of(
    world: &World,
    molecule: Entity,
    handle: &Handle<MoleculeTemplate>,
) -> Option<Arc<MoleculeTemplate>> {
    if let Some(prepared) = world.get::<PreparedMolecule>(molecule) {
        return Some(prepared.template().clone());
    }
    let assets = world.get_resource::<Assets<MoleculeTemplate>>()?;
    assets.get(handle).cloned().map(Arc::new)
}

/// Surface of a compartment in the world frame.
fn surface_of(
    world: &World,
    molecule: Entity,
    compartment: Entity,
) -> Result<Arc<dyn Surface>, CrowdFromWorldError> {
    let missing = CrowdFromWorldError::NoCompartment {
        molecule,
        compartment,
    };
    let Some(pose) = pose_of(world, compartment) else {
        return Err(missing);
    };
    let local = world.get::<Compartment>(compartment);
    let Some(local) = local.and_then(|local| local.local_surface(world, compartment)) else {
        return Err(missing);
    };
    let bad = |error| CrowdFromWorldError::BadCompartment { compartment, error };
    local.with_pose(&pose).map_err(bad)
}
