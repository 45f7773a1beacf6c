//! Searches for overlapping boxes: the broad phase of molecules.
//!
//! # Contract
//!
//! **Input**: a [`BoxSet`], which has two corners (nm) and an owner for each axis-aligned box.
//!
//! **Output**: every pair of boxes with different owners and a common point, once. Boxes that
//! only touch are a pair. Coordinates are only compared, so that all searches find exactly the
//! same pairs. Their order does not depend on the number of threads, but may depend on earlier
//! searches with the same object.
//!
//! To search with a margin, extend the boxes by half of it on every side.
//!
//! # Which search
//!
//! | search | algorithm | for |
//! |---|---|---|
//! | [`AutoBoxes`] | chooses between the next two | any boxes |
//! | [`BoxGrid`] | uniform grid, oversize boxes apart, remembers close boxes | most scenes |
//! | [`LinearKdTree`](super::LinearKdTree) | Poirrier 2009 | boxes with edges of very different lengths, more than 100 to 1 |
//! | [`SweepAndPrune`](super::SweepAndPrune) | Baraff 1992, as in Poirrier 2009 | few boxes, or little motion |
//! | [`BruteForce`](super::BruteForce) | all pairs | reference of the tests |
//!
//! [`SpheresInBoxes`] turns any of them into a [`PairSearch`](super::PairSearch).

mod auto_boxes;
mod box_compare;
mod box_grid;
mod box_set;
mod cell_search;
mod pair_sort;
mod spheres_in_boxes;

pub use auto_boxes::AutoBoxes;
pub use box_grid::BoxGrid;
pub use box_set::{BoxError, BoxSet, MAX_COORDINATE_NM};
pub use spheres_in_boxes::SpheresInBoxes;

use super::{PairBuffer, SearchError, SearchTimes};

/// Finds all overlapping pairs of boxes of different owners.
///
/// A search keeps its buffers. Some also keep their last result, which makes the next search of
/// nearly the same boxes cheaper.
pub trait BoxSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Writes all pairs of overlapping boxes into `pairs`, whose previous content is dropped.
    ///
    /// # Errors
    /// [`SearchError`] if a box is invalid, too many boxes lie in one place, or there are too many
    /// pairs; `pairs` is empty then.
    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError>;
}
