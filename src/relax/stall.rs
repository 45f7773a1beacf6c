//! When to give up, or to try something else.

use super::RelaxStatus;

/// Notices when nothing gets better.
#[derive(Clone, Copy)]
pub(super) struct StallWatch {
    window: u32,
    best: f64,
    since: u32,
}

impl StallWatch {
    /// Progress must be better than the best so far by this factor to count.
    const PROGRESS: f64 = 0.98;

    /// A watch that waits for `window` looks without progress; for ever if that is 0.
    pub(super) fn new(window: u32) -> Self {
        Self {
            window,
            best: f64::INFINITY,
            since: 0,
        }
    }

    /// Forgets what was reached.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.window);
    }

    /// Looks at the state after an iteration.
    pub(super) fn look(&mut self, status: &RelaxStatus) {
        let burden = (status.unresolved + status.out_of_place) as f64;
        if burden <= self.best * Self::PROGRESS {
            self.best = burden;
            self.since = 0;
        } else {
            self.since += 1;
        }
    }

    /// Whether the last `window` looks saw no progress.
    pub(super) fn is_stalled(&self) -> bool {
        self.window > 0 && self.since >= self.window
    }
}
