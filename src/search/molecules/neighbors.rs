//! Which molecules have overlapping boxes.

use std::sync::Arc;

use glam::Vec3;

use super::RigidSpheres;
use super::images::{Image, Images, Neighbor, box_rounding};
use super::placed_molecule::{PlacedMolecule, Skin};
use super::renumbering::Renumbering;
use super::scratch::keep_headroom;
use crate::periodic_box::PeriodicBox;
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
    images: Images,
    pub(super) grid: BoxGrid,
    pairs: PairBuffer,
    /// First neighbor of each molecule, and one entry more.
    first: Vec<u32>,
    /// Neighbors with a larger index of each molecule.
    others: Vec<u32>,
    /// Their images in a periodic box; empty in open space.
    other_images: Vec<Image>,
}

impl Default for Neighbors {
    fn default() -> Self {
        Self {
            boxes: BoxSet::new(),
            images: Images::default(),
            // The boxes have skins already.
            grid: BoxGrid::forgetful(),
            pairs: PairBuffer::new(),
            first: Vec::new(),
            others: Vec::new(),
            other_images: Vec::new(),
        }
    }
}

impl Neighbors {
    /// The neighbors of a molecule with a larger index, and their images.
    pub(super) fn of(&self, molecule: u32) -> impl Iterator<Item = (u32, Image)> {
        let molecule = molecule as usize;
        let range = self.first[molecule] as usize..self.first[molecule + 1] as usize;
        range.map(|at| {
            let image = self.other_images.get(at);
            (self.others[at], image.copied().unwrap_or_default())
        })
    }

    /// Finds all neighbors, in a periodic box if there is one.
    pub(super) fn find(
        &mut self,
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
        periodic: Option<PeriodicBox>,
    ) -> Result<(), SearchError> {
        match periodic {
            None => {
                self.images.clear();
                self.boxes.set_each(placed.len(), |index| {
                    let (placed, molecule) = (&placed[index], &molecules[index]);
                    placed_box(placed.pose.position, placed, molecule, margin)
                })?;
                self.grid.find_box_pairs(&self.boxes, &mut self.pairs)?;
                self.exclude_corners(placed, molecules, margin);
            }
            Some(periodic) => self.find_images(placed, molecules, margin, periodic)?,
        }
        // Counting sort by the first molecule.
        self.first.clear();
        self.first.resize(placed.len() + 1, 0);
        let neighbors = || self.pairs.iter().map(|pair| self.images.neighbor(pair));
        for Neighbor { a, .. } in neighbors() {
            self.first[a as usize + 1] += 1;
        }
        for k in 1..self.first.len() {
            self.first[k] += self.first[k - 1];
        }
        let total = self.first.last().map_or(0, |total| *total as usize);
        self.others.resize(total, 0);
        keep_headroom(&mut self.others);
        let images = if periodic.is_some() { total } else { 0 };
        self.other_images.resize(images, Image::default());
        if periodic.is_some() {
            keep_headroom(&mut self.other_images);
        }
        // Each entry moves from the first to the last neighbor of its molecule, ...
        for Neighbor { a, b, image } in neighbors() {
            let next = &mut self.first[a as usize];
            self.others[*next as usize] = b;
            if let Some(other) = self.other_images.get_mut(*next as usize) {
                *other = image;
            }
            *next += 1;
        }
        // ... which is where those of the next one begin.
        self.first.rotate_right(1);
        if let Some(first) = self.first.first_mut() {
            *first = 0;
        }
        Ok(())
    }

    /// Finds the pairs of overlapping boxes in a periodic box.
    fn find_images(
        &mut self,
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
        periodic: PeriodicBox,
    ) -> Result<(), SearchError> {
        self.images.wrap(placed, periodic)?;
        let (boxes, images) = (&mut self.boxes, &mut self.images);
        let rounding = box_rounding(periodic);
        boxes.set_each(placed.len(), |index| {
            let center = images.position(index as u32, periodic);
            let (low, high) = placed_box(center, &placed[index], &molecules[index], margin);
            (low - rounding, high + rounding)
        })?;
        images.add_ghosts(boxes, periodic)?;
        let found = self.grid.find_box_pairs(boxes, &mut self.pairs);
        found.map_err(|error| match error {
            SearchError::TooCrowded {
                sphere,
                spheres,
                reach,
            } => SearchError::TooCrowded {
                sphere: images.molecule_of(sphere),
                spheres,
                reach,
            },
            error => error,
        })?;
        self.pairs.retain(|pair| {
            let [a, b] = [pair.a, pair.b].map(|index| images.molecule_of(index) as usize);
            let [from, to] = [pair.a, pair.b].map(|index| images.position(index, periodic));
            let limit = reach(&placed[a], &molecules[a]) + reach(&placed[b], &molecules[b]);
            let limit = limit + margin + 2.0 * rounding.length();
            !images.is_ghost(pair.a) && is_within(from, to, limit)
        });
        Ok(())
    }

    /// Moves the boxes to the current indices of their molecules.
    pub(super) fn renumber(&mut self, renumbering: &Renumbering) {
        self.images.clear();
        self.boxes
            .move_boxes(|column| renumbering.apply(column, |_| 0.0));
    }

    /// The neighbors of `new` molecules, sorted, whose boxes have not been found yet; all others
    /// are where they were. In open space.
    pub(super) fn find_new(
        &mut self,
        new: &[u32],
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
    ) -> Result<impl Iterator<Item = Pair> + '_, SearchError> {
        for &index in new {
            let index = index as usize;
            let (placed, molecule) = (&placed[index], &molecules[index]);
            let (low, high) = placed_box(placed.pose.position, placed, molecule, margin);
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
            // Those that have moved within their skin are within reach of where they were.
            let [from, to] = [a, b].map(|index| placed[index].reference.0);
            let [one, other] = [a, b].map(|index| reach(&placed[index], &molecules[index]));
            is_within(from, to, one + other + margin)
        });
    }
}

/// Largest distance of a sphere's surface from where the molecule was, nm.
fn reach(placed: &PlacedMolecule, molecule: &RigidSpheres) -> f32 {
    molecule.bounding_radius() + placed.skin + placed.rounding
}

/// Whether two positions are at most `limit` nm apart; rounding does not exclude a pair.
fn is_within(from: Vec3, to: Vec3, limit: f32) -> bool {
    from.distance_squared(to) <= limit * limit * (1.0 + 8.0 * f32::EPSILON)
}

/// Corners of the box of a molecule and its skin around `center`, nm.
fn placed_box(
    center: Vec3,
    placed: &PlacedMolecule,
    molecule: &RigidSpheres,
    margin: f32,
) -> (Vec3, Vec3) {
    let (low, high) = molecule.rotated_box(&placed.rotation);
    let wider = 0.5 * margin + placed.skin + placed.rounding;
    (center + low - wider, center + high + wider)
}
