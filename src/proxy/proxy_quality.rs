//! Quality of proxies: how much they exceed the atoms.

use std::f32::consts::PI;
use std::ops::ControlFlow;

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::{ProxyError, ProxySet};
use crate::fibonacci_sphere::direction;
use crate::molecule::{BodySpheres, LocalGrid};

/// Approximate number of points that sample a volume. The bounding box of a molecule is half
/// full, so the error is a fraction of a percent.
const VOLUME_POINTS: f32 = 400_000.0;

/// Spacing of the points that sample a surface, nm: the radius of a small atom. Measured
/// distances are too small by at most this length.
const SURFACE_SPACING_NM: f32 = 0.1;

/// Minimum number of points on the surface of a proxy.
const MIN_SURFACE_POINTS: f32 = 48.0;

/// Maximum number of points on the surface of a proxy, which may be that of a virus.
const MAX_SURFACE_POINTS: f32 = 20_000.0;

/// Fraction of the radius of a proxy within which a point is inside and not on its surface.
const INSIDE: f32 = 1.0 - 1.0e-5;

/// How much the proxies of a molecule exceed its atoms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProxyQuality {
    /// Volume of the union of all atoms, nm³.
    pub atom_volume_nm3: f32,
    /// Volume of the union of all proxies, nm³.
    pub proxy_volume_nm3: f32,
    /// Maximum distance from the surface of the proxies to that of the atoms, nm.
    pub max_distance_nm: f32,
}

impl ProxyQuality {
    /// Excess volume of the proxies as a fraction of the volume of the atoms.
    #[must_use]
    pub fn overestimate(&self) -> f32 {
        (self.proxy_volume_nm3 - self.atom_volume_nm3) / self.atom_volume_nm3
    }
}

