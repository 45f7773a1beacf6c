//! Searches for spheres that collide during a step: continuous collision detection.
//!
//! The algorithms are those of C. G. Johnson and J. L. Whalley, *Detecting collisions in sets of
//! moving particles: a survey and some experiments* (University of Kent, 2002). They are
//! sequential, as in the paper.
//!
//! | [`SweptAlgorithm`] | space is divided into | neighbors of a cell | links of cells and spheres are updated |
//! |---|---|---|---|
//! | `Naive` | – | – | – |
//! | `Cells` (section 3) | cubes | all 26 | after every motion |
//! | `A` (section 4.2) | cubes | not those behind a sphere | after every motion |
//! | `B` (section 4.3) | cubes | as in A | once per step |
//! | `C` (section 4.4) | slices | as in A, at most 2 | once per step |
//!
//! [`SweptSpheres::step`] moves spheres to the end of their paths and reports all collisions on
//! the way. [`SweptSpheres::subdivided_step`] changes the paths of colliding spheres: it ends a
//! *subdivision* of the step at the earliest collision, moves all spheres, and searches again
//! (section 4.1). There "after every motion" means once per subdivision.
//!
//! # Contract
//!
//! - Within a step (or a subdivision) spheres move along straight lines. Spheres of different
//!   owners that touch or overlap at some time of it collide, at the first such time. Fast
//!   spheres do not tunnel through each other.
//! - Positions and times have 64 bits. [`time_of_contact`] decides about collisions, so that all
//!   algorithms return the same [`Collision`]s, bit for bit.
//! - Invalid input is reported as a [`SweptError`].

mod cell_links;
mod cell_list;
mod contact_time;
mod moving_spheres;
mod swept_spheres;

pub use contact_time::{ContactTimes, Trajectory, time_of_contact};
pub use swept_spheres::{Impact, SweptSpheres};

use glam::DVec3;
use thiserror::Error;

use super::Pair;
use crate::spheres::SphereError;

/// The algorithms of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SweptAlgorithm {
    /// Compares all pairs.
    Naive,
    /// Cubic cells with dual representation: each cell has a list of the spheres that overlap
    /// it, each sphere one of its cells. Spheres of a cell are compared with those of the cell
    /// and of its 26 neighbors.
    Cells,
    /// `Cells`, but without the neighbors behind a sphere: if it is entirely in one half of its
    /// cell and moves away from the other half, nothing reaches it from beyond that half.
    A,
    /// `A`, but links are updated once per step instead of after every motion.
    B,
    /// `B`, but with slices across the longest axis instead of cubes.
    C,
}

impl SweptAlgorithm {
    /// All algorithms, in the order of the paper.
    pub const ALL: [Self; 5] = [Self::Naive, Self::Cells, Self::A, Self::B, Self::C];

    /// Name for reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Cells => "cells",
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
        }
    }
}

/// Two spheres that collide within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// The spheres.
    pub pair: Pair,
    /// First time of contact, in steps: 0 at the start, where they may overlap already, to 1 at the
    /// end.
    pub time: f64,
}

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SweptError {
    /// A sphere is invalid.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// There is not one displacement for each sphere.
    #[error("there are {displaced} displacements for {spheres} spheres")]
    BadCount {
        /// Number of spheres.
        spheres: usize,
        /// Number of displacements.
        displaced: usize,
    },
    /// A displacement is not finite, or leads beyond the range of 32-bit floats.
    #[error("sphere {index} cannot move by {displacement} nm: its end is out of range")]
    BadDisplacement {
        /// Index of the sphere.
        index: usize,
        /// The displacement, nm.
        displacement: DVec3,
    },
    /// The cell width is not positive and finite.
    #[error("the cell width is {width} nm, but must be positive and finite")]
    BadWidth {
        /// The width, nm.
        width: f32,
    },
    /// Two spheres still approach each other after the response to their collision.
    #[error("spheres {} and {} still approach each other after their collision", pair.a, pair.b)]
    StillApproaching {
        /// The spheres.
        pair: Pair,
    },
    /// Spheres collide without end.
    #[error("there are more than {collisions} collisions in a step")]
    TooManyCollisions {
        /// Number of collisions.
        collisions: u64,
    },
}

/// Work done in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweptWork {
    /// Number of subdivisions of the step.
    pub subdivisions: u64,
    /// Number of cells that were visited around spheres.
    pub cells: u64,
    /// Number of pairs whose time of contact was computed. Spheres that overlap several cells
    /// are compared from each of them.
    pub checks: u64,
    /// Number of spheres whose links with cells were checked for changes, and changed if
    /// necessary.
    pub updates: u64,
    /// Number of spheres that were too large or too fast for the cells.
    pub outliers: u64,
}
