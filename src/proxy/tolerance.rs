//! As many proxies as a tolerance asks for.

use super::{ProxyError, ProxySet};
use crate::molecule::{BodySpheres, LocalGrid};

impl ProxySet {
    /// The fewest proxies whose surface is nowhere further than `tolerance` nm from that of
    /// the atoms, as [measured](super::ProxyQuality).
    ///
    /// More proxies are not always better, and not all numbers are tried: twice as many
    /// each time until they do, then halfway between too few and enough.
    ///
    /// ```
    /// use bevy_rapier_molecules::prelude::*;
    ///
    /// let ligand = load("assets/molecules/p_xylene.pdb", &LoadOptions::default())?;
    /// let proxies = ProxySet::for_tolerance(&ligand, 0.2, 1)?;
    /// assert!(proxies.len() < ligand.atom_count());
    /// assert!(proxies.quality(&ligand)?.largest_distance_nm <= 0.2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ProxyError`] if an atom or the tolerance is impossible.
    pub fn for_tolerance<'a>(
        atoms: impl Into<BodySpheres<'a>>,
        tolerance: f32,
        seed: u64,
    ) -> Result<Self, ProxyError> {
        let atoms = atoms.into();
        atoms.check()?;
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(ProxyError::BadTolerance { tolerance });
        }
        let atom_grid = LocalGrid::new(atoms.centers, atoms.radii);
        let attempt = |count: usize| -> Result<Option<Self>, ProxyError> {
            let set = Self::from_atoms(atoms, count, seed)?;
            // The atoms themselves are good enough for everyone.
            let is_exact = count >= atoms.centers.len();
            let proxy_grid = LocalGrid::new(set.centers(), set.radii());
            let good = is_exact || set.largest_distance(&atom_grid, &proxy_grid) <= tolerance;
            Ok(good.then_some(set))
        };
        let most = atoms.centers.len();
        let (mut too_few, mut count) = (0, 1);
        let mut enough = loop {
            match attempt(count)? {
                Some(set) => break set,
                None => too_few = count,
            }
            count = (2 * count).min(most);
        };
        while enough.len() - too_few > 1 {
            let middle = too_few.midpoint(enough.len());
            match attempt(middle)? {
                Some(set) => enough = set,
                None => too_few = middle,
            }
        }
        Ok(enough)
    }
}
