//! The molecules of a packing for its recipe file.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{EditError, LivePacking};
use crate::pose::Pose;
use crate::recipe::RecipeError;
use crate::recipe::cellpack::with_molecules;
use crate::recipe::model::SavedMolecules;

impl LivePacking {
    /// The recipe file with the current numbers and places.
    pub(super) fn document(&self) -> Result<Value, RecipeError> {
        let Some(document) = &self.recipe.document else {
            return Err(self.error(EditError::NotCellpack));
        };
        let counts: Vec<u32> = self.entries.iter().map(|entry| entry.count).collect();
        let mut document = with_molecules(document, &self.recipe, &counts, &self.molecules());
        if self.recipe.seed != Some(self.seed) {
            document["randomness_seed"] = self.seed.into();
        }
        Ok(document)
    }

    /// All molecules by row, conformer, radius and whether they never move; each row of a leaflet
    /// at least once, so that an empty one stays empty.
    fn molecules(&self) -> Vec<SavedMolecules> {
        let crowd = self.crowd();
        let mut groups: BTreeMap<Group, Vec<Pose>> = BTreeMap::new();
        for (row, maker) in self.makers.iter().enumerate().filter(|(_, m)| m.is_lipid) {
            if !maker.variants.is_empty() {
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
            groups.entry(group).or_default().push(member.pose);
        }
        let groups = groups.into_iter().map(|(group, poses)| SavedMolecules {
            row: group.row,
            conformer: group.conformer,
            radius: group.radius.map(f32::from_bits),
            fixed: group.fixed,
            poses,
        });
        groups.collect()
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
