//! Searches take turns.

use std::time::{Duration, Instant};

use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet, SpheresInBoxes};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchError, SearchKind};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::common::AnyError;

/// Spheres that are closer to touching than this just touch, nm: rounding may say that they
/// overlap, or not.
const TOUCH_NM: f32 = 1.0e-4;

/// Most spheres that brute force is given: twenty thousand take a tenth of a second.
const MOST_FOR_BRUTE_FORCE: usize = 20_000;

/// Most spheres that sweep and prune, and Rapier's tree, are given: where all of them move,
/// a hundred thousand take seconds.
pub const MOST_FOR_SLOW_ONES: usize = 100_000;

/// The machine, as far as it is known, and who uses how many threads.
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
        model.unwrap_or("An unknown processor"),
        rayon::current_num_threads()
    )
}

/// Median of some times, ms; none if there are none.
pub fn median(times: &mut [Duration]) -> Option<f64> {
    times.sort_unstable();
    let middle = times.get(times.len() / 2)?;
    Some(middle.as_secs_f64() * 1.0e3)
}

/// A search of spheres with its clock.
pub struct SphereRunner {
    pub name: &'static str,
    search: Box<dyn PairSearch>,
    pairs: PairBuffer,
    times: Vec<Duration>,
}

impl SphereRunner {
    /// All kinds, and Rapier's tree, that can do `spheres` in reasonable time.
    pub fn for_spheres(spheres: usize) -> Vec<Self> {
        let kinds = SearchKind::ALL.into_iter().filter(|kind| {
            spheres
                <= match kind {
                    SearchKind::BruteForce => MOST_FOR_BRUTE_FORCE,
                    SearchKind::SweepAndPrune => MOST_FOR_SLOW_ONES,
                    _ => usize::MAX,
                }
        });
        let mut runners: Vec<Self> = kinds.map(|kind| Self::new(kind.search())).collect();
        if spheres <= MOST_FOR_SLOW_ONES {
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

    /// Searches a frame, and takes the time if it counts.
    pub fn frame(&mut self, spheres: &SphereSet, counts: bool) -> Result<usize, SearchError> {
        let start = Instant::now();
        self.search.find_pairs(spheres, 0.0, &mut self.pairs)?;
        if counts {
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

/// Pairs that do more than touch.
pub fn overlapping(spheres: &SphereSet, pairs: &PairBuffer) -> usize {
    let gaps = pairs.iter().map(|pair| pair.gap(spheres));
    gaps.filter(|gap| *gap < -TOUCH_NM).count()
}

/// Runs all searches over some frames in turns; the first frame warms up. Returns how many
/// pairs there are on the average, which must be the same for all, but for those that just
/// touch.
pub fn race(runners: &mut [SphereRunner], frames: &[SphereSet]) -> Result<f64, AnyError> {
    let mut pairs = 0;
    for (number, frame) in frames.iter().enumerate() {
        for runner in runners.iter_mut() {
            runner.frame(frame, number > 0)?;
        }
        let found = runners.iter().map(SphereRunner::pairs);
        let found: Vec<usize> = found.map(|pairs| overlapping(frame, pairs)).collect();
        if found.iter().any(|count| *count != found[0]) {
            return Err(format!("pairs of spheres differ: {found:?}").into());
        }
        pairs += runners.first().map_or(0, |runner| runner.pairs().len());
    }
    Ok(pairs as f64 / frames.len().max(1) as f64)
}

/// A search of boxes with its clock.
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

    /// Searches a frame, and takes the time if it counts: for Rapier that of its update
    /// alone, for the others all of it.
    pub fn frame(&mut self, boxes: &BoxSet, counts: bool) -> Result<usize, SearchError> {
        let start = Instant::now();
        let times = self.search.find_box_pairs(boxes, &mut self.pairs)?;
        let all = start.elapsed();
        if counts {
            let is_rapier = self.name.starts_with("rapier");
            self.times.push(if is_rapier { times.walk } else { all });
        }
        Ok(self.pairs.len())
    }

    /// Median time of a frame, ms.
    pub fn median(&mut self) -> Option<f64> {
        median(&mut self.times)
    }
}
