//! Any search of pairs as a search of groups.

use glam::Vec3;

use super::group_search::{GroupSearch, PairGroups};
use super::pair_grouper::PairGrouper;
use crate::search::{GridCell, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Groups the pairs of another search on the processor, as the crowd does: the twin of
/// searches that group on a device.
pub struct Grouped<S> {
    search: S,
    groups: PairGrouper,
    pairs: PairBuffer,
}

impl<S: PairSearch> Grouped<S> {
    /// Groups the pairs of `search`.
    #[must_use]
    pub fn new(search: S) -> Self {
        Self {
            search,
            groups: PairGrouper::default(),
            pairs: PairBuffer::new(),
        }
    }
}

impl<S: PairSearch> GroupSearch for Grouped<S> {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn find_groups(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError> {
        found.clear();
        let search = &mut self.search;
        let times = self.groups.find(search, spheres, margin, &mut self.pairs)?;
        self.groups.swap_found(found);
        Ok(times)
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }
}
