//! All pairs of boxes, compared one by one: the reference that box searches are tested with.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{BoxSearch, BoxSet};
use crate::search::pair_tasks::StoredPairs;
use crate::search::{Pair, PairBuffer, SearchError, SearchTimes};

/// Boxes per task.
const BOXES_PER_TASK: usize = 256;

/// Compares every box with every other. Pairs are sorted by index.
#[derive(Clone, Copy, Debug, Default)]
pub struct BruteForceBoxes;

impl BoxSearch for BruteForceBoxes {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        boxes.extent()?;
        let start = Instant::now();
        let stored = StoredPairs::default();
        pairs
            .start(boxes.len().div_ceil(BOXES_PER_TASK))
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| {
                stored.add(list, |list| {
                    let first = task * BOXES_PER_TASK;
                    for a in first..(first + BOXES_PER_TASK).min(boxes.len()) {
                        let others = (a + 1..boxes.len()).filter(|&b| boxes.overlap(a, b));
                        list.extend(others.map(|b| Pair::new(a as u32, b as u32)));
                    }
                });
            });
        stored.finish(pairs)?;
        Ok(SearchTimes {
            build: Duration::ZERO,
            walk: start.elapsed(),
        })
    }
}
