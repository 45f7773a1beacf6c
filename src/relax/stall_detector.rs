//! Detects that iterations make no progress.

use super::RelaxStatus;

/// Counts status updates without progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StallDetector {
    window: u32,
    best: f64,
    since: u32,
}

impl StallDetector {
    /// Progress means at most this fraction of the best value so far.
    const PROGRESS: f64 = 0.98;

    /// Stalls after `window` updates without progress; never if it is 0.
    pub(super) fn new(window: u32) -> Self {
        Self {
            window,
            best: f64::INFINITY,
            since: 0,
        }
    }

    /// Window, best value so far and updates since it.
    pub(super) fn parts(&self) -> (u32, f64, u32) {
        (self.window, self.best, self.since)
    }

    /// The detector with these [`parts`](Self::parts).
    pub(super) fn from_parts(window: u32, best: f64, since: u32) -> Self {
        Self {
            window,
            best,
            since,
        }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::new(self.window);
    }

    /// Records the status after an iteration.
    pub(super) fn update(&mut self, status: &RelaxStatus) {
        let remaining = status.remaining() as f64;
        if remaining <= self.best * Self::PROGRESS {
            self.best = remaining;
            self.since = 0;
        } else {
            self.since += 1;
        }
    }

    /// Whether the last `window` updates brought no progress.
    pub(super) fn is_stalled(&self) -> bool {
        self.window > 0 && self.since >= self.window
    }
}
