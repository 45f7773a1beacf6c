//! Accounting of the memory that buffers take on a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts allocated bytes, up to a limit.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    used: AtomicU64,
    limit: u64,
}

/// Allocated bytes; freed when dropped.
#[derive(Debug)]
pub(super) struct Allocation {
    budget: Arc<MemoryBudget>,
    bytes: u64,
}

impl MemoryBudget {
    pub(super) fn new(limit: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            used: AtomicU64::new(0),
            limit: limit.unwrap_or(u64::MAX),
        })
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Allocates `bytes`; `None` if they exceed the limit.
    pub(super) fn allocate(self: &Arc<Self>, bytes: u64) -> Option<Allocation> {
        let add = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()?;
        Some(Allocation {
            budget: Arc::clone(self),
            bytes,
        })
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_stay_within_the_limit_and_are_freed() {
        let budget = MemoryBudget::new(Some(100));
        let first = budget.allocate(60).expect("100 bytes are free");
        assert!(budget.allocate(41).is_none());
        assert!(budget.allocate(u64::MAX).is_none());
        let second = budget.allocate(40).expect("40 bytes are free");
        assert_eq!(budget.used(), 100);
        drop((first, second));
        assert_eq!(budget.used(), 0);
    }
}
