//! Execution in rayon's thread pool.

/// Runs `work` on a thread of rayon's pool.
///
/// Worth it for work with many short parallel phases: a thread outside the pool hands each of
/// them over and sleeps until it is done, while a thread inside takes part at once.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
