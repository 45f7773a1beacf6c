//! Contestants in turns.

use std::time::{Duration, Instant};

/// Runs each contestant once a round, and returns the best time of each, ms.
pub fn best_of(rounds: usize, contestants: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![Duration::MAX; contestants.len()];
    for _ in 0..rounds {
        for (best, contestant) in best.iter_mut().zip(contestants.iter_mut()) {
            let start = Instant::now();
            contestant();
            *best = start.elapsed().min(*best);
        }
    }
    best.iter().map(|best| 1.0e3 * best.as_secs_f64()).collect()
}
