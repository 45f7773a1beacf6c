//! The proxies of a molecule, and which atoms are in each.

use std::convert::Infallible;

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use super::engine::{ClusterEngine, OnProcessor};
use super::kmeans::cluster;
use super::lattice::{LatticePoint, on_lattice};
use super::{Ball, enclosing_ball};
use crate::molecule::{BodySpheres, MAX_COORDINATE_NM};

/// Most atoms that can be clustered: sums of a GPU have 32 bits.
pub const MAX_CLUSTERED_ATOMS: usize = 1 << 23;

/// By how much proxies are larger than they need to be, relative to the largest coordinate
/// in them: what 32 bits round at a center, a radius, a distance and a sum.
const INFLATION: f64 = 4.0 * f32::EPSILON as f64;

/// Why a molecule has no proxies.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// There is nothing to stand for.
    #[error("a molecule without atoms has no proxies")]
    NoAtoms,
    /// No spheres were asked for.
    #[error("zero proxies cannot stand for a molecule; ask for one at least")]
    NoProxies,
    /// There are not as many radii as positions.
    #[error("{positions} atoms have {radii} radii; each needs one")]
    Mismatch {
        /// Number of positions.
        positions: usize,
        /// Number of radii.
        radii: usize,
    },
    /// An atom is not finite, too far out, or has no size.
    #[error("atom {index} at {position} nm with radius {radius} nm is impossible")]
    BadAtom {
        /// Index of the atom.
        index: usize,
        /// Its position, nm.
        position: Vec3,
        /// Its radius, nm.
        radius: f32,
    },
    /// There are more atoms than [`MAX_CLUSTERED_ATOMS`].
    #[error("{atoms} atoms are too many for proxies: the limit is {MAX_CLUSTERED_ATOMS}")]
    TooManyAtoms {
        /// Number of atoms.
        atoms: usize,
    },
    /// The proxies are those of another molecule.
    #[error("these proxies stand for {expected} atoms, and {atoms} were given")]
    OtherAtoms {
        /// Number of atoms that the proxies stand for.
        expected: usize,
        /// Number of atoms that were given.
        atoms: usize,
    },
    /// A tolerance is not a number, or negative.
    #[error("a tolerance must not be negative or infinite, and is {tolerance} nm")]
    BadTolerance {
        /// What was given, nm.
        tolerance: f32,
    },
}

impl BodySpheres<'_> {
    fn ball(&self, index: usize) -> Ball {
        Ball {
            center: self.centers[index].as_dvec3(),
            radius: f64::from(self.radii[index]),
        }
    }

    /// Checks that proxies can be made for these atoms.
    pub(super) fn check(&self) -> Result<(), ProxyError> {
        let (positions, radii) = (self.centers.len(), self.radii.len());
        if positions != radii {
            return Err(ProxyError::Mismatch { positions, radii });
        }
        if positions == 0 {
            return Err(ProxyError::NoAtoms);
        }
        if positions > MAX_CLUSTERED_ATOMS {
            return Err(ProxyError::TooManyAtoms { atoms: positions });
        }
        // The center of mass may be at the other end of what a file may hold.
        let largest = 2.0 * MAX_COORDINATE_NM;
        let fine = |position: Vec3, radius: f32| {
            position.is_finite()
                && position.abs().max_element() <= largest
                && radius > 0.0
                && radius <= largest
        };
        for (index, (&position, &radius)) in self.centers.iter().zip(self.radii).enumerate() {
            if !fine(position, radius) {
                return Err(ProxyError::BadAtom {
                    index,
                    position,
                    radius,
                });
            }
        }
        Ok(())
    }
}

/// Few spheres that stand for the atoms of a molecule, in its body frame.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let proxies = ProxySet::from_atoms(&protein, 17, 1)?;
/// assert_eq!(proxies.len(), 17);
/// assert_eq!(proxies.atom_count(), protein.atom_count());
/// // Every atom lies inside of its proxy.
/// assert!(proxies.protrusion(&protein)? <= 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProxySet {
    centers: Vec<Vec3>,
    radii: Vec<f32>,
    /// First atom of each proxy in `atoms`, and one entry more.
    starts: Vec<u32>,
    /// Atoms, proxy by proxy.
    atoms: Vec<u32>,
}

