//! Bounding-sphere hierarchy of a template: its bounding sphere, [`DEFAULT_PROXIES`] proxies,
//! and in each of them *leaves* of about [`LEAF_ATOMS`] atoms.

use glam::Vec3;

use crate::molecule::{BodySpheres, MoleculeTemplate};
use crate::proxy::{DEFAULT_PROXIES, PROXY_SEED, ProxyCache, ProxyError, ProxySet};

/// Approximate number of atoms per leaf: two vectors of eight.
const LEAF_ATOMS: usize = 16;

/// Spheres of one level of the hierarchy, body frame, nm.
#[derive(Clone, Debug, Default)]
pub(super) struct Tier {
    pub(super) centers: Vec<Vec3>,
    pub(super) radii: Vec<f32>,
    /// First child of each sphere, followed by the number of children.
    pub(super) starts: Vec<u32>,
}

impl Tier {
    /// Children of a sphere.
    pub(super) fn children(&self, sphere: usize) -> std::ops::Range<usize> {
        self.starts[sphere] as usize..self.starts[sphere + 1] as usize
    }
}

/// An atom of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafAtom {
    /// Center in the body frame, nm.
    pub(super) center: Vec3,
    /// Radius, nm.
    pub(super) radius: f32,
    /// Index in the template.
    pub(super) index: u32,
}

/// Bounding-sphere hierarchy of one template, body frame, nm. Atoms are stored leaf by leaf.
#[derive(Clone, Debug)]
pub(super) struct SphereHierarchy {
    pub(super) proxies: Tier,
    pub(super) leaves: Tier,
    pub(super) atoms: Vec<LeafAtom>,
    pub(super) bounding_radius: f32,
}

impl SphereHierarchy {
    /// Builds the hierarchy of a template.
    ///
    /// # Errors
    /// [`ProxyError`] if it has too many atoms.
    pub(super) fn new(cache: &ProxyCache) -> Result<Self, ProxyError> {
        let template: &MoleculeTemplate = cache.template();
        let top = cache.get(DEFAULT_PROXIES)?;
        let mut proxies = Tier {
            centers: top.centers().to_vec(),
            radii: top.radii().to_vec(),
            starts: vec![0],
        };
        let mut leaves = Tier {
            starts: vec![0],
            ..Tier::default()
        };
        let mut atoms = Vec::with_capacity(template.atom_count());
        for proxy in 0..top.len() {
            let members = top.atoms_of(proxy);
            let pick = |k: &u32| template.positions()[*k as usize];
            let positions: Vec<Vec3> = members.iter().map(pick).collect();
            let radii = members.iter().map(|k| template.radii()[*k as usize]);
            let radii: Vec<f32> = radii.collect();
            let balls = BodySpheres {
                centers: &positions,
                radii: &radii,
            };
            let count = members.len().div_ceil(LEAF_ATOMS);
            let set = ProxySet::from_atoms(balls, count, PROXY_SEED)?;
            for leaf in 0..set.len() {
                leaves.centers.push(set.centers()[leaf]);
                leaves.radii.push(set.radii()[leaf]);
                atoms.extend(set.atoms_of(leaf).iter().map(|&k| LeafAtom {
                    center: positions[k as usize],
                    radius: radii[k as usize],
                    index: members[k as usize],
                }));
                leaves.starts.push(atoms.len() as u32);
            }
            proxies.starts.push(leaves.centers.len() as u32);
        }
        Ok(Self {
            proxies,
            leaves,
            atoms,
            bounding_radius: template.bounding_radius(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::molecule::{LoadOptions, load};

    #[test]
    fn every_atom_is_inside_its_leaf_and_its_proxy() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/dhfr.pdb");
        let template = Arc::new(load(path, &LoadOptions::default()).unwrap());
        let tree = SphereHierarchy::new(&ProxyCache::new(template.clone())).unwrap();
        let mut seen = vec![false; template.atom_count()];
        let holds = |tier: &Tier, sphere: usize, atom: &LeafAtom| {
            let apart = tier.centers[sphere]
                .as_dvec3()
                .distance(atom.center.as_dvec3());
            apart + f64::from(atom.radius) <= f64::from(tier.radii[sphere])
        };
        for proxy in 0..tree.proxies.centers.len() {
            for leaf in tree.proxies.children(proxy) {
                let atoms = &tree.atoms[tree.leaves.children(leaf)];
                assert!(!atoms.is_empty());
                for atom in atoms {
                    assert!(holds(&tree.leaves, leaf, atom) && holds(&tree.proxies, proxy, atom));
                    assert_eq!(atom.center, template.positions()[atom.index as usize]);
                    seen[atom.index as usize] = true;
                }
            }
        }
        assert!(seen.iter().all(|seen| *seen));
        let [proxies, leaves] = [&tree.proxies, &tree.leaves].map(|tier| tier.centers.len());
        assert!(proxies == 17 && leaves > 17 && leaves <= template.atom_count() / 8);
    }
}
