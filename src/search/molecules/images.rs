//! Images of molecules in a periodic box, for the search for neighbors.
//!
//! 1. The box of each molecule is *wrapped*: moved to the image whose position is in the periodic
//!    box.
//! 2. *Ghosts* are further images of these boxes, wherever they may overlap another box. Only the
//!    images in one half of space are needed: if an image of `b` in the other half overlaps `a`,
//!    then an image of `a` in this half overlaps `b`.
//! 3. A pair of a wrapped box with another, or with a ghost, is a pair of neighbors. Its image says
//!    how many edges lie between the actual poses, which are not wrapped.
//!
//! Each pair of molecules and image is found once.

use glam::Vec3;
use rayon::prelude::*;

use super::placed_molecule::{PlacedMolecule, ROUNDING};
use crate::periodic_box::PeriodicBox;
use crate::search::boxes::{BoxError, BoxSet};
use crate::search::{Pair, SearchError};

/// Numbers of a periodic image; zeros in open space.
pub(super) type Image = [i16; 3];

/// Largest number of edges between a molecule and the periodic box: the difference of two such
/// numbers, and some edges more, fit into an [`Image`].
const MAX_EDGES: u32 = 16_000;

/// Molecules per task.
const MOLECULES_PER_TASK: usize = 1024;

/// Largest coordinate of a ghost, relative to the edge of the periodic box.
const FARTHEST_GHOST: f32 = 3.0;

/// The images of molecules; empty in open space.
#[derive(Default)]
pub(super) struct Images {
    wrapped: Vec<Wrapped>,
    ghosts: Vec<Ghost>,
}

/// A molecule in the periodic box.
#[derive(Clone, Copy)]
struct Wrapped {
    /// The position in the box, nm.
    position: Vec3,
    /// The actual position is this image.
    image: [i32; 3],
}

/// An image of a wrapped molecule.
struct Ghost {
    molecule: u32,
    image: [i32; 3],
}

/// Two molecules whose boxes overlap, the second in this image; `a < b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Neighbor {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) image: Image,
}

/// Bounds on the rounding errors of the coordinates of wrapped boxes and ghosts, nm.
pub(super) fn box_rounding(periodic: PeriodicBox) -> Vec3 {
    ROUNDING * FARTHEST_GHOST * periodic.size()
}

impl Images {
    /// Whether there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.wrapped.is_empty()
    }

    /// Removes all.
    pub(super) fn clear(&mut self) {
        self.wrapped.clear();
        self.ghosts.clear();
    }

    /// Wraps the molecules.
    ///
    /// # Errors
    /// [`SearchError::FarFromBox`] names the first molecule that is too far away.
    pub(super) fn wrap(
        &mut self,
        placed: &[PlacedMolecule],
        periodic: PeriodicBox,
    ) -> Result<(), SearchError> {
        self.ghosts.clear();
        let positions = placed.par_iter().with_min_len(MOLECULES_PER_TASK);
        positions
            .map(|placed| {
                let position = placed.pose.position.as_dvec3();
                let image = periodic.image_of(position);
                let wrapped = position - periodic.exact_shift(image);
                Wrapped {
                    position: wrapped.as_vec3(),
                    image,
                }
            })
            .collect_into_vec(&mut self.wrapped);
        let is_far = |wrapped: &Wrapped| {
            let edges = wrapped.image.map(i32::unsigned_abs);
            edges.into_iter().any(|edges| edges > MAX_EDGES)
        };
        match self.wrapped.iter().position(is_far) {
            None => Ok(()),
            Some(index) => Err(SearchError::FarFromBox {
                index,
                position: placed[index].pose.position,
                max: MAX_EDGES,
            }),
        }
    }

    /// Adds the ghosts of the wrapped `boxes` to them.
    pub(super) fn add_ghosts(
        &mut self,
        boxes: &mut BoxSet,
        periodic: PeriodicBox,
    ) -> Result<(), BoxError> {
        if self.wrapped.is_empty() {
            return Ok(());
        }
        let region = boxes.extent()?;
        for molecule in 0..self.wrapped.len() {
            let corners = [boxes.low(molecule), boxes.high(molecule)];
            let images = periodic.images_within(corners, region);
            for image in images.filter(|image| *image > [0; 3]) {
                let [low, high] = corners.map(|corner| corner + periodic.shift(image));
                let molecule = molecule as u32;
                boxes.push(low, high, molecule)?;
                self.ghosts.push(Ghost { molecule, image });
            }
        }
        Ok(())
    }

    /// The molecule of a box.
    pub(super) fn molecule_of(&self, index: u32) -> u32 {
        self.ghost(index).map_or(index, |ghost| ghost.molecule)
    }

    /// Whether a box is a ghost.
    pub(super) fn is_ghost(&self, index: u32) -> bool {
        self.ghost(index).is_some()
    }

    /// Position of the molecule of a wrapped box or ghost, nm.
    pub(super) fn position(&self, index: u32, periodic: PeriodicBox) -> Vec3 {
        match self.ghost(index) {
            None => self.wrapped[index as usize].position,
            Some(ghost) => {
                let position = self.wrapped[ghost.molecule as usize].position;
                position + periodic.shift(ghost.image)
            }
        }
    }

    fn ghost(&self, index: u32) -> Option<&Ghost> {
        let ghost = (index as usize).checked_sub(self.wrapped.len())?;
        self.ghosts.get(ghost)
    }

    /// The molecules of a pair of boxes of different molecules, of which the second may be a ghost.
    #[inline]
    pub(super) fn neighbor(&self, pair: Pair) -> Neighbor {
        let Pair { a, b } = pair;
        if self.is_empty() {
            let image = [0; 3];
            return Neighbor { a, b, image };
        }
        // The second is in image `step` of where it is wrapped, next to the first where that is
        // wrapped.
        let (b, step) = match self.ghost(b) {
            None => (b, [0; 3]),
            Some(ghost) => (ghost.molecule, ghost.image),
        };
        let [from, to] = [a, b].map(|index| self.wrapped[index as usize].image);
        // At most two times `MAX_EDGES`, and some more.
        let image: Image = std::array::from_fn(|k| (step[k] + from[k] - to[k]) as i16);
        if a < b {
            Neighbor { a, b, image }
        } else {
            let image = image.map(|number| -number);
            Neighbor { a: b, b: a, image }
        }
    }
}
