//! Who answers for contacts between molecules: Rapier's solver or the crowd.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a [`MoleculeDispatcher`](super::MoleculeDispatcher) whether contacts between
/// molecules are handled elsewhere. Default: off, Rapier's solver handles them.
///
/// Clones share one state, so that the switch can be turned while a narrow phase
/// owns the dispatcher.
#[derive(Clone, Debug, Default)]
pub struct MoleculePairFilter(Arc<AtomicBool>);

impl MoleculePairFilter {
    /// A switch that is on or off.
    #[must_use]
    pub fn new(on: bool) -> Self {
        Self(Arc::new(AtomicBool::new(on)))
    }

    /// With `true`, two molecules give no contact manifolds and stop no motion.
    ///
    /// Rapier asks again only for pairs whose relative pose has changed enough since
    /// it last asked, or one of whose colliders has changed in another way than by
    /// moving. Whoever turns the switch in a running world should mark the colliders,
    /// by setting their shape again for instance, and wake their bodies.
    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }

    /// Whether contacts between molecules are handled elsewhere.
    #[must_use]
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
