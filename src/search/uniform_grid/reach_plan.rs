//! What a grid search decides before it looks at any pair, on whatever device it runs.

use crate::search::{MAX_REACH_NM, MIN_REACH_NM, SearchError, check_margin};
use crate::spheres::{SphereExtent, SphereSet};

use super::layout::GridLayout;

/// How far spheres reach.
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

/// How far the spheres of a set reach, and where they are.
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

    /// The plan for so many spheres of this extent and the margin, nm; `None` if no pair is
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

    /// How to cut the space of `count` spheres into cells of at least `least_cell` nm.
    pub(crate) fn layout(&self, count: usize, least_cell: f32) -> GridLayout {
        let width = self.longest.max(least_cell);
        GridLayout::fit(self.extent.low, self.extent.high, width, count)
    }
}
