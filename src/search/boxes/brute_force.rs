//! The oracle: every box against every other.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{BoxSearch, BoxSet};
use crate::search::{Pair, PairBuffer, SearchError, SearchTimes};

/// Boxes whose partners one task looks for.
const ROWS_PER_TASK: usize = 256;

/// Compares every box with every other. Pairs come in the order of their indices.
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
        pairs
            .start(boxes.len().div_ceil(ROWS_PER_TASK))
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| {
                let first = task * ROWS_PER_TASK;
                for a in first..(first + ROWS_PER_TASK).min(boxes.len()) {
                    let others = (a + 1..boxes.len()).filter(|&b| boxes.overlap(a, b));
                    list.extend(others.map(|b| Pair::new(a as u32, b as u32)));
                }
            });
        Ok(SearchTimes {
            build: Duration::ZERO,
            walk: start.elapsed(),
        })
    }
}
