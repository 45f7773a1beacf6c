//! [`LivePacking`]: a recipe that is packed while it is edited.
//!
//! 1. [`LivePacking::new`] populates a recipe; each [`step`](LivePacking::step) relaxes it by one
//!    iteration, and does nothing once all molecules are at rest.
//! 2. [`apply`](LivePacking::apply) changes numbers, paints, removes, freezes and moves molecules,
//!    and [`start_drag`](LivePacking::start_drag) lets one follow the pointer. All others make
//!    room in the next steps.
//! 3. [`undo`](LivePacking::undo) takes changes back. Molecules that come back have their ids and
//!    poses of before; the others make room again.
//! 4. [`replace_recipe`](LivePacking::replace_recipe) applies the differences of a file that was
//!    edited elsewhere, and [`save`](LivePacking::save) writes one with all molecules in their
//!    places.
//!
//! The same recipe, seed and order of calls give the same bits.
//!
//! # Fibers and rules
//!
//! Links of fibers and molecules that a rule has placed have joints. Their numbers follow from the
//! recipe: [`EntryState::can_set_count`] is false for their entries. Joints go with their molecules
//! and come back with them. A dragged molecule pulls its joined neighbors, and waits for
//! them.
//!
//! # Order of molecules
//!
//! [`molecule_ids`](LivePacking::molecule_ids) has the id of each member of
//! [`crowd`](LivePacking::crowd). Molecules that stay keep their order when others are removed; new
//! ones come last. [`revision`](LivePacking::revision) changes whenever ids, entries or frozen
//! molecules do. Indices of templates, compartments and placements stay the same until
//! [`replace_recipe`](LivePacking::replace_recipe).

mod changes;
mod connections;
mod drag;
mod edit;
mod history;
mod move_all;
mod reload;
mod save;

pub use edit::{Edit, EditError, EditReport, MoleculeId, RecipeChange};

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use glam::Vec3;

use self::drag::Drag;
use self::history::History;
use super::error::RecipeProblem;
use super::population::{Population, RowMaker};
use super::{PackOptions, Recipe, RecipeError, RecipeWarning, populate};
use crate::crowd::Crowd;
use crate::export::TemporaryFile;
use crate::pose::Pose;
use crate::relax::{RelaxStatus, Relaxer};

/// Largest number of steps that can be undone. The oldest are forgotten.
pub const MAX_HISTORY: usize = 100;

/// Largest number of molecules that all steps which can be undone remember. The oldest steps are
/// forgotten.
const MAX_HISTORY_MOLECULES: usize = 1_000_000;

/// A row of the palette: one kind of molecule in one region. Ratios of lipids are entries, too.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EntryState {
    /// Name of the compartment and the region, such as `vesicle.interior`.
    pub region: String,
    /// Name of the object.
    pub object: String,
    /// Name of the entry of the composition, or of the object.
    pub name: String,
    /// Number of molecules now.
    pub count: u32,
    /// Number that the recipe or the last edit of the number asks for. Removed molecules leave it
    /// as it is.
    pub asked: u32,
    /// Whether [`Edit::SetCount`] and [`Edit::Paint`] can change the number: not of links of fibers
    /// and of molecules that a rule places.
    pub can_set_count: bool,
    /// Color of the recipe, red, green and blue from 0 to 1.
    pub color: Option<[f32; 3]>,
}

