//! From an [`Edit`] to a change of the molecules.

use std::cmp::Reverse;
use std::collections::HashSet;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::history::{Change, Changed, Molecule};
use super::{Edit, EditError, LivePacking, MoleculeId};
use crate::pose::Pose;
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;
use crate::recipe::population::{
    Brush, MAX_MOLECULES, Surroundings, radii_of_templates, scatter_around,
};
use crate::relax::CrowdEdit;

impl LivePacking {
    /// The change that an edit asks for.
    pub(super) fn change_of(&mut self, edit: Edit) -> Result<Change, RecipeError> {
        match edit {
            Edit::SetCount { entry, count } => self.set_count(entry, count),
            Edit::Paint {
                entry,
                center,
                radius,
                count,
            } => self.paint(entry, Brush { center, radius }, count),
            Edit::Remove(ids) => self.remove(&ids),
            Edit::Freeze { ids, frozen } => self.freeze(&ids, frozen),
            Edit::Move { id, pose } => self.move_to(id, pose),
        }
    }

    pub(super) fn set_count(&mut self, entry: usize, count: u32) -> Result<Change, RecipeError> {
        let EntryNumbers { now, asked } = self.numbers(entry)?;
        self.check_unbound(entry)?;
        let mut change = Change::default();
        if asked != count {
            change.asked = Some(Changed {
                of: entry,
                before: asked,
                after: count,
            });
        }
        if count > now {
            change.added = self.draw(entry, count - now, None)?;
        } else {
            let molecules = self.rows.iter().zip(0..);
            let mut own: Vec<usize> = molecules
                .filter_map(|(row, index)| (*row as usize == entry).then_some(index))
                .collect();
            let members = self.crowd().members();
            own.sort_by_key(|&index| (members[index].fixed, Reverse(self.ids[index])));
            own.truncate((now - count) as usize);
            change.removed = own.into_iter().map(|index| self.molecule(index)).collect();
        }
        Ok(change)
    }

    fn paint(&mut self, entry: usize, brush: Brush, count: u32) -> Result<Change, RecipeError> {
        self.numbers(entry)?;
        self.check_unbound(entry)?;
        let Brush { center, radius } = brush;
        if !(center.is_finite() && radius.is_finite() && radius > 0.0) {
            return Err(self.error(EditError::BadBrush { center, radius }));
        }
        Ok(Change {
            added: self.draw(entry, count, Some(brush))?,
            ..Change::default()
        })
    }

    fn remove(&self, ids: &[MoleculeId]) -> Result<Change, RecipeError> {
        let indices = self.with_fibers(self.indices(ids)?);
        let removed = indices.into_iter().map(|index| self.molecule(index));
        Ok(Change {
            removed: removed.collect(),
            ..Change::default()
        })
    }

    fn freeze(&self, ids: &[MoleculeId], frozen: bool) -> Result<Change, RecipeError> {
        let members = self.crowd().members();
        let indices = self.indices(ids)?.into_iter();
        let others = indices.filter(|&index| members[index].fixed != frozen);
        let changed = others.map(|index| Changed {
            of: self.ids[index],
            before: !frozen,
            after: frozen,
        });
        Ok(Change {
            frozen: changed.collect(),
            ..Change::default()
        })
    }

    fn move_to(&self, id: MoleculeId, pose: Pose) -> Result<Change, RecipeError> {
        let index = self.known_index(id)?;
        let before = self.crowd().members()[index].pose;
        let poses = (before != pose).then_some(Changed {
            of: id,
            before,
            after: pose,
        });
        Ok(Change {
            poses: poses.into_iter().collect(),
            ..Change::default()
        })
    }

    /// New molecules of an entry, at random places or within a brush.
    fn draw(
        &mut self,
        row: usize,
        count: u32,
        brush: Option<Brush>,
    ) -> Result<Vec<Molecule>, RecipeError> {
        let total = self.ids.len() as f64 + f64::from(count);
        if total > f64::from(MAX_MOLECULES) {
            let max = MAX_MOLECULES;
            return Err(RecipeProblem::TooMany { count: total, max }.at(&self.recipe.source, ""));
        }
        let mut random = self.next_random();
        let (recipe, makers) = (&self.recipe, &self.makers);
        let crowd = self.relaxer.crowd();
        let radii = radii_of_templates(makers, crowd.templates().len());
        let mut scatter = scatter_around(recipe, makers, crowd, &self.rows, row);
        let mut placed = vec![Vec::new(); recipe.entries.len()];
        for (member, row) in crowd.members().iter().zip(&self.rows) {
            if let Some(placed) = placed.get_mut(*row as usize) {
                placed.push((member.pose, radii[member.template as usize]));
            }
        }
        let mut added = Vec::new();
        for number in 0..count {
            let around = Surroundings {
                recipe,
                scatter: &scatter,
                placed: &placed,
            };
            let Some(member) = makers[row].draw(&around, brush, &mut random) else {
                break;
            };
            let radius = radii[member.template as usize];
            let owner = (self.rows.len() + added.len()) as u32;
            scatter.push(owner, member.pose.position, radius);
            if let Some(placed) = placed.get_mut(row) {
                placed.push((member.pose, radius));
            }
            added.push(Molecule {
                id: MoleculeId(self.next_id + u64::from(number)),
                row: row as u32,
                member,
            });
        }
        if let Some(Brush { center, radius }) = brush
            && (added.len() as u32) < count
        {
            let region = self.entries[row].region.clone();
            return Err(self.error(EditError::BrushOutside {
                region,
                center,
                radius,
            }));
        }
        self.next_id += u64::from(count);
        Ok(added)
    }

