//! Checks and decisions of a grid search before it compares spheres, on the CPU and the GPU.

use crate::search::{MAX_REACH_NM, MIN_REACH_NM, SearchError, check_margin};
use crate::spheres::{SphereExtent, SphereSet};

use super::layout::GridLayout;

/// Reach of the pairs of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reach {
    /// All pairs have the same reach; its square, nm².
    Same { squared: f32 },
    /// Sum of the radii plus the margin, nm.
    Mixed { margin: f32 },
}

impl Reach {
    pub(crate) fn is_mixed(self) -> bool {
        matches!(self, Self::Mixed { .. })
    }
}

/// Reach and extent of a set of spheres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReachPlan {
    pub(crate) extent: SphereExtent,
    pub(crate) reach: Reach,
    /// Longest reach of any pair, nm.
    pub(crate) longest: f32,
}

impl ReachPlan {
    /// Checks the spheres and the margin (nm); `None` if no pair is possible.
    pub(crate) fn new(spheres: &SphereSet, margin: f32) -> Result<Option<Self>, SearchError> {
        check_margin(margin)?;
        Self::within(spheres.extent()?, spheres.len(), margin)
    }

    /// The plan for `count` spheres with this extent, and a margin in nm; `None` if no pair is
    /// possible.
    pub(crate) fn within(
        extent: SphereExtent,
        count: usize,
        margin: f32,
    ) -> Result<Option<Self>, SearchError> {
        check_margin(margin)?;
        if count < 2 {
            return Ok(None);
        }
        let longest = 2.0 * extent.largest_radius + margin;
        if longest > MAX_REACH_NM {
            return Err(SearchError::ReachTooLong { reach: longest });
        }
        if longest == 0.0 {
            return Ok(None);
        }
        if longest < MIN_REACH_NM {
            return Err(SearchError::ReachTooShort { reach: longest });
        }
        let reach = if extent.smallest_radius == extent.largest_radius {
            Reach::Same {
                squared: longest * longest,
            }
        } else {
            Reach::Mixed { margin }
        };
        Ok(Some(Self {
            extent,
            reach,
            longest,
        }))
    }

    /// Layout for `count` spheres with cells of at least `min_cell_width` nm.
    pub(crate) fn layout(&self, count: usize, min_cell_width: f32) -> GridLayout {
        let width = self.longest.max(min_cell_width);
        GridLayout::fit(self.extent.low, self.extent.high, width, count)
    }
}
