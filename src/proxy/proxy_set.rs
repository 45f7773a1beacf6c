//! The proxies of a molecule and their atoms.

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use super::cluster_engine::{ClusterEngine, CpuClusterEngine, LatticePoint, on_lattice};
use super::enclosing_ball::{Ball, enclosing_ball};
use super::kmeans::cluster;
use crate::molecule::{BodySpheres, MAX_COORDINATE_NM};

/// Maximum number of atoms: sums on the GPU have 32 bits.
pub const MAX_CLUSTERED_ATOMS: usize = 1 << 23;

/// Inflation of proxies relative to their largest coordinate: single-precision rounding of a
/// center, a radius, a distance and a sum.
const INFLATION: f64 = 4.0 * f32::EPSILON as f64;

/// Proxies cannot be computed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// There are no atoms.
    #[error("a molecule without atoms has no proxies")]
    NoAtoms,
    /// The number of proxies is zero.
    #[error("the number of proxies is 0, expected at least 1")]
    NoProxies,
    /// The numbers of positions and radii differ.
    #[error("there are {positions} atom positions but {radii} radii")]
    Mismatch {
        /// Number of positions.
        positions: usize,
        /// Number of radii.
        radii: usize,
    },
    /// The position or radius of an atom is not finite or out of range.
    #[error(
        "atom {index} has position {position} nm and radius {radius} nm, expected finite coordinates and a positive radius"
    )]
    InvalidAtom {
        /// Index of the atom.
        index: usize,
        /// Its position, nm.
        position: Vec3,
        /// Its radius, nm.
        radius: f32,
    },
    /// There are more atoms than [`MAX_CLUSTERED_ATOMS`].
    #[error("{atoms} atoms are too many for proxies, at most {MAX_CLUSTERED_ATOMS} are supported")]
    TooManyAtoms {
        /// Number of atoms.
        atoms: usize,
    },
    /// The proxies belong to another molecule.
    #[error("the proxies belong to {expected} atoms, but {atoms} were given")]
    OtherAtoms {
        /// Number of atoms of the proxies.
        expected: usize,
        /// Number of given atoms.
        atoms: usize,
    },
    /// A tolerance is negative or not finite.
    #[error("the tolerance is {tolerance} nm, expected a finite length of at least 0")]
    InvalidTolerance {
        /// The tolerance, nm.
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

    /// Validates the atoms.
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
        // Coordinates relative to the center of mass may be twice those in the file.
        let max = 2.0 * MAX_COORDINATE_NM;
        let is_valid = |position: Vec3, radius: f32| {
            position.is_finite()
                && position.abs().max_element() <= max
                && radius > 0.0
                && radius <= max
        };
        for (index, (&position, &radius)) in self.centers.iter().zip(self.radii).enumerate() {
            if !is_valid(position, radius) {
                return Err(ProxyError::InvalidAtom {
                    index,
                    position,
                    radius,
                });
            }
        }
        Ok(())
    }
}

/// Spheres that approximate the atoms of a molecule, in its body frame.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::proxy::ProxySet;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let proxies = ProxySet::from_atoms(&protein, 17, 1)?;
/// assert_eq!(proxies.len(), 17);
/// assert_eq!(proxies.atom_count(), protein.atom_count());
/// // Every atom is inside its proxy.
/// assert!(proxies.max_protrusion(&protein)? <= 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProxySet {
    centers: Vec<Vec3>,
    radii: Vec<f32>,
    /// Index in `atoms` of the first atom of each proxy, and the number of atoms at the end.
    starts: Vec<u32>,
    /// Indices of the atoms, grouped by proxy.
    atoms: Vec<u32>,
}

