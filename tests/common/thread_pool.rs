//! Work on a number of threads; shared by the test programs.

/// What `work` gives on a pool of so many threads.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}
