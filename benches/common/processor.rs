//! The processor: what it is called, and how long one has had it. On a shared machine the
//! time on the wall is also that of others.

use std::error::Error;
use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

/// What is measured at least, s: systems count in ticks of some milliseconds. Short runs are
/// repeated.
const LEAST: f64 = 0.4;

/// Ticks of a second in which Linux tells what a process has had, on all of its machines.
const TICKS: f64 = 100.0;

/// What the system calls it.
pub fn name() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut lines = info.lines();
    let name = lines.find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1))?;
    Some(name.to_owned())
}

/// Seconds that all threads of this process have had a processor, to a hundredth.
pub fn of_process() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program comes before, in brackets, and may have blanks.
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_whitespace().skip(11);
    let [user, system] = [fields.next()?, fields.next()?].map(str::parse::<f64>);
    Some((user.ok()? + system.ok()?) / TICKS)
}

/// Seconds that this thread has had a processor; seconds on the wall where nobody knows.
pub fn of_thread() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    match told {
        Some(nanoseconds) => nanoseconds * 1.0e-9,
        None => BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

/// Seconds of this thread that a run takes, the mean of as many as it needs, without what
/// `prepare` takes; and what the last one gave.
pub fn time<S, T>(
    prepare: impl Fn() -> Result<S, Box<dyn Error>>,
    run: impl Fn(S) -> Result<T, Box<dyn Error>>,
) -> Result<(f64, T), Box<dyn Error>> {
    let mut runs = 1;
    loop {
        let prepared: Vec<S> = (0..runs).map(|_| prepare()).collect::<Result<_, _>>()?;
        let mut last = None;
        // All in one go: within a tick nobody counts.
        let begin = of_thread();
        for one in prepared {
            last = Some(run(one)?);
        }
        let took = of_thread() - begin;
        if let Some(last) = last.filter(|_| took >= LEAST) {
            return Ok((took / f64::from(runs), last));
        }
        runs *= 4;
    }
}