/// A recipe that is packed while it is edited. See the [module page](self).
///
/// ```
/// use bevy_rapier_molecules::recipe::{Edit, LivePacking, PackOptions, ReadOptions, Recipe};
/// use glam::Vec3;
///
/// let recipe = Recipe::load("assets/recipes/proteins_in_a_box.json", &ReadOptions::default())?;
/// let mut packing = LivePacking::new(recipe, &PackOptions::default())?;
/// let settle = |packing: &mut LivePacking| {
///     while !packing.is_at_rest() && !packing.is_stalled() {
///         packing.step()?;
///     }
///     packing.step()
/// };
/// assert_eq!(settle(&mut packing)?.overlaps, 0);
///
/// // Five more of the first kind of molecules.
/// let count = packing.entries().next().map_or(0, |entry| entry.count);
/// let report = packing.apply(Edit::SetCount { entry: 0, count: count + 5 })?;
/// assert_eq!(report.added.len(), 5);
/// assert_eq!(settle(&mut packing)?.overlaps, 0);
///
/// // One of them follows the pointer.
/// let id = report.added[0];
/// let grabbed = packing.pose_of(id).map_or(Vec3::ZERO, |pose| pose.position);
/// packing.start_drag(id, grabbed)?;
/// packing.drag_to(grabbed * 0.5)?;
/// settle(&mut packing)?;
/// packing.end_drag()?;
///
/// // Back to the recipe as it was.
/// assert!(packing.undo()? && packing.undo()?);
/// assert_eq!(packing.entries().next().map(|entry| entry.count), Some(count));
/// let file = packing.save()?;
/// assert!(file["bevy_rapier_molecules"]["placements"].is_array());
/// # Ok::<(), bevy_rapier_molecules::recipe::RecipeError>(())
/// ```
pub struct LivePacking {
    recipe: Recipe,
    options: PackOptions,
    seed: u64,
    relaxer: Relaxer,
    /// How more molecules of each entry are made.
    makers: Vec<RowMaker>,
    /// The id of each member of the crowd.
    ids: Vec<MoleculeId>,
    /// The entry of each member of the crowd.
    rows: Vec<u32>,
    /// The member with an id.
    index: HashMap<MoleculeId, u32>,
    entries: Vec<EntryState>,
    /// Number of molecules of each entry in the population of the recipe.
    populated: Vec<u32>,
    warnings: Vec<RecipeWarning>,
    next_id: u64,
    /// Number of edits that drew random numbers.
    draws: u64,
    revision: u64,
    drag: Option<Drag>,
    history: History,
}

impl LivePacking {
    /// Fills a recipe with molecules, not yet relaxed.
    ///
    /// # Errors
    /// [`RecipeError`] if a molecule cannot be placed.
    pub fn new(recipe: Recipe, options: &PackOptions) -> Result<Self, RecipeError> {
        let population = populate(&recipe, options.seed)?;
        Self::from_population(recipe, population, options, 0)
    }

    /// A packing of a population whose molecules get ids from `first_id`.
    fn from_population(
        recipe: Recipe,
        population: Population,
        options: &PackOptions,
        first_id: u64,
    ) -> Result<Self, RecipeError> {
        let Population {
            crowd,
            seed,
            rows,
            report,
            warnings,
            makers,
        } = population;
        let failed = |error| RecipeProblem::Relax(error).at(&recipe.source, "");
        let relaxer = Relaxer::with_fixed_overlaps(crowd, options.relax).map_err(failed)?;
        let next_id = first_id + rows.len() as u64;
        let kinds = recipe.rows();
        let entries = report
            .entries
            .iter()
            .zip(&kinds)
            .map(|(entry, kind)| EntryState {
                region: entry.region.clone(),
                object: entry.object.clone(),
                name: entry.name.clone(),
                count: entry.placed,
                asked: entry.asked.unwrap_or(entry.placed),
                can_set_count: !kind
                    .entry
                    .is_some_and(|entry| recipe.entries[entry].is_bound()),
                color: recipe.ingredients[kind.ingredient].color,
            });
        let mut packing = Self {
            entries: entries.collect(),
            populated: report.entries.iter().map(|entry| entry.placed).collect(),
            warnings: recipe.warnings.iter().cloned().chain(warnings).collect(),
            options: options.clone(),
            seed,
            relaxer,
            makers,
            ids: (first_id..next_id).map(MoleculeId).collect(),
            rows,
            index: HashMap::new(),
            next_id,
            draws: 0,
            revision: 0,
            drag: None,
            history: History::default(),
            recipe,
        };
        packing.recount();
        Ok(packing)
    }

    /// Runs one iteration; nothing if all molecules are at rest.
    ///
    /// # Errors
    /// [`RecipeError`] if the iteration fails. The molecules stay where they are then.
    pub fn step(&mut self) -> Result<RelaxStatus, RecipeError> {
        if let Some(dragged) = self.next_pulled() {
            return self.step_dragging(dragged);
        }
        let mut status = self.status();
        if !status.is_at_rest() {
            let failed = |error| RecipeProblem::Relax(error).at(&self.recipe.source, "");
            status = self.relaxer.step().map_err(failed)?;
        }
        if status.is_at_rest() {
            // What an edit moves from now on is only a part of the molecules.
            self.relaxer.set_local_motion(true);
        }
        Ok(status)
    }

