//! Saved molecules with joints: links of fibers, and molecules that a rule has placed.
//!
//! They are where they were saved, and no others are placed. Their joints are the saved ones.

use std::collections::HashSet;
use std::ops::Range;

use super::{Builder, GivenMolecule};
use crate::crowd::CrowdJoint;
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;

impl Builder<'_> {
    /// Whether the molecules of an entry with fibers or a rule were saved. There may be none.
    pub(super) fn is_restored(&self, entry: usize) -> bool {
        let recipe = self.recipe;
        recipe.entries[entry].is_bound() && recipe.saved.iter().any(|saved| saved.row == entry)
    }

    /// The saved molecules of a row.
    pub(super) fn saved_of(&self, row: usize) -> impl Iterator<Item = &GivenMolecule> {
        let given = self.given[row].iter();
        given.filter(|molecule| molecule.saved.is_some())
    }

    /// The saved fibers of an entry: ranges of its saved links, each of which has a joint with the
    /// next one.
    pub(super) fn saved_fibers(&self, entry: usize) -> Vec<Range<u32>> {
        let joints = self.recipe.saved_joints.iter();
        let joints: HashSet<[u32; 2]> = joints.map(|joint| joint.members).collect();
        let mut fibers: Vec<Range<u32>> = Vec::new();
        let mut last = None;
        for (link, index) in self.saved_of(entry).zip(0..) {
            match (last.zip(link.saved), fibers.last_mut()) {
                (Some((last, saved)), Some(fiber)) if joints.contains(&[last, saved]) => {
                    fiber.end = index + 1;
                }
                _ => fibers.push(index..index + 1),
            }
            last = link.saved;
        }
        fibers
    }

    /// Notes that a saved molecule is a member of the crowd.
    pub(super) fn note_restored(&mut self, molecule: &GivenMolecule, member: u32) {
        if let Some(saved) = molecule.saved {
            self.restored[saved as usize] = Some(member);
        }
    }

    /// Adds the saved joints.
    pub(super) fn restore_joints(&mut self) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        for (joint, index) in recipe.saved_joints.iter().zip(0..) {
            let restored = joint.members.map(|member| self.restored[member as usize]);
            let [Some(first), Some(second)] = restored else {
                continue;
            };
            let added = self.crowd.add_exact_joint(CrowdJoint {
                members: [first, second],
                ..*joint
            });
            added.map_err(|error| {
                let place = format!("bevy_rapier_molecules.joints[{index}]");
                RecipeProblem::from(error).at(&recipe.source, place)
            })?;
        }
        Ok(())
    }
}
