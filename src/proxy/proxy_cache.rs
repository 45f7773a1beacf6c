//! A cache of the proxies of a template.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ProxyError, ProxySet};
use crate::molecule::MoleculeTemplate;

/// Default seed of proxies.
pub const PROXY_SEED: u64 = 1;

/// The proxies of one template. Each number of proxies is computed once, on first use, with
/// [`PROXY_SEED`].
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::proxy::ProxyCache;
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let cache = ProxyCache::new(protein);
/// let first = cache.get(17)?;
/// assert!(Arc::ptr_eq(&first, &cache.get(17)?), "computed once");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ProxyCache {
    template: Arc<MoleculeTemplate>,
    sets: Mutex<BTreeMap<usize, Arc<ProxySet>>>,
}

impl ProxyCache {
    /// An empty cache for `template`.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        Self {
            template,
            sets: Mutex::default(),
        }
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// `count` proxies of the template, at most the number of its atoms.
    ///
    /// # Errors
    /// [`ProxyError`] if `count` is zero or the template has too many atoms.
    pub fn get(&self, count: usize) -> Result<Arc<ProxySet>, ProxyError> {
        let count = count.min(self.template.atom_count());
        // The lock is held while computing, so that no other thread computes the same set.
        let mut sets = self.sets();
        if let Some(set) = sets.get(&count) {
            return Ok(set.clone());
        }
        let set = ProxySet::from_atoms(&*self.template, count, PROXY_SEED)?;
        Ok(sets.entry(count).or_insert(Arc::new(set)).clone())
    }

    /// Adds a set that was computed elsewhere, for example on the GPU or loaded from a file.
    ///
    /// # Errors
    /// [`ProxyError`] if the set does not belong to the atoms of the template.
    pub fn insert(&self, set: ProxySet) -> Result<(), ProxyError> {
        set.max_protrusion(&*self.template)?;
        self.sets().insert(set.len(), Arc::new(set));
        Ok(())
    }

    /// All cached sets in ascending order of size.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<ProxySet>> {
        self.sets().values().cloned().collect()
    }

    fn sets(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<ProxySet>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
