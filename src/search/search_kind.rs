//! The searches that benches and examples compare, by name.

use super::boxes::{BoxGrid, BoxSearch, SpheresInBoxes};
use super::{BruteForce, HashGrid, LinearKdTree, PairSearch, SweepAndPrune, UniformGrid};

/// A search algorithm.
///
/// To search spheres, use [`AutoGrid`](super::AutoGrid), which chooses between [`UniformGrid`] and
/// [`HierarchicalGrid`](super::HierarchicalGrid). This list is for comparisons of the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SearchKind {
    /// [`BruteForce`].
    BruteForce,
    /// [`UniformGrid`].
    UniformGrid,
    /// [`HashGrid`].
    HashGrid,
    /// [`BoxGrid`].
    BoxGrid,
    /// [`LinearKdTree`] with duplicate pairs.
    KdTree1,
    /// [`LinearKdTree`] with unique pairs.
    KdTree2,
    /// [`SweepAndPrune`].
    SweepAndPrune,
}

impl SearchKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::BruteForce,
        Self::UniformGrid,
        Self::HashGrid,
        Self::BoxGrid,
        Self::KdTree1,
        Self::KdTree2,
        Self::SweepAndPrune,
    ];

    /// The [`PairSearch::name`] of the search.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.search().name()
    }

    /// A new search for spheres.
    #[must_use]
    pub fn search(self) -> Box<dyn PairSearch> {
        match self {
            Self::BruteForce => Box::new(BruteForce),
            Self::UniformGrid => Box::new(UniformGrid::new()),
            Self::HashGrid => Box::new(HashGrid::new()),
            Self::BoxGrid => Box::new(SpheresInBoxes::new(BoxGrid::new())),
            Self::KdTree1 => Box::new(SpheresInBoxes::new(LinearKdTree::with_duplicates())),
            Self::KdTree2 => Box::new(SpheresInBoxes::new(LinearKdTree::new())),
            Self::SweepAndPrune => Box::new(SpheresInBoxes::new(SweepAndPrune::new())),
        }
    }

    /// A new search for boxes; `None` if the algorithm is for spheres only.
    #[must_use]
    pub fn box_search(self) -> Option<Box<dyn BoxSearch>> {
        Some(match self {
            Self::BruteForce => Box::new(BruteForce),
            Self::BoxGrid => Box::new(BoxGrid::new()),
            Self::KdTree1 => Box::new(LinearKdTree::with_duplicates()),
            Self::KdTree2 => Box::new(LinearKdTree::new()),
            Self::SweepAndPrune => Box::new(SweepAndPrune::new()),
            Self::UniformGrid | Self::HashGrid => {
                return None;
            }
        })
    }
}
