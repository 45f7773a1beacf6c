//! Which atoms of different parts of a structure are too close?
//!
//! Parts are rigid bodies with their poses, such as those of
//! [`Structure::split_by`](crate::molecule::Structure::split_by) or the members of a
//! [`Crowd`](crate::crowd::Crowd). [`find_clashes`] answers with a [`ClashReport`]; its fields
//! with lengths end in `_nm`, and it is what the example `clashes` writes as JSON.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use rayon::prelude::*;

use super::closest_distance::closest_distance;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::search::{Pair, PairBuffer, PairSearch, SearchError, UniformGrid};
use crate::spheres::{SphereError, SphereSet};

/// Why clashes could not be looked for.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ClashError {
    /// The tolerance is zero, negative or not finite.
    #[error(
        "a tolerance of {tolerance} nm is not a positive number; leave it out to let the collision radii of the atoms decide"
    )]
    BadTolerance {
        /// The tolerance that was given, nm.
        tolerance: f32,
    },
    /// A pose or radius cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl From<SphereError> for ClashError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}

/// What [`find_clashes`] looks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClashOptions {
    /// Atoms closer than this (nm) clash; `None` means that atoms clash when their
    /// collision spheres overlap. Default: `None`.
    pub tolerance: Option<f32>,
    /// How many of the worst clashes to name. Default: 10.
    pub worst: usize,
}

impl Default for ClashOptions {
    fn default() -> Self {
        Self {
            tolerance: None,
            worst: 10,
        }
    }
}

/// An atom of one of the parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClashAtom {
    /// Index of its part, from 0.
    pub part: usize,
    /// Chain of its residue.
    pub chain: String,
    /// Name of its residue.
    pub residue: String,
    /// Number of its residue.
    pub number: i32,
    /// Insertion code of its residue, if there is one.
    pub insertion_code: Option<char>,
    /// Name of the atom.
    pub atom: String,
    /// Symbol of its element.
    pub element: &'static str,
}

/// Two atoms of different parts that are too close.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Clash {
    /// Distance of their centers, nm.
    pub distance_nm: f64,
    /// How much closer than allowed that is, nm.
    pub penetration_nm: f64,
    /// The atom of the part with the smaller index.
    pub a: ClashAtom,
    /// The other atom.
    pub b: ClashAtom,
}

/// How many atoms clash and which are the worst.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClashReport {
    /// The tolerance (nm) that was asked for; none if the collision spheres count.
    pub tolerance_nm: Option<f32>,
    /// Number of parts.
    pub parts: usize,
    /// Number of atoms.
    pub atoms: usize,
    /// Number of pairs of atoms that clash.
    pub pairs: usize,
    /// Distance (nm) of the closest two atoms of different parts, clash or not; none
    /// if there is only one part.
    pub closest_nm: Option<f64>,
    /// The clashes with the deepest penetration, deepest first.
    pub worst: Vec<Clash>,
}

/// Finds the atoms of different `parts` that are too close to each other.
///
/// Atoms of the same part never clash. The time is that of one grid search, the
/// memory about 100 bytes an atom and 8 bytes a clash, so millions of atoms are fine as
/// long as the tolerance is of the size of an atom.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
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
/// [`ClashError`] if the tolerance or a pose is not a usable number.
pub fn find_clashes(
    parts: &[(&MoleculeTemplate, Pose)],
    options: &ClashOptions,
) -> Result<ClashReport, ClashError> {
    find_clashes_with(parts, options, &mut UniformGrid::new())
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
    let spheres = spheres_of(parts, options.tolerance)?;
    let mut pairs = PairBuffer::new();
    search.find_pairs(&spheres, 0.0, &mut pairs)?;
    let worst = worst_pairs(&spheres, &pairs, options.worst);
    Ok(ClashReport {
        tolerance_nm: options.tolerance,
        parts: parts.len(),
        atoms: spheres.len(),
        pairs: pairs.len(),
        closest_nm: closest_distance(&spheres, f64::INFINITY),
        worst: worst
            .into_iter()
            .map(|ranked| describe(parts, &spheres, &ranked))
            .collect(),
    })
}

impl ClashOptions {
    /// Checks the options before any work is done.
    ///
    /// # Errors
    /// [`ClashError::BadTolerance`] if the tolerance is not positive and finite.
    pub fn check(&self) -> Result<(), ClashError> {
        check_tolerance(self.tolerance)
    }
}

fn check_tolerance(tolerance: Option<f32>) -> Result<(), ClashError> {
    match tolerance.filter(|t| !(t.is_finite() && *t > 0.0)) {
        Some(tolerance) => Err(ClashError::BadTolerance { tolerance }),
        None => Ok(()),
    }
}

/// The atoms of all parts in the world; with a tolerance, half of it is the radius
/// of all, so that spheres overlap exactly if centers are closer than it.
fn spheres_of(
    parts: &[(&MoleculeTemplate, Pose)],
    tolerance: Option<f32>,
) -> Result<SphereSet, ClashError> {
    check_tolerance(tolerance)?;
    let mut spheres = SphereSet::from_molecules(parts.iter().copied())?;
    if let Some(tolerance) = tolerance {
        spheres.set_radius(tolerance / 2.0)?;
    }
    Ok(spheres)
}

/// A pair with its distance and overlap, nm.
#[derive(Clone, Copy)]
struct RankedPair {
    pair: Pair,
    distance: f64,
    overlap: f64,
}

/// The `count` pairs with the largest overlap, ties in the order of their indices.
fn worst_pairs(spheres: &SphereSet, pairs: &PairBuffer, count: usize) -> Vec<RankedPair> {
    let keep_worst = |ranked: &mut Vec<RankedPair>| {
        ranked.sort_unstable_by(|x, y| y.overlap.total_cmp(&x.overlap).then(x.pair.cmp(&y.pair)));
        ranked.truncate(count);
    };
    pairs
        .lists()
        .par_iter()
        .map(|list| {
            // Twice as many as needed, sorted out whenever they are full.
            let mut ranked = Vec::new();
            for &pair in list {
                ranked.push(rank(spheres, pair));
                if ranked.len() >= count.saturating_mul(2).max(64) {
                    keep_worst(&mut ranked);
                }
            }
            keep_worst(&mut ranked);
            ranked
        })
        .reduce(Vec::new, |mut one, other| {
            one.extend(other);
            keep_worst(&mut one);
            one
        })
}

fn rank(spheres: &SphereSet, pair: Pair) -> RankedPair {
    let (a, b) = (pair.a as usize, pair.b as usize);
    let center = |index: usize| -> DVec3 { spheres.center(index).as_dvec3() };
    let distance = center(a).distance(center(b));
    RankedPair {
        pair,
        distance,
        overlap: f64::from(spheres.radius(a)) + f64::from(spheres.radius(b)) - distance,
    }
}

fn describe(
    parts: &[(&MoleculeTemplate, Pose)],
    spheres: &SphereSet,
    ranked: &RankedPair,
) -> Clash {
    let atom = |sphere: u32| {
        let part = spheres.owner(sphere as usize) as usize;
        // Spheres of a part are contiguous: the first one is where its owner starts.
        let before: usize = parts[..part].iter().map(|(t, _)| t.atom_count()).sum();
        let template = parts[part].0;
        let index = sphere as usize - before;
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
        penetration_nm: ranked.overlap,
        a: atom(ranked.pair.a),
        b: atom(ranked.pair.b),
    }
}
