//! Extraction of changed instances and of styles to the render world.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bevy::camera::visibility::RenderLayers;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::MainEntity;

use super::culling::{GpuInstance, SetLook};
use super::instanced_molecules::{DrawError, InstancedMolecules, MoleculeInstance, Similarity};
use super::mirrored_list::MirroredList;
use super::palette::{GpuPalette, MoleculePalette};
use super::style::{MoleculeStyle, ViewStyle};
use super::tint::{MoleculeHighlight, MoleculeTint};
use crate::gpu::{DevicePoses, GpuPose};
use crate::molecule::MoleculeTemplate;

/// Where a set of instances comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InstanceSource {
    /// The [`InstancedMolecules`] of an entity.
    Component(Entity),
    /// The molecules of the physics world in these layers.
    Physics(RenderLayers),
}

impl fmt::Display for InstanceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Component(entity) => write!(f, "the instanced molecules of entity {entity}"),
            Self::Physics(_) => write!(f, "the molecules of the physics world"),
        }
    }
}

/// A set of instances in the render world.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtractedInstances {
    pub templates: Vec<Arc<MoleculeTemplate>>,
    /// Number of molecules of each template that [`template_index`](Self::template_index) has
    /// returned.
    molecule_counts: Vec<u32>,
    pub poses: MirroredList<GpuPose>,
    pub instances: MirroredList<GpuInstance>,
    /// From the frame of the instances to the world.
    pub transform: Similarity,
    pub layers: RenderLayers,
    pub look: SetLook,
    /// Poses of the same molecules, in the same order, on a device.
    pub device_poses: Option<DevicePoses>,
    /// Whether the set is drawn in this frame.
    pub visible: bool,
}

impl ExtractedInstances {
    /// Begins again without molecules.
    pub fn restart(&mut self) {
        self.poses.restart();
        self.instances.restart();
        // Templates keep their index, and thereby their color, until one is no longer used.
        if self.molecule_counts.contains(&0) {
            self.templates.clear();
            self.molecule_counts.clear();
        }
        self.molecule_counts.fill(0);
    }

    /// Index of the template of a molecule, which is added if it is new.
    pub fn template_index(&mut self, template: &Arc<MoleculeTemplate>) -> u32 {
        let mut templates = self.templates.iter();
        let known = templates.position(|known| Arc::ptr_eq(known, template));
        let index = known.unwrap_or_else(|| {
            self.templates.push(template.clone());
            self.molecule_counts.push(0);
            self.templates.len() - 1
        });
        self.molecule_counts[index] += 1;
        index as u32
    }

    /// Adds a validated molecule. `number` selects its color among those of its neighbors.
    pub fn push(&mut self, number: u32, molecule: &MoleculeInstance) {
        let colliding = if molecule.colliding {
            GpuInstance::COLLIDING
        } else {
            0
        };
        self.poses.push(molecule.pose.into());
        self.instances.push(GpuInstance {
            number,
            template_and_state: molecule.template | colliding,
            group: molecule.group,
            penetration: molecule.penetration,
            tint: molecule.tint.packed_color(),
            highlight: molecule.highlight.map_or(0, |it| it.packed_color()),
            opacity: molecule.tint.valid_opacity(),
        });
    }
}

/// All sets of instances. Sets whose source is gone are removed.
#[derive(Debug, Default, Resource)]
pub struct ExtractedInstanceSets(pub(crate) BTreeMap<InstanceSource, ExtractedInstances>);

impl ExtractedInstanceSets {
    /// Number of sets, for tests.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// The style of each view, and the palette.
#[derive(Debug, Resource)]
pub(super) struct ExtractedStyles {
    global: MoleculeStyle,
    views: HashMap<MainEntity, MoleculeStyle>,
    pub palette: MoleculePalette,
    /// The same palette, as the shader reads it.
    pub gpu_palette: GpuPalette,
}

impl Default for ExtractedStyles {
    fn default() -> Self {
        let palette = MoleculePalette::default();
        Self {
            global: MoleculeStyle::default(),
            views: HashMap::default(),
            gpu_palette: GpuPalette::new(&palette),
            palette,
        }
    }
}

impl ExtractedStyles {
    pub fn of(&self, view: MainEntity) -> &MoleculeStyle {
        self.views.get(&view).unwrap_or(&self.global)
    }

