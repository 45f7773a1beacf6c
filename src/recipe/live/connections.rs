//! Joints of edited molecules: whole fibers, joints that come back, and the pull on a dragged
//! molecule.

use std::collections::{HashMap, HashSet};

use super::history::{Change, Joined};
use super::{EditError, LivePacking, MoleculeId};
use crate::crowd::CrowdJoint;
use crate::recipe::RecipeError;

impl LivePacking {
    /// Checks that the molecules of an entry can be added and removed one by one.
    pub(super) fn check_unbound(&self, entry: usize) -> Result<(), RecipeError> {
        let Some(bound) = self.recipe.entries.get(entry) else {
            return Ok(());
        };
        if !bound.is_bound() {
            return Ok(());
        }
        let state = &self.entries[entry];
        Err(self.error(EditError::FixedCount {
            region: state.region.clone(),
            name: state.name.clone(),
            reason: match bound.fiber {
                Some(_) => "they are links of fibers",
                None => "a rule places them",
            },
        }))
    }

    /// Whether a member of the crowd is a link of a fiber.
    fn is_link(&self, member: u32) -> bool {
        let entry = self.recipe.entries.get(self.rows[member as usize] as usize);
        entry.is_some_and(|entry| entry.fiber.is_some())
    }

    /// These members of the crowd, with all links of their fibers.
    pub(super) fn with_fibers(&self, members: Vec<usize>) -> Vec<usize> {
        if !members.iter().any(|&member| self.is_link(member as u32)) {
            return members;
        }
        let mut next_to: HashMap<u32, Vec<u32>> = HashMap::new();
        for joint in self.crowd().joints() {
            let [first, second] = joint.members;
            let is_same = self.rows[first as usize] == self.rows[second as usize];
            if is_same && self.is_link(first) {
                next_to.entry(first).or_default().push(second);
                next_to.entry(second).or_default().push(first);
            }
        }
        let mut found: HashSet<u32> = members.iter().map(|&member| member as u32).collect();
        let mut left: Vec<u32> = found.iter().copied().collect();
        while let Some(member) = left.pop() {
            for &other in next_to.get(&member).into_iter().flatten() {
                if found.insert(other) {
                    left.push(other);
                }
            }
        }
        // In their order, so that fibers that come back are in order.
        let mut all: Vec<usize> = found.into_iter().map(|member| member as usize).collect();
        all.sort_unstable();
        all
    }

    /// The joints that molecules lose when they are removed.
    pub(super) fn joints_of(&self, removed: &[u32]) -> Vec<Joined> {
        let removed: HashSet<u32> = removed.iter().copied().collect();
        let joints = self.crowd().joints().iter();
        let lost = joints.filter(|joint| joint.members.iter().any(|one| removed.contains(one)));
        let joined = lost.map(|joint| Joined {
            ids: joint.members.map(|member| self.ids[member as usize]),
            joint: *joint,
        });
        joined.collect()
    }

    /// The joints that a change adds, with the indices after it.
    pub(super) fn joints_to_add(&self, change: &Change) -> Result<Vec<CrowdJoint>, RecipeError> {
        if change.joined.is_empty() {
            return Ok(Vec::new());
        }
        let removed: HashSet<MoleculeId> = change.removed.iter().map(|one| one.id).collect();
        let stay = self.ids.iter().copied().filter(|id| !removed.contains(id));
        let after = stay.chain(change.added.iter().map(|molecule| molecule.id));
        let index: HashMap<MoleculeId, u32> = after.zip(0..).collect();
        let index_of = |id: MoleculeId| {
            let known = index.get(&id).copied();
            known.ok_or_else(|| self.error(EditError::UnknownMolecule { id }))
        };
        let joints = change.joined.iter().map(|joined| {
            let [first, second] = joined.ids;
            Ok(CrowdJoint {
                members: [index_of(first)?, index_of(second)?],
                ..joined.joint
            })
        });
        joints.collect()
    }

    /// How far the joints of a member are stretched or compressed beyond their limits, nm.
    pub(super) fn stretch_of(&self, member: u32) -> f32 {
        let crowd = self.crowd();
        let joints = crowd.joints().iter();
        let own = joints.filter(|joint| joint.members.contains(&member));
        let gaps = own.map(|joint| crowd.state_of(joint).excess(&joint.limits).gap.abs());
        gaps.fold(0.0, f32::max)
    }
}
