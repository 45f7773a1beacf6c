//! Broad phase: which spheres of different molecules are within reach of each other.
//!
//! # Contract
//!
//! **Input**: a [`SphereSet`], which has a center and a radius (nm) and an *owner*, its
//! molecule, for each sphere, and a *margin* (nm). The *reach* of two spheres is the sum of
//! their radii plus the margin.
//!
//! **Output**: every pair of spheres with different owners and `|cᵢ − cⱼ| < rᵢ + rⱼ + margin`,
//! once, as two indices, the smaller one first. Spheres that only touch are not a pair.
//!
//! - **Exact.** All searches find the same pairs. Searches in 32 bits may differ from
//!   [`BruteForce`], which computes in 64, where distance and reach differ by rounding only.
//! - **Deterministic.** The order of the pairs depends on the spheres, not on the number of
//!   threads. It differs from search to search.
//! - **Checked.** An invalid sphere or margin, too many spheres in one place, or too many
//!   pairs to store are reported as a [`SearchError`].
//! - **No allocation** after warm-up: a search keeps its buffers.
//!
//! # Which search
//!
//! For rigid molecules, use [`MoleculeSearch`]: it starts from templates and poses instead of
//! spheres, and remembers what is close. It needs no alternative: a grid over all spheres takes
//! 1.5 to 2 times as long for small molecules that all move fast, and 6 to 40 times as long for
//! proteins, for molecules that interpenetrate, and for crowds at rest
//! (`cargo bench --bench step -- searches`). For any spheres, use [`AutoGrid`]. The others are what these are built from, and
//! what they are compared with in tests and benches.
//!
//! | search | algorithm | for |
//! |---|---|---|
//! | [`MoleculeSearch`] | boxes of molecules, remembered clusters of spheres, then spheres; Páll and Hess 2013 | rigid molecules |
//! | [`AutoGrid`] | chooses between the next two | any spheres |
//! | [`UniformGrid`] | counting-sorted grid (FFRNN); Pauschenwein 2022, chapters 3 and 4 | spheres of about one size |
//! | [`HierarchicalGrid`] | one grid per size; Johnson and Whalley 2002, section 5; Kim, Guibas and Shin 2005, section 3.1 | spheres of many sizes |
//! | [`HashGrid`] | cells in a hash table; Turk 1989, section 5.2 | small scenes |
//! | [`LinearKdTree`] | sorted locational codes; Poirrier 2009 | boxes with edges of very different lengths, more than 100 to 1 |
//! | [`SweepAndPrune`] | sorted end points; Baraff 1992, as in Poirrier 2009 | few boxes, or little motion |
//! | [`boxes::AutoBoxes`] | chooses between the kd-tree and the next one | any boxes |
//! | [`boxes::BoxGrid`] | uniform grid of boxes, oversize boxes apart | boxes of molecules |
//! | [`BruteForce`] | all pairs | reference of the tests; up to about a hundred spheres |
//!
//! [`PeriodicSearch`] runs any of them in a periodic box.
//!
//! [`PairSearch`] is the interface for spheres. [`boxes::BoxSearch`] is the one for boxes, and
//! [`boxes::SpheresInBoxes`] turns a box search into a [`PairSearch`]. [`swept`] finds spheres that
//! collide while they move, and [`first_impact`] the time at which two rigid molecules do. Searches on the GPU are in `gpu` and implement [`PairSearch`], too.

mod auto_grid;
pub mod boxes;
mod brute_force;
mod content_id;
mod error;
mod hash_grid;
pub(crate) mod hierarchical_grid;
mod linear_kd_tree;
pub mod molecules;
mod pair_buffer;
mod pair_sink;
mod pair_tasks;
mod periodic_search;
mod search_kind;
mod sweep_and_prune;
pub mod swept;
pub(crate) mod uniform_grid;

pub use auto_grid::AutoGrid;
pub use brute_force::BruteForce;
pub use error::SearchError;
pub use hash_grid::HashGrid;
pub use hierarchical_grid::HierarchicalGrid;
pub use linear_kd_tree::{LinearKdTree, Selection};
pub(crate) use molecules::MoleculePairSearch;
#[cfg(feature = "gpu")]
pub(crate) use molecules::{CLUSTER, ROUNDING};
pub use molecules::{
    FoundPairs, FoundPairsSink, IMPACT_TOLERANCE_NM, Impact, MoleculeSearch, MovingMolecule,
    RigidSpheres, SearchWork, first_impact, visit_impacts,
};
pub(crate) use molecules::{PairsByMolecules, keep_headroom, min_closing_time};
pub use pair_buffer::{Pair, PairBuffer};
#[cfg(feature = "gpu")]
pub(crate) use pair_tasks::check_pair_count;
pub use periodic_search::{ImagePair, PeriodicImages, PeriodicSearch};
pub use search_kind::SearchKind;
pub use sweep_and_prune::SweepAndPrune;
pub use uniform_grid::UniformGrid;

