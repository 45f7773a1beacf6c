//! Contacts of the atoms of molecules, found through spheres around groups of atoms.

mod hierarchy;
mod sphere_blocks;

use std::sync::Arc;
use std::time::Instant;

use glam::{Mat3, Vec3};
use rayon::prelude::*;
use thiserror::Error;

use super::{AutoGrid, Pair, PairBuffer, PairSearch, SearchError, SearchTimes, check_margin};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::proxy::{ProxyCache, ProxyError};
use crate::spheres::{SphereError, SphereSet};
use hierarchy::{SphereHierarchy, Tier};
use sphere_blocks::{BlockPair, SphereBlocks};

/// Pairs of molecules per task: fixed, so that the order does not depend on the threads.
const PAIRS_PER_TASK: usize = 32;

/// Bound on how far rounding may move an atom out of the sphere around it, relative to the
/// largest coordinate: two transforms of five roundings each, and some for what follows.
const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// Why a [`RefinedSearch`] did not run.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RefinedSearchError {
    /// The spheres or the margin are invalid.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A molecule has a template that does not exist.
    #[error("molecule {molecule} has template {template}, but there are only {count} templates")]
    NoSuchTemplate {
        /// Index of the molecule.
        molecule: usize,
        /// Its template.
        template: u32,
        /// Number of templates.
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
        /// Its pose.
        pose: Pose,
    },
}

impl From<SphereError> for RefinedSearchError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}

/// A molecule of a [`RefinedSearch`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedMolecule {
    /// Index of its template among those of the search.
    pub template: u32,
    /// Its pose in the world, nm.
    pub pose: Pose,
}

/// Finds the overlapping atoms of different molecules, proxies first.
///
/// 1. a grid finds the molecules whose bounding spheres overlap;
/// 2. the proxies of all molecules, and the *leaves* inside them, spheres around about 16
///    atoms, move to the poses;
/// 3. for each pair of molecules, proxies are compared with proxies, the leaves of
///    overlapping proxies with leaves, and the atoms of overlapping leaves with atoms.
///
/// The pairs are exactly those of a [`PairSearch`] over all atoms: atoms are moved and
/// compared by the same expressions, bit for bit. Atoms are only compared near another
/// molecule, which is cheaper for large molecules, where most atoms are inside.
///
/// Proxies for atoms are an outlook of Pauschenwein (2022, section 6.1); that they lead to the
/// exact contacts of the atoms is new here.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::search::{
///     AutoGrid, PairBuffer, PairSearch, PlacedMolecule, RefinedSearch,
/// };
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let poses = [Vec3::ZERO, Vec3::X * 2.5].map(Pose::from_translation);
/// let molecules = poses.map(|pose| PlacedMolecule { template: 0, pose });
/// let mut pairs = PairBuffer::new();
/// RefinedSearch::new(&[protein.clone()])?.find_pairs(&molecules, 0.0, &mut pairs)?;
///
/// let atoms = SphereSet::from_molecules(poses.iter().map(|pose| (&*protein, *pose)))?;
/// assert_eq!(pairs.len() as u64, AutoGrid::new().count_pairs(&atoms, 0.0)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RefinedSearch {
    hierarchies: Vec<SphereHierarchy>,
    grid: AutoGrid,
    bounds: SphereSet,
    bound_pairs: PairBuffer,
    /// Pairs of molecules whose bounding spheres overlap, sorted.
    molecule_pairs: Vec<Pair>,
    /// Templates of the molecules that everything below is laid out for.
    laid_out: Vec<u32>,
    first_atom: Vec<u32>,
    proxies: PlacedTier,
    leaves: PlacedTier,
}

