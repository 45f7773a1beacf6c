//! Which spheres meet on their way?
//!
//! # Contract
//!
//! In: two [`SphereSet`]s of the same spheres (nm), where they are at the start of a step
//! (time 0) and where at its end (time 1); in between they move in straight lines. Out: each
//! pair of spheres of different owners that touch or overlap at some time of the step, once
//! each, with the first such time, sorted by pair. Fast spheres cannot jump over each other,
//! as they can if only the ends of steps are looked at.
//!
//! Whether two spheres meet is decided by [`time_of_contact`] alone, in 64 bits: all searches
//! give the same [`Collision`]s, bit for bit, whatever the number of threads. What cannot be
//! searched is refused with a [`SweptError`], and there are no collisions then.
//!
//! # Which one?
//!
//! The algorithms are those of C. G. Johnson and J. L. Whalley, *Detecting collisions in sets
//! of moving particles: a survey and some experiments* (University of Kent, 2002):
//! [`SweptBruteForce`] is their naive algorithm and the oracle, [`CellList`] their algorithms
//! A, B and C. C was the quickest of the paper's; where spheres are densely packed, its slices
//! hold many of them, and B may be quicker.

mod brute_force;
mod cell_links;
mod cell_list;
mod contact_time;

pub use brute_force::SweptBruteForce;
pub use cell_list::{CellList, CellListVersion};
pub use contact_time::{ContactTimes, Trajectory, time_of_contact};

use thiserror::Error;

use super::Pair;
use crate::spheres::{SphereError, SphereSet};

/// Two spheres that meet within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// The spheres.
    pub pair: Pair,
    /// When they touch first, in steps: 0 at the start, where they may overlap already, 1
    /// at the end.
    pub time: f64,
}

/// Why a swept search could not run. Nothing was searched then.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SweptError {
    /// A sphere cannot be searched.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// The sets at the start and at the end are not the same spheres.
    #[error(
        "{start} spheres set out and {end} arrive, or they are not the same ones: both sets need the same owners and radii"
    )]
    OtherSpheres {
        /// Spheres at the start.
        start: usize,
        /// Spheres at the end.
        end: usize,
    },
    /// The cells are too small for the links to last a step: Result 1 of the paper.
    #[error(
        "sphere {sphere} reaches {reach} nm from its start within the step, more than half a cell of {width} nm: take wider cells or shorter steps"
    )]
    TooFast {
        /// The sphere that reaches furthest.
        sphere: u32,
        /// Its radius plus the length of its way, nm.
        reach: f32,
        /// Width of a cell, nm.
        width: f32,
    },
    /// The cells that were asked for have no positive width.
    #[error("a cell must be wider than nothing, not {width} nm")]
    BadWidth {
        /// The width that was given, nm.
        width: f32,
    },
}

/// How much a swept search had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweptWork {
    /// Pairs whose time of contact was computed.
    pub checks: u64,
    /// Cells that were looked into.
    pub cells: u64,
    /// CellLinks between cells and spheres that were made or unmade.
    pub links: u64,
    /// Spheres that were too large or too fast for the cells.
    pub apart: u64,
}

/// Finds the collisions of a step.
pub trait SweptSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Writes the collisions of spheres on their way from `start` to `end` into
    /// `collisions`, sorted by pair.
    ///
    /// # Errors
    /// [`SweptError`] if a sphere is not finite, or the sets are not the same spheres;
    /// there are no collisions then.
    fn find_collisions(
        &mut self,
        start: &SphereSet,
        end: &SphereSet,
        collisions: &mut Vec<Collision>,
    ) -> Result<SweptWork, SweptError>;
}

/// Refuses what cannot be swept.
fn check(start: &SphereSet, end: &SphereSet) -> Result<(), SweptError> {
    start.extent()?;
    end.extent()?;
    if start.owner != end.owner || start.radius != end.radius {
        return Err(SweptError::OtherSpheres {
            start: start.len(),
            end: end.len(),
        });
    }
    Ok(())
}

/// When two spheres meet, if they may.
fn collision(start: &SphereSet, end: &SphereSet, a: usize, b: usize) -> Option<Collision> {
    if start.owner(a) == start.owner(b) {
        return None;
    }
    let (a, b) = (a.min(b), a.max(b));
    let way = |index: usize| Trajectory {
        start: start.center(index).as_dvec3(),
        end: end.center(index).as_dvec3(),
    };
    let reach = f64::from(start.radius(a)) + f64::from(start.radius(b));
    let time = time_of_contact(&way(a), &way(b), reach)?.first_within_step()?;
    Some(Collision {
        pair: Pair {
            a: a as u32,
            b: b as u32,
        },
        time,
    })
}
