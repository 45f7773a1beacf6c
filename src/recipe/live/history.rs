//! [`History`]: changes that can be taken back.

use std::collections::VecDeque;

use super::{MAX_HISTORY, MAX_HISTORY_MOLECULES, MoleculeId};
use crate::crowd::{CrowdJoint, CrowdMember};
use crate::pose::Pose;

/// A molecule that is added or removed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Molecule {
    pub id: MoleculeId,
    pub row: u32,
    pub member: CrowdMember,
}

/// A joint that is added or removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Joined {
    /// Its molecules; the indices in the joint are outdated.
    pub ids: [MoleculeId; 2],
    pub joint: CrowdJoint,
}

/// A value before and after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Changed<K, T> {
    pub of: K,
    pub before: T,
    pub after: T,
}

impl<K: Copy, T: Copy> Changed<K, T> {
    fn reversed(&self) -> Self {
        Self {
            of: self.of,
            before: self.after,
            after: self.before,
        }
    }
}

/// One step of the history.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Change {
    pub added: Vec<Molecule>,
    pub removed: Vec<Molecule>,
    /// Joints that come with added molecules.
    pub joined: Vec<Joined>,
    /// Joints that go with removed molecules.
    pub parted: Vec<Joined>,
    pub poses: Vec<Changed<MoleculeId, Pose>>,
    pub frozen: Vec<Changed<MoleculeId, bool>>,
    /// Number that an entry is asked for.
    pub asked: Option<Changed<usize, u32>>,
}

impl Change {
    /// What takes this change back.
    pub fn reversed(&self) -> Self {
        Self {
            added: self.removed.clone(),
            removed: self.added.clone(),
            joined: self.parted.clone(),
            parted: self.joined.clone(),
            poses: self.poses.iter().map(Changed::reversed).collect(),
            frozen: self.frozen.iter().map(Changed::reversed).collect(),
            asked: self.asked.as_ref().map(Changed::reversed),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.molecules() == 0 && self.asked.is_none()
    }

    /// Number of molecules and joints that it remembers.
    fn molecules(&self) -> usize {
        let joints = self.joined.len() + self.parted.len();
        self.added.len() + self.removed.len() + self.poses.len() + self.frozen.len() + joints
    }
}

/// Changes to undo and to redo.
#[derive(Debug, Default)]
pub(super) struct History {
    done: VecDeque<Change>,
    undone: Vec<Change>,
}

impl History {
    /// Adds a change. What was undone cannot be redone afterwards.
    pub fn push(&mut self, change: Change) {
        self.undone.clear();
        self.done.push_back(change);
        self.trim();
    }

    /// The change to undo. [`undone`](Self::undone) follows if that succeeds.
    pub fn to_undo(&self) -> Option<&Change> {
        self.done.back()
    }

    /// The change to redo. [`redone`](Self::redone) follows if that succeeds.
    pub fn to_redo(&self) -> Option<&Change> {
        self.undone.last()
    }

    /// Moves the last change to those that can be redone, as `change`.
    pub fn undone(&mut self, change: Change) {
        self.done.pop_back();
        self.undone.push(change);
    }

    /// Moves the change that was undone last back, as `change`.
    pub fn redone(&mut self, change: Change) {
        self.undone.pop();
        self.done.push_back(change);
        self.trim();
    }

    /// Forgets the oldest changes beyond the limits, but not the last one.
    fn trim(&mut self) {
        let mut molecules: usize = self.done.iter().map(Change::molecules).sum();
        while self.done.len() > MAX_HISTORY
            || (self.done.len() > 1 && molecules > MAX_HISTORY_MOLECULES)
        {
            if let Some(oldest) = self.done.pop_front() {
                molecules -= oldest.molecules();
            }
        }
    }
}