impl RefinedSearch {
    /// A search among molecules with these templates.
    ///
    /// # Errors
    /// [`ProxyError`] if a template has too many atoms for proxies.
    pub fn new(templates: &[Arc<MoleculeTemplate>]) -> Result<Self, ProxyError> {
        let hierarchies = templates
            .iter()
            .map(|template| SphereHierarchy::new(&ProxyCache::new(template.clone())))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            hierarchies,
            grid: AutoGrid::new(),
            bounds: SphereSet::new(),
            bound_pairs: PairBuffer::new(),
            molecule_pairs: Vec::new(),
            laid_out: Vec::new(),
            first_atom: vec![0],
            proxies: PlacedTier::default(),
            leaves: PlacedTier::default(),
        })
    }

    /// Writes all pairs of atoms of different molecules closer than their radii plus `margin`
    /// (nm) into `pairs`, whose previous content is dropped.
    ///
    /// Indices count the atoms molecule by molecule, in the order of their templates. The
    /// order of the pairs does not depend on the number of threads.
    ///
    /// # Errors
    /// [`RefinedSearchError`] names the invalid molecule, pose or margin; `pairs` is empty then.
    pub fn find_pairs(
        &mut self,
        molecules: &[PlacedMolecule],
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, RefinedSearchError> {
        pairs.clear();
        let start = Instant::now();
        self.check(molecules)?;
        check_margin(margin)?;
        self.lay_out(molecules)?;
        let slack = self.slack(molecules);
        self.find_molecule_pairs(molecules, margin + slack)?;
        let hierarchies = &self.hierarchies;
        self.proxies.place(molecules, |template| {
            &hierarchies[template as usize].proxies
        });
        self.leaves
            .place(molecules, |template| &hierarchies[template as usize].leaves);
        let built = Instant::now();
        let tasks = self.molecule_pairs.par_chunks(PAIRS_PER_TASK);
        let lists = pairs.start(tasks.len()).par_iter_mut();
        lists
            .zip(tasks)
            .for_each_init(Scratch::default, |scratch, (list, task)| {
                for pair in task {
                    let indices = [pair.a, pair.b];
                    let refinement = Refinement {
                        search: self,
                        indices,
                        molecules: indices.map(|index| &molecules[index as usize]),
                        margin,
                        reach: margin + slack,
                    };
                    refinement.find_pairs(scratch, list);
                }
            });
        Ok(SearchTimes::of(start, built))
    }

    fn check(&self, molecules: &[PlacedMolecule]) -> Result<(), RefinedSearchError> {
        let count = self.hierarchies.len();
        for (molecule, &PlacedMolecule { template, pose }) in molecules.iter().enumerate() {
            if template as usize >= count {
                return Err(RefinedSearchError::NoSuchTemplate {
                    molecule,
                    template,
                    count,
                });
            }
            if !pose.is_rigid() {
                return Err(RefinedSearchError::BadPose { molecule, pose });
            }
        }
        Ok(())
    }

    fn hierarchy(&self, molecule: &PlacedMolecule) -> &SphereHierarchy {
        &self.hierarchies[molecule.template as usize]
    }

    /// Lays out atoms, proxies and leaves if the molecules have changed.
    fn lay_out(&mut self, molecules: &[PlacedMolecule]) -> Result<(), RefinedSearchError> {
        let templates = molecules.iter().map(|molecule| molecule.template);
        if self.laid_out.iter().copied().eq(templates.clone()) {
            return Ok(());
        }
        self.laid_out.clear();
        let hierarchies = templates
            .clone()
            .map(|template| &self.hierarchies[template as usize]);
        let atoms = hierarchies.clone().map(|hierarchy| hierarchy.atoms.len());
        let count: usize = atoms.clone().sum();
        if count >= u32::MAX as usize {
            return Err(SphereError::TooMany { count }.into());
        }
        self.first_atom.clear();
        let mut first_atom = 0;
        for atoms in atoms {
            self.first_atom.push(first_atom);
            first_atom += atoms as u32;
        }
        let proxies = hierarchies
            .clone()
            .map(|hierarchy| &hierarchy.proxies.radii[..]);
        self.proxies
            .spheres
            .lay_out(proxies, &mut self.proxies.first)?;
        let leaves = hierarchies.map(|hierarchy| &hierarchy.leaves.radii[..]);
        self.leaves
            .spheres
            .lay_out(leaves, &mut self.leaves.first)?;
        self.laid_out.extend(templates);
        Ok(())
    }

    /// How much further the spheres around atoms reach to make up for rounding, nm.
    fn slack(&self, molecules: &[PlacedMolecule]) -> f32 {
        let size = |molecule: &PlacedMolecule| self.hierarchy(molecule).bounding_radius;
        let largest = molecules.iter().map(size).fold(0.0, f32::max);
        let poses = molecules.iter().map(|molecule| molecule.pose);
        let farthest = poses.clone().map(|pose| pose.position.abs().max_element());
        let farthest = farthest.fold(0.0, f32::max);
        // A quaternion that is not quite a rotation stretches the molecule.
        let stretch = poses.map(|pose| (pose.rotation.length_squared() - 1.0).abs());
        let stretch = stretch.fold(0.0, f32::max);
        ROUNDING * (farthest + largest) + 4.0 * stretch * largest
    }

    /// Step 1.
    fn find_molecule_pairs(
        &mut self,
        molecules: &[PlacedMolecule],
        margin: f32,
    ) -> Result<(), SearchError> {
        self.bounds.clear();
        for (owner, molecule) in molecules.iter().enumerate() {
            let radius = self.hierarchies[molecule.template as usize].bounding_radius;
            self.bounds
                .push(molecule.pose.position, radius, owner as u32)?;
        }
        self.grid
            .find_pairs(&self.bounds, margin, &mut self.bound_pairs)?;
        self.molecule_pairs.clear();
        self.molecule_pairs.extend(self.bound_pairs.iter());
        // Neighbors in memory, and an order that does not depend on the grid.
        self.molecule_pairs.par_sort_unstable();
        Ok(())
    }
}

