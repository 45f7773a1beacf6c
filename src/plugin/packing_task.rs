//! [`PackingTask`]: packs a recipe in the background, around the molecules that are there.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::tasks::{AsyncComputeTaskPool, Task, TaskPool};

use super::molecule_joint::MoleculeJoint;
use super::spawn_crowd::CrowdEntities;
use crate::crowd::{Crowd, CrowdMember};
use crate::pose::Pose;
use crate::recipe::{EntryReport, Population, Recipe, RecipeError, populate, relax};
use crate::relax::{RelaxConfig, RelaxStatus};

/// The molecules of a recipe, and what is needed to match them with those of another recipe.
#[derive(Clone, Debug, Component)]
pub(super) struct PackedScene {
    /// Empty before they are spawned.
    pub entities: CrowdEntities,
    /// The joints as they were spawned, with their entities.
    pub joints: Vec<(Entity, MoleculeJoint)>,
    /// In the frame of the recipe. Without joints in a scene [at other poses](Self::at_poses).
    pub crowd: Crowd,
    /// Pose of that frame in the world.
    pub frame: Pose,
    /// Row of each molecule: a kind of molecule in a region.
    rows: Vec<u32>,
    /// Name of each row.
    names: Vec<RowName>,
    /// Color of each row, if the recipe has one.
    #[cfg(feature = "draw")]
    colors: Vec<Option<[f32; 3]>>,
    /// Bits of the positions that the recipe gives.
    given: HashSet<[u32; 3]>,
}

/// Region, object and entry.
type RowName = (String, String, String);

impl PackedScene {
    /// A scene without molecules.
    pub fn empty(frame: Pose) -> Self {
        Self {
            entities: CrowdEntities::default(),
            joints: Vec::new(),
            crowd: Crowd::new(),
            frame,
            rows: Vec::new(),
            names: Vec::new(),
            #[cfg(feature = "draw")]
            colors: Vec::new(),
            given: HashSet::default(),
        }
    }

    /// The scene of a recipe, without its molecules.
    fn new(recipe: &Recipe, population: &Population, frame: Pose) -> Self {
        let rows = population.report.entries.iter();
        let name = |row: &EntryReport| (row.region.clone(), row.object.clone(), row.name.clone());
        let places = recipe.entries.iter().flat_map(|entry| &entry.places);
        #[cfg(feature = "draw")]
        let color = |row: &EntryReport| {
            let mut ingredients = recipe.ingredients.iter();
            ingredients.find(|known| known.name == row.object)?.color
        };
        Self {
            rows: population.rows.clone(),
            #[cfg(feature = "draw")]
            colors: rows.clone().map(color).collect(),
            names: rows.map(name).collect(),
            given: places.map(|place| bits(place.position)).collect(),
            ..Self::empty(frame)
        }
    }

    /// A molecule with its pose in the world.
    pub fn member_in_world(&self, molecule: usize) -> CrowdMember {
        let member = self.crowd.members()[molecule];
        let pose = if self.frame == Pose::IDENTITY {
            member.pose
        } else {
            self.frame * member.pose
        };
        CrowdMember { pose, ..member }
    }

    /// The scene with the current poses of its molecules, without those that have none.
    pub fn at_poses<'w>(&self, pose: impl Fn(Entity) -> Option<&'w Transform>) -> Self {
        let mut scene = Self {
            entities: CrowdEntities {
                molecules: Vec::new(),
                ..self.entities.clone()
            },
            crowd: self.crowd.without_members(),
            rows: Vec::new(),
            ..self.clone()
        };
        let molecules = self.crowd.members().iter().zip(&self.entities.molecules);
        for ((member, entity), row) in molecules.zip(&self.rows) {
            let Some(transform) = pose(*entity) else {
                continue;
            };
            let mut pose = Pose::new(transform.translation, transform.rotation);
            if self.frame != Pose::IDENTITY {
                let to_recipe = self.frame.rotation.inverse();
                let position = self.frame.inverse_transform_point(pose.position);
                pose = Pose::new(position, (to_recipe * pose.rotation).normalize());
            }
            let member = CrowdMember { pose, ..*member };
            if scene.crowd.add_exact_member(member).is_ok() {
                scene.entities.molecules.push(*entity);
                scene.rows.push(*row);
            }
        }
        scene
    }

    /// The color of a molecule, if the recipe has one.
    #[cfg(feature = "draw")]
    pub fn color(&self, molecule: usize) -> Option<[f32; 3]> {
        self.colors[self.rows[molecule] as usize]
    }

    /// Places the molecules of a population, which are to become the scene `next`, where those of
    /// this scene are, and returns which of them each is.
    fn continue_in(&self, next: &Self, population: &mut Population) -> Vec<Option<usize>> {
        let mut by_name: HashMap<&RowName, Vec<usize>> = HashMap::new();
        for (index, row) in self.rows.iter().enumerate().rev() {
            let same = by_name.entry(&self.names[*row as usize]).or_default();
            same.push(index);
        }
        let mut kinds = Kinds::new(&self.crowd, &population.crowd);
        let mut kept = Vec::with_capacity(next.rows.len());
        for (member, row) in next.rows.iter().enumerate() {
            let same = by_name.get_mut(&next.names[*row as usize]);
            let index = same.and_then(Vec::pop);
            if let Some(index) = index {
                let old = &self.crowd.members()[index];
                let new = population.crowd.members()[member];
                let place = bits(new.pose.position);
                let is_moved = next.given.contains(&place) && !self.given.contains(&place);
                let mut same = kinds.same_kind(old, new, &population.crowd);
                if !(is_moved || new.fixed) {
                    same.pose = old.pose;
                }
                population.crowd.members_mut()[member] = same;
            }
            kept.push(index);
        }
        kept
    }
}