impl ProxySet {
    /// `count` spheres around `atoms`: clusters found by k-means from `seed`, and the
    /// smallest sphere around each. As many as there are atoms, or more, gives the atoms.
    ///
    /// # Errors
    /// [`ProxyError`] if there are no atoms or no spheres, or an atom is impossible.
    pub fn from_atoms<'a>(
        atoms: impl Into<BodySpheres<'a>>,
        count: usize,
        seed: u64,
    ) -> Result<Self, ProxyError> {
        let on_processor = |points: &[LatticePoint], count: usize| {
            let clustered = cluster(points, count, seed, &mut OnProcessor::new(points));
            Ok::<_, Infallible>(clustered.unwrap_or_else(|never| match never {}))
        };
        let Ok(set) = Self::clustered(atoms.into(), count, on_processor);
        set
    }

    /// As [`from_atoms`](Self::from_atoms), with an engine that `make` makes for the points
    /// that are to be clustered: the same set, whoever clusters.
    ///
    /// # Errors
    /// The outer error if the engine cannot be made or fails, the inner one as
    /// [`from_atoms`](Self::from_atoms).
    pub fn with_engine<'a, E: ClusterEngine>(
        atoms: impl Into<BodySpheres<'a>>,
        count: usize,
        seed: u64,
        make: impl FnOnce(&[LatticePoint]) -> Result<E, E::Error>,
    ) -> Result<Result<Self, ProxyError>, E::Error> {
        Self::clustered(atoms.into(), count, |points, count| {
            cluster(points, count, seed, &mut make(points)?)
        })
    }

    fn clustered<E>(
        atoms: BodySpheres<'_>,
        count: usize,
        cluster: impl FnOnce(&[LatticePoint], usize) -> Result<Vec<u32>, E>,
    ) -> Result<Result<Self, ProxyError>, E> {
        if let Err(error) = atoms.check() {
            return Ok(Err(error));
        }
        if count == 0 {
            return Ok(Err(ProxyError::NoProxies));
        }
        if count >= atoms.centers.len() {
            return Ok(Ok(Self::of_each(atoms)));
        }
        let assignment = cluster(&on_lattice(atoms.centers), count)?;
        Ok(Ok(Self::from_assignment(atoms, count, &assignment)))
    }

    /// Each atom is its own proxy.
    fn of_each(atoms: BodySpheres<'_>) -> Self {
        let count = atoms.centers.len() as u32;
        Self {
            centers: atoms.centers.to_vec(),
            radii: atoms.radii.to_vec(),
            starts: (0..=count).collect(),
            atoms: (0..count).collect(),
        }
    }

    /// The smallest spheres around clusters, none of which is empty.
    pub(super) fn from_assignment(
        atoms: BodySpheres<'_>,
        count: usize,
        assignment: &[u32],
    ) -> Self {
        let mut starts = vec![0_u32; count + 1];
        for &cluster in assignment {
            starts[cluster as usize + 1] += 1;
        }
        for cluster in 0..count {
            starts[cluster + 1] += starts[cluster];
        }
        let mut next = starts.clone();
        let mut members = vec![0; assignment.len()];
        for (atom, &cluster) in assignment.iter().enumerate() {
            members[next[cluster as usize] as usize] = atom as u32;
            next[cluster as usize] += 1;
        }
        let spheres: Vec<(Vec3, f32)> = (0..count)
            .into_par_iter()
            .map(|k| around(atoms, &members[starts[k] as usize..starts[k + 1] as usize]))
            .collect();
        let (centers, radii) = spheres.into_iter().unzip();
        Self {
            centers,
            radii,
            starts,
            atoms: members,
        }
    }

    /// Number of proxies, at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// Centers of the proxies in the body frame, nm.
    #[must_use]
    pub fn centers(&self) -> &[Vec3] {
        &self.centers
    }

    /// Radii of the proxies, nm.
    #[must_use]
    pub fn radii(&self) -> &[f32] {
        &self.radii
    }

    /// Indices of the atoms in one proxy, in order.
    ///
    /// # Panics
    /// If there is no such proxy.
    #[must_use]
    pub fn atoms_of(&self, proxy: usize) -> &[u32] {
        &self.atoms[self.starts[proxy] as usize..self.starts[proxy + 1] as usize]
    }

    /// Number of atoms in all proxies.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.atoms.len()
    }

    /// Proxy of each atom.
    #[must_use]
    pub fn assignment(&self) -> Vec<u32> {
        let mut assignment = vec![0; self.atoms.len()];
        for proxy in 0..self.len() {
            for &atom in self.atoms_of(proxy) {
                assignment[atom as usize] = proxy as u32;
            }
        }
        assignment
    }

    /// How far the atom that sticks out most does so, nm; negative if all are inside.
    ///
    /// # Errors
    /// [`ProxyError`] if these cannot be the atoms of the proxies.
    pub fn protrusion<'a>(&self, atoms: impl Into<BodySpheres<'a>>) -> Result<f64, ProxyError> {
        let atoms = atoms.into();
        atoms.check()?;
        if atoms.centers.len() != self.atoms.len() {
            return Err(ProxyError::OtherAtoms {
                expected: self.atoms.len(),
                atoms: atoms.centers.len(),
            });
        }
        let mut worst = f64::NEG_INFINITY;
        for proxy in 0..self.len() {
            let center = self.centers[proxy].as_dvec3();
            for &atom in self.atoms_of(proxy) {
                let ball = atoms.ball(atom as usize);
                let reach = center.distance(ball.center) + ball.radius;
                worst = worst.max(reach - f64::from(self.radii[proxy]));
            }
        }
        Ok(worst)
    }
}

/// The smallest sphere around some atoms, a little larger so that rounding to 32 bits, here
/// and wherever it is used, leaves none outside.
fn around(atoms: BodySpheres<'_>, members: &[u32]) -> (Vec3, f32) {
    if let [one] = *members {
        return (atoms.centers[one as usize], atoms.radii[one as usize]);
    }
    let balls: Vec<Ball> = members.iter().map(|&k| atoms.ball(k as usize)).collect();
    let Some(ball) = enclosing_ball(&balls) else {
        return (Vec3::ZERO, 0.0);
    };
    let center = ball.center.as_vec3();
    let rounded = Ball {
        center: center.as_dvec3(),
        radius: 0.0,
    };
    let reach = balls.iter().map(|b| rounded.reach_of(b));
    let reach = reach.fold(0.0, f64::max);
    let largest = rounded.center.abs().max_element() + reach;
    (center, (reach + INFLATION * largest) as f32)
}