    /// Random numbers of the next edit.
    fn next_random(&mut self) -> Pcg64Mcg {
        self.draws += 1;
        // Far apart for all small numbers, and from those of the population.
        let stream = self
            .draws
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
        Pcg64Mcg::seed_from_u64(self.seed ^ stream)
    }

    /// Makes a change, and sets its removed molecules and joints to what they were at last.
    pub(super) fn make(&mut self, change: &mut Change) -> Result<(), RecipeError> {
        let mut edit = CrowdEdit::default();
        for molecule in &mut change.removed {
            let index = self.known_index(molecule.id)?;
            *molecule = self.molecule(index);
            edit.removed.push(index as u32);
        }
        for changed in &change.poses {
            let index = self.known_index(changed.of)? as u32;
            edit.poses.push((index, changed.after));
        }
        for changed in &change.frozen {
            let index = self.known_index(changed.of)? as u32;
            edit.fixed.push((index, changed.after));
        }
        edit.added = change
            .added
            .iter()
            .map(|molecule| molecule.member)
            .collect();
        change.parted = self.joints_of(&edit.removed);
        edit.joints = self.joints_to_add(change)?;
        let indices = self.edit_crowd(&edit)?;
        let mut stays = indices.iter().map(Option::is_some);
        self.ids.retain(|_| stays.next().unwrap_or(true));
        let mut stays = indices.iter().map(Option::is_some);
        self.rows.retain(|_| stays.next().unwrap_or(true));
        self.ids
            .extend(change.added.iter().map(|molecule| molecule.id));
        self.rows
            .extend(change.added.iter().map(|molecule| molecule.row));
        if let Some(asked) = &change.asked {
            self.entries[asked.of].asked = asked.after;
        }
        self.recount();
        Ok(())
    }

    /// Edits the crowd, unless nothing would change.
    pub(super) fn edit_crowd(&mut self, edit: &CrowdEdit) -> Result<Vec<Option<u32>>, RecipeError> {
        let is_empty = edit.removed.is_empty()
            && edit.added.is_empty()
            && edit.poses.is_empty()
            && edit.fixed.is_empty();
        if is_empty {
            return Ok((0..self.ids.len() as u32).map(Some).collect());
        }
        let source = &self.recipe.source;
        let edited = self.relaxer.edit(edit);
        edited.map_err(|error| RecipeProblem::Relax(error).at(source, ""))
    }

    /// Updates what follows from ids and rows.
    pub(super) fn recount(&mut self) {
        self.index = self.ids.iter().copied().zip(0..).collect();
        for entry in &mut self.entries {
            entry.count = 0;
        }
        for row in &self.rows {
            self.entries[*row as usize].count += 1;
        }
        self.revision += 1;
    }

    fn molecule(&self, index: usize) -> Molecule {
        Molecule {
            id: self.ids[index],
            row: self.rows[index],
            member: self.crowd().members()[index],
        }
    }

    /// The numbers of an entry.
    fn numbers(&self, entry: usize) -> Result<EntryNumbers, RecipeError> {
        let count = self.entries.len();
        match self.entries.get(entry) {
            Some(state) => Ok(EntryNumbers {
                now: state.count,
                asked: state.asked,
            }),
            None => Err(self.error(EditError::UnknownEntry { entry, count })),
        }
    }

    /// The indices of molecules, each once.
    fn indices(&self, ids: &[MoleculeId]) -> Result<Vec<usize>, RecipeError> {
        let mut known = HashSet::new();
        let first = ids.iter().filter(|id| known.insert(**id));
        first.map(|id| self.known_index(*id)).collect()
    }

    pub(super) fn known_index(&self, id: MoleculeId) -> Result<usize, RecipeError> {
        let unknown = || self.error(EditError::UnknownMolecule { id });
        self.index_of(id).ok_or_else(unknown)
    }

    pub(super) fn error(&self, error: EditError) -> RecipeError {
        RecipeProblem::Edit(error).at(&self.recipe.source, "")
    }
}

/// The number of molecules of an entry, and the number asked for.
struct EntryNumbers {
    now: u32,
    asked: u32,
}