fn bits(position: Vec3) -> [u32; 3] {
    position.to_array().map(f32::to_bits)
}

/// Finds the templates and placements of an old crowd in a new one, so that a lipid keeps its
/// conformer.
struct Kinds<'a> {
    old: &'a Crowd,
    /// Template of the new crowd that equals each of the old one.
    templates: Vec<Option<u32>>,
    /// Placement of the new crowd that equals one of the old one, in a compartment.
    placements: HashMap<(u32, u32), Option<u32>>,
}

impl<'a> Kinds<'a> {
    fn new(old: &'a Crowd, new: &Crowd) -> Self {
        let same = |template: &Arc<_>| {
            let index = new.templates().iter().position(|known| known == template)?;
            u32::try_from(index).ok()
        };
        Self {
            templates: old.templates().iter().map(same).collect(),
            placements: HashMap::new(),
            old,
        }
    }

    /// The new member with the template and the placement of the old one, if they exist.
    fn same_kind(&mut self, old: &CrowdMember, new: CrowdMember, crowd: &Crowd) -> CrowdMember {
        let Some(template) = self.templates[old.template as usize] else {
            return new;
        };
        let (Some(was), Some(is)) = (old.placement, new.placement) else {
            return CrowdMember { template, ..new };
        };
        let compartment = crowd.placements()[is as usize].compartment;
        let confinement = self.old.placements()[was as usize].confinement;
        let find = || {
            let mut placements = crowd.placements().iter();
            let same = placements
                .position(|it| it.compartment == compartment && it.confinement == confinement);
            u32::try_from(same?).ok()
        };
        let placement = *self
            .placements
            .entry((was, compartment))
            .or_insert_with(find);
        match placement {
            Some(_) => CrowdMember {
                template,
                placement,
                ..new
            },
            None => new,
        }
    }
}

/// What a [`PackingTask`] has done.
#[derive(Debug)]
pub(super) struct PackingResult {
    /// The new scene, without entities.
    pub scene: PackedScene,
    /// The scene before.
    pub old: PackedScene,
    /// Index in the old scene of each molecule that was there already.
    pub kept: Vec<Option<usize>>,
    /// Whether all molecules are in their places and none overlap.
    pub complete: bool,
}

/// A background task that packs a recipe. It ends when this component is dropped.
#[derive(Component)]
pub(super) struct PackingTask {
    pub task: Task<Result<PackingResult, RecipeError>>,
    shared: Arc<Shared>,
}

/// What the task and the app share.
#[derive(Debug, Default)]
struct Shared {
    is_cancelled: AtomicBool,
    /// Number of iterations, and the status after them.
    progress: Mutex<(u32, RelaxStatus)>,
}

impl PackingTask {
    /// Packs a recipe around the molecules of a scene.
    pub fn start(recipe: Recipe, old: PackedScene) -> Self {
        let shared = Arc::new(Shared::default());
        let in_task = shared.clone();
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::default);
        let task = pool.spawn(async move { pack_around(&recipe, old, &in_task) });
        Self { task, shared }
    }

    /// Number of iterations, and the status after them.
    pub fn progress(&self) -> (u32, RelaxStatus) {
        let progress = self.shared.progress.lock();
        *progress.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PackingTask {
    fn drop(&mut self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }
}

fn pack_around(
    recipe: &Recipe,
    old: PackedScene,
    shared: &Shared,
) -> Result<PackingResult, RecipeError> {
    let mut population = populate(recipe, None)?;
    let mut scene = PackedScene::new(recipe, &population, old.frame);
    let kept = old.continue_in(&scene, &mut population);
    let packing = relax(recipe, population, RelaxConfig::default(), |relaxer| {
        let progress = (relaxer.iterations(), relaxer.status());
        *shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = progress;
        if shared.is_cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let source = &recipe.source;
    // The loader has reported those of the recipe.
    for warning in packing.warnings.iter().skip(recipe.warnings.len()) {
        warn!("{source}: {warning}");
    }
    let complete = packing.is_complete();
    if !complete && !shared.is_cancelled.load(Ordering::Relaxed) {
        warn!("{source}: {packing}");
    }
    scene.crowd = packing.crowd;
    Ok(PackingResult {
        scene,
        old,
        kept,
        complete,
    })
}
