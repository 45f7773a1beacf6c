//! Clashes: atoms of different parts of a structure that are too close.
//!
//! Parts are rigid bodies with their poses, such as those of
//! [`Structure::split_by`](crate::molecule::Structure::split_by) or the members of a
//! [`Crowd`](crate::crowd::Crowd). [`find_clashes`] returns a [`ClashReport`], which the
//! example `clashes` writes as JSON.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::closest_distance::{closest_distance, closest_periodic_distance};
use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::search::{AutoGrid, ImagePair, Pair, PairSearch, PeriodicSearch, SearchError};
use crate::spheres::{SphereError, SphereSet};

/// Largest [`ClashOptions::worst`].
pub const MAX_WORST: usize = 1 << 20;

/// Coincident atoms are merged if that leaves at most one site for this many atoms.
const ATOMS_PER_SITE: usize = 4;

/// Bound on the rounding of a gap in 32 bits, relative to the longest reach.
const GAP_ROUNDING: f32 = 16.0 * f32::EPSILON;

/// Why the search for clashes failed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ClashError {
    /// The tolerance is zero, negative or not finite.
    #[error(
        "the tolerance is {tolerance} nm, but must be positive and finite; omit it to use the collision radii of the atoms"
    )]
    BadTolerance {
        /// The tolerance, nm.
        tolerance: f32,
    },
    /// Too many clashes are to be listed.
    #[error("{worst} clashes are too many to list, the maximum is {MAX_WORST}")]
    TooManyListed {
        /// [`ClashOptions::worst`].
        worst: usize,
    },
    /// An atom is invalid, or too many atoms lie in one place.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl From<SphereError> for ClashError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}

/// Options of [`find_clashes`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClashOptions {
    /// Atoms closer than this (nm) clash; `None` if atoms clash when their collision spheres
    /// overlap. Default: `None`.
    pub tolerance: Option<f32>,
    /// Number of clashes to list, worst first; at most [`MAX_WORST`]. Default: 10.
    pub worst: usize,
    /// The box that repeats in space: atoms clash with the images of other parts, and of their own
    /// part, too. Default: `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periodic_box: Option<PeriodicBox>,
}

impl Default for ClashOptions {
    fn default() -> Self {
        Self {
            tolerance: None,
            worst: 10,
            periodic_box: None,
        }
    }
}

impl ClashOptions {
    /// Checks the options.
    ///
    /// # Errors
    /// [`ClashError`] if the tolerance is not positive and finite, or too many clashes are to
    /// be listed.
    pub fn check(&self) -> Result<(), ClashError> {
        if let Some(tolerance) = self.tolerance
            && !(tolerance.is_finite() && tolerance > 0.0)
        {
            return Err(ClashError::BadTolerance { tolerance });
        }
        if self.worst > MAX_WORST {
            return Err(ClashError::TooManyListed { worst: self.worst });
        }
        Ok(())
    }
}

/// An atom of a part.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClashAtom {
    /// Index of its part.
    pub part: usize,
    /// Chain of its residue.
    pub chain: String,
    /// Name of its residue.
    pub residue: String,
    /// Number of its residue.
    pub number: i32,
    /// Insertion code of its residue, if any.
    pub insertion_code: Option<char>,
    /// Name of the atom.
    pub atom: String,
    /// Symbol of its element.
    pub element: &'static str,
}

/// Two atoms that are too close: of different parts, or in a periodic box of a part and an image
/// of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Clash {
    /// Distance between the centers, nm.
    pub distance_nm: f64,
    /// How much closer than allowed that is, nm.
    pub penetration_nm: f64,
    /// The atom of the part with the smaller index.
    pub a: ClashAtom,
    /// The other atom.
    pub b: ClashAtom,
    /// By how many edges of the periodic box the other atom is moved along each axis; `None`
    /// without a box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<[i32; 3]>,
}

