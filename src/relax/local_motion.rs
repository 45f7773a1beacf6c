//! [`LocalMotion`]: only molecules near unresolved contacts or strained joints move.
//!
//! In a crowd at rest, many gaps are between the clearance and the slightly larger gap to which
//! contacts are pushed apart. Every iteration would move these molecules a little, and search all
//! of them again. After an edit of a few molecules, only those move that have an unresolved
//! contact or a strained joint or are out of place, now or in the last few iterations; what was found
//! between the others is kept.

use super::Relaxer;

/// Iterations for which a molecule continues to move after its last unresolved contact or strained
/// joint.
const HOLD: u32 = 4;

/// Which molecules move.
#[derive(Default)]
pub(super) struct LocalMotion {
    /// Last iteration in which each owner moves.
    until: Vec<u32>,
}

impl LocalMotion {
    /// With the last iteration in which each owner moves.
    pub(super) fn with_until(until: Vec<u32>) -> Self {
        Self { until }
    }

    /// Last iteration in which each owner moves.
    pub(super) fn until(&self) -> &[u32] {
        &self.until
    }

    /// Whether an owner moves in an iteration.
    pub(super) fn moves(&self, owner: usize, iteration: u32) -> bool {
        self.until
            .get(owner)
            .is_some_and(|until| *until >= iteration)
    }

    /// Forgets all owners, which are numbered anew.
    pub(super) fn reset(&mut self) {
        self.until.clear();
    }
}

impl Relaxer {
    /// Sets whether only molecules with unresolved contacts, strained joints or out of their places
    /// move, on the CPU. Iterations are faster if they are few, as after an [edit](Self::edit) of a crowd at
    /// rest. If there is no progress, all molecules move again.
    pub fn set_local_motion(&mut self, is_local: bool) {
        if is_local != self.local.is_some() {
            self.local = is_local.then(LocalMotion::default);
            self.sums_config = None;
            self.mark_moving();
        }
    }

    /// Marks the owners with unresolved contacts, strained joints or springs.
    pub(super) fn mark_moving(&mut self) {
        let Some(local) = &mut self.local else {
            return;
        };
        let last = self.iterations + HOLD;
        local.until.resize(self.order.len(), 0);
        let mut mark = |owners: [u32; 2]| {
            for owner in owners {
                local.until[owner as usize] = last;
            }
        };
        self.contacts.for_each_unresolved(&mut mark);
        self.joints.for_each_strained(&mut mark);
        for (until, spring) in local.until.iter_mut().zip(&self.springs) {
            if !spring.is_zero() {
                *until = last;
            }
        }
    }
}
