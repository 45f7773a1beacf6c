//! Identifies the content of a buffer.

use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies what a buffer holds, so that a search can tell whether it has changed. Every
/// change of a buffer removes or replaces its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentId(u64);

impl ContentId {
    /// An id that no other content has.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