/// Number of clashes, and the worst of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClashReport {
    /// [`ClashOptions::tolerance`], nm.
    pub tolerance_nm: Option<f32>,
    /// [`ClashOptions::periodic_box`]: its edges, nm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub box_nm: Option<PeriodicBox>,
    /// Number of parts.
    pub parts: usize,
    /// Number of atoms.
    pub atoms: usize,
    /// Number of pairs of atoms that clash.
    pub pairs: usize,
    /// Distance (nm) of the closest two atoms of different parts, or images, whether they clash or
    /// not; `None` if there is only one part and no periodic box.
    pub closest_nm: Option<f64>,
    /// The clashes with the deepest penetration, deepest first.
    pub worst: Vec<Clash>,
}

/// Finds the atoms of different `parts` that are too close to each other.
///
/// Atoms of the same part never clash. In a [periodic box](ClashOptions::periodic_box), a part is
/// whole, wherever it is; atoms that clash with several images of another atom are that many pairs.
///
/// Takes the time of one grid search and about 100 bytes
/// per atom; clashes are counted, and only the worst are stored. Atoms that lie in the same
/// point are merged, so that a file of coincident atoms takes no longer, unless there is a periodic box.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::contact::clashes::{ClashOptions, find_clashes};
/// use bevy_rapier_molecules::molecule::{SplitBy, load_structure};
///
/// let options = LoadOptions::default();
/// let structure = load_structure("assets/molecules/popc_bilayer.pdb", &options)?;
/// let lipids = structure.split_by(SplitBy::Residue, &options)?;
/// let placed: Vec<_> = lipids.iter().map(|part| (&*part.template, part.pose)).collect();
/// let report = find_clashes(&placed, &ClashOptions { tolerance: Some(0.16), ..ClashOptions::default() })?;
/// assert_eq!(report.pairs, 0, "a real membrane has no atoms closer than 0.16 nm");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ClashError`] if an option or a pose is invalid, or too many atoms lie in one place.
pub fn find_clashes(
    parts: &[(&MoleculeTemplate, Pose)],
    options: &ClashOptions,
) -> Result<ClashReport, ClashError> {
    find_clashes_with(parts, options, &mut AutoGrid::new())
}

/// As [`find_clashes`], with another search.
///
/// # Errors
/// As [`find_clashes`], and [`ClashError::Search`] if the search fails.
pub fn find_clashes_with(
    parts: &[(&MoleculeTemplate, Pose)],
    options: &ClashOptions,
    search: &mut dyn PairSearch,
) -> Result<ClashReport, ClashError> {
    options.check()?;
    let mut spheres = SphereSet::from_molecules(parts.iter().copied())?;
    if let Some(tolerance) = options.tolerance {
        // Spheres overlap exactly if their centers are closer than the tolerance.
        spheres.set_radius(tolerance / 2.0)?;
    }
    let closest = match &options.periodic_box {
        Some(periodic) => closest_periodic_distance(&spheres, periodic)?,
        None => closest_distance(&spheres),
    };
    let clashes = Clashes::new(&spheres, options.worst);
    if let Some(periodic) = options.periodic_box {
        PeriodicSearch::new(search, periodic).visit_pairs(&spheres, 0.0, &|pairs, distances| {
            clashes.add_images(pairs, distances);
        })?;
    } else if let Some(sites) = Sites::merge(&spheres, closest) {
        sites.visit_pairs(search, &clashes)?;
    } else {
        search.visit_pairs(&spheres, 0.0, &|pairs, gaps| clashes.add(pairs, gaps))?;
    }
    let (pairs, worst) = clashes.finish();
    Ok(ClashReport {
        tolerance_nm: options.tolerance,
        box_nm: options.periodic_box,
        parts: parts.len(),
        atoms: spheres.len(),
        pairs: pairs as usize,
        closest_nm: closest,
        worst: worst
            .iter()
            .map(|ranked| Clash {
                image: options.periodic_box.map(|_| ranked.image),
                ..describe(parts, &spheres, ranked)
            })
            .collect(),
    })
}