/// Spheres of one tier of all molecules, in the world.
#[derive(Default)]
struct PlacedTier {
    /// First sphere of each molecule, followed by the number of spheres.
    first: Vec<u32>,
    spheres: SphereSet,
}

impl PlacedTier {
    /// Step 2: moves the spheres to the poses of the molecules.
    fn place<'a>(&mut self, molecules: &[PlacedMolecule], tier: impl Fn(u32) -> &'a Tier + Sync) {
        self.spheres.place(&self.first, |index| {
            let PlacedMolecule { template, pose } = molecules[index];
            (&tier(template).centers[..], pose)
        });
    }

    #[inline]
    fn sphere(&self, molecule: u32, index: usize) -> Sphere {
        let at = self.first[molecule as usize] as usize + index;
        Sphere {
            center: self.spheres.center(at),
            radius: self.spheres.radius(at),
        }
    }
}

/// A sphere in the world, nm.
#[derive(Clone, Copy)]
struct Sphere {
    center: Vec3,
    radius: f32,
}

impl Sphere {
    #[inline]
    fn overlaps(&self, other: &Self, margin: f32) -> bool {
        let reach = self.radius + other.radius + margin;
        self.center.distance_squared(other.center) <= reach * reach
    }
}

/// Buffers of a task.
#[derive(Default)]
struct Scratch {
    /// Atoms of the overlapping leaves.
    blocks: SphereBlocks,
    block_pairs: Vec<BlockPair>,
    /// For both molecules, the proxies that may overlap the other one, and their indices.
    proxies: [Vec<(Sphere, usize)>; 2],
    /// For two proxies, the leaves that may overlap the other one, and their indices.
    leaves: [Vec<(Sphere, usize)>; 2],
    /// For both molecules, the range of each leaf in `blocks`, or [`NOT_COPIED`].
    ranges: [Vec<(u32, u32)>; 2],
    /// Leaves whose ranges are to be reset.
    copied: [Vec<u32>; 2],
}

/// Range of a leaf whose atoms are not in the blocks.
const NOT_COPIED: (u32, u32) = (u32::MAX, u32::MAX);

impl Scratch {
    fn clear(&mut self) {
        self.blocks.clear();
        self.block_pairs.clear();
        for (ranges, copied) in self.ranges.iter_mut().zip(&mut self.copied) {
            for leaf in copied.drain(..) {
                ranges[leaf as usize] = NOT_COPIED;
            }
        }
    }
}

