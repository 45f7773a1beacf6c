//! Work in many short parallel phases.

/// Runs `work` on a thread of rayon's pool.
///
/// A thread outside the pool has to hand every parallel phase over and sleep until it is
/// done; one inside takes part in it at once.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
