//! The oracle: every sphere against every other, in 64-bit arithmetic.
//!
//! O(n²), nothing to get wrong. All other searches are tested against it.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{Pair, PairBuffer, PairSearch, SearchError, SearchTimes, check_margin};
use crate::spheres::SphereSet;

/// Spheres whose partners one task looks for.
const ROWS_PER_TASK: usize = 256;

/// Compares every sphere with every other, in 64 bits. Pairs come in the order of their
/// indices.
///
/// ```
/// use bevy_rapier_molecules::search::{AutoGrid, BruteForce, PairSearch};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// for k in 0..50 {
///     spheres.push(Vec3::new(0.2 * k as f32, 0.0, 0.0), 0.15, k / 2)?;
/// }
/// let expected = BruteForce.count_pairs(&spheres, 0.0)?;
/// assert_eq!(AutoGrid::new().count_pairs(&spheres, 0.0)?, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BruteForce;

impl PairSearch for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        check_margin(margin)?;
        spheres.extent()?;
        let start = Instant::now();
        pairs
            .start(spheres.len().div_ceil(ROWS_PER_TASK))
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| {
                visit(spheres, margin, task, |a, b| {
                    list.push(Pair {
                        a: a as u32,
                        b: b as u32,
                    });
                });
            });
        Ok(SearchTimes {
            build: Duration::ZERO,
            walk: start.elapsed(),
        })
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        check_margin(margin)?;
        spheres.extent()?;
        Ok((0..spheres.len().div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let mut count = 0;
                visit(spheres, margin, task, |_, _| count += 1);
                count
            })
            .sum())
    }
}

/// Calls `hit` for every pair whose smaller index belongs to `task`.
fn visit(spheres: &SphereSet, margin: f32, task: usize, mut hit: impl FnMut(usize, usize)) {
    let start = task * ROWS_PER_TASK;
    for a in start..(start + ROWS_PER_TASK).min(spheres.len()) {
        let center = spheres.center(a).as_dvec3();
        for b in a + 1..spheres.len() {
            if spheres.owner(a) == spheres.owner(b) {
                continue;
            }
            let reach =
                f64::from(spheres.radius(a)) + f64::from(spheres.radius(b)) + f64::from(margin);
            if center.distance_squared(spheres.center(b).as_dvec3()) < reach * reach {
                hit(a, b);
            }
        }
    }
}
