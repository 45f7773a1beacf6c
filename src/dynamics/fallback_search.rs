//! A search that no device can bring to a stop.

use glam::Vec3;

use super::group_search::GroupSearch;
use super::pair_grouper::PairGrouper;
use crate::backend::{DeviceError, Offload};
use crate::search::{AutoGrid, GridCell, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// A search of either kind.
pub(super) enum Finder {
    Pairs(Box<dyn PairSearch>),
    Groups(Box<dyn GroupSearch>),
}

impl Finder {
    fn name(&self) -> &'static str {
        match self {
            Self::Pairs(search) => search.name(),
            Self::Groups(search) => search.name(),
        }
    }
}

/// Another search, and in its place an [`AutoGrid`] as soon as the device that it runs on
/// fails: the spheres are searched all the same, and no caller notices.
pub(super) struct FallbackSearch {
    finder: Offload<Finder>,
    cpu: AutoGrid,
    /// Pairs, as far as they come from the search.
    pairs: PairBuffer,
}

impl FallbackSearch {
    pub fn new(finder: Finder) -> Self {
        let mut search = Self {
            finder: Offload::none(),
            cpu: AutoGrid::new(),
            pairs: PairBuffer::new(),
        };
        search.finder.start(finder);
        search
    }

    /// Takes the error after which the CPU replaced the device.
    pub fn take_error(&mut self) -> Option<DeviceError> {
        self.finder.take_error()
    }

    /// Searches with an [`AutoGrid`] on the CPU from now on.
    pub fn use_cpu(&mut self) {
        self.finder.stop();
    }

    /// Name of the search.
    pub fn name(&self) -> &'static str {
        let cpu = self.cpu.name();
        self.finder.as_ref().map_or(cpu, Finder::name)
    }

    /// The cell around `point`, nm, in the last search.
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        match self.finder.as_ref() {
            Some(Finder::Pairs(search)) => search.cell_around(point),
            Some(Finder::Groups(search)) => search.cell_around(point),
            None => self.cpu.cell_around(point),
        }
    }

    /// Groups the pairs of `spheres` closer than their radii plus `margin`, nm; on the processor
    /// if it is the device that fails.
    ///
    /// # Errors
    /// Those of the search, if it is the spheres that are at fault.
    pub fn find(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        groups: &mut PairGrouper,
    ) -> Result<SearchTimes, SearchError> {
        let result = self.find_once(spheres, margin, groups);
        let Err(SearchError::Device(error)) = result else {
            return result;
        };
        self.finder.fail(error);
        self.find_once(spheres, margin, groups)
    }

    fn find_once(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        groups: &mut PairGrouper,
    ) -> Result<SearchTimes, SearchError> {
        match self.finder.as_mut() {
            Some(Finder::Pairs(search)) => {
                groups.find(&mut **search, spheres, margin, &mut self.pairs)
            }
            Some(Finder::Groups(search)) => groups.find_grouped(&mut **search, spheres, margin),
            None => groups.find(&mut self.cpu, spheres, margin, &mut self.pairs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> DeviceError {
        let reason = "unplugged".into();
        DeviceError::Lost { reason }
    }

    /// A search whose device is gone.
    struct Gone;

    impl PairSearch for Gone {
        fn name(&self) -> &'static str {
            "gone"
        }

        fn find_pairs(
            &mut self,
            _: &SphereSet,
            _: f32,
            _: &mut PairBuffer,
        ) -> Result<SearchTimes, SearchError> {
            Err(lost().into())
        }

        fn count_pairs(&mut self, _: &SphereSet, _: f32) -> Result<u64, SearchError> {
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
    fn a_device_that_fails_costs_no_pair_and_is_told_once() {
        let spheres = two_spheres();
        let mut search = FallbackSearch::new(Finder::Pairs(Box::new(Gone)));
        let mut groups = PairGrouper::default();
        search.find(&spheres, 0.0, &mut groups).unwrap();
        assert_eq!(groups.groups().len(), 1);
        assert_eq!(groups.candidates(), 1);
        assert_eq!(search.take_error(), Some(lost()));
        assert_eq!(search.name(), AutoGrid::new().name());
        search.find(&spheres, 0.0, &mut groups).unwrap();
        assert_eq!(groups.groups().len(), 1);
        assert_eq!(search.take_error(), None);
    }

    #[test]
    fn spheres_at_fault_are_not_searched_twice() {
        let mut search = FallbackSearch::new(Finder::Pairs(Box::new(AutoGrid::new())));
        let mut groups = PairGrouper::default();
        let error = search
            .find(&two_spheres(), f32::NAN, &mut groups)
            .unwrap_err();
        assert!(matches!(error, SearchError::BadMargin { .. }), "{error}");
        assert_eq!(search.take_error(), None);
    }
}
