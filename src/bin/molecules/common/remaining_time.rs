//! [`RemainingTime`]: how long a relaxation still takes, from the decay of what is left to do.
//!
//! The number of unresolved contacts decays about exponentially, at a rate that changes slowly. A
//! line through its logarithm over the last iterations reaches one contact at the end. Two lines,
//! over the last half and the last quarter of all iterations, and the spread of real runs around
//! them give a range. If there is no decay, the lines contradict each other, or the end is much
//! farther away than the start, the range would mean nothing and is not given.

use std::fmt;
use std::time::{Duration, Instant};

/// Least number of iterations for an estimate.
const MIN_ITERATIONS: usize = 10;

/// Least number of iterations of a line.
const MIN_WINDOW: usize = 6;

/// Iterations whose mean time is that of the next ones.
const TIMED_ITERATIONS: usize = 8;

/// Factors by which the end of real runs is earlier or later than a line predicts. Decays become
/// faster more often than slower, and so do iterations.
const EARLIER: f64 = 2.5;
const LATER: f64 = 1.5;

/// Iterations in which the last few contacts come and go.
const LAST_ITERATIONS: f64 = 12.0;

/// Largest ratio of the limits of a range.
const MAX_RATIO: f64 = 8.0;

/// Most iterations to come for each one that was seen.
const MAX_HORIZON: f64 = 6.0;

/// Estimates when a relaxation ends. Add each iteration.
#[derive(Clone, Debug, Default)]
pub struct RemainingTime {
    /// Logarithm of what was left after each iteration.
    logs: Vec<f64>,
    /// When the last iterations ended, in order.
    ends: Vec<Instant>,
}

/// An estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean time of the last iterations; none before the second.
    pub per_iteration: Option<Duration>,
    /// Shortest and longest remaining time; none if it is unknown.
    pub range: Option<[Duration; 2]>,
}

impl RemainingTime {
    /// Begins again, when other things are counted.
    pub fn restart(&mut self) {
        self.logs.clear();
        self.ends.clear();
    }

    /// Number of iterations since the start.
    pub fn iterations(&self) -> usize {
        self.logs.len()
    }

    /// Adds an iteration that ended at `end` with `remaining` contacts.
    pub fn add(&mut self, remaining: u64, end: Instant) {
        self.logs.push((remaining.max(1) as f64).ln());
        if self.ends.len() > TIMED_ITERATIONS {
            self.ends.remove(0);
        }
        self.ends.push(end);
    }

    /// The estimate after the last iteration.
    pub fn estimate(&self) -> Estimate {
        let per_iteration = self.per_iteration();
        let range = self.iterations_left().zip(per_iteration);
        let range = range.and_then(|(left, each)| {
            let time =
                |iterations: f64| Duration::try_from_secs_f64(iterations * each.as_secs_f64()).ok();
            Some([time(left[0])?, time(left[1])?])
        });
        Estimate {
            per_iteration,
            range,
        }
    }

    fn per_iteration(&self) -> Option<Duration> {
        let (first, last) = (self.ends.first()?, self.ends.last()?);
        let count = u32::try_from(self.ends.len() - 1).ok()?;
        last.checked_duration_since(*first)?.checked_div(count)
    }

    /// Least and largest number of iterations to come; none if they are unknown.
    pub fn iterations_left(&self) -> Option<[f64; 2]> {
        let count = self.logs.len();
        if count < MIN_ITERATIONS {
            return None;
        }
        let now = *self.logs.last()?;
        let left = [count / 2, count / 4].map(|window| {
            let first = count - window.max(MIN_WINDOW);
            // One contact is left when the logarithm is zero, none one step later.
            1.0 + now / -slope(&self.logs[first..])
        });
        let [low, high] = [left[0].min(left[1]) / EARLIER, left[0].max(left[1]) * LATER];
        // False for NaN.
        let is_meaningful =
            low > 0.0 && high <= low * MAX_RATIO && high <= MAX_HORIZON * count as f64;
        is_meaningful.then_some([low, high.max(LAST_ITERATIONS)])
    }
}

