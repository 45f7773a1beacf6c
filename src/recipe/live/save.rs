//! The molecules and joints of a packing for its recipe file.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{EditError, LivePacking};
use crate::crowd::CrowdJoint;
use crate::pose::Pose;
use crate::recipe::RecipeError;
use crate::recipe::cellpack::with_molecules;
use crate::recipe::model::{Entry, SavedMolecules};

impl LivePacking {
    /// The recipe file with the current numbers and places.
    pub(super) fn document(&self) -> Result<Value, RecipeError> {
        let Some(document) = &self.recipe.document else {
            return Err(self.error(EditError::NotCellpack));
        };
        let counts: Vec<u32> = self.entries.iter().map(|entry| entry.count).collect();
        let (molecules, joints) = self.molecules();
        let mut document = with_molecules(document, &self.recipe, &counts, &molecules, &joints);
        if self.recipe.seed != Some(self.seed) {
            document["randomness_seed"] = self.seed.into();
        }
        Ok(document)
    }

    /// All molecules by row, conformer, radius and whether they never move; each row of a leaflet,
    /// of fibers or with a rule at least once, so that an empty one stays empty. With their joints.
    fn molecules(&self) -> (Vec<SavedMolecules>, Vec<CrowdJoint>) {
        let crowd = self.crowd();
        let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
        for (row, maker) in self.makers.iter().enumerate() {
            let entry = self.recipe.entries.get(row);
            let is_bound = entry.is_some_and(Entry::is_bound);
            if is_bound || (maker.is_lipid && !maker.variants.is_empty()) {
                groups.insert(
                    Group {
                        row,
                        ..Group::default()
                    },
                    Vec::new(),
                );
            }
        }
        for (index, (member, &row)) in crowd.members().iter().zip(&self.rows).enumerate() {
            let row = row as usize;
            let maker = &self.makers[row];
            let entry = self.recipe.entries.get(row);
            let has_sizes = entry.is_some_and(|entry| entry.sizes.is_some());
            let radii = crowd.template_of(member).radii();
            let group = Group {
                row,
                conformer: match maker.is_lipid {
                    true => maker.variant_of(member.template).unwrap_or_default() as u32,
                    false => 0,
                },
                radius: radii.first().filter(|_| has_sizes).map(|r| r.to_bits()),
                fixed: self.is_frozen_at(index),
            };
            groups.entry(group).or_default().push(index);
        }
        let mut saved = vec![0; crowd.members().len()];
        for (&member, index) in groups.values().flatten().zip(0..) {
            saved[member] = index;
        }
        let joints = crowd.joints().iter().map(|joint| CrowdJoint {
            members: joint.members.map(|member| saved[member as usize]),
            ..*joint
        });
        let poses = |members: Vec<usize>| -> Vec<Pose> {
            let poses = members.into_iter();
            poses.map(|member| crowd.members()[member].pose).collect()
        };
        let groups = groups.into_iter().map(|(group, members)| SavedMolecules {
            row: group.row,
            conformer: group.conformer,
            radius: group.radius.map(f32::from_bits),
            fixed: group.fixed,
            poses: poses(members),
        });
        (groups.collect(), joints.collect())
    }
}

/// Molecules that differ in their poses only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    row: usize,
    conformer: u32,
    /// Bits of the radius, of which positive numbers have the same order.
    radius: Option<u32>,
    fixed: bool,
}
