//! Contestants take turns, so that a noisy machine is noisy to all of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Times of one contestant on the clock.
#[derive(Clone, Debug, Default)]
pub struct Laps(Vec<Duration>);

impl Laps {
    /// Runs something, and takes its time.
    pub fn time<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = black_box(run());
        self.0.push(begin.elapsed());
        result
    }

    /// The shortest; nothing if there is none.
    pub fn best(&self) -> Duration {
        self.0.iter().min().copied().unwrap_or_default()
    }

    /// The middle one, the later of two; nothing if there is none.
    pub fn median(&self) -> Duration {
        let mut times = self.0.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    /// All of them together.
    pub fn sum(&self) -> Duration {
        self.0.iter().sum()
    }
}

impl FromIterator<Duration> for Laps {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        Self(times.into_iter().collect())
    }
}

/// How many rounds there are.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// So many in any case.
    pub least: usize,
    /// Never more.
    pub most: usize,
    /// In between, they go on until this has passed.
    pub time: Duration,
}

impl Rounds {
    pub fn exactly(rounds: usize) -> Self {
        Self {
            least: rounds,
            most: rounds,
            time: Duration::ZERO,
        }
    }
}

/// Each contestant has one turn a round, in their order; the turn is told the number of the
/// round, from 0. Returns the times of each.
pub fn in_turns<C, T>(
    rounds: Rounds,
    contestants: &mut [C],
    mut turn: impl FnMut(usize, &mut C) -> T,
) -> Vec<Laps> {
    let mut laps = vec![Laps::default(); contestants.len()];
    let begin = Instant::now();
    let mut round = 0;
    while round < rounds.least || (round < rounds.most && begin.elapsed() < rounds.time) {
        for (contestant, laps) in contestants.iter_mut().zip(&mut laps) {
            laps.time(|| turn(round, contestant));
        }
        round += 1;
    }
    laps
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    1.0e3 * time.as_secs_f64()
}

/// How many times longer one takes than another.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
