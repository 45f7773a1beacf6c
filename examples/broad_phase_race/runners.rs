//! Searches with their timings, which run in turns.

use std::time::{Duration, Instant};

use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::scenes::FallingSpheres;
use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet, SpheresInBoxes};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchError, SearchKind};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::common::AnyError;

/// Max number of spheres for brute force: twenty thousand take a tenth of a second.
const MAX_FOR_BRUTE_FORCE: usize = 20_000;

/// Max number of spheres for sweep and prune, and for Rapier's BVH: a hundred thousand moving
/// spheres take seconds.
const MAX_FOR_SLOW_SEARCHES: usize = 100_000;

/// The CPU and the threads, for the head of the tables.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let rapier = if RapierBvh::is_parallel() {
        "with its feature `parallel`"
    } else {
        "single-threaded"
    };
    format!(
        "{}, {} threads; Rapier {rapier}. Times are ms, medians over frames.",
        model.unwrap_or("Unknown CPU"),
        rayon::current_num_threads()
    )
}

/// Median time, ms.
pub fn median(times: &mut [Duration]) -> Option<f64> {
    times.sort_unstable();
    let middle = times.get(times.len() / 2)?;
    Some(middle.as_secs_f64() * 1.0e3)
}

/// A search of spheres, with its timings.
pub struct SphereRunner {
    pub name: &'static str,
    search: Box<dyn PairSearch>,
    pairs: PairBuffer,
    times: Vec<Duration>,
}

impl SphereRunner {
    /// All searches, and Rapier's BVH, that are fast enough for this number of spheres.
    pub fn for_spheres(spheres: usize) -> Vec<Self> {
        let kinds = SearchKind::ALL.into_iter().filter(|kind| {
            spheres
                <= match kind {
                    SearchKind::BruteForce => MAX_FOR_BRUTE_FORCE,
                    SearchKind::SweepAndPrune => MAX_FOR_SLOW_SEARCHES,
                    _ => usize::MAX,
                }
        });
        let mut runners: Vec<Self> = kinds.map(|kind| Self::new(kind.search())).collect();
        if spheres <= MAX_FOR_SLOW_SEARCHES {
            runners.push(Self::new(Box::new(SpheresInBoxes::new(RapierBvh::new()))));
        }
        runners
    }

    pub fn new(search: Box<dyn PairSearch>) -> Self {
        Self {
            name: search.name(),
            search,
            pairs: PairBuffer::new(),
            times: Vec::new(),
        }
    }

    /// Searches a frame, and records the time if it is `timed`. Returns the number of pairs.
    pub fn frame(&mut self, spheres: &SphereSet, timed: bool) -> Result<usize, SearchError> {
        let start = Instant::now();
        self.search.find_pairs(spheres, 0.0, &mut self.pairs)?;
        if timed {
            self.times.push(start.elapsed());
        }
        Ok(self.pairs.len())
    }

    /// The pairs of the last frame.
    pub fn pairs(&self) -> &PairBuffer {
        &self.pairs
    }

    /// Median time of a frame, ms.
    pub fn median(&mut self) -> Option<f64> {
        median(&mut self.times)
    }
}

/// Number of pairs that overlap beyond rounding.
pub fn overlapping(spheres: &SphereSet, pairs: &PairBuffer) -> usize {
    let gaps = pairs.iter().map(|pair| pair.gap(spheres));
    gaps.filter(|gap| *gap < -FallingSpheres::MIN_OVERLAP_NM)
        .count()
}

/// Runs all searches over the frames in turns. The first frame is a warm-up. Returns the mean
/// number of pairs. All searches must find the same pairs, except for rounding.
pub fn race(runners: &mut [SphereRunner], frames: &[SphereSet]) -> Result<f64, AnyError> {
    let mut pairs = 0;
    for (number, frame) in frames.iter().enumerate() {
        for runner in runners.iter_mut() {
            runner.frame(frame, number > 0)?;
        }
        let found = runners.iter().map(SphereRunner::pairs);
        let found: Vec<usize> = found.map(|pairs| overlapping(frame, pairs)).collect();
        if found.iter().any(|count| *count != found[0]) {
            return Err(format!("the searches find different numbers of pairs: {found:?}").into());
        }
        pairs += runners.first().map_or(0, |runner| runner.pairs().len());
    }
    Ok(pairs as f64 / frames.len().max(1) as f64)
}

/// A search of boxes, with its timings.
pub struct BoxRunner {
    pub name: &'static str,
    search: Box<dyn BoxSearch>,
    pairs: PairBuffer,
    times: Vec<Duration>,
}

impl BoxRunner {
    pub fn new(search: Box<dyn BoxSearch>) -> Self {
        Self {
            name: search.name(),
            search,
            pairs: PairBuffer::new(),
            times: Vec::new(),
        }
    }

    /// Searches a frame, and records the time if it is `timed`. Rapier's is that of the update
    /// of its tree alone. Returns the number of pairs.
    pub fn frame(&mut self, boxes: &BoxSet, timed: bool) -> Result<usize, SearchError> {
        let start = Instant::now();
        let times = self.search.find_box_pairs(boxes, &mut self.pairs)?;
        let total = start.elapsed();
        if timed {
            let is_rapier = self.name.starts_with("rapier");
            self.times.push(if is_rapier { times.walk } else { total });
        }
        Ok(self.pairs.len())
    }

    /// Median time of a frame, ms.
    pub fn median(&mut self) -> Option<f64> {
        median(&mut self.times)
    }
}
