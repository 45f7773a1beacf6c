//! How much memory the arrays of a device take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts bytes, up to a limit.
#[derive(Debug)]
pub(super) struct Memory {
    used: AtomicU64,
    limit: u64,
}

/// Some of the bytes; given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Memory {
    pub(super) fn new(limit: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            used: AtomicU64::new(0),
            limit: limit.unwrap_or(u64::MAX),
        })
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes `bytes`, if as many are left.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> Option<Share> {
        let add = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()?;
        Some(Share {
            memory: Arc::clone(self),
            bytes,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_up_to_the_limit_and_given_back() {
        let memory = Memory::new(Some(100));
        let first = memory.take(60).expect("there are 100");
        assert!(memory.take(41).is_none());
        assert!(memory.take(u64::MAX).is_none());
        let second = memory.take(40).expect("there are 40 left");
        assert_eq!(memory.used(), 100);
        drop((first, second));
        assert_eq!(memory.used(), 0);
    }
}
