//! Which spheres of different molecules are in reach of each other?
//!
//! # Contract
//!
//! In: a [`SphereSet`], which is centers and radii in nm and an *owner* for each sphere (its
//! molecule), and a *margin* in nm. The *reach* of two spheres is the sum of their radii
//! plus the margin.
//!
//! Out: each unordered pair of spheres that have different owners and whose centers are
//! closer than their reach, `|cᵢ − cⱼ| < rᵢ + rⱼ + margin`, once each, by index, the smaller
//! one first. Spheres that just touch are no pair.
//!
//! - **Exact.** All searches find the same pairs. Those that compute in 32 bits may differ
//!   from the oracle, which has 64, where a distance equals a reach to the last bits.
//! - **Deterministic.** The order of the pairs depends on the spheres only, not on the
//!   number of threads. It differs from search to search.
//! - **Never trusting.** A sphere or margin that is no finite number is refused, and so is a
//!   heap of spheres that would take minutes to compare: [`SearchError`], and no pairs.
//! - **Reused memory.** A search keeps its buffers: after warm-up it allocates nothing.
//!
//! # Which one?
//!
//! [`BruteForce`] is the oracle that all others are tested against, [`AutoGrid`] the one to
//! use: it takes the grid that fits the spheres. The others are the history of the question,
//! each at its best in some scene. [`SearchKind`] names those that compete, and recommends
//! one.
//!
//! | search | file | after | take it for |
//! |---|---|---|---|
//! | [`BruteForce`] | `brute_force` | | up to some hundred spheres; tests |
//! | [`UniformGrid`] | `uniform_grid/` | Pauschenwein 2022, chapters 3 and 4 | spheres of about one size |
//! | [`TwoLevelGrid`] | `two_level_grid` | | molecules of many spheres that are not everywhere near each other |
//! | [`HierarchicalGrid`] | `hierarchical_grid/` | Johnson and Whalley 2002, section 5; Kim, Guibas and Shin, section 3.1 | spheres of many sizes |
//! | [`AutoGrid`] | `auto_grid` | | anything: takes one of the last two |
//! | [`VerletGrid`] | `verlet_grid` | Verlet 1967 | scenes nearly at rest |
//! | [`HashGrid`] | `hash_grid` | Turk 1989, section 5.2 | small scenes |
//! | [`LinearKdTree`] | `linear_kd_tree/` | Poirrier 2009 | boxes of very different sizes |
//! | [`SweepAndPrune`] | `sweep_and_prune` | Poirrier 2009, after Baraff 1992 | few boxes, or hardly any motion |
//! | [`boxes::BoxGrid`] | `boxes/grid` | | boxes of molecules; a giant among many |
//! | [`swept::CellList`] | `swept/cell_list` | Johnson and Whalley 2002, algorithms A, B and C | collisions on the way |
//!
//! Three contracts: [`PairSearch`] for spheres, [`boxes::BoxSearch`] for boxes, which
//! [`boxes::SpheresInBoxes`] makes a search of spheres, and [`swept::SweptSearch`] for
//! spheres on their way. Searches on the GPU are in `gpu`, behind the same contract.
//!
//! # Words
//!
//! *Cell*: a cube of space, at least as wide as the longest reach. *Level*: a grid of one
//! cell width, among several. *Candidates*: spheres in the cells around one, before they are
//! compared. *Gap*: distance of two surfaces, nm; negative where they overlap. *Crowded*: too
//! many spheres in one cell to compare them all.

mod auto_grid;
pub mod boxes;
mod brute_force;
mod cell_occupancy;
mod hash_grid;
pub(crate) mod hierarchical_grid;
mod linear_kd_tree;
mod pair_buffer;
mod pair_tasks;
mod refined;
mod search_kind;
mod sweep_and_prune;
pub mod swept;
mod two_level_grid;
pub(crate) mod uniform_grid;
mod verlet_grid;

pub use auto_grid::{AutoGrid, MIXED_OCCUPANCY, MIXED_OCTAVES};
pub use brute_force::BruteForce;
pub use cell_occupancy::{CellOccupancy, cell_occupancy};
pub use hash_grid::{DEFAULT_SLOTS, HashGrid};
pub use hierarchical_grid::HierarchicalGrid;
pub use linear_kd_tree::{LinearKdTree, Selection};
pub use pair_buffer::{Pair, PairBuffer};
pub use refined::{PlacedMolecule, RefinedSearch, RefinedSearchError};
pub use search_kind::{SearchKind, UnknownSearch};
pub use sweep_and_prune::SweepAndPrune;
pub use two_level_grid::TwoLevelGrid;
pub use uniform_grid::UniformGrid;
pub use verlet_grid::{DEFAULT_SKIN_NM, VerletGrid};

