//! A search that switches to the CPU when its device fails.

use glam::Vec3;

use super::group_search::{GroupSearch, PairGroups};
use super::pair_grouper::PairGrouper;
use crate::backend::{DeviceError, Offload};
use crate::search::{AutoGrid, GridCell, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Wraps a search and replaces it by an [`AutoGrid`] within the same call when its device
/// fails.
pub(super) struct FallbackSearch {
    search: Offload<Box<dyn GroupSearch>>,
    cpu: PairGrouper,
}

impl FallbackSearch {
    pub fn new(search: Box<dyn GroupSearch>) -> Self {
        let mut offload = Offload::none();
        offload.start(search);
        Self {
            search: offload,
            cpu: PairGrouper::new(Box::new(AutoGrid::new())),
        }
    }

    /// Takes the error after which the CPU replaced the device.
    pub fn take_error(&mut self) -> Option<DeviceError> {
        self.search.take_error()
    }

    /// Searches with an [`AutoGrid`] from now on.
    pub fn use_cpu(&mut self) {
        self.search.stop();
    }

    /// The search in use.
    fn current(&self) -> &dyn GroupSearch {
        self.search.as_ref().map_or(&self.cpu, |search| &**search)
    }
}

impl GroupSearch for FallbackSearch {
    fn name(&self) -> &'static str {
        self.current().name()
    }

    fn find_groups(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError> {
        if let Some(search) = self.search.as_mut() {
            match search.find_groups(spheres, margin, found) {
                Err(SearchError::Device(error)) => self.search.fail(error),
                result => return result,
            };
        }
        self.cpu.find_groups(spheres, margin, found)
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.current().cell_around(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::PairSearch;

    fn lost() -> DeviceError {
        let reason = "unplugged".into();
        DeviceError::Lost { reason }
    }

    /// A search whose device is lost.
    struct LostSearch;

    impl GroupSearch for LostSearch {
        fn name(&self) -> &'static str {
            "lost"
        }

        fn find_groups(
            &mut self,
            _: &SphereSet,
            _: f32,
            _: &mut PairGroups,
        ) -> Result<SearchTimes, SearchError> {
            Err(lost().into())
        }
    }

    fn two_spheres() -> SphereSet {
        let mut spheres = SphereSet::new();
        for owner in 0..2 {
            let center = Vec3::X * 0.15 * owner as f32;
            spheres.push(center, 0.1, owner).unwrap();
        }
        spheres
    }

    #[test]
    fn a_failing_device_loses_no_pair_and_is_reported_once() {
        let spheres = two_spheres();
        let mut search = FallbackSearch::new(Box::new(LostSearch));
        let mut found = PairGroups::default();
        for expected in [Some(lost()), None] {
            search.find_groups(&spheres, 0.0, &mut found).unwrap();
            assert_eq!((found.groups.len(), found.candidates), (1, 1));
            assert_eq!(search.take_error(), expected);
            assert_eq!(search.name(), AutoGrid::new().name());
        }
    }

    #[test]
    fn invalid_input_is_no_device_error() {
        let mut search = FallbackSearch::new(Box::new(PairGrouper::new(Box::new(AutoGrid::new()))));
        let error = search
            .find_groups(&two_spheres(), f32::NAN, &mut PairGroups::default())
            .unwrap_err();
        assert!(matches!(error, SearchError::BadMargin { .. }), "{error}");
        assert_eq!(search.take_error(), None);
    }
}