/// Slope of the line through values at 0, 1, 2 and so on, by least squares; NaN for one value.
fn slope(values: &[f64]) -> f64 {
    let middle = 0.5 * (values.len() as f64 - 1.0);
    let (mut products, mut squares) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let x = index as f64 - middle;
        products += x * value;
        squares += x * x;
    }
    products / squares
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(each) = self.per_iteration else {
            return f.write_str("time left unknown");
        };
        let seconds = each.as_secs_f64();
        if seconds < 0.1 {
            write!(f, "{:.1} ms an iteration, ", 1.0e3 * seconds)?;
        } else {
            write!(f, "{seconds:.1} s an iteration, ")?;
        }
        let Some([low, high]) = self.range.map(|range| range.map(|time| time.as_secs_f64())) else {
            return f.write_str("time left unknown");
        };
        let (unit, name) = match high {
            0.0..120.0 => (1.0, "s"),
            120.0..7200.0 => (60.0, "min"),
            _ => (3600.0, "h"),
        };
        let (low, high) = ((low / unit).floor(), (high / unit).ceil());
        if low < 1.0 {
            write!(f, "less than {high} {name} left")
        } else {
            write!(f, "{low} to {high} {name} left")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges of iterations to come after each iteration of a decay, and the true numbers.
    fn ranges(decay: impl Fn(f64) -> f64) -> Vec<(f64, Option<[f64; 2]>)> {
        let values: Vec<u64> = (0..4000).map(|n| decay(f64::from(n)) as u64).collect();
        let end = values.iter().position(|value| *value == 0).unwrap();
        let mut time = RemainingTime::default();
        let start = Instant::now();
        let mut ranges = Vec::new();
        for (n, &value) in values[..end].iter().enumerate() {
            time.add(value, start);
            ranges.push(((end - n) as f64, time.iterations_left()));
        }
        ranges
    }

    /// Share of the ranges that contain the true number, and the share of known ones.
    fn shares(ranges: &[(f64, Option<[f64; 2]>)]) -> [f64; 2] {
        let known: Vec<_> = ranges
            .iter()
            .filter_map(|(left, range)| Some((*left, (*range)?)))
            .collect();
        let hits = known
            .iter()
            .filter(|(left, [low, high])| (low..=high).contains(&left));
        let all = ranges.len() as f64;
        [
            hits.count() as f64 / known.len() as f64,
            known.len() as f64 / all,
        ]
    }

    #[test]
    fn an_exponential_decay_is_predicted() {
        for length in [5.0, 12.0, 40.0] {
            let ranges = ranges(|n| 1.0e8 * (-n / length).exp());
            let [hits, known] = shares(&ranges);
            assert!(hits > 0.97, "{length}: {hits}");
            assert!(known > 0.6, "{length}: {known}");
        }
    }

    #[test]
    fn a_decay_that_slows_down_or_accelerates_is_predicted_from_its_middle() {
        // Two rates, a stretched exponential, and one that becomes faster.
        let decays: [fn(f64) -> f64; 3] = [
            |n| 1.0e8 * (-n / 6.0).exp() + 1.0e5 * (-n / 15.0).exp(),
            |n| 1.0e8 * (-(n / 2.0).powf(0.75)).exp(),
            |n| 1.0e8 * (-(n / 25.0).powf(1.4)).exp(),
        ];
        for (k, decay) in decays.into_iter().enumerate() {
            let ranges = ranges(decay);
            let [hits, known] = shares(&ranges[ranges.len() / 2..]);
            assert!(hits > 0.9, "{k}: {hits}");
            assert!(known > 0.9, "{k}: {known}");
        }
    }

    #[test]
    fn a_few_iterations_and_no_decay_give_no_time() {
        let mut few = RemainingTime::default();
        let mut flat = RemainingTime::default();
        let mut rising = RemainingTime::default();
        let start = Instant::now();
        for n in 0..200_u64 {
            let end = start + Duration::from_secs(n);
            if n < 9 {
                few.add(1000 >> n, end);
            }
            flat.add(1000 + n % 2, end);
            rising.add(1000 + n, end);
        }
        for time in [few, flat, rising] {
            let Estimate {
                per_iteration,
                range,
            } = time.estimate();
            assert_eq!(per_iteration, Some(Duration::from_secs(1)));
            assert_eq!(range, None);
        }
        let none = RemainingTime::default().estimate();
        assert_eq!(none.to_string(), "time left unknown");
    }

    #[test]
    fn times_are_those_of_the_last_iterations() {
        let mut time = RemainingTime::default();
        let start = Instant::now();
        let mut end = start;
        for n in 0..60 {
            // Slow at first.
            end += Duration::from_secs(if n < 20 { 60 } else { 3 });
            time.add((1.0e6 * (-f64::from(n) / 10.0).exp()) as u64, end);
        }
        let estimate = time.estimate();
        assert_eq!(estimate.per_iteration, Some(Duration::from_secs(3)));
        let [low, high] = estimate.range.unwrap();
        // 79 iterations remain.
        let true_time = Duration::from_secs(3 * 79);
        assert!(low < true_time && true_time < high, "{low:?} {high:?}");
        let text = estimate.to_string();
        assert!(text.starts_with("3.0 s an iteration, 1 to "), "{text}");
        time.restart();
        assert_eq!((time.iterations(), time.estimate().range), (0, None));
    }

    #[test]
    fn times_have_readable_units() {
        let text = |low: f64, high: f64| {
            let range = [low, high].map(Duration::from_secs_f64);
            let estimate = Estimate {
                per_iteration: Some(Duration::from_millis(20)),
                range: Some(range),
            };
            estimate.to_string()
        };
        assert_eq!(text(0.1, 0.7), "20.0 ms an iteration, less than 1 s left");
        assert_eq!(text(8.2, 41.0), "20.0 ms an iteration, 8 to 41 s left");
        assert_eq!(
            text(50.0, 130.0),
            "20.0 ms an iteration, less than 3 min left"
        );
        assert_eq!(text(8000.0, 30000.0), "20.0 ms an iteration, 2 to 9 h left");
    }
}
