//! The search that goes from templates and poses to pairs.

use std::sync::Arc;
use std::time::Instant;

use thiserror::Error;

use super::Detail;
use super::hierarchy::ProxyHierarchy;
use super::refined::Refiner;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::proxy::{ProxyCache, ProxyError, ProxySet};
use crate::search::{AutoGrid, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::{SphereError, SphereSet};

/// Why contacts could not be found.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DetailError {
    /// A template has no proxies of this number.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The spheres cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A molecule has a template that does not exist.
    #[error("molecule {molecule} has template {template}, but there are {count}, counted from 0")]
    NoSuchTemplate {
        /// Index of the molecule.
        molecule: usize,
        /// The template that was given.
        template: u32,
        /// How many there are.
        count: usize,
    },
    /// A pose is not finite, or its rotation is not a rotation.
    #[error(
        "molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Index of the molecule.
        molecule: usize,
        /// The pose that was given.
        pose: Pose,
    },
}

impl From<SphereError> for DetailError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}

/// A molecule of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedMolecule {
    /// Index of its template among those of the search.
    pub template: u32,
    /// Where it is in the world, nm.
    pub pose: Pose,
}

/// Finds the pairs of spheres of different molecules that overlap, at a level of detail.
///
/// Pairs are indices of spheres, molecule by molecule: atoms in the order of their templates
/// ([`Detail::Atoms`], [`Detail::Refined`]), or proxies in that of their sets.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let placed = [Vec3::ZERO, Vec3::X * 2.5].map(|at| PlacedMolecule {
///     template: 0,
///     pose: Pose::from_translation(at),
/// });
/// let mut found = [Detail::Atoms, Detail::Refined].map(|_| PairBuffer::new());
/// for (detail, pairs) in [Detail::Atoms, Detail::Refined].into_iter().zip(&mut found) {
///     MoleculeSearch::new(&[protein.clone()], detail)?.find_pairs(&placed, 0.0, pairs)?;
/// }
/// // Proxies first is faster, and finds the same.
/// assert_eq!(found[0].len(), found[1].len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MoleculeSearch {
    detail: Detail,
    templates: Vec<Arc<MoleculeTemplate>>,
    /// For [`Detail::Proxies`].
    proxies: Vec<Arc<ProxySet>>,
    /// For [`Detail::Refined`].
    refiner: Option<Refiner>,
    grid: AutoGrid,
    /// Templates of the molecules that `spheres` are laid out for.
    laid_out: Vec<u32>,
    first_sphere: Vec<u32>,
    spheres: SphereSet,
}

impl MoleculeSearch {
    /// A search among molecules with these templates.
    ///
    /// # Errors
    /// [`DetailError::Proxy`] if zero proxies are asked for, or a template has too many atoms
    /// for proxies.
    pub fn new(templates: &[Arc<MoleculeTemplate>], detail: Detail) -> Result<Self, DetailError> {
        let caches: Vec<_> = templates.iter().cloned().map(ProxyCache::new).collect();
        let caches: Vec<&ProxyCache> = caches.iter().collect();
        Self::with_caches(&caches, detail)
    }

    /// As [`new`](Self::new), with proxies that may have been made before.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_caches(caches: &[&ProxyCache], detail: Detail) -> Result<Self, DetailError> {
        let proxies = match detail {
            Detail::Proxies(count) => {
                let sets = caches.iter().map(|cache| cache.get(count as usize));
                sets.collect::<Result<_, _>>()?
            }
            Detail::Atoms | Detail::Refined => Vec::new(),
        };
        let refiner = if detail == Detail::Refined {
            let trees = caches.iter().map(|cache| ProxyHierarchy::new(cache));
            Some(Refiner::new(trees.collect::<Result<_, _>>()?))
        } else {
            None
        };
        Ok(Self {
            detail,
            templates: caches.iter().map(|c| c.template().clone()).collect(),
            proxies,
            refiner,
            grid: AutoGrid::new(),
            laid_out: Vec::new(),
            first_sphere: vec![0],
            spheres: SphereSet::new(),
        })
    }

    /// How closely it looks.
    #[must_use]
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// First sphere of each molecule of the last search, and one entry more.
    #[must_use]
    pub fn first_sphere(&self) -> &[u32] {
        &self.first_sphere
    }

    /// Moves the spheres to where `molecules` are, and writes all pairs of different
    /// molecules closer than their radii plus `margin` (nm) into `pairs`, whose former
    /// content is dropped.
    ///
    /// # Errors
    /// [`DetailError`] names the molecule or the sphere that is impossible; `pairs` is empty
    /// then.
    pub fn find_pairs(
        &mut self,
        molecules: &[PlacedMolecule],
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, DetailError> {
        pairs.clear();
        let start = Instant::now();
        self.check(molecules)?;
        self.lay_out(molecules)?;
        if let Some(refiner) = &mut self.refiner {
            return Ok(refiner.find_pairs(molecules, &self.first_sphere, margin, pairs)?);
        }
        let (proxies, templates) = (&self.proxies, &self.templates);
        self.spheres.place(&self.first_sphere, |k| {
            let PlacedMolecule { template, pose } = molecules[k];
            let centers = match proxies.get(template as usize) {
                Some(set) => set.centers(),
                None => templates[template as usize].positions(),
            };
            (centers, pose)
        });
        let placed = start.elapsed();
        let mut times = self.grid.find_pairs(&self.spheres, margin, pairs)?;
        times.build += placed;
        Ok(times)
    }

    fn check(&self, molecules: &[PlacedMolecule]) -> Result<(), DetailError> {
        let count = self.templates.len();
        for (molecule, &PlacedMolecule { template, pose }) in molecules.iter().enumerate() {
            if template as usize >= count {
                return Err(DetailError::NoSuchTemplate {
                    molecule,
                    template,
                    count,
                });
            }
            if !pose.is_rigid() {
                return Err(DetailError::BadPose { molecule, pose });
            }
        }
        Ok(())
    }

    /// Makes room for the spheres of other molecules than last time.
    fn lay_out(&mut self, molecules: &[PlacedMolecule]) -> Result<(), DetailError> {
        let templates = molecules.iter().map(|molecule| molecule.template);
        if self.laid_out.iter().copied().eq(templates.clone()) {
            return Ok(());
        }
        self.laid_out.clear();
        let radii = templates
            .clone()
            .map(|k| match self.proxies.get(k as usize) {
                Some(set) => set.radii(),
                None => self.templates[k as usize].radii(),
            });
        let count: usize = radii.clone().map(<[f32]>::len).sum();
        if count >= u32::MAX as usize {
            return Err(SphereError::TooMany { count }.into());
        }
        self.first_sphere.clear();
        self.first_sphere.push(0);
        let mut sum = 0;
        for radii in radii.clone() {
            sum += radii.len() as u32;
            self.first_sphere.push(sum);
        }
        // Whoever refines has no spheres for all atoms.
        if self.refiner.is_none() {
            self.spheres.lay_out(radii)?;
        }
        self.laid_out.extend(templates);
        Ok(())
    }
}