    /// Overlaps and molecules that are out of place, at the current poses.
    #[must_use]
    pub fn status(&self) -> RelaxStatus {
        self.relaxer.status()
    }

    /// Whether no step would move anything: no overlaps, all molecules in their places, and no
    /// drag that has not reached the pointer.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.status().is_at_rest() && self.next_dragged().is_none()
    }

    /// Whether the last steps brought no progress. The molecules may not fit.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.relaxer.is_stalled()
    }

    /// Number of iterations.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.relaxer.iterations()
    }

    /// The molecules at their current poses.
    #[must_use]
    pub fn crowd(&self) -> &Crowd {
        self.relaxer.crowd()
    }

    /// The recipe as it was read. It does not have the edits; [`save`](Self::save) has.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Seed of the random choices.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What may surprise, of the recipe and of its population.
    #[must_use]
    pub fn warnings(&self) -> &[RecipeWarning] {
        &self.warnings
    }

    /// A number that changes whenever ids, entries or frozen molecules do.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The entries: those of the recipe, then the ratios of the leaflets.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &EntryState> {
        self.entries.iter()
    }

    /// The id of each member of the crowd.
    #[must_use]
    pub fn molecule_ids(&self) -> &[MoleculeId] {
        &self.ids
    }

    /// The entry of each member of the crowd, an index of [`entries`](Self::entries).
    #[must_use]
    pub fn molecule_entries(&self) -> &[u32] {
        &self.rows
    }

    /// Index of a molecule in the crowd; none if it is gone.
    #[must_use]
    pub fn index_of(&self, id: MoleculeId) -> Option<usize> {
        self.index.get(&id).map(|index| *index as usize)
    }

    /// The entry of a molecule, an index of [`entries`](Self::entries); none if it is gone.
    #[must_use]
    pub fn entry_of(&self, id: MoleculeId) -> Option<usize> {
        Some(self.rows[self.index_of(id)?] as usize)
    }

    /// The pose of a molecule, nm; none if it is gone.
    #[must_use]
    pub fn pose_of(&self, id: MoleculeId) -> Option<Pose> {
        Some(self.crowd().members()[self.index_of(id)?].pose)
    }

    /// Whether a molecule is frozen; false if it is gone.
    #[must_use]
    pub fn is_frozen(&self, id: MoleculeId) -> bool {
        self.index_of(id)
            .is_some_and(|index| self.is_frozen_at(index))
    }

    /// Whether a member of the crowd is frozen, and not only held by a drag.
    fn is_frozen_at(&self, index: usize) -> bool {
        match &self.drag {
            Some(drag) if drag.id == self.ids[index] => drag.was_frozen,
            _ => self.crowd().members()[index].fixed,
        }
    }

    /// Changes the molecules. Each edit that changes something is one step of the history.
    ///
    /// # Errors
    /// [`RecipeError`] if an entry or a molecule does not exist, or a molecule cannot be placed;
    /// nothing has changed then.
    pub fn apply(&mut self, edit: Edit) -> Result<EditReport, RecipeError> {
        self.end_drag()?;
        let mut change = self.change_of(edit)?;
        if change.is_empty() {
            return Ok(EditReport::default());
        }
        self.make(&mut change)?;
        let ids = |molecules: &[history::Molecule]| molecules.iter().map(|m| m.id).collect();
        let moved = change.poses.iter().map(|changed| changed.of);
        let frozen = change.frozen.iter().map(|changed| changed.of);
        let report = EditReport {
            added: ids(&change.added),
            removed: ids(&change.removed),
            changed: moved.chain(frozen).collect(),
        };
        self.history.push(change);
        Ok(report)
    }

    /// Grabs a molecule at a world point, nm. It follows [`drag_to`](Self::drag_to) in the next
    /// steps, a limited distance in each, and does not turn; the others give way. Molecules that
    /// are joined to it follow. It waits while they cannot. A drag that is under way ends.
    ///
    /// # Errors
    /// [`RecipeError`] if the molecule does not exist or the point is not finite.
    pub fn start_drag(&mut self, id: MoleculeId, grabbed: Vec3) -> Result<(), RecipeError> {
        self.grab(id, grabbed)
    }

    /// Sets the world point, nm, to which the grabbed point moves. Nothing without a drag.
    ///
    /// # Errors
    /// [`RecipeError`] if the point is not finite.
    pub fn drag_to(&mut self, point: Vec3) -> Result<(), RecipeError> {
        self.set_target(point)
    }

    /// Lets the dragged molecule go. It is one step of the history if the molecule has moved. It
    /// returns to its region if it has left it, unless it is frozen.
    ///
    /// # Errors
    /// [`RecipeError`] if the overlaps cannot be searched.
    pub fn end_drag(&mut self) -> Result<(), RecipeError> {
        self.release()
    }

    /// The molecule that is dragged.
    #[must_use]
    pub fn dragged(&self) -> Option<MoleculeId> {
        self.drag.as_ref().map(|drag| drag.id)
    }

    /// Takes the last step of the history back; false if there is none. A drag under way ends
    /// first.
    ///
    /// # Errors
    /// [`RecipeError`] if the overlaps cannot be searched; nothing has changed then.
    pub fn undo(&mut self) -> Result<bool, RecipeError> {
        self.end_drag()?;
        let Some(mut change) = self.history.to_undo().map(history::Change::reversed) else {
            return Ok(false);
        };
        self.make(&mut change)?;
        self.history.undone(change.reversed());
        Ok(true)
    }

    /// Repeats the step that was undone last; false if there is none.
    ///
    /// # Errors
    /// As [`undo`](Self::undo).
    pub fn redo(&mut self) -> Result<bool, RecipeError> {
        self.end_drag()?;
        let Some(mut change) = self.history.to_redo().cloned() else {
            return Ok(false);
        };
        self.make(&mut change)?;
        self.history.redone(change);
        Ok(true)
    }

    /// Whether there is a step to undo.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        self.history.to_undo().is_some()
    }

    /// Whether there is a step to repeat.
    #[must_use]
    pub fn can_redo(&self) -> bool {
        self.history.to_redo().is_some()
    }

    /// Replaces the recipe, for instance after its file was edited elsewhere.
    ///
    /// A drag under way ends. Entries are matched by the names of compartment, region, object and
    /// entry. Their molecules stay where they are; a number that changed in the recipe adds or removes
    /// some of them, and otherwise the current number stays. Fibers are all placed again if their entry
    /// changed, and so are molecules with a rule, together with those that the rule refers to, if one
    /// of these entries changed. If the box, the tolerance or the shape of a compartment changed, all
    /// molecules are placed again. The history is cleared.
    ///
    /// # Errors
    /// [`RecipeError`] if the recipe cannot be populated; nothing has changed then.
    pub fn replace_recipe(&mut self, recipe: Recipe) -> Result<RecipeChange, RecipeError> {
        self.end_drag()?;
        let (mut packing, change) = self.with_recipe(recipe)?;
        packing.revision = self.revision + 1;
        *self = packing;
        Ok(change)
    }

    /// The recipe file of cellPACK with the current numbers, and all molecules at their places in
    /// the block `bevy_rapier_molecules`. Reading it gives the same molecules and joints, bit for bit.
    ///
    /// # Errors
    /// [`RecipeError`] if the recipe is not one of cellPACK.
    pub fn save(&self) -> Result<serde_json::Value, RecipeError> {
        self.document()
    }

    /// Writes [`save`](Self::save) to a file. It is complete or as it was before: a new file
    /// next to it replaces it.
    ///
    /// # Errors
    /// [`RecipeError`] if the recipe is not one of cellPACK, or the file cannot be written.
    pub fn save_to(&self, path: impl AsRef<Path>) -> Result<(), RecipeError> {
        let path = path.as_ref();
        let document = self.save()?;
        let written = || {
            let mut temporary = TemporaryFile::create(path)?;
            writeln!(temporary.file, "{document:#}")?;
            temporary.rename_to(path)
        };
        written().map_err(|error| RecipeProblem::Write(error).at(&path.to_string_lossy(), ""))
    }
}