use std::time::{Duration, Instant};

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use crate::spheres::SphereSet;

/// Largest reach of two spheres, nm: a meter.
pub const MAX_REACH_NM: f32 = 1.0e9;

/// Smallest value of the largest reach, nm, unless it is zero. Squares of shorter lengths
/// lose precision in 32 bits.
pub const MIN_REACH_NM: f32 = 1.0e-15;

/// Largest number of pairs that a [`PairBuffer`] stores: 2 GiB of them.
pub const MAX_STORED_PAIRS: u64 = 1 << 28;

/// Duration of the two phases of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchTimes {
    /// Time to build the data structure, such as a grid.
    pub build: Duration,
    /// Time to find the pairs in it.
    pub walk: Duration,
}

impl SearchTimes {
    /// The times of a search that ends now.
    fn of(start: Instant, built: Instant) -> Self {
        Self {
            build: built - start,
            walk: built.elapsed(),
        }
    }
}

/// A cell of a grid: an axis-aligned cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridCell {
    /// Coordinates of the cell, unique within a search.
    pub number: IVec3,
    /// Corner with the smallest coordinates, nm.
    pub low: Vec3,
    /// Edge length, nm.
    pub width: f32,
}

/// Finds all overlapping pairs of spheres of different owners. See the
/// [module documentation](self) for the contract.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::search::{AutoGrid, PairBuffer, PairSearch};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// for owner in 0..3 {
///     // Neighbors overlap by 0.04 nm; the first and the last do not overlap.
///     spheres.push(Vec3::X * 0.3 * owner as f32, 0.17, owner)?;
/// }
/// let mut search = AutoGrid::new();
/// let mut pairs = PairBuffer::new();
/// search.find_pairs(&spheres, 0.0, &mut pairs)?;
/// let found: Vec<[u32; 2]> = pairs.iter().map(|pair| [pair.a, pair.b]).collect();
/// assert_eq!(found, [[0, 1], [1, 2]]);
///
/// // Pairs whose surfaces are less than 0.3 nm apart.
/// assert_eq!(search.count_pairs(&spheres, 0.3)?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait PairSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Writes all pairs closer than their radii plus `margin` (nm) into `pairs`, whose previous
    /// content is dropped.
    ///
    /// # Errors
    /// [`SearchError`] if a sphere or the margin is invalid, too many spheres lie in one
    /// place, there are too many pairs, or a device fails; `pairs` is empty then.
    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError>;

    /// As [`find_pairs`](Self::find_pairs), and calls `each` with the number, the pairs and
    /// the gaps of each of the [`lists`](PairBuffer::lists), from any thread, while the list
    /// is still in the cache.
    ///
    /// The gap is |cᵢ − cⱼ| − (rᵢ + rⱼ), nm; negative where the spheres overlap.
    ///
    /// # Errors
    /// As [`find_pairs`](Self::find_pairs). `each` may have been called for some lists by
    /// then, except if a device failed ([`SearchError::Device`]).
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

    /// Calls `visit` with all pairs and their gaps (nm) in batches, in any order and from any
    /// thread.
    ///
    /// The grids do not store the pairs, so that there may be any number of them. Other
    /// searches, such as those on a device, may store them.
    ///
    /// # Errors
    /// As [`find_gaps`](Self::find_gaps).
    fn visit_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        visit: &(dyn Fn(&[Pair], &[f32]) + Sync),
    ) -> Result<SearchTimes, SearchError> {
        let each = |_: usize, pairs: &[Pair], gaps: &[f32]| visit(pairs, gaps);
        self.find_gaps(spheres, margin, &mut PairBuffer::new(), &each)
    }

    /// Number of pairs that [`find_pairs`](Self::find_pairs) would find.
    ///
    /// # Errors
    /// As [`find_pairs`](Self::find_pairs).
    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError>;

    /// The cell around `point` (nm) in the last search, for drawing; `None` if the search has
    /// no cells.
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