/// Two molecules whose bounding spheres overlap.
struct Refinement<'a> {
    search: &'a RefinedSearch,
    indices: [u32; 2],
    molecules: [&'a PlacedMolecule; 2],
    margin: f32,
    /// Margin of the spheres around atoms, nm.
    reach: f32,
}

impl Refinement<'_> {
    fn hierarchy(&self, side: usize) -> &SphereHierarchy {
        self.search.hierarchy(self.molecules[side])
    }

    fn bound(&self, side: usize) -> Sphere {
        Sphere {
            center: self.molecules[side].pose.position,
            radius: self.hierarchy(side).bounding_radius,
        }
    }

    /// Step 3: appends the pairs of atoms to `list`.
    fn find_pairs(&self, scratch: &mut Scratch, list: &mut Vec<Pair>) {
        scratch.clear();
        let mut proxies = std::mem::take(&mut scratch.proxies);
        for (side, near) in proxies.iter_mut().enumerate() {
            let bound = self.bound(1 - side);
            let all = (0..self.hierarchy(side).proxies.centers.len())
                .map(|k| (self.search.proxies.sphere(self.indices[side], k), k));
            near.clear();
            near.extend(all.filter(|(sphere, _)| sphere.overlaps(&bound, self.reach)));
        }
        let [own, other] = &proxies;
        for &(a, k) in own {
            for &(b, l) in other {
                if a.overlaps(&b, self.reach) {
                    self.compare_leaves(scratch, [(a, k), (b, l)]);
                }
            }
        }
        scratch.proxies = proxies;
        scratch
            .blocks
            .compare(&scratch.block_pairs, self.margin, list);
    }

    /// Compares the leaves of two overlapping proxies.
    fn compare_leaves(&self, scratch: &mut Scratch, proxies: [(Sphere, usize); 2]) {
        let mut leaves = std::mem::take(&mut scratch.leaves);
        for (side, near) in leaves.iter_mut().enumerate() {
            let (partner, _) = proxies[1 - side];
            let all = self.hierarchy(side).proxies.children(proxies[side].1);
            let all = all.map(|k| (self.search.leaves.sphere(self.indices[side], k), k));
            near.clear();
            near.extend(all.filter(|(sphere, _)| sphere.overlaps(&partner, self.reach)));
        }
        let [own, other] = &leaves;
        for (a, k) in own {
            for (b, l) in other {
                if a.overlaps(b, self.reach) {
                    self.add_leaf_pair(scratch, [*k, *l], *b);
                }
            }
        }
        scratch.leaves = leaves;
    }

    /// Copies the atoms of two overlapping leaves, to be compared later.
    fn add_leaf_pair(&self, scratch: &mut Scratch, leaves: [usize; 2], partner: Sphere) {
        let [a, b] = [0, 1].map(|side| {
            let leaf = leaves[side];
            let ranges = &mut scratch.ranges[side];
            if ranges.len() <= leaf {
                ranges.resize(leaf + 1, NOT_COPIED);
            }
            if ranges[leaf] == NOT_COPIED {
                let hierarchy = self.hierarchy(side);
                let atoms = &hierarchy.atoms[hierarchy.leaves.children(leaf)];
                let pose = self.molecules[side].pose;
                let first_atom = self.search.first_atom[self.indices[side] as usize];
                // The expression of `SphereSet::place`.
                let rotation = Mat3::from_quat(pose.rotation);
                let start = scratch.blocks.len() as u32;
                for atom in atoms {
                    let center = rotation * atom.center + pose.position;
                    let index = first_atom + atom.index;
                    scratch.blocks.push(center, atom.radius, side as u32, index);
                }
                ranges[leaf] = (start, scratch.blocks.len() as u32);
                scratch.copied[side].push(leaf as u32);
            }
            let (start, end) = ranges[leaf];
            start..end
        });
        scratch.block_pairs.push(BlockPair {
            a,
            b,
            center: partner.center,
            reach: partner.radius + self.reach,
        });
    }
}