/// The number of pairs of atoms closer than `tolerance` (nm) in pairs of parts that `is_counted`
/// accepts, and the distance (nm) of the closest two atoms of different parts or images.
pub(crate) fn count_close_pairs(
    parts: &[(&MoleculeTemplate, Pose)],
    tolerance: f32,
    periodic_box: Option<PeriodicBox>,
    is_counted: impl Fn([u32; 2]) -> bool + Sync,
) -> Result<(u64, Option<f64>), ClashError> {
    let mut spheres = SphereSet::from_molecules(parts.iter().copied())?;
    spheres.set_radius(tolerance / 2.0)?;
    let count = AtomicU64::new(0);
    let add = |pairs: &mut dyn Iterator<Item = [u32; 2]>| {
        let owners = pairs.map(|pair| pair.map(|sphere| spheres.owner(sphere as usize)));
        let counted = owners.filter(|owners| is_counted(*owners)).count();
        count.fetch_add(counted as u64, Ordering::Relaxed);
    };
    let mut grid = AutoGrid::new();
    let closest = if let Some(periodic) = periodic_box {
        PeriodicSearch::new(&mut grid, periodic).visit_pairs(&spheres, 0.0, &|pairs, _| {
            add(&mut pairs.iter().map(|pair| [pair.a, pair.b]));
        })?;
        closest_periodic_distance(&spheres, &periodic)?
    } else {
        grid.visit_pairs(&spheres, 0.0, &|pairs, _| {
            add(&mut pairs.iter().map(|pair| [pair.a, pair.b]));
        })?;
        closest_distance(&spheres)
    };
    Ok((count.into_inner(), closest))
}

/// A pair with its distance and penetration, nm.
#[derive(Clone, Copy)]
struct RankedPair {
    pair: Pair,
    /// By how many edges of a periodic box the second sphere is moved.
    image: [i32; 3],
    distance: f64,
    penetration: f64,
}

impl RankedPair {
    fn new(spheres: &SphereSet, pair: Pair) -> Self {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let center = |index: usize| -> DVec3 { spheres.center(index).as_dvec3() };
        let distance = center(a).distance(center(b));
        Self::at_distance(spheres, pair, distance)
    }

    fn at_distance(spheres: &SphereSet, pair: Pair, distance: f64) -> Self {
        let radius = |index: u32| f64::from(spheres.radius(index as usize));
        Self {
            pair,
            image: [0; 3],
            distance,
            penetration: radius(pair.a) + radius(pair.b) - distance,
        }
    }
}

/// Number of clashes, and the worst so far. Filled from many threads.
struct Clashes<'a> {
    spheres: &'a SphereSet,
    /// Number of clashes to keep.
    capacity: usize,
    pairs: AtomicU64,
    worst: Mutex<Vec<RankedPair>>,
    /// Bits of the largest gap (nm) that may still be among the worst.
    max_gap: AtomicU32,
    /// Rounding error of a gap, nm.
    rounding: f32,
}

impl<'a> Clashes<'a> {
    fn new(spheres: &'a SphereSet, capacity: usize) -> Self {
        let largest_radius = spheres.radius.iter().copied().fold(0.0, f32::max);
        let max_gap = if capacity > 0 {
            f32::INFINITY
        } else {
            f32::NEG_INFINITY
        };
        Self {
            spheres,
            capacity,
            pairs: AtomicU64::new(0),
            worst: Mutex::new(Vec::new()),
            max_gap: AtomicU32::new(max_gap.to_bits()),
            rounding: GAP_ROUNDING * 2.0 * largest_radius,
        }
    }

    fn count(&self, pairs: u64) {
        self.pairs.fetch_add(pairs, Ordering::Relaxed);
    }

    /// The largest gap that may still be among the worst, nm.
    fn max_gap(&self) -> f32 {
        f32::from_bits(self.max_gap.load(Ordering::Relaxed))
    }

    /// Counts pairs of spheres, and keeps the worst.
    fn add(&self, pairs: &[Pair], gaps: &[f32]) {
        self.count(pairs.len() as u64);
        let max_gap = self.max_gap();
        let candidates = pairs.iter().zip(gaps).filter(|(_, gap)| **gap <= max_gap);
        self.keep(candidates.map(|(pair, _)| RankedPair::new(self.spheres, *pair)));
    }

