//! A search that no device can bring to a stop.

use glam::Vec3;

use crate::search::{
    DeviceFault, GridCell, Pair, PairBuffer, PairSearch, SearchError, SearchTimes, UniformGrid,
};
use crate::spheres::SphereSet;

/// A search that was given up because its device failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFault {
    /// Name of the search.
    pub search: &'static str,
    /// What happened.
    pub fault: DeviceFault,
    /// The same in the words of the device, as far as it said more.
    pub message: String,
}

/// Another search, and in its place a [`UniformGrid`] as soon as the device that it runs on
/// fails: the spheres are searched all the same, and no caller notices.
pub(super) struct SteadySearch {
    search: Box<dyn PairSearch>,
    fault: Option<SearchFault>,
}

impl SteadySearch {
    pub fn new(search: Box<dyn PairSearch>) -> Self {
        Self {
            search,
            fault: None,
        }
    }

    /// Why the search was given up, once.
    pub fn take_fault(&mut self) -> Option<SearchFault> {
        self.fault.take()
    }

    /// Runs `search`, and again on the CPU if it was the device that failed.
    fn run<T>(
        &mut self,
        mut search: impl FnMut(&mut dyn PairSearch) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        let result = search(&mut *self.search);
        let Err(SearchError::Device(fault)) = result else {
            return result;
        };
        self.fault = Some(SearchFault {
            search: self.search.name(),
            fault,
            message: self.search.trouble().unwrap_or_else(|| fault.to_string()),
        });
        self.search = Box::new(UniformGrid::new());
        search(&mut *self.search)
    }
}

impl PairSearch for SteadySearch {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        self.run(|search| search.find_pairs(spheres, margin, pairs))
    }

    fn find_pairs_and(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
        each: &(dyn Fn(usize, &[Pair]) + Sync),
    ) -> Result<SearchTimes, SearchError> {
        self.run(|search| search.find_pairs_and(spheres, margin, pairs, each))
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        self.run(|search| search.count_pairs(spheres, margin))
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }

    fn trouble(&self) -> Option<String> {
        self.search.trouble()
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
            let centre = Vec3::X * 0.15 * owner as f32;
            spheres.push(centre, 0.1, owner).unwrap();
        }
        spheres
    }

    #[test]
    fn a_device_that_fails_costs_no_pair_and_is_told_once() {
        let spheres = two_spheres();
        let mut search = SteadySearch::new(Box::new(Gone));
        let mut pairs = PairBuffer::new();
        search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
        assert_eq!(pairs.len(), 1);
        let fault = SearchFault {
            search: "gone",
            fault: DeviceFault::Lost,
            message: "somebody pulled the plug".into(),
        };
        assert_eq!(search.take_fault(), Some(fault));
        assert_eq!(search.name(), UniformGrid::new().name());
        assert_eq!(search.count_pairs(&spheres, 0.0), Ok(1));
        assert_eq!(search.take_fault(), None);
    }

    #[test]
    fn spheres_at_fault_are_not_searched_twice() {
        let mut search = SteadySearch::new(Box::new(UniformGrid::new()));
        let error = search.count_pairs(&two_spheres(), f32::NAN).unwrap_err();
        assert!(matches!(error, SearchError::BadMargin { .. }), "{error}");
        assert_eq!(search.take_fault(), None);
    }
}