impl ProxySet {
    /// `count` proxies of `atoms`: k-means clusters and the smallest sphere around each. If
    /// `count` is at least the number of atoms, the proxies are the atoms.
    ///
    /// # Errors
    /// [`ProxyError`] if there are no atoms, `count` is 0, or an atom is invalid.
    pub fn from_atoms<'a>(
        atoms: impl Into<BodySpheres<'a>>,
        count: usize,
        seed: u64,
    ) -> Result<Self, ProxyError> {
        let Ok(set) = Self::with_engine(atoms, count, seed, |points| {
            Ok(CpuClusterEngine::new(points))
        });
        set
    }

    /// Like [`from_atoms`](Self::from_atoms), but clusters with the engine that `make_engine`
    /// returns. The result does not depend on the engine.
    ///
    /// # Errors
    /// The outer error if the engine fails, the inner one as for
    /// [`from_atoms`](Self::from_atoms).
    pub fn with_engine<'a, E: ClusterEngine>(
        atoms: impl Into<BodySpheres<'a>>,
        count: usize,
        seed: u64,
        make_engine: impl FnOnce(&[LatticePoint]) -> Result<E, E::Error>,
    ) -> Result<Result<Self, ProxyError>, E::Error> {
        let atoms = atoms.into();
        if let Err(error) = atoms.check() {
            return Ok(Err(error));
        }
        if count == 0 {
            return Ok(Err(ProxyError::NoProxies));
        }
        if count >= atoms.centers.len() {
            return Ok(Ok(Self::one_per_atom(atoms)));
        }
        let points = on_lattice(atoms.centers);
        let assignment = cluster(&points, count, seed, &mut make_engine(&points)?)?;
        Ok(Ok(Self::from_assignment(atoms, count, &assignment)))
    }

    /// One proxy per atom.
    fn one_per_atom(atoms: BodySpheres<'_>) -> Self {
        let count = atoms.centers.len() as u32;
        Self {
            centers: atoms.centers.to_vec(),
            radii: atoms.radii.to_vec(),
            starts: (0..=count).collect(),
            atoms: (0..count).collect(),
        }
    }

    /// The smallest spheres around non-empty clusters.
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
            .map(|k| proxy_around(atoms, &members[starts[k] as usize..starts[k + 1] as usize]))
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
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
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

    /// Indices of the atoms of a proxy in ascending order.
    ///
    /// # Panics
    /// If the index of the proxy is out of range.
    #[must_use]
    pub fn atoms_of(&self, proxy: usize) -> &[u32] {
        &self.atoms[self.starts[proxy] as usize..self.starts[proxy + 1] as usize]
    }

    /// Number of atoms of all proxies.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.atoms.len()
    }

    /// Index of the proxy of each atom.
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

    /// Maximum distance by which an atom protrudes from its proxy, nm; negative if all are
    /// strictly inside.
    ///
    /// # Errors
    /// [`ProxyError`] if `atoms` are not those of the proxies.
    pub fn max_protrusion<'a>(&self, atoms: impl Into<BodySpheres<'a>>) -> Result<f64, ProxyError> {
        let atoms = atoms.into();
        atoms.check()?;
        if atoms.centers.len() != self.atoms.len() {
            return Err(ProxyError::OtherAtoms {
                expected: self.atoms.len(),
                atoms: atoms.centers.len(),
            });
        }
        let mut max = f64::NEG_INFINITY;
        for proxy in 0..self.len() {
            let center = self.centers[proxy].as_dvec3();
            for &atom in self.atoms_of(proxy) {
                let ball = atoms.ball(atom as usize);
                let reach = center.distance(ball.center) + ball.radius;
                max = max.max(reach - f64::from(self.radii[proxy]));
            }
        }
        Ok(max)
    }
}

/// The smallest sphere around `members`, inflated so that no atom protrudes after rounding to
/// single precision.
fn proxy_around(atoms: BodySpheres<'_>, members: &[u32]) -> (Vec3, f32) {
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
    let max_coordinate = rounded.center.abs().max_element() + reach;
    (center, (reach + INFLATION * max_coordinate) as f32)
}