    /// Counts pairs of spheres and images with their distances (nm), and keeps the worst.
    fn add_images(&self, pairs: &[ImagePair], distances: &[f64]) {
        self.count(pairs.len() as u64);
        let max_gap = f64::from(self.max_gap());
        let ranked = pairs.iter().zip(distances).map(|(&pair, &distance)| {
            let ImagePair { a, b, image } = pair;
            let ranked = RankedPair::at_distance(self.spheres, Pair { a, b }, distance);
            RankedPair { image, ..ranked }
        });
        self.keep(ranked.filter(|ranked| -ranked.penetration <= max_gap));
    }

    /// Keeps the worst of these pairs and the previous ones.
    fn keep(&self, candidates: impl Iterator<Item = RankedPair>) {
        let candidates: Vec<RankedPair> = candidates.collect();
        if candidates.is_empty() {
            return;
        }
        let mut worst = self.worst.lock().unwrap_or_else(PoisonError::into_inner);
        worst.extend(candidates);
        if worst.len() >= (2 * self.capacity).max(64) {
            self.truncate(&mut worst);
            let max_gap = self.rounding - worst[worst.len() - 1].penetration as f32;
            self.max_gap.store(max_gap.to_bits(), Ordering::Relaxed);
        }
    }

    /// Keeps the pairs with the deepest penetration, ties in the order of their indices and
    /// images.
    fn truncate(&self, worst: &mut Vec<RankedPair>) {
        worst.sort_unstable_by(|a, b| {
            let deeper = b.penetration.total_cmp(&a.penetration);
            deeper.then(a.pair.cmp(&b.pair)).then(a.image.cmp(&b.image))
        });
        worst.truncate(self.capacity);
    }

    fn finish(&self) -> (u64, Vec<RankedPair>) {
        let mut worst = self.worst.lock().unwrap_or_else(PoisonError::into_inner);
        self.truncate(&mut worst);
        (
            self.pairs.load(Ordering::Relaxed),
            std::mem::take(&mut worst),
        )
    }
}

/// Groups of spheres with the same center and radius.
///
/// A heap of n coincident atoms has n² / 2 clashes, but only one site: clashes of sites are
/// counted by the numbers of their atoms.
struct Sites {
    /// Indices of the spheres, site by site, in ascending order within a site.
    members: Vec<u32>,
    /// First member of each site, followed by the number of members.
    starts: Vec<usize>,
    /// One sphere for each site; its owner is the index of the site.
    spheres: SphereSet,
}

impl Sites {
    /// Merges coincident spheres, if `closest` spheres coincide and there are few sites.
    fn merge(spheres: &SphereSet, closest: Option<f64>) -> Option<Self> {
        if closest != Some(0.0) {
            return None;
        }
        let key = |index: u32| {
            let at = index as usize;
            [
                spheres.x[at],
                spheres.y[at],
                spheres.z[at],
                spheres.radius[at],
            ]
            .map(f32::to_bits)
        };
        let mut members: Vec<u32> = (0..spheres.len() as u32).collect();
        members.par_sort_unstable_by_key(|&index| (key(index), index));
        let mut starts = vec![0];
        let mut sites = SphereSet::new();
        for site in members.chunk_by(|&a, &b| key(a) == key(b)) {
            let first = site[0] as usize;
            let owner = sites.len() as u32;
            sites
                .push(spheres.center(first), spheres.radius(first), owner)
                .ok()?;
            starts.push(starts[starts.len() - 1] + site.len());
        }
        (sites.len() * ATOMS_PER_SITE <= spheres.len()).then_some(Self {
            members,
            starts,
            spheres: sites,
        })
    }

    fn members(&self, site: u32) -> &[u32] {
        &self.members[self.starts[site as usize]..self.starts[site as usize + 1]]
    }

