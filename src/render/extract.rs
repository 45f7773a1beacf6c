//! From the app's world to the renderer's: crowds that have changed, and looks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bevy::camera::visibility::RenderLayers;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::MainEntity;

use super::culling::GpuInstance;
use super::instanced_molecules::{DrawError, InstancedMolecules, MoleculeInstance, Similarity};
use super::style::{MoleculeStyle, ViewStyle, fraction};
use crate::gpu::{DevicePoses, GpuPose};
use crate::molecule::MoleculeTemplate;

/// Which crowd it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum InstanceSource {
    /// The crowd of an entity.
    Component(Entity),
    /// Molecules of the physics world, by what cameras see them.
    Physics(u32),
}

impl fmt::Display for InstanceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Component(entity) => write!(f, "the crowd {entity}"),
            Self::Physics(_) => write!(f, "the molecules of the physics world"),
        }
    }
}

/// A crowd as the renderer has it.
#[derive(Clone, Debug)]
pub(crate) struct ExtractedInstances {
    pub templates: Vec<Arc<MoleculeTemplate>>,
    pub poses: Vec<GpuPose>,
    pub traits: Vec<GpuInstance>,
    pub place: Similarity,
    pub layers: RenderLayers,
    /// From 0 to 1.
    pub opacity: f32,
    /// Poses of the same molecules, in the same order, on a device.
    pub device_poses: Option<DevicePoses>,
    /// Whether templates, poses or traits have changed since they were last sent.
    pub changed: bool,
    /// Whether it is to be drawn in this frame.
    pub visible: bool,
}

impl Default for ExtractedInstances {
    fn default() -> Self {
        Self {
            templates: Vec::new(),
            poses: Vec::new(),
            traits: Vec::new(),
            place: Similarity::IDENTITY,
            layers: RenderLayers::default(),
            opacity: 1.0,
            device_poses: None,
            changed: false,
            visible: false,
        }
    }
}

impl ExtractedInstances {
    /// Forgets its molecules; they are about to be pushed again.
    pub fn restart(&mut self) {
        self.poses.clear();
        self.traits.clear();
        self.changed = true;
    }

    /// Index of a template, which is added if it is new.
    pub fn template_number(&mut self, template: &Arc<MoleculeTemplate>) -> u32 {
        let same = |known: &Arc<MoleculeTemplate>| Arc::ptr_eq(known, template);
        let known = self.templates.iter().position(same);
        known.unwrap_or_else(|| {
            self.templates.push(template.clone());
            self.templates.len() - 1
        }) as u32
    }

    /// Adds a molecule, which has been checked. `number` tells it from its neighbors.
    pub fn push(&mut self, number: u32, molecule: &MoleculeInstance) {
        let state = if molecule.colliding {
            GpuInstance::COLLIDES
        } else {
            0
        };
        self.poses.push(molecule.pose.into());
        self.traits.push(GpuInstance {
            number,
            template_and_state: molecule.template | state,
            group: molecule.group,
            penetration: molecule.penetration,
        });
    }
}

/// All crowds of the app.
#[derive(Debug, Default, Resource)]
pub(crate) struct ExtractedInstanceSets(pub BTreeMap<InstanceSource, ExtractedInstances>);

/// How molecules look in each view.
#[derive(Debug, Default, Resource)]
pub(super) struct ExtractedStyles {
    common: MoleculeStyle,
    views: HashMap<MainEntity, MoleculeStyle>,
}

impl ExtractedStyles {
    pub fn of(&self, view: MainEntity) -> &MoleculeStyle {
        self.views.get(&view).unwrap_or(&self.common)
    }

    /// Numbers of proxies that some view may show, ascending.
    pub fn proxy_counts(&self) -> Vec<u32> {
        let looks = self.views.values().chain([&self.common]);
        let counts = looks.filter_map(|look| look.proxies.map(|proxies| proxies.count));
        let mut counts: Vec<u32> = counts.collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }
}

/// Takes over crowds that have changed.
pub(super) fn extract_instances(
    mut extracted: ResMut<ExtractedInstanceSets>,
    crowds: Extract<
        Query<(
            Entity,
            Ref<InstancedMolecules>,
            &GlobalTransform,
            &InheritedVisibility,
            Option<&RenderLayers>,
        )>,
    >,
    mut complaints: Local<HashSet<Entity>>,
) {
    let known = |key: &InstanceSource| match key {
        InstanceSource::Component(entity) => crowds.contains(*entity),
        InstanceSource::Physics(_) => true,
    };
    extracted.0.retain(|key, _| known(key));
    complaints.retain(|entity| crowds.contains(*entity));
    for (entity, crowd, transform, visibility, layers) in &crowds {
        let key = InstanceSource::Component(entity);
        let new = !extracted.0.contains_key(&key);
        let copy = extracted.0.entry(key).or_default();
        let mut fault = None;
        match Similarity::of(transform) {
            Ok(place) => {
                copy.place = place;
                copy.visible = visibility.get();
            }
            Err(error) => {
                copy.visible = false;
                fault = Some(error);
            }
        }
        copy.layers = layers.cloned().unwrap_or_default();
        copy.opacity = fraction(crowd.opacity);
        if new || crowd.is_changed() {
            fault = copy_molecules(copy, &crowd).or(fault);
        } else if complaints.contains(&entity) {
            // Nothing new to say.
            continue;
        }
        match fault {
            Some(error) if complaints.insert(entity) => {
                error!("not all of the crowd {entity} can be drawn: {error}");
            }
            Some(_) => {}
            None => {
                complaints.remove(&entity);
            }
        }
    }
}

/// Copies the molecules that can be drawn; tells the first that cannot.
fn copy_molecules(copy: &mut ExtractedInstances, crowd: &InstancedMolecules) -> Option<DrawError> {
    copy.restart();
    copy.templates.clone_from(&crowd.templates);
    let mut fault = None;
    copy.device_poses.clone_from(&crowd.device_poses);
    if let Some(poses) = &crowd.device_poses {
        let order = poses.order();
        let known = |&index: &u32| crowd.check_molecule(index as usize).is_ok();
        if order.len() == crowd.molecules.len() && order.iter().all(known) {
            for &index in order {
                copy.push(index, &crowd.molecules[index as usize]);
            }
            return None;
        }
        copy.device_poses = None;
        fault = Some(DrawError::WrongPoses {
            molecules: crowd.molecules.len(),
            poses: order.len(),
        });
    }
    for (index, molecule) in crowd.molecules.iter().enumerate() {
        match crowd.check_molecule(index) {
            Ok(()) => copy.push(index as u32, molecule),
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    fault
}

pub(super) fn extract_styles(
    mut looks: ResMut<ExtractedStyles>,
    common: Extract<Option<Res<MoleculeStyle>>>,
    views: Extract<Query<(Entity, &ViewStyle)>>,
) {
    let common = common.as_deref().cloned().unwrap_or_default();
    looks.common = common.sane();
    looks.views.clear();
    let views = views.iter();
    let views = views.map(|(view, look)| (MainEntity::from(view), look.0.clone().sane()));
    looks.views.extend(views);
}
