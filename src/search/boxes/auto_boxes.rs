//! Automatic choice of a search for boxes.

use super::cell_search::mean_occupancy;
use super::{BoxGrid, BoxSearch, BoxSet};
use crate::search::{LinearKdTree, PairBuffer, SearchError, SearchTimes};

/// A tree pays off if the cells of a grid have at least this many boxes on average.
///
/// Measured by `cargo bench --bench papers -- poirrier`.
const TREE_OCCUPANCY: f64 = 32.0;

/// Uses a [`BoxGrid`], or a [`LinearKdTree`] if the sizes of the boxes are so different that many
/// small ones would be in each cell of the grid, which are as wide as the largest boxes.
///
/// ```
/// use bevy_rapier_molecules::search::PairBuffer;
/// use bevy_rapier_molecules::search::boxes::{AutoBoxes, BoxSearch, BoxSet};
/// use glam::Vec3;
///
/// let mut boxes = BoxSet::new();
/// for k in 0..4000 {
///     let low = Vec3::new((k % 20) as f32, (k / 20 % 20) as f32, (k / 400) as f32);
///     // Every eighth box is a long rod.
///     let size = if k % 8 == 0 { Vec3::new(20.0, 0.1, 0.1) } else { Vec3::splat(0.1) };
///     boxes.push(low, low + size, k)?;
/// }
/// let mut search = AutoBoxes::new();
/// search.find_box_pairs(&boxes, &mut PairBuffer::new())?;
/// assert!(search.uses_tree());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AutoBoxes {
    grid: BoxGrid,
    tree: LinearKdTree,
    uses_tree: bool,
    /// Buffer for the longest side of each box, nm.
    sides: Vec<f32>,
}

impl AutoBoxes {
    /// An empty search.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the last search used the tree.
    #[must_use]
    pub fn uses_tree(&self) -> bool {
        self.uses_tree
    }
}

impl BoxSearch for AutoBoxes {
    fn name(&self) -> &'static str {
        "auto-boxes"
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        self.uses_tree = mean_occupancy(boxes, &mut self.sides) >= TREE_OCCUPANCY;
        if self.uses_tree {
            self.tree.find_box_pairs(boxes, pairs)
        } else {
            self.grid.find_box_pairs(boxes, pairs)
        }
    }
}
