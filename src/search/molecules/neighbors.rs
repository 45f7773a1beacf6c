//! Which molecules have overlapping boxes.

use std::sync::Arc;

use super::RigidSpheres;
use super::placed_molecule::{PlacedMolecule, Skin};
use super::scratch::keep_headroom;
use crate::search::boxes::{BoxGrid, BoxSearch, BoxSet};
use crate::search::{PairBuffer, SearchError};

/// Skin of the box of a molecule.
pub(super) const NEIGHBOR_SKIN: Skin = Skin {
    substeps: 8.0,
    min: 0.05,
    max: 0.3,
};

/// The molecules with overlapping boxes.
pub(super) struct Neighbors {
    boxes: BoxSet,
    pub(super) grid: BoxGrid,
    pairs: PairBuffer,
    /// First neighbor of each molecule, and one entry more.
    pub(super) first: Vec<u32>,
    /// Neighbors with a larger index of each molecule, sorted.
    pub(super) others: Vec<u32>,
}

impl Default for Neighbors {
    fn default() -> Self {
        Self {
            boxes: BoxSet::new(),
            // The boxes have skins already.
            grid: BoxGrid::forgetful(),
            pairs: PairBuffer::new(),
            first: Vec::new(),
            others: Vec::new(),
        }
    }
}

impl Neighbors {
    pub(super) fn find(
        &mut self,
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
    ) -> Result<(), SearchError> {
        self.boxes.set_each(placed.len(), |index| {
            let placed = &placed[index];
            let (low, high) = molecules[index].rotated_box(&placed.rotation);
            let wider = 0.5 * margin + placed.skin + placed.rounding;
            let center = placed.pose.position;
            (center + low - wider, center + high + wider)
        })?;
        self.grid.find_box_pairs(&self.boxes, &mut self.pairs)?;
        // Boxes overlap at their corners, where molecules are rarely.
        self.pairs.retain(|pair| {
            let [a, b] = [pair.a, pair.b].map(|index| index as usize);
            let reach = |index: usize| {
                let placed: &PlacedMolecule = &placed[index];
                molecules[index].bounding_radius() + placed.skin + placed.rounding
            };
            let [from, to] = [a, b].map(|index| placed[index].pose.position);
            let limit = reach(a) + reach(b) + margin;
            // Rounding must not exclude a pair.
            from.distance_squared(to) <= limit * limit * (1.0 + 8.0 * f32::EPSILON)
        });
        // Counting sort by the first molecule.
        self.first.clear();
        self.first.resize(placed.len() + 1, 0);
        for pair in self.pairs.iter() {
            self.first[pair.a as usize + 1] += 1;
        }
        for k in 1..self.first.len() {
            self.first[k] += self.first[k - 1];
        }
        let total = self.first.last().map_or(0, |total| *total as usize);
        self.others.resize(total, 0);
        keep_headroom(&mut self.others);
        // Each entry moves from the first to the last neighbor of its molecule, ...
        for pair in self.pairs.iter() {
            let next = &mut self.first[pair.a as usize];
            self.others[*next as usize] = pair.b;
            *next += 1;
        }
        // ... which is where those of the next one begin.
        self.first.rotate_right(1);
        if let Some(first) = self.first.first_mut() {
            *first = 0;
        }
        Ok(())
    }
}
