//! CPU name, CPU time and memory. On a shared machine CPU time is steadier than wall time.

use std::error::Error;
use std::fs;
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

/// Shortest measured time, s. Shorter runs are repeated, because the system counts in ticks
/// of several milliseconds.
const MIN_SECONDS: f64 = 0.4;

/// Ticks per second of `/proc/self/stat` on Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Name of the CPU, if the system reports it.
pub fn cpu_name() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut lines = info.lines();
    let name = lines.find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1))?;
    Some(name.to_owned())
}

/// CPU seconds of all threads of this process, to 10 ms.
pub fn process_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // Skip the program name, which is in parentheses and may contain spaces.
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_whitespace().skip(11);
    let [user, system] = [fields.next()?, fields.next()?].map(str::parse::<f64>);
    Some((user.ok()? + system.ok()?) / TICKS_PER_SECOND)
}

/// Resident memory of this process, bytes, if the system reports it.
pub fn resident_bytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(1024.0 * kibibytes)
}

/// CPU seconds of this thread, or wall seconds where the system does not report them.
///
/// Yields first: Linux updates the number at ticks and when a thread yields.
pub fn thread_seconds() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    thread::yield_now();
    let reported = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let reported = reported.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    match reported {
        Some(nanoseconds) => nanoseconds * 1.0e-9,
        None => BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

/// Mean CPU seconds of `run` on this thread, without `prepare`, over as many repetitions as
/// needed; and the result of the last one.
pub fn time<S, T>(
    prepare: impl Fn() -> Result<S, Box<dyn Error>>,
    run: impl Fn(S) -> Result<T, Box<dyn Error>>,
) -> Result<(f64, T), Box<dyn Error>> {
    let mut runs = 1;
    loop {
        let prepared: Vec<S> = (0..runs).map(|_| prepare()).collect::<Result<_, _>>()?;
        let mut last = None;
        // Time all repetitions together: one alone may be shorter than a tick.
        let begin = thread_seconds();
        for one in prepared {
            last = Some(run(one)?);
        }
        let took = thread_seconds() - begin;
        if let Some(last) = last.filter(|_| took >= MIN_SECONDS) {
            return Ok((took / f64::from(runs), last));
        }
        runs *= 4;
    }
}
