//! A search that no device can bring to a stop.

use glam::Vec3;

use super::group_search::GroupSearch;
use super::pair_grouper::PairGrouper;
use crate::search::{
    AutoGrid, DeviceFault, GridCell, PairBuffer, PairSearch, SearchError, SearchTimes,
};
use crate::spheres::SphereSet;

/// A search that was given up because its device failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchFault {
    /// Name of the search.
    pub search: &'static str,
    /// What happened.
    pub fault: DeviceFault,
    /// The same in the words of the device, as far as it said more.
    pub message: String,
}

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

    fn trouble(&self) -> Option<String> {
        match self {
            Self::Pairs(search) => search.trouble(),
            Self::Groups(search) => search.trouble(),
        }
    }
}

/// Another search, and in its place an [`AutoGrid`] as soon as the device that it runs on
/// fails: the spheres are searched all the same, and no caller notices.
pub(super) struct FallbackSearch {
    finder: Finder,
    /// Pairs, as far as they come from the search.
    pairs: PairBuffer,
    fault: Option<SearchFault>,
}

impl FallbackSearch {
    pub fn new(finder: Finder) -> Self {
        Self {
            finder,
            pairs: PairBuffer::new(),
            fault: None,
        }
    }

    /// Why the search was given up, once.
    pub fn take_fault(&mut self) -> Option<SearchFault> {
        self.fault.take()
    }

    /// Searches on the processor from now on, since a device has failed.
    pub fn give_up(&mut self, search: &'static str, fault: DeviceFault, message: String) {
        self.fault = Some(SearchFault {
            search,
            fault,
            message,
        });
        self.finder = Finder::Pairs(Box::new(AutoGrid::new()));
    }

    /// Name of the search.
    pub fn name(&self) -> &'static str {
        self.finder.name()
    }

    /// The cell around `point`, nm, in the last search.
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        match &self.finder {
            Finder::Pairs(search) => search.cell_around(point),
            Finder::Groups(search) => search.cell_around(point),
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
        let Err(SearchError::Device(fault)) = result else {
            return result;
        };
        let message = self.finder.trouble().unwrap_or_else(|| fault.to_string());
        self.give_up(self.finder.name(), fault, message);
        self.find_once(spheres, margin, groups)
    }

    fn find_once(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        groups: &mut PairGrouper,
    ) -> Result<SearchTimes, SearchError> {
        match &mut self.finder {
            Finder::Pairs(search) => groups.find(&mut **search, spheres, margin, &mut self.pairs),
            Finder::Groups(search) => groups.find_grouped(&mut **search, spheres, margin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Err(DeviceFault::Lost.into())
        }

        fn count_pairs(&mut self, _: &SphereSet, _: f32) -> Result<u64, SearchError> {
            Err(DeviceFault::Lost.into())
        }

        fn trouble(&self) -> Option<String> {
            Some("somebody pulled the plug".into())
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
        let fault = SearchFault {
            search: "gone",
            fault: DeviceFault::Lost,
            message: "somebody pulled the plug".into(),
        };
        assert_eq!(search.take_fault(), Some(fault));
        assert_eq!(search.name(), AutoGrid::new().name());
        search.find(&spheres, 0.0, &mut groups).unwrap();
        assert_eq!(groups.groups().len(), 1);
        assert_eq!(search.take_fault(), None);
    }

    #[test]
    fn spheres_at_fault_are_not_searched_twice() {
        let mut search = FallbackSearch::new(Finder::Pairs(Box::new(AutoGrid::new())));
        let mut groups = PairGrouper::default();
        let error = search
            .find(&two_spheres(), f32::NAN, &mut groups)
            .unwrap_err();
        assert!(matches!(error, SearchError::BadMargin { .. }), "{error}");
        assert_eq!(search.take_fault(), None);
    }
}