    /// Numbers of proxies that some view shows, ascending.
    pub fn proxy_counts(&self) -> Vec<u32> {
        let styles = self.views.values().chain([&self.global]);
        let counts = styles.filter_map(|style| style.proxies.map(|proxies| proxies.count));
        let mut counts: Vec<u32> = counts.collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }
}

/// Extracts changed [`InstancedMolecules`].
pub(super) fn extract_instances(
    mut extracted: ResMut<ExtractedInstanceSets>,
    entities: Extract<
        Query<(
            Entity,
            Ref<InstancedMolecules>,
            &GlobalTransform,
            &InheritedVisibility,
            Option<&RenderLayers>,
            Option<&MoleculeTint>,
            Option<&MoleculeHighlight>,
        )>,
    >,
    mut reported: Local<HashSet<Entity>>,
) {
    extracted.0.retain(|source, _| match source {
        InstanceSource::Component(entity) => entities.contains(*entity),
        InstanceSource::Physics(_) => true,
    });
    reported.retain(|entity| entities.contains(*entity));
    for (entity, molecules, transform, visibility, layers, tint, highlight) in &entities {
        let source = InstanceSource::Component(entity);
        let new = !extracted.0.contains_key(&source);
        let set = extracted.0.entry(source).or_default();
        let mut first_error = None;
        match Similarity::of(transform) {
            Ok(transform) => {
                set.transform = transform;
                set.visible = visibility.get();
            }
            Err(error) => {
                set.visible = false;
                first_error = Some(error);
            }
        }
        set.layers = layers.cloned().unwrap_or_default();
        set.look = SetLook {
            opacity: tint.map_or(1.0, MoleculeTint::valid_opacity),
            tint: tint.map_or(0, MoleculeTint::packed_color),
            highlight: highlight.map_or(0, MoleculeHighlight::packed_color),
        };
        if new || molecules.is_changed() {
            first_error = copy_molecules(set, &molecules).or(first_error);
        } else if reported.contains(&entity) {
            continue;
        }
        match first_error {
            Some(error) if reported.insert(entity) => {
                error!("some instanced molecules of entity {entity} are not drawn: {error}");
            }
            Some(_) => {}
            None => {
                reported.remove(&entity);
            }
        }
    }
}

/// Copies the valid molecules; returns the error of the first invalid one.
fn copy_molecules(set: &mut ExtractedInstances, source: &InstancedMolecules) -> Option<DrawError> {
    set.restart();
    set.templates.clone_from(&source.templates);
    set.device_poses.clone_from(&source.device_poses);
    let mut first_error = None;
    if let Some(poses) = &source.device_poses {
        let order = poses.order();
        let is_valid = |&index: &u32| source.check_molecule(index as usize).is_ok();
        if order.len() == source.molecules.len() && order.iter().all(is_valid) {
            for &index in order {
                set.push(index, &source.molecules[index as usize]);
            }
            return None;
        }
        set.device_poses = None;
        first_error = Some(DrawError::PoseCountMismatch {
            molecules: source.molecules.len(),
            poses: order.len(),
        });
    }
    for (index, molecule) in source.molecules.iter().enumerate() {
        match source.check_molecule(index) {
            Ok(()) => set.push(index as u32, molecule),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    first_error
}

/// Extracts the global style, those of cameras, and the palette.
pub(super) fn extract_styles(
    mut styles: ResMut<ExtractedStyles>,
    global: Extract<Option<Res<MoleculeStyle>>>,
    views: Extract<Query<(Entity, &ViewStyle)>>,
    palette: Extract<Option<Res<MoleculePalette>>>,
) {
    let default_palette = MoleculePalette::default;
    match palette.as_deref() {
        Some(palette) if *palette == styles.palette => {}
        palette => {
            let palette = palette.cloned().unwrap_or_else(default_palette);
            styles.gpu_palette = GpuPalette::new(&palette);
            styles.palette = palette;
        }
    }
    let global = global.as_deref().cloned().unwrap_or_default();
    styles.global = global.sanitized();
    styles.views.clear();
    let views = views.iter();
    let views = views.map(|(view, style)| (MainEntity::from(view), style.0.clone().sanitized()));
    styles.views.extend(views);
}
