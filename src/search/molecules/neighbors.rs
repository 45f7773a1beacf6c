//! Which molecules have overlapping boxes.

use std::ops::Range;
use std::sync::Arc;

use glam::Vec3;

use super::RigidSpheres;
use super::placed_molecule::{PlacedMolecule, Skin};
use super::renumbering::Renumbering;
use super::scratch::keep_headroom;
use crate::search::boxes::{BoxGrid, BoxSearch, BoxSet};
use crate::search::{Pair, PairBuffer, SearchError};

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
    /// Where the neighbors of a molecule are.
    pub(super) fn range_of(&self, molecule: u32) -> Range<usize> {
        let molecule = molecule as usize;
        self.first[molecule] as usize..self.first[molecule + 1] as usize
    }

    /// Finds all neighbors.
    pub(super) fn find(
        &mut self,
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
    ) -> Result<(), SearchError> {
        let placed_box = |index: usize| placed_box(&placed[index], &molecules[index], margin);
        self.boxes.set_each(placed.len(), placed_box)?;
        self.grid.find_box_pairs(&self.boxes, &mut self.pairs)?;
        self.exclude_corners(placed, molecules, margin);
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

    /// Moves the boxes to the current indices of their molecules.
    pub(super) fn renumber(&mut self, renumbering: &Renumbering) {
        self.boxes
            .move_boxes(|column| renumbering.apply(column, |_| 0.0));
    }

    /// The neighbors of `new` molecules, sorted, whose boxes have not been found yet; all others
    /// are where they were.
    pub(super) fn find_new(
        &mut self,
        new: &[u32],
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
    ) -> Result<impl Iterator<Item = Pair> + '_, SearchError> {
        for &index in new {
            let index = index as usize;
            let (low, high) = placed_box(&placed[index], &molecules[index], margin);
            self.boxes.set(index, low, high)?;
        }
        self.grid.find_pairs_of(new, &self.boxes, &mut self.pairs);
        self.exclude_corners(placed, molecules, margin);
        Ok(self.pairs.iter())
    }

    /// Excludes boxes that overlap at their corners, where molecules are rarely.
    fn exclude_corners(
        &mut self,
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
    ) {
        self.pairs.retain(|pair| {
            let [a, b] = [pair.a, pair.b].map(|index| index as usize);
            let reach = |index: usize| {
                let placed: &PlacedMolecule = &placed[index];
                molecules[index].bounding_radius() + placed.skin + placed.rounding
            };
            // Those that have moved within their skin are within reach of where they were.
            let [from, to] = [a, b].map(|index| placed[index].reference.0);
            let limit = reach(a) + reach(b) + margin;
            // Rounding must not exclude a pair.
            from.distance_squared(to) <= limit * limit * (1.0 + 8.0 * f32::EPSILON)
        });
    }
}

/// Corners of the box of a molecule and its skin, nm.
fn placed_box(placed: &PlacedMolecule, molecule: &RigidSpheres, margin: f32) -> (Vec3, Vec3) {
    let (low, high) = molecule.rotated_box(&placed.rotation);
    let wider = 0.5 * margin + placed.skin + placed.rounding;
    let center = placed.pose.position;
    (center + low - wider, center + high + wider)
}
