//! [`MoleculeUploads`]: how much is sent to the GPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bevy::prelude::*;

/// How many bytes were sent to the GPU for molecules in the last drawn frame.
///
/// Only what has changed is sent: nothing while all molecules sleep and all cameras stand still,
/// and some 32 bytes for a molecule that moves.
#[derive(Clone, Debug, Default, Resource, Reflect)]
#[reflect(opaque)]
#[reflect(Clone, Debug, Default)]
pub struct MoleculeUploads(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Bytes of the frame that is being prepared.
    current: AtomicU64,
    /// Bytes of the last complete frame.
    last: AtomicU64,
}

impl MoleculeUploads {
    /// Bytes in the last drawn frame.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.last.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: usize) {
        self.0.current.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Ends a frame.
    pub(super) fn publish(&self) {
        let bytes = self.0.current.swap(0, Ordering::Relaxed);
        self.0.last.store(bytes, Ordering::Relaxed);
    }
}
