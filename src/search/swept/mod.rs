//! Searches for spheres that collide during a step: continuous collision detection.
//!
//! # Contract
//!
//! **Input**: two [`SphereSet`]s of the same spheres (nm), at the start (time 0) and at the end
//! (time 1) of a step. In between, spheres move along straight lines.
//!
//! **Output**: every pair of spheres of different owners that touch or overlap at some time of
//! the step, once, with the first such time, sorted by pair. Fast spheres do not tunnel through
//! each other.
//!
//! [`time_of_contact`] decides about collisions in 64 bits, so that all searches return the same
//! [`Collision`]s, bit for bit, on any number of threads. Invalid input is reported as a
//! [`SweptError`].
//!
//! # Which search
//!
//! The algorithms are those of C. G. Johnson and J. L. Whalley, *Detecting collisions in sets of
//! moving particles: a survey and some experiments* (University of Kent, 2002):
//! [`SweptBruteForce`] is their naive algorithm and the reference of the tests, [`CellList`] has
//! their algorithms A, B and C. C is the fastest in the paper; B may be faster in dense scenes,
//! where the slices of C contain many spheres.

mod cell_links;
mod cell_list;
mod contact_time;

pub use cell_list::{CellList, CellListVersion};
pub use contact_time::{ContactTimes, Trajectory, time_of_contact};

use rayon::prelude::*;
use thiserror::Error;

use super::Pair;
use crate::spheres::{SphereError, SphereSet};

/// Two spheres that collide within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// The spheres.
    pub pair: Pair,
    /// First time of contact, in steps: 0 at the start, where they may overlap already, to 1 at the
    /// end.
    pub time: f64,
}

/// Why a swept search did not run. It has found no collisions then.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SweptError {
    /// A sphere is invalid.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// The sets at the start and at the end have different spheres.
    #[error(
        "the {start} spheres at the start and the {end} at the end differ; both sets need the same owners and radii"
    )]
    DifferentSpheres {
        /// Number of spheres at the start.
        start: usize,
        /// Number of spheres at the end.
        end: usize,
    },
    /// The cell width is not positive and finite.
    #[error("the cell width is {width} nm, but must be positive and finite")]
    BadWidth {
        /// The width, nm.
        width: f32,
    },
}

/// Work done by a swept search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweptWork {
    /// Number of cells that were visited.
    pub cells: u64,
    /// Number of spheres that were too large or too fast for the cells.
    pub outliers: u64,
}

/// Finds the collisions of a step.
pub trait SweptSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Writes the collisions of spheres that move from `start` to `end` into `collisions`, sorted
    /// by pair.
    ///
    /// # Errors
    /// [`SweptError`] if a sphere is invalid, or the sets have different spheres; there are no
    /// collisions then.
    fn find_collisions(
        &mut self,
        start: &SphereSet,
        end: &SphereSet,
        collisions: &mut Vec<Collision>,
    ) -> Result<SweptWork, SweptError>;
}

/// Compares every sphere with every other: the naive algorithm of the paper, and the reference
/// of the tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct SweptBruteForce {
    sequential: bool,
}

impl SweptBruteForce {
    /// Uses all threads.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses a single thread, like the algorithms that it is compared with.
    #[must_use]
    pub fn sequential() -> Self {
        Self { sequential: true }
    }
}

impl SweptSearch for SweptBruteForce {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn find_collisions(
        &mut self,
        start: &SphereSet,
        end: &SphereSet,
        collisions: &mut Vec<Collision>,
    ) -> Result<SweptWork, SweptError> {
        collisions.clear();
        check(start, end)?;
        let count = start.len();
        let of = |a: usize| (a + 1..count).filter_map(move |b| collision(start, end, a, b));
        if self.sequential {
            collisions.extend((0..count).flat_map(of));
        } else {
            collisions.par_extend((0..count).into_par_iter().flat_map_iter(of));
        }
        Ok(SweptWork::default())
    }
}

fn check(start: &SphereSet, end: &SphereSet) -> Result<(), SweptError> {
    start.extent()?;
    end.extent()?;
    if start.owner != end.owner || start.radius != end.radius {
        return Err(SweptError::DifferentSpheres {
            start: start.len(),
            end: end.len(),
        });
    }
    Ok(())
}

/// The collision of two spheres, if any.
fn collision(start: &SphereSet, end: &SphereSet, a: usize, b: usize) -> Option<Collision> {
    if start.owner(a) == start.owner(b) {
        return None;
    }
    let (a, b) = (a.min(b), a.max(b));
    let trajectory = |index: usize| Trajectory {
        start: start.center(index).as_dvec3(),
        end: end.center(index).as_dvec3(),
    };
    let reach = f64::from(start.radius(a)) + f64::from(start.radius(b));
    let time = time_of_contact(&trajectory(a), &trajectory(b), reach)?.first_within_step()?;
    Some(Collision {
        pair: Pair {
            a: a as u32,
            b: b as u32,
        },
        time,
    })
}
