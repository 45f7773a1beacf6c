//! How much larger than the atoms the proxies are.

use std::f32::consts::PI;
use std::ops::ControlFlow;

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::{ProxyError, ProxySet};
use crate::fibonacci_sphere::direction;
use crate::molecule::{BodySpheres, LocalGrid};

/// Points that a volume is measured with, about. A box of a molecule is half full, so that
/// the error is a fraction of a percent.
const VOLUME_POINTS: f32 = 400_000.0;

/// Distance of the points that a surface is measured with, nm: a small atom's radius.
/// What is measured is at most by as much too small.
const SURFACE_SPACING_NM: f32 = 0.1;

/// Fewest points on the surface of a proxy.
const MIN_SURFACE_POINTS: f32 = 48.0;

/// Most points on the surface of a proxy, which may be a virus.
const MAX_SURFACE_POINTS: f32 = 20_000.0;

/// What counts as inside of another proxy, relative to its radius: not its own surface.
const INSIDE: f32 = 1.0 - 1.0e-5;

/// How much larger than the atoms of a molecule its proxies are.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProxyQuality {
    /// Volume of all atoms together, overlaps counted once, nm³.
    pub atom_volume_nm3: f32,
    /// Volume of all proxies together, overlaps counted once, nm³.
    pub proxy_volume_nm3: f32,
    /// Largest distance of a point on the surface of the proxies from that of the atoms, nm.
    pub largest_distance_nm: f32,
}

impl ProxyQuality {
    /// By which fraction of the atoms' volume the proxies are too large; 0 is exact.
    #[must_use]
    pub fn overestimate(&self) -> f32 {
        (self.proxy_volume_nm3 - self.atom_volume_nm3) / self.atom_volume_nm3
    }
}

impl ProxySet {
    /// Measures the proxies of these `atoms`. Volumes are counted on a lattice of points,
    /// and distances are taken at points on the proxies some 0.1 nm apart.
    ///
    /// # Errors
    /// [`ProxyError`] if an atom is impossible.
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
            largest_distance_nm: self.largest_distance(&atom_grid, &proxy_grid),
        })
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
        // Whole numbers: the order of the slices does not matter.
        let (in_atoms, in_proxies) = (0..counts.z)
            .into_par_iter()
            .map(|z| {
                let (mut in_atoms, mut in_proxies) = (0_u64, 0_u64);
                for y in 0..counts.y {
                    for x in 0..counts.x {
                        let at = IVec3::new(x, y, z).as_vec3() + 0.5;
                        let point = low + at * step;
                        if is_inside(proxies, point) {
                            in_proxies += 1;
                            in_atoms += u64::from(is_inside(atoms, point));
                        }
                    }
                }
                (in_atoms, in_proxies)
            })
            .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let each = step.element_product();
        (in_atoms as f32 * each, in_proxies as f32 * each)
    }

    /// Largest distance from the atoms of any point on the surface of the proxies.
    pub(super) fn largest_distance(&self, atoms: &LocalGrid, proxies: &LocalGrid) -> f32 {
        (0..self.len())
            .into_par_iter()
            .map(|k| {
                let (center, radius) = (self.centers()[k], self.radii()[k]);
                let area = 4.0 * PI * radius * radius;
                let points = area / (SURFACE_SPACING_NM * SURFACE_SPACING_NM);
                let points = points.clamp(MIN_SURFACE_POINTS, MAX_SURFACE_POINTS) as u32;
                (0..points)
                    .map(|point| center + radius * direction(point, points))
                    .filter(|&point| !is_hidden(proxies, point, k as u32))
                    .map(|point| distance(atoms, point))
                    .fold(0.0, f32::max)
            })
            .reduce(|| 0.0, f32::max)
    }
}

/// Whether a point is in any of the spheres.
fn is_inside(grid: &LocalGrid, point: Vec3) -> bool {
    grid.visit_touching(point, 0.0, |_| ControlFlow::Break(()))
        .is_break()
}

/// Whether a point on proxy `own` is inside of another one.
fn is_hidden(proxies: &LocalGrid, point: Vec3, own: u32) -> bool {
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

/// Distance of a point from the nearest atom's surface, nm; 0 inside.
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
        // Somewhere there is an atom, and no coordinate is as large as this.
        if reach > f32::MAX.sqrt() {
            return 0.0;
        }
        reach *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_of_one_ball_and_of_two_is_known() {
        let ball = 4.0 / 3.0 * PI * 0.5_f32.powi(3);
        let positions = [Vec3::ZERO, Vec3::X * 3.0];
        let atoms = BodySpheres {
            centers: &positions,
            radii: &[0.5, 0.5],
        };
        let both = ProxySet::from_atoms(atoms, 2, 1).unwrap();
        let quality = both.quality(atoms).unwrap();
        assert!((quality.atom_volume_nm3 - 2.0 * ball).abs() < 0.01 * ball);
        assert_eq!(quality.overestimate(), 0.0);
        assert!(quality.largest_distance_nm < 1.0e-6);
        // One sphere of radius 2 around both.
        let one = ProxySet::from_atoms(atoms, 1, 1).unwrap();
        assert!((one.radii()[0] - 2.0).abs() < 1.0e-5);
        let quality = one.quality(atoms).unwrap();
        let expected = 4.0 / 3.0 * PI * 8.0;
        assert!((quality.proxy_volume_nm3 - expected).abs() < 0.01 * expected);
        assert!((quality.overestimate() - 31.0).abs() < 0.5);
        // Farthest is the circle in the middle: √(1.5² + 2²) − 0.5.
        assert!((quality.largest_distance_nm - 2.0).abs() < 0.01);
    }
}
