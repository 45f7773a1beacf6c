//! A search on the device from outside: what it searches, what it knows before it writes
//! pairs, and how both make a search.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::atoms::GpuAtoms;
use super::device::GpuDevice;
use super::measure::GpuMeasure;
use super::sort::SortPlan;
use crate::backend::DeviceError;
use crate::search::uniform_grid::ReachPlan;
use crate::search::{PairBuffer, SearchError, SearchTimes, check_pair_count};
use crate::spheres::SphereSet;

/// Where the spheres of a search come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Searched<'a> {
    /// From the processor.
    Sent(&'a SphereSet),
    /// From templates and poses, on the device.
    Placed(&'a GpuAtoms),
}

impl Searched<'_> {
    pub fn len(self) -> usize {
        match self {
            Self::Sent(spheres) => spheres.len(),
            Self::Placed(atoms) => atoms.spheres().len(),
        }
    }

    /// The largest number of a molecule.
    pub fn last_owner(self) -> u32 {
        match self {
            Self::Sent(spheres) => spheres.owner.par_iter().copied().max().unwrap_or(0),
            Self::Placed(atoms) => atoms.molecules().saturating_sub(1),
        }
    }
}

/// What a search found out before pairs were written.
pub(super) enum Counted {
    Pairs(u64),
    /// A sphere in the fullest cell, and how many that has.
    Crowded {
        sphere: u32,
        spheres: u32,
    },
}

impl Counted {
    /// The number of pairs, or that comparing would not end.
    pub fn pairs(self, plan: &ReachPlan) -> Result<u64, SearchError> {
        match self {
            Self::Pairs(count) => Ok(count),
            Self::Crowded { sphere, spheres } => Err(SearchError::TooCrowded {
                sphere,
                spheres,
                reach: plan.longest,
            }),
        }
    }
}

/// A search that counts its pairs first, and writes them when there is room.
pub(super) trait CountedSearch {
    /// Checks and counts; `None` if no pair is possible.
    fn begin(&mut self, spheres: &SphereSet, margin: f32) -> Result<Option<u64>, SearchError>;

    /// Writes the `total` pairs that were counted.
    fn write(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), DeviceError>;

    /// Remembers an error, and gives the memory back.
    fn failed(&mut self, error: DeviceError) -> SearchError;

    /// What the times to count and to write are called.
    fn times(counting: Duration, writing: Duration) -> SearchTimes {
        SearchTimes {
            build: counting,
            walk: writing,
        }
    }
}

/// What a [`CountedSearch`] has of [`PairSearch`](crate::search::PairSearch).
macro_rules! counted_then_written {
    () => {
        fn find_pairs(
            &mut self,
            spheres: &SphereSet,
            margin: f32,
            pairs: &mut PairBuffer,
        ) -> Result<crate::search::SearchTimes, SearchError> {
            crate::gpu::searched::find_pairs(self, spheres, margin, pairs)
        }

        fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
            Ok(self.begin(spheres, margin)?.unwrap_or(0))
        }
    };
}
pub(super) use counted_then_written;

/// Counts, then writes.
pub(super) fn find_pairs<S: CountedSearch>(
    search: &mut S,
    spheres: &SphereSet,
    margin: f32,
    pairs: &mut PairBuffer,
) -> Result<SearchTimes, SearchError> {
    pairs.clear();
    let start = Instant::now();
    let Some(total) = search.begin(spheres, margin)? else {
        return Ok(SearchTimes::default());
    };
    check_pair_count(total)?;
    let counted = Instant::now();
    if let Err(error) = search.write(total, pairs) {
        pairs.clear();
        return Err(search.failed(error));
    }
    Ok(S::times(counted - start, counted.elapsed()))
}

/// The fullest cell, for the error: the first of those that have most.
pub(super) fn find_crowd(
    device: &GpuDevice,
    sort: &SortPlan,
    crowding: GpuMeasure,
) -> Result<Counted, DeviceError> {
    let starts = sort.starts().read(device)?;
    let scattered = sort.scattered().read(device)?;
    let fullest = starts
        .windows(2)
        .find(|cell| cell[1].wrapping_sub(cell[0]) == crowding.most);
    let members = fullest
        .and_then(|cell| scattered.get(cell[0] as usize..cell[1] as usize))
        .unwrap_or(&[]);
    Ok(Counted::Crowded {
        sphere: members.iter().copied().min().unwrap_or(0),
        spheres: crowding.most,
    })
}
