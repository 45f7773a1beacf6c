//! Interleaved rounds, so that noise on the machine affects all competitors alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Wall times of one competitor.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Runs and times a closure.
    pub fn time<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = black_box(run());
        self.0.push(begin.elapsed());
        result
    }

    /// The shortest time, or zero if there is none.
    pub fn best(&self) -> Duration {
        self.0.iter().min().copied().unwrap_or_default()
    }

    /// The median (the upper one of two), or zero if there is none.
    pub fn median(&self) -> Duration {
        let mut times = self.0.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    /// The sum of all times.
    pub fn sum(&self) -> Duration {
        self.0.iter().sum()
    }
}

impl FromIterator<Duration> for Samples {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        Self(times.into_iter().collect())
    }
}

/// Number of rounds.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// At least this many.
    pub min: usize,
    /// At most this many.
    pub max: usize,
    /// Between the two, until this time has passed.
    pub time: Duration,
}

impl Rounds {
    pub fn exactly(rounds: usize) -> Self {
        Self {
            min: rounds,
            max: rounds,
            time: Duration::ZERO,
        }
    }
}

/// Runs each competitor once per round, in order. `turn` receives the round, from 0. Returns
/// the times of each competitor.
pub fn interleave<C, T>(
    rounds: Rounds,
    competitors: &mut [C],
    mut turn: impl FnMut(usize, &mut C) -> T,
) -> Vec<Samples> {
    let mut samples = vec![Samples::default(); competitors.len()];
    let begin = Instant::now();
    let mut round = 0;
    while round < rounds.min || (round < rounds.max && begin.elapsed() < rounds.time) {
        for (competitor, samples) in competitors.iter_mut().zip(&mut samples) {
            samples.time(|| turn(round, competitor));
        }
        round += 1;
    }
    samples
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    1.0e3 * time.as_secs_f64()
}

/// `one / other`.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