impl ProxySet {
    /// Measures the proxies of `atoms`. Volumes are sampled on a lattice of points, distances at
    /// points on the proxies about 0.1 nm apart.
    ///
    /// # Errors
    /// [`ProxyError`] if an atom is invalid.
    pub fn quality<'a>(
        &self,
        atoms: impl Into<BodySpheres<'a>>,
    ) -> Result<ProxyQuality, ProxyError> {
        let atoms = atoms.into();
        atoms.check()?;
        let atom_grid = LocalGrid::new(atoms.centers, atoms.radii);
        let proxy_grid = LocalGrid::new(self.centers(), self.radii());
        let (atom_volume_nm3, proxy_volume_nm3) = self.volumes(&atom_grid, &proxy_grid);
        Ok(ProxyQuality {
            atom_volume_nm3,
            proxy_volume_nm3,
            max_distance_nm: self.max_distance(&atom_grid, &proxy_grid),
        })
    }

    /// Few proxies with a [maximum distance](ProxyQuality::max_distance_nm) of at most
    /// `tolerance` nm from the atoms.
    ///
    /// The number of proxies is doubled until the tolerance is met and then bisected. More
    /// proxies are not always closer to the atoms, so a smaller number may meet it too.
    ///
    /// # Errors
    /// [`ProxyError`] if an atom or the tolerance is invalid.
    pub fn for_tolerance<'a>(
        atoms: impl Into<BodySpheres<'a>>,
        tolerance: f32,
        seed: u64,
    ) -> Result<Self, ProxyError> {
        let atoms = atoms.into();
        atoms.check()?;
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(ProxyError::InvalidTolerance { tolerance });
        }
        let atom_grid = LocalGrid::new(atoms.centers, atoms.radii);
        let attempt = |count: usize| -> Result<Option<Self>, ProxyError> {
            let set = Self::from_atoms(atoms, count, seed)?;
            let is_exact = count >= atoms.centers.len();
            let proxy_grid = LocalGrid::new(set.centers(), set.radii());
            let meets_tolerance =
                is_exact || set.max_distance(&atom_grid, &proxy_grid) <= tolerance;
            Ok(meets_tolerance.then_some(set))
        };
        let max_count = atoms.centers.len();
        let (mut too_few, mut count) = (0, 1);
        let mut enough = loop {
            match attempt(count)? {
                Some(set) => break set,
                None => too_few = count,
            }
            count = (2 * count).min(max_count);
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

    fn volumes(&self, atoms: &LocalGrid, proxies: &LocalGrid) -> (f32, f32) {
        let spheres = self.centers().iter().zip(self.radii());
        let low = spheres.clone().map(|(c, r)| *c - *r);
        let low = low.fold(Vec3::INFINITY, Vec3::min);
        let high = spheres.map(|(c, r)| *c + *r);
        let size = high.fold(Vec3::NEG_INFINITY, Vec3::max) - low;
        let step = (size.element_product() / VOLUME_POINTS).cbrt();
        let counts = (size / step).ceil().as_ivec3().max(IVec3::ONE);
        let step = size / counts.as_vec3();
        // Integer sums do not depend on the order of the slices.
        let (in_atoms, in_proxies) = (0..counts.z)
            .into_par_iter()
            .map(|z| {
                let (mut in_atoms, mut in_proxies) = (0_u64, 0_u64);
                for y in 0..counts.y {
                    for x in 0..counts.x {
                        let cell = IVec3::new(x, y, z).as_vec3() + 0.5;
                        let point = low + cell * step;
                        if is_inside(proxies, point) {
                            in_proxies += 1;
                            in_atoms += u64::from(is_inside(atoms, point));
                        }
                    }
                }
                (in_atoms, in_proxies)
            })
            .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let cell_volume = step.element_product();
        (
            in_atoms as f32 * cell_volume,
            in_proxies as f32 * cell_volume,
        )
    }

    /// Maximum distance from the atoms of a point on the surface of the proxies, nm.
    fn max_distance(&self, atoms: &LocalGrid, proxies: &LocalGrid) -> f32 {
        (0..self.len())
            .into_par_iter()
            .map(|k| {
                let (center, radius) = (self.centers()[k], self.radii()[k]);
                let area = 4.0 * PI * radius * radius;
                let points = area / (SURFACE_SPACING_NM * SURFACE_SPACING_NM);
                let points = points.clamp(MIN_SURFACE_POINTS, MAX_SURFACE_POINTS) as u32;
                (0..points)
                    .map(|point| center + radius * direction(point, points))
                    .filter(|&point| !is_inside_other(proxies, point, k as u32))
                    .map(|point| distance(atoms, point))
                    .fold(0.0, f32::max)
            })
            .reduce(|| 0.0, f32::max)
    }
}

/// Whether a point is inside a sphere.
fn is_inside(grid: &LocalGrid, point: Vec3) -> bool {
    grid.visit_touching(point, 0.0, |_| ControlFlow::Break(()))
        .is_break()
}

/// Whether a point on the surface of proxy `own` is inside another proxy.
fn is_inside_other(proxies: &LocalGrid, point: Vec3, own: u32) -> bool {
    let visited = proxies.visit_touching(point, 0.0, |other| {
        let inside = INSIDE * other.radius;
        if other.index != own && other.center.distance_squared(point) < inside * inside {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    visited.is_break()
}

/// Distance of a point from the surface of the nearest atom, nm; 0 inside.
fn distance(atoms: &LocalGrid, point: Vec3) -> f32 {
    let mut reach = SURFACE_SPACING_NM;
    loop {
        let mut nearest = f32::INFINITY;
        let _ = atoms.visit_touching(point, reach, |atom| {
            let gap = atom.center.distance(point) - atom.radius;
            nearest = nearest.min(gap);
            ControlFlow::<()>::Continue(())
        });
        if nearest.is_finite() {
            return nearest.max(0.0);
        }
        // Unreachable: there is an atom, and no coordinate is this large.
        if reach > f32::MAX.sqrt() {
            return 0.0;
        }
        reach *= 2.0;
    }
}
