//! Which molecules stay when the molecules of a search change.

use std::ops::Range;
use std::sync::Arc;

use super::RigidSpheres;
use super::task::Task;

/// Index of a molecule that is not in a list.
const NONE: u32 = u32::MAX;

/// Molecules per task of a new layout.
pub(super) const MOLECULES_PER_TASK: usize = 16;

/// Tasks with more molecules are split.
const MAX_MOLECULES_PER_TASK: usize = 2 * MOLECULES_PER_TASK;

/// Two numberings of molecules. Those that stay have the same order in both.
#[derive(Default)]
pub(super) struct Renumbering {
    /// Current index of each previous molecule.
    current: Vec<u32>,
    /// Previous index of each current molecule.
    previous: Vec<u32>,
}

impl Renumbering {
    /// Replaces `molecules` by `list`, which has each with its previous index if it stays. Those
    /// with other spheres than before, or in another order, count as new.
    pub(super) fn replace<'a>(
        molecules: &mut Vec<Arc<RigidSpheres>>,
        list: impl IntoIterator<Item = (&'a Arc<RigidSpheres>, Option<u32>)>,
    ) -> Self {
        let mut renumbering = Self {
            current: vec![NONE; molecules.len()],
            previous: Vec::with_capacity(molecules.len()),
        };
        let capacity = molecules.len();
        let mut rest = std::mem::replace(molecules, Vec::with_capacity(capacity)).into_iter();
        let mut next = 0;
        for (spheres, previous) in list {
            // Moved instead of cloned: the counters of shared spheres are slow.
            let kept = previous.filter(|previous| *previous >= next).and_then(|k| {
                let kept = rest.nth((k - next) as usize);
                next = k + 1;
                kept.filter(|kept| Arc::ptr_eq(kept, spheres))
            });
            let previous = match kept {
                Some(_) => next - 1,
                None => NONE,
            };
            if let Some(current) = renumbering.current.get_mut(previous as usize) {
                *current = molecules.len() as u32;
            }
            renumbering.previous.push(previous);
            molecules.push(kept.unwrap_or_else(|| spheres.clone()));
        }
        renumbering
    }

    /// Current index of a previous molecule; none if it is gone.
    #[inline]
    pub(super) fn current(&self, previous: u32) -> Option<u32> {
        Some(self.current[previous as usize]).filter(|index| *index != NONE)
    }

    /// Moves a list with one entry per previous molecule; `new` returns that of a new one.
    pub(super) fn apply<T: Copy>(&self, list: &mut Vec<T>, new: impl Fn(usize) -> T) {
        let entries = self.previous.iter().enumerate();
        *list = entries
            .map(|(index, &previous)| match list.get(previous as usize) {
                Some(entry) => *entry,
                None => new(index),
            })
            .collect();
    }

    /// The molecules that are new, or were in `new` before.
    pub(super) fn new_molecules(&self, new: &[u32]) -> Vec<u32> {
        let is_new = |previous: u32| previous == NONE || new.binary_search(&previous).is_ok();
        let indices = self.previous.iter().zip(0..);
        let indices = indices.filter(|(previous, _)| is_new(**previous));
        indices.map(|(_, index)| index).collect()
    }

    /// Renames the molecules of tasks, and moves new ones to the tasks of their neighbors in the
    /// list. Tasks that become too large are split, small ones are joined. Returns the previous
    /// index of each task with the same molecules and neighbors as before.
    pub(super) fn apply_to_tasks(&self, tasks: &mut Vec<Task>) -> Vec<Option<u32>> {
        let count = self.previous.len() as u32;
        let mut origins = Vec::with_capacity(tasks.len());
        let previous = std::mem::take(tasks);
        let last = previous.len().saturating_sub(1);
        let mut start = 0;
        for (mut task, index) in previous.into_iter().zip(0..) {
            let end = if index as usize == last {
                count
            } else {
                let mut stay = task.molecules.clone().rev();
                let end = stay.find_map(|previous| self.current(previous));
                end.map_or(start, |last| last + 1)
            };
            task.rename(start..end, |previous| self.current(previous));
            start = end;
            if task.molecules.is_empty() {
                continue;
            }
            if task.molecules.len() > MAX_MOLECULES_PER_TASK {
                tasks.extend(ranges_of(task.molecules.clone()).map(|range| task.part(range)));
                origins.resize(tasks.len(), None);
                continue;
            }
            match tasks.last_mut() {
                Some(before)
                    if before.molecules.len() + task.molecules.len() <= MOLECULES_PER_TASK =>
                {
                    before.append(&task);
                    if let Some(origin) = origins.last_mut() {
                        *origin = None;
                    }
                }
                _ => {
                    tasks.push(task);
                    origins.push(Some(index));
                }
            }
        }
        if tasks.is_empty() {
            tasks.extend(ranges_of(0..count).map(Task::new));
            origins.resize(tasks.len(), None);
        }
        origins
    }
}

/// Consecutive ranges of molecules, one per task.
pub(super) fn ranges_of(molecules: Range<u32>) -> impl Iterator<Item = Range<u32>> {
    let starts = molecules.clone().step_by(MOLECULES_PER_TASK);
    starts.map(move |start| start..(start + MOLECULES_PER_TASK as u32).min(molecules.end))
}
