//! What may change between two iterations, and what an observer may ask.

use super::stall::StallWatch;
use super::{ReactionLaw, RelaxConfig, RelaxError, Relaxer};
use crate::search::PairSearch;

impl Relaxer {
    /// What the relaxation is told.
    #[must_use]
    pub fn config(&self) -> &RelaxConfig {
        &self.config
    }

    /// Changes law, clearance and stop criteria between two iterations. Poses, momentum
    /// and the number of iterations stay; waiting for progress begins anew. A coarse start
    /// is over or under way, and stays as it is.
    ///
    /// Another device that does the iterations was made for the old law: its poses are
    /// fetched and the processor goes on ([`fell_back`](Self::fell_back) says so). To stay
    /// with the device, make a new relaxer of [`into_crowd`](Self::into_crowd).
    ///
    /// # Errors
    /// [`RelaxError`] if a parameter is impossible; nothing has changed then.
    pub fn set_config(&mut self, config: RelaxConfig) -> Result<(), RelaxError> {
        config.check()?;
        if config == self.config {
            return Ok(());
        }
        self.sync()?;
        if self.offload.take().is_some() {
            self.fell_back = Some("its parameters were changed".into());
        }
        self.config = config;
        self.stall = StallWatch::new(config.stall_window);
        self.progress = StallWatch::new(kick_after(&config.law));
        self.detect()
    }

    /// Looks for overlaps with another search from the next iteration on. Another device
    /// that does the iterations has its own.
    pub fn set_search(&mut self, search: Box<dyn PairSearch>) {
        self.search = search;
    }

    /// The deepest overlap of each molecule with any other at the present poses, nm; 0 if
    /// it overlaps none. In the order of the crowd. Of proxies, while they stand for the
    /// molecules ([`is_coarse`](Self::is_coarse)).
    ///
    /// If another device does the iterations, poses are fetched and searched by the
    /// processor.
    ///
    /// # Errors
    /// [`RelaxError`] if the molecules cannot be searched.
    pub fn penetrations(&mut self) -> Result<Vec<f32>, RelaxError> {
        if self.offload.is_some() {
            self.sync()?;
        }
        if self.offload.is_some() {
            self.gather();
            self.search
                .find_pairs(&self.spheres, 0.0, &mut self.pairs)?;
        }
        let mut deepest = vec![0.0_f32; self.order.len()];
        for pair in self.pairs.iter() {
            let depth = -pair.gap(&self.spheres);
            if depth > 0.0 {
                for sphere in [pair.a, pair.b] {
                    let owner = self.spheres.owner(sphere as usize);
                    let member = self.order[owner as usize] as usize;
                    deepest[member] = deepest[member].max(depth);
                }
            }
        }
        Ok(deepest)
    }
}

/// Iterations without progress after which a law kicks; 0 for never.
pub(super) fn kick_after(law: &ReactionLaw) -> u32 {
    match law {
        ReactionLaw::Projection(parameters) => parameters.kick_after,
        ReactionLaw::Thesis(_) => 0,
    }
}
