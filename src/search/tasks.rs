//! Searches that are cut into tasks: how their lists are filled, side by side.

use std::time::Instant;

use rayon::prelude::*;

use super::uniform_grid::beyond::Beyond;
use super::uniform_grid::walk::Walk;
use super::{Pair, PairBuffer, SearchError, SearchTimes};
use crate::pool::in_pool;

/// Tasks that together find all pairs, each in an order of its own.
pub(super) trait Tasks: Sync {
    /// Number of tasks: fixed by the scene, not by the number of threads.
    fn tasks(&self) -> usize;

    /// Appends the pairs of one task to `list`.
    fn list(&self, task: usize, list: &mut Vec<Pair>);

    /// Appends the pairs of one task to `list`, and their gaps to `gaps`.
    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>);

    /// Counts the pairs of one task.
    fn count(&self, task: usize) -> u64;
}

impl<B: Beyond> Tasks for Walk<'_, B> {
    fn tasks(&self) -> usize {
        self.cells.tasks()
    }

    fn list(&self, task: usize, list: &mut Vec<Pair>) {
        self.list(task, list);
    }

    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>) {
        self.list_gaps(task, list, gaps);
    }

    fn count(&self, task: usize) -> u64 {
        self.count(task)
    }
}

/// Fills `pairs` by the tasks that `build` makes; none if no pair is possible.
pub(super) fn list<T: Tasks>(
    pairs: &mut PairBuffer,
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    pairs.clear();
    in_pool(|| {
        let start = Instant::now();
        let Some(tasks) = build()? else {
            return Ok(SearchTimes::default());
        };
        let built = Instant::now();
        let lists = pairs.start(tasks.tasks()).par_iter_mut().enumerate();
        lists.for_each(|(task, list)| tasks.list(task, list));
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    })
}

/// As [`list`], and calls `each` for each list with its gaps.
pub(super) fn list_gaps<T: Tasks>(
    pairs: &mut PairBuffer,
    each: &(dyn Fn(usize, &[Pair], &[f32]) + Sync),
    build: impl FnOnce() -> Result<Option<T>, SearchError> + Send,
) -> Result<SearchTimes, SearchError> {
    pairs.clear();
    in_pool(|| {
        let start = Instant::now();
        let Some(tasks) = build()? else {
            return Ok(SearchTimes::default());
        };
        let built = Instant::now();
        let (lists, gaps) = pairs.start_with_gaps(tasks.tasks());
        let lists = lists.par_iter_mut().zip(gaps).enumerate();
        lists.for_each(|(task, (list, gaps))| {
            tasks.list_gaps(task, list, gaps);
            each(task, list, gaps);
        });
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    })
}

/// Counts the pairs of all tasks.
pub(super) fn count<T: Tasks>(tasks: &T) -> u64 {
    let numbers = (0..tasks.tasks()).into_par_iter();
    numbers.map(|task| tasks.count(task)).sum()
}
