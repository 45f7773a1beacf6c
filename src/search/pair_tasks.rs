//! Searches that are cut into tasks: how their lists are filled, side by side.

use std::time::Instant;

use rayon::prelude::*;

use super::{Pair, PairBuffer, SearchError, SearchTimes};
use crate::pool::in_pool;

/// PairTasks that together find all pairs, each in an order of its own.
pub(super) trait PairTasks: Sync {
    /// Number of tasks: fixed by the scene, not by the number of threads.
    fn tasks(&self) -> usize;

    /// Appends the pairs of one task to `list`.
    fn list(&self, task: usize, list: &mut Vec<Pair>);

    /// Appends the pairs of one task to `list`, and their gaps to `gaps`.
    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>);

    /// Counts the pairs of one task.
    fn count(&self, task: usize) -> u64;
}

/// What a search that is cut into tasks has of [`PairSearch`](super::PairSearch), by its
/// method `build(spheres, margin)`, which gives its [`PairTasks`], or none if no pair is
/// possible.
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

        fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
            let tasks = self.build(spheres, margin)?;
            Ok(tasks.map_or(0, |tasks| crate::search::pair_tasks::count(&tasks)))
        }
    };
}
pub(super) use impl_pair_search;

/// Fills `pairs` by the tasks that `build` makes; none if no pair is possible.
pub(super) fn list<T: PairTasks>(
    pairs: &mut PairBuffer,
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    build_and_walk(pairs, build, |tasks, pairs| {
        let lists = pairs.start(tasks.tasks()).par_iter_mut().enumerate();
        lists.for_each(|(task, list)| tasks.list(task, list));
    })
}

/// As [`list`], and calls `each` for each list with its gaps.
pub(super) fn list_gaps<T: PairTasks>(
    pairs: &mut PairBuffer,
    each: &(dyn Fn(usize, &[Pair], &[f32]) + Sync),
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    build_and_walk(pairs, build, |tasks, pairs| {
        let (lists, gaps) = pairs.start_with_gaps(tasks.tasks());
        let lists = lists.par_iter_mut().zip(gaps).enumerate();
        lists.for_each(|(task, (list, gaps))| {
            tasks.list_gaps(task, list, gaps);
            each(task, list, gaps);
        });
    })
}

/// Builds the tasks and walks them, and says how long each took.
fn build_and_walk<T: PairTasks>(
    pairs: &mut PairBuffer,
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
    walk: impl FnOnce(&T, &mut PairBuffer) + Send,
) -> Result<SearchTimes, SearchError> {
    pairs.clear();
    in_pool(|| {
        let start = Instant::now();
        let Some(tasks) = build()? else {
            return Ok(SearchTimes::default());
        };
        let built = Instant::now();
        walk(&tasks, pairs);
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    })
}

/// Counts the pairs of all tasks.
pub(super) fn count<T: PairTasks>(tasks: &T) -> u64 {
    let numbers = (0..tasks.tasks()).into_par_iter();
    numbers.map(|task| tasks.count(task)).sum()
}
