//! Searches that are divided into parallel tasks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::pair_sink::{GapSink, Sink, keep_headroom};
use super::{MAX_STORED_PAIRS, Pair, PairBuffer, SearchError, SearchTimes};
use crate::pool::in_pool;

/// Comparisons within cells from which on pairs are counted before they are stored: a single
/// task could fill the memory.
const COUNT_FIRST: u64 = 1 << 28;

/// Receives a batch of pairs and their gaps, nm.
pub(super) type Visitor<'a> = &'a (dyn Fn(&[Pair], &[f32]) + Sync);

/// Tasks that together find all pairs, each in its own order.
pub(super) trait PairTasks: Sync {
    /// Number of tasks: depends on the scene only, not on the number of threads.
    fn tasks(&self) -> usize;

    /// Estimated number of comparisons of the largest task; zero if that is no problem.
    fn comparisons(&self) -> u64;

    /// Passes the pairs of one task to `sink`.
    fn run<S: Sink>(&self, task: usize, sink: &mut S);
}

/// Implements the searching methods of [`PairSearch`](super::PairSearch) by the method
/// `build(spheres, margin)`, which returns [`PairTasks`], or `None` if no pair is possible.
macro_rules! impl_pair_search {
    () => {
        fn find_pairs(
            &mut self,
            spheres: &SphereSet,
            margin: f32,
            pairs: &mut crate::search::PairBuffer,
        ) -> Result<crate::search::SearchTimes, SearchError> {
            crate::search::pair_tasks::list(pairs, || self.build(spheres, margin))
        }

        fn find_gaps(
            &mut self,
            spheres: &SphereSet,
            margin: f32,
            pairs: &mut crate::search::PairBuffer,
            each: &(dyn Fn(usize, &[crate::search::Pair], &[f32]) + Sync),
        ) -> Result<crate::search::SearchTimes, SearchError> {
            crate::search::pair_tasks::list_gaps(pairs, each, || self.build(spheres, margin))
        }

        fn visit_pairs(
            &mut self,
            spheres: &SphereSet,
            margin: f32,
            visit: &(dyn Fn(&[crate::search::Pair], &[f32]) + Sync),
        ) -> Result<crate::search::SearchTimes, SearchError> {
            crate::search::pair_tasks::visit(visit, || self.build(spheres, margin))
        }

        fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
            let tasks = self.build(spheres, margin)?;
            Ok(tasks.map_or(0, |tasks| crate::search::pair_tasks::count(&tasks)))
        }
    };
}
pub(super) use impl_pair_search;

/// Fills `pairs` with the pairs of the tasks that `build` returns.
pub(super) fn list<T: PairTasks>(
    pairs: &mut PairBuffer,
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    fill(pairs, build, |tasks, task, list, _| {
        tasks.run(task, list);
        keep_headroom(list);
    })
}

/// As [`list`], and calls `each` with the number, pairs and gaps of each list.
pub(super) fn list_gaps<T: PairTasks>(
    pairs: &mut PairBuffer,
    each: &(dyn Fn(usize, &[Pair], &[f32]) + Sync),
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    fill(pairs, build, |tasks, task, pairs, gaps| {
        let visit = None;
        tasks.run(task, &mut GapSink { pairs, gaps, visit });
        keep_headroom(pairs);
        keep_headroom(gaps);
        each(task, pairs, gaps);
    })
}

/// Calls `run` for each of the tasks that `build` returns, unless there are too many pairs.
fn fill<T: PairTasks>(
    pairs: &mut PairBuffer,
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
    run: impl Fn(&T, usize, &mut Vec<Pair>, &mut Vec<f32>) + Send + Sync,
) -> Result<SearchTimes, SearchError> {
    pairs.clear();
    build_and_walk(build, |tasks| {
        // A single task could fill the memory.
        if tasks.comparisons() > COUNT_FIRST {
            check_pair_count(count(tasks))?;
        }
        let (lists, gaps) = pairs.start_with_gaps(tasks.tasks());
        let stored = StoredPairs::default();
        let lists = lists.par_iter_mut().zip(gaps).enumerate();
        lists.for_each(|(task, (list, gaps))| {
            stored.add(list, |list| run(tasks, task, list, gaps));
        });
        stored.finish(pairs)
    })
}

/// Calls `visit` with the pairs of the tasks that `build` returns, in batches.
pub(super) fn visit<T: PairTasks>(
    visit: Visitor<'_>,
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    build_and_walk(build, |tasks| {
        let numbers = (0..tasks.tasks()).into_par_iter();
        numbers.for_each_init(Default::default, |(pairs, gaps), task| {
            let visit = Some(visit);
            let mut sink = GapSink { pairs, gaps, visit };
            tasks.run(task, &mut sink);
            sink.flush(1);
        });
        Ok(())
    })
}

/// Builds the tasks, walks them and measures both.
fn build_and_walk<T: PairTasks>(
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
    walk: impl FnOnce(&T) -> Result<(), SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    in_pool(|| {
        let start = Instant::now();
        let Some(tasks) = build()? else {
            return Ok(SearchTimes::default());
        };
        let built = Instant::now();
        walk(&tasks)?;
        Ok(SearchTimes::of(start, built))
    })
}

/// Counts the pairs of all tasks.
pub(super) fn count<T: PairTasks>(tasks: &T) -> u64 {
    let numbers = (0..tasks.tasks()).into_par_iter();
    let counts = numbers.map(|task| {
        let mut count = 0_u64;
        tasks.run(task, &mut count);
        count
    });
    counts.sum()
}

/// Number of pairs stored so far by all tasks of a search.
#[derive(Default)]
pub(super) struct StoredPairs(AtomicU64);

impl StoredPairs {
    /// Fills a list, unless there are too many pairs already.
    pub(super) fn add(&self, list: &mut Vec<Pair>, fill: impl FnOnce(&mut Vec<Pair>)) {
        if self.0.load(Ordering::Relaxed) <= MAX_STORED_PAIRS {
            fill(list);
            self.0.fetch_add(list.len() as u64, Ordering::Relaxed);
        }
    }

    /// Frees `pairs` and returns an error if some lists were not filled.
    pub(super) fn finish(self, pairs: &mut PairBuffer) -> Result<(), SearchError> {
        let checked = check_pair_count(self.0.into_inner());
        if checked.is_err() {
            *pairs = PairBuffer::new();
        }
        checked
    }
}

/// Checks that a [`PairBuffer`] may store this number of pairs.
///
/// # Errors
/// [`SearchError::TooManyPairs`] if there are more than [`MAX_STORED_PAIRS`].
pub(crate) fn check_pair_count(pairs: u64) -> Result<(), SearchError> {
    if pairs <= MAX_STORED_PAIRS {
        return Ok(());
    }
    Err(SearchError::TooManyPairs {
        pairs,
        max: MAX_STORED_PAIRS,
    })
}
