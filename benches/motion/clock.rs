//! What a run costs the processor: on a shared machine the time on the wall is also that of
//! others.

use std::error::Error;
use std::sync::OnceLock;
use std::time::Instant;

/// What is measured at least, s: systems count in ticks of some milliseconds. Short runs are
/// repeated.
const LEAST: f64 = 0.4;

/// File in which Linux says for how many nanoseconds a thread has had a processor.
const THREAD: &str = "/proc/thread-self/schedstat";

/// Seconds that this thread has had a processor; seconds on the wall where nobody knows.
pub fn now() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let told = std::fs::read_to_string(THREAD).ok();
    let told = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    match told {
        Some(nanoseconds) => nanoseconds * 1.0e-9,
        None => BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

/// Seconds that a run takes, the mean of as many as it needs, without what `prepare` takes;
/// and what the last one gave.
pub fn time<S, T>(
    prepare: impl Fn() -> Result<S, Box<dyn Error>>,
    run: impl Fn(S) -> Result<T, Box<dyn Error>>,
) -> Result<(f64, T), Box<dyn Error>> {
    let mut runs = 1;
    loop {
        let prepared: Vec<S> = (0..runs).map(|_| prepare()).collect::<Result<_, _>>()?;
        let mut last = None;
        // All in one go: within a tick nobody counts.
        let begin = now();
        for one in prepared {
            last = Some(run(one)?);
        }
        let took = now() - begin;
        if let Some(last) = last.filter(|_| took >= LEAST) {
            return Ok((took / f64::from(runs), last));
        }
        runs *= 4;
    }
}
