//! Which boxes overlap? The broad phase of molecules.
//!
//! # Contract
//!
//! In: a [`BoxSet`], boxes along the axes of the world, two corners in nm and an owner each.
//! Out: each unordered pair of boxes that have different owners and a point in common, once
//! each, in an order that depends on the boxes only and not on the number of threads. Boxes
//! that just touch do have a point in common. Only numbers are compared, nothing is
//! computed: the result is exact, and the same for every search.
//!
//! A margin is part of the boxes: make them larger by half of it on every side.
//!
//! # Which one?
//!
//! | search | after | take it for |
//! |---|---|---|
//! | [`BruteForceBoxes`] | | tests: it is the oracle |
//! | [`BoxGrid`] | Pauschenwein 2022; giants apart as in Johnson and Whalley 2002, section 5 | nearly everything |
//! | [`LinearKdTree`](super::LinearKdTree) | Poirrier 2009 | boxes of very different sizes |
//! | [`SweepAndPrune`](super::SweepAndPrune) | Baraff 1992, as in Poirrier 2009 | few boxes, or hardly any motion |
//!
//! [`SpheresInBoxes`] makes a [`PairSearch`](super::PairSearch) of any of them.

mod box_compare;
mod box_grid;
mod box_set;
mod brute_force;
mod spheres_in_boxes;

pub use box_grid::BoxGrid;
pub use box_set::{BoxError, BoxExtent, BoxSet, LARGEST_COORDINATE_NM};
pub use brute_force::BruteForceBoxes;
pub use spheres_in_boxes::SpheresInBoxes;

use super::{PairBuffer, SearchError, SearchTimes};

/// Finds all overlapping pairs of boxes of different owners.
///
/// An implementation keeps its buffers from call to call. Some keep more: what they
/// found last time, which makes the next search of nearly the same boxes cheaper.
pub trait BoxSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Writes every pair of overlapping boxes into `pairs`, whose former content is
    /// dropped.
    ///
    /// # Errors
    /// [`SearchError`] if a box cannot be searched, or too many lie in one place;
    /// `pairs` is empty then.
    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError>;
}

impl BoxSearch for Box<dyn BoxSearch> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        (**self).find_box_pairs(boxes, pairs)
    }
}