use std::time::Duration;

use glam::{IVec3, Vec3};
use rayon::prelude::*;
use thiserror::Error;

use crate::backend::DeviceError;
use crate::spheres::{SphereError, SphereSet};

/// Why a search could not run. Nothing was searched then.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// One of the spheres cannot be searched.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// One of the boxes cannot be searched.
    #[error(transparent)]
    Box(#[from] boxes::BoxError),
    /// The margin is NaN, infinite or negative.
    #[error("a search margin of {margin} nm is negative or not finite: give one of 0 nm or more")]
    BadMargin {
        /// The margin that was given, nm.
        margin: f32,
    },
    /// The cells that were asked for cannot be so wide.
    #[error(
        "cells of {width} nm cannot be searched: give a width of more than 0 nm and at most {MAX_REACH_NM} nm"
    )]
    BadWidth {
        /// The width that was given, nm.
        width: f32,
    },
    /// The skin is NaN, infinite or negative.
    #[error("a skin of {skin} nm is negative or not finite: give one of 0 nm or more")]
    BadSkin {
        /// The skin that was given, nm.
        skin: f32,
    },
    /// The largest radii and the margin add up to less than [`MIN_REACH_NM`], and not
    /// to zero.
    #[error(
        "spheres that reach only {reach} nm cannot be searched: the least is {MIN_REACH_NM} nm; are lengths in nm?"
    )]
    ReachTooShort {
        /// The longest reach, nm.
        reach: f32,
    },
    /// Two radii and the margin add up to more than [`MAX_REACH_NM`].
    #[error(
        "spheres that reach {reach} nm are too large to search: the most is {MAX_REACH_NM} nm; are lengths in nm?"
    )]
    ReachTooLong {
        /// The longest reach, nm.
        reach: f32,
    },
    /// So many spheres lie in one place that comparing them would not end.
    #[error(
        "{spheres} spheres lie around sphere {sphere}, within {reach} nm: comparing them all would take too long; spread them out, or search with a smaller margin"
    )]
    TooCrowded {
        /// A sphere, or box, in the most crowded cell.
        sphere: u32,
        /// How many spheres or boxes that cell has.
        spheres: u32,
        /// Longest reach of a sphere, nm.
        reach: f32,
    },
    /// The device of the search failed. A search on the CPU can do the same work.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Longest reach of two spheres that can be searched, nm: a meter.
pub const MAX_REACH_NM: f32 = 1.0e9;

/// Shortest longest reach that can be searched, nm: a proton is a billion times wider.
/// Below it squares would lose their digits in 32 bits.
pub const MIN_REACH_NM: f32 = 1.0e-15;

/// How long the two halves of a search took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchTimes {
    /// Time to build the structure that is searched (the grid).
    pub build: Duration,
    /// Time to walk it.
    pub walk: Duration,
}

/// A cell that a search sorts spheres into: a cube along the axes of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridCell {
    /// Number of the cell along each axis, for telling cells of one search apart.
    pub number: IVec3,
    /// The corner with the smallest coordinates, nm.
    pub low: Vec3,
    /// Length of its sides, nm.
    pub width: f32,
}

