//! Proxies that are made once for each template and number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ProxyError, ProxySet};
use crate::molecule::MoleculeTemplate;

/// Seed of proxies if nobody gives another.
pub const PROXY_SEED: u64 = 1;

/// The proxies of one template: each number of them is made once, when it is first asked
/// for, from [`PROXY_SEED`].
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let cache = ProxyCache::new(protein);
/// let first = cache.get(17)?;
/// assert!(Arc::ptr_eq(&first, &cache.get(17)?), "made once");
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

    /// The template's `count` proxies; as many as it has atoms, or more, are its atoms.
    ///
    /// # Errors
    /// [`ProxyError`] if `count` is zero, or there are too many atoms.
    pub fn get(&self, count: usize) -> Result<Arc<ProxySet>, ProxyError> {
        let count = count.min(self.template.atom_count());
        // Whoever else asks meanwhile waits, and need not do it again.
        let mut sets = self.sets();
        if let Some(set) = sets.get(&count) {
            return Ok(set.clone());
        }
        let set = ProxySet::from_atoms(&*self.template, count, PROXY_SEED)?;
        Ok(sets.entry(count).or_insert(Arc::new(set)).clone())
    }

    /// Keeps a set that was made elsewhere, such as one from a file.
    ///
    /// # Errors
    /// [`ProxyError`] if it is not for the atoms of the template.
    pub fn insert(&self, set: ProxySet) -> Result<(), ProxyError> {
        set.protrusion(&*self.template)?;
        self.sets().insert(set.len(), Arc::new(set));
        Ok(())
    }

    /// All sets that there are, the smallest first.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<ProxySet>> {
        self.sets().values().cloned().collect()
    }

    fn sets(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<ProxySet>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