    /// Adds the clashes within and between sites.
    fn visit_pairs(
        &self,
        search: &mut dyn PairSearch,
        clashes: &Clashes<'_>,
    ) -> Result<(), SearchError> {
        (0..self.spheres.len() as u32)
            .into_par_iter()
            .filter(|&site| self.spheres.radius(site as usize) > 0.0)
            .for_each(|site| self.add_within(site, clashes));
        search.visit_pairs(&self.spheres, 0.0, &|pairs, gaps| {
            for (pair, gap) in pairs.iter().zip(gaps) {
                self.add_between(*pair, *gap, clashes);
            }
        })?;
        Ok(())
    }

    /// Adds the pairs of different owners of one site.
    fn add_within(&self, site: u32, clashes: &Clashes<'_>) {
        let members = self.members(site);
        let owner = |index: &u32| clashes.spheres.owner(*index as usize);
        let all_pairs = |count: usize| count as u64 * count.saturating_sub(1) as u64 / 2;
        // Spheres of one owner are contiguous.
        let owners = members.chunk_by(|a, b| owner(a) == owner(b));
        let same_owner: u64 = owners.map(|members| all_pairs(members.len())).sum();
        clashes.count(all_pairs(members.len()) - same_owner);
        let pairs = members.iter().enumerate().flat_map(|(k, a)| {
            let others = &members[k + 1..];
            let others = &others[others.partition_point(|b| owner(b) == owner(a))..];
            others.iter().map(move |b| Pair { a: *a, b: *b })
        });
        let pairs = pairs.take(clashes.capacity);
        clashes.keep(pairs.map(|pair| RankedPair::new(clashes.spheres, pair)));
    }

    /// Adds the pairs of different owners of two sites.
    fn add_between(&self, pair: Pair, gap: f32, clashes: &Clashes<'_>) {
        let [a, b] = [pair.a, pair.b].map(|site| self.members(site));
        let owner = |index: &u32| clashes.spheres.owner(*index as usize);
        let mut same_owner = 0;
        let mut rest = b;
        for members in a.chunk_by(|a, b| owner(a) == owner(b)) {
            rest = &rest[rest.partition_point(|b| owner(b) < owner(&members[0]))..];
            let same = rest.partition_point(|b| owner(b) == owner(&members[0]));
            same_owner += members.len() as u64 * same as u64;
        }
        clashes.count(a.len() as u64 * b.len() as u64 - same_owner);
        if gap > clashes.max_gap() {
            return;
        }
        // All pairs have the same penetration: the first ones by index are the worst.
        let mut indices: Vec<(u32, bool)> = a.iter().map(|&index| (index, false)).collect();
        indices.extend(b.iter().map(|&index| (index, true)));
        indices.sort_unstable();
        let pairs = indices.iter().enumerate().flat_map(|(k, (a, side))| {
            let others = indices[k + 1..].iter();
            let others = others.filter(move |(b, other)| side != other && owner(a) != owner(b));
            others.map(move |(b, _)| Pair { a: *a, b: *b })
        });
        let pairs = pairs.take(clashes.capacity);
        clashes.keep(pairs.map(|pair| RankedPair::new(clashes.spheres, pair)));
    }
}

fn describe(
    parts: &[(&MoleculeTemplate, Pose)],
    spheres: &SphereSet,
    ranked: &RankedPair,
) -> Clash {
    let atom = |sphere: u32| {
        let part = spheres.owner(sphere as usize) as usize;
        // Spheres are in the order of their parts.
        let first = spheres
            .owner
            .partition_point(|&owner| (owner as usize) < part);
        let template = parts[part].0;
        let index = sphere as usize - first;
        let residue = template.residue_of(index);
        ClashAtom {
            part,
            chain: residue.chain.to_string(),
            residue: residue.name.to_string(),
            number: residue.number,
            insertion_code: residue.insertion_code,
            atom: template.atom_names()[index].to_string(),
            element: template.elements()[index].symbol(),
        }
    };
    Clash {
        distance_nm: ranked.distance,
        penetration_nm: ranked.penetration,
        a: atom(ranked.pair.a),
        b: atom(ranked.pair.b),
        image: None,
    }
}