/// Finds all overlapping pairs of spheres of different owners.
///
/// An implementation keeps its buffers from call to call, so that a step
/// allocates nothing once they have grown to the size of the scene.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// for owner in 0..3 {
///     // Neighbors overlap by 0.04 nm; those at the ends are apart.
///     spheres.push(Vec3::X * 0.3 * owner as f32, 0.17, owner)?;
/// }
/// let mut pairs = PairBuffer::new();
/// AutoGrid::new().find_pairs(&spheres, 0.0, &mut pairs)?;
/// let found: Vec<[u32; 2]> = pairs.iter().map(|pair| [pair.a, pair.b]).collect();
/// assert_eq!(found, [[0, 1], [1, 2]]);
///
/// // Another search by its name, and all that are within 0.3 nm of each other.
/// let mut search = "kd-tree-2".parse::<SearchKind>()?.search();
/// assert_eq!(search.count_pairs(&spheres, 0.3)?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait PairSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Writes every pair closer than its radii plus `margin` (nm) into `pairs`,
    /// whose former content is dropped.
    ///
    /// # Errors
    /// [`SearchError`] if a sphere or the margin is not finite or is negative, too many
    /// spheres lie in one place, or a device fails; `pairs` is empty then.
    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError>;

    /// As [`find_pairs`](Self::find_pairs), and calls `each` for each of the
    /// [`lists`](PairBuffer::lists), with its number, its pairs and their gaps: as soon as
    /// it is written, while it is still near the processor, and from any thread.
    ///
    /// The gap is |cᵢ − cⱼ| − (rᵢ + rⱼ), nm; negative where the spheres overlap.
    ///
    /// # Errors
    /// As [`find_pairs`](Self::find_pairs). `each` may have been called for some lists
    /// by then, but not if it was a device that failed ([`SearchError::Device`]).
    fn find_gaps(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
        each: &(dyn Fn(usize, &[Pair], &[f32]) + Sync),
    ) -> Result<SearchTimes, SearchError> {
        let times = self.find_pairs(spheres, margin, pairs)?;
        let (lists, gaps) = pairs.lists_and_gaps();
        let lists = lists.par_iter().zip(gaps).enumerate();
        lists.for_each(|(number, (list, gaps))| {
            gaps.clear();
            gaps.extend(list.iter().map(|pair| pair.gap(spheres)));
            each(number, list, gaps);
        });
        Ok(times)
    }

    /// Counts the pairs that [`find_pairs`](Self::find_pairs) would find, without
    /// writing them down.
    ///
    /// # Errors
    /// As [`find_pairs`](Self::find_pairs).
    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError>;

    /// The cell around `point` (nm) in the last search, for drawing; none if the search
    /// has no cells, or needed none.
    fn cell_around(&self, _point: Vec3) -> Option<GridCell> {
        None
    }
}

pub(crate) fn check_margin(margin: f32) -> Result<(), SearchError> {
    if margin.is_finite() && margin >= 0.0 {
        Ok(())
    } else {
        Err(SearchError::BadMargin { margin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_that_32_bits_cannot_square_are_refused() {
        for radius in [5.0e-40, 1.0e-23] {
            let mut spheres = SphereSet::new();
            spheres.push(Vec3::ZERO, radius, 0).unwrap();
            spheres.push(Vec3::X * 1.8 * radius, radius, 1).unwrap();
            assert!(matches!(
                UniformGrid::new().count_pairs(&spheres, 0.0),
                Err(SearchError::ReachTooShort { .. })
            ));
        }
        let mut points = SphereSet::new();
        points.push(Vec3::ZERO, 0.0, 0).unwrap();
        points.push(Vec3::ZERO, 0.0, 1).unwrap();
        assert_eq!(UniformGrid::new().count_pairs(&points, 0.0), Ok(0));
    }

    /// What [`SphereSet::push`] refuses can still come from a pose gone wild.
    #[test]
    fn a_set_with_a_fault_is_refused_and_the_search_stays_usable() {
        let mut spheres = SphereSet::new();
        for owner in 0..20 {
            spheres
                .push(Vec3::X * 0.15 * owner as f32, 0.1, owner)
                .unwrap();
        }
        let [mut no_number, mut endless, mut negative] = std::array::from_fn(|_| spheres.clone());
        no_number.y[7] = f32::NAN;
        endless.z[3] = f32::NEG_INFINITY;
        negative.radius[11] = -0.1;
        let searches: [Box<dyn PairSearch>; 5] = [
            Box::new(UniformGrid::new()),
            Box::new(UniformGrid::scalar()),
            Box::new(HierarchicalGrid::new()),
            Box::new(AutoGrid::new()),
            Box::new(BruteForce),
        ];
        for mut search in searches {
            let mut pairs = PairBuffer::new();
            for (faulty, index) in [(&no_number, 7), (&endless, 3), (&negative, 11)] {
                search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
                assert_eq!(pairs.len(), 19);
                let error = search.find_pairs(faulty, 0.0, &mut pairs).unwrap_err();
                let named = match error {
                    SearchError::Sphere(SphereError::BadCenter { index, .. })
                    | SearchError::Sphere(SphereError::BadRadius { index, .. }) => index,
                    other => panic!("{other}"),
                };
                assert_eq!(named, index);
                assert!(pairs.is_empty());
                assert!(search.count_pairs(faulty, 0.0).is_err());
            }
        }
    }
}
