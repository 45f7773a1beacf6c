//! World-space spheres as arrays: the input of every search.
//!
//! A sphere is an atom or a proxy for several atoms. Each sphere belongs to an *owner*, its
//! molecule; spheres of one owner never collide with each other. Searches return pairs of indices.
//!
//! Centers and radii are in nm, in the world frame, and finite. [`SphereError`] names the first
//! invalid sphere.
//!
//! Searching atoms instead of molecules follows J. Pauschenwein (2022, section 3.2): one search
//! radius suits all atoms.

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Spheres per parallel task: fixed, so that results do not depend on the number of threads.
pub(crate) const CHUNK: usize = 16 * 1024;

/// Why a sphere is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SphereError {
    /// A center is NaN or infinite.
    #[error("the center of sphere {index} is not finite: {center} nm")]
    BadCenter {
        /// Index of the sphere.
        index: usize,
        /// The center, nm.
        center: Vec3,
    },
    /// A radius is negative, NaN or infinite.
    #[error("the radius of sphere {index} is {radius} nm, but must be finite and not negative")]
    BadRadius {
        /// Index of the sphere.
        index: usize,
        /// The radius, nm.
        radius: f32,
    },
    /// There are more spheres than 32-bit indices.
    #[error("{count} spheres are too many for 32-bit indices; search them in parts")]
    TooMany {
        /// Number of spheres.
        count: usize,
    },
}

/// World-space spheres as arrays: center (nm), radius (nm), owner.
///
/// Accessors panic if an index is out of range.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// spheres.push(Vec3::ZERO, 0.17, 0)?;
/// spheres.push(Vec3::X * 0.3, 0.17, 1)?;
/// assert_eq!(spheres.owner(1), 1);
///
/// // Invalid spheres are rejected.
/// let error = spheres.push(Vec3::NAN, 0.17, 2).unwrap_err();
/// assert!(error.to_string().contains("sphere 2"), "{error}");
/// # Ok::<(), bevy_rapier_molecules::spheres::SphereError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SphereSet {
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    pub(crate) z: Vec<f32>,
    pub(crate) radius: Vec<f32>,
    pub(crate) owner: Vec<u32>,
}

impl SphereSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of spheres.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no spheres.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Removes all spheres, keeping the memory.
    pub fn clear(&mut self) {
        self.x.clear();
        self.y.clear();
        self.z.clear();
        self.radius.clear();
        self.owner.clear();
    }

    /// Adds a sphere with `center` and `radius` in nm.
    ///
    /// # Errors
    /// [`SphereError`] if the center is not finite, the radius is negative or not finite, or the
    /// set is full.
    pub fn push(&mut self, center: Vec3, radius: f32, owner: u32) -> Result<(), SphereError> {
        let index = self.len();
        if index >= u32::MAX as usize {
            return Err(SphereError::TooMany { count: index + 1 });
        }
        check_sphere(index, center, radius)?;
        self.push_unchecked(center, radius, owner);
        Ok(())
    }

    /// As [`push`](Self::push), for a sphere that is known to be valid.
    #[inline]
    pub(crate) fn push_unchecked(&mut self, center: Vec3, radius: f32, owner: u32) {
        self.x.push(center.x);
        self.y.push(center.y);
        self.z.push(center.z);
        self.radius.push(radius);
        self.owner.push(owner);
    }

    /// Center of one sphere, nm.
    #[inline]
    #[must_use]
    pub fn center(&self, index: usize) -> Vec3 {
        Vec3::new(self.x[index], self.y[index], self.z[index])
    }

    /// Radius of one sphere, nm.
    #[inline]
    #[must_use]
    pub fn radius(&self, index: usize) -> f32 {
        self.radius[index]
    }

    /// Owner of one sphere.
    #[inline]
    #[must_use]
    pub fn owner(&self, index: usize) -> u32 {
        self.owner[index]
    }

    /// Bounding box of the centers and range of the radii; minima are ∞ and maxima −∞ without
    /// spheres.
    ///
    /// # Errors
    /// [`SphereError`] names the first invalid sphere.
    pub fn extent(&self) -> Result<SphereExtent, SphereError> {
        let empty = || (f32::INFINITY, f32::NEG_INFINITY, true);
        let join =
            |a: (f32, f32, bool), b: (f32, f32, bool)| (a.0.min(b.0), a.1.max(b.1), a.2 && b.2);
        let [x, y, z, radius] = [&self.x, &self.y, &self.z, &self.radius]
            .map(|values| values.par_chunks(CHUNK).map(range_of).reduce(empty, join));
        if !(x.2 && y.2 && z.2 && radius.2 && radius.0 >= 0.0) {
            for index in 0..self.len() {
                check_sphere(index, self.center(index), self.radius(index))?;
            }
        }
        Ok(SphereExtent {
            low: Vec3::new(x.0, y.0, z.0),
            high: Vec3::new(x.1, y.1, z.1),
            smallest_radius: radius.0,
            largest_radius: radius.1,
        })
    }

    /// The atoms of `molecules` at their poses; owner `m` is the `m`-th molecule.
    ///
    /// # Errors
    /// [`SphereError`] if a pose is not finite, or there are too many atoms.
    pub fn from_molecules<'a>(
        molecules: impl Iterator<Item = (&'a MoleculeTemplate, Pose)> + Clone,
    ) -> Result<Self, SphereError> {
        let mut spheres = Self::new();
        let radii = molecules.clone().map(|(template, _)| template.radii());
        spheres.lay_out(radii, &mut Vec::new())?;
        let mut at = 0;
        for (template, pose) in molecules {
            for &local in template.positions() {
                let center = pose.transform_point(local);
                if !center.is_finite() {
                    return Err(SphereError::BadCenter { index: at, center });
                }
                (spheres.x[at], spheres.y[at], spheres.z[at]) = center.into();
                at += 1;
            }
        }
        Ok(spheres)
    }

    /// Sets the radius of all spheres, nm.
    ///
    /// # Errors
    /// [`SphereError::BadRadius`] if it is negative or not finite.
    pub fn set_radius(&mut self, radius: f32) -> Result<(), SphereError> {
        check_sphere(0, Vec3::ZERO, radius)?;
        self.radius.fill(radius);
        Ok(())
    }

    /// Replaces the spheres by those of `molecules`, given by their radii (nm): radii and
    /// owners are set, centers are zero until [`place`](Self::place) is called.
    ///
    /// Owner `m` is the `m`-th molecule. Its spheres are contiguous: `first_sphere` becomes the
    /// index of the first sphere of each molecule, followed by the number of spheres.
    ///
    /// # Errors
    /// [`SphereError::TooMany`] if the indices would not fit 32 bits.
    pub(crate) fn lay_out<'a>(
        &mut self,
        molecules: impl Iterator<Item = &'a [f32]> + Clone,
        first_sphere: &mut Vec<u32>,
    ) -> Result<(), SphereError> {
        self.clear();
        first_sphere.clear();
        first_sphere.push(0);
        let count: usize = molecules.clone().map(<[f32]>::len).sum();
        if count >= u32::MAX as usize {
            return Err(SphereError::TooMany { count });
        }
        for axis in [&mut self.x, &mut self.y, &mut self.z] {
            axis.reserve_exact(count);
            axis.resize(count, 0.0);
        }
        self.radius.reserve_exact(count);
        self.owner.reserve_exact(count);
        for (owner, radii) in molecules.enumerate() {
            self.radius.extend_from_slice(radii);
            self.owner.resize(self.radius.len(), owner as u32);
            first_sphere.push(self.radius.len() as u32);
        }
        Ok(())
    }

    /// Moves the spheres to the poses of their molecules.
    ///
    /// `molecule` returns the body-frame centers (nm) and the pose of each molecule that was passed
    /// to [`lay_out`](Self::lay_out).
    pub(crate) fn place<'a, F>(&mut self, first_sphere: &[u32], molecule: F)
    where
        F: Fn(usize) -> (&'a [Vec3], Pose) + Sync,
    {
        let count = first_sphere.len().saturating_sub(1);
        place_range(
            [&mut self.x, &mut self.y, &mut self.z],
            first_sphere,
            0..count,
            &molecule,
        );
    }
}

pub(crate) fn check_sphere(index: usize, center: Vec3, radius: f32) -> Result<(), SphereError> {
    if !center.is_finite() {
        return Err(SphereError::BadCenter { index, center });
    }
    if !(radius.is_finite() && radius >= 0.0) {
        return Err(SphereError::BadRadius { index, radius });
    }
    Ok(())
}

/// Halves the range of molecules until it is small, then transforms its spheres.
fn place_range<'a, F>(
    axes: [&mut [f32]; 3],
    first_sphere: &[u32],
    range: std::ops::Range<usize>,
    molecule: &F,
) where
    F: Fn(usize) -> (&'a [Vec3], Pose) + Sync,
{
    let [x, y, z] = axes;
    if x.len() > CHUNK && range.len() > 1 {
        let middle = range.start + range.len() / 2;
        let split = (first_sphere[middle] - first_sphere[range.start]) as usize;
        let ((xl, xr), (yl, yr), (zl, zr)) = (
            x.split_at_mut(split),
            y.split_at_mut(split),
            z.split_at_mut(split),
        );
        rayon::join(
            || place_range([xl, yl, zl], first_sphere, range.start..middle, molecule),
            || place_range([xr, yr, zr], first_sphere, middle..range.end, molecule),
        );
        return;
    }
    let mut at = 0;
    for m in range {
        let (locals, pose) = molecule(m);
        let rotation = glam::Mat3::from_quat(pose.rotation);
        let end = at + locals.len();
        let targets = x[at..end]
            .iter_mut()
            .zip(&mut y[at..end])
            .zip(&mut z[at..end]);
        for (((x, y), z), &local) in targets.zip(locals) {
            let world = rotation * local + pose.position;
            (*x, *y, *z) = (world.x, world.y, world.z);
        }
        at = end;
    }
}

/// Bounding box of the centers and range of the radii of a [`SphereSet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereExtent {
    /// Smallest coordinates of any center, nm.
    pub low: Vec3,
    /// Largest coordinates of any center, nm.
    pub high: Vec3,
    /// Smallest radius, nm.
    pub smallest_radius: f32,
    /// Largest radius, nm.
    pub largest_radius: f32,
}

/// Minimum and maximum of a slice and whether all values are finite, eight lanes at a time.
fn range_of(values: &[f32]) -> (f32, f32, bool) {
    const LANES: usize = 8;
    let mut low = [f32::INFINITY; LANES];
    let mut high = [f32::NEG_INFINITY; LANES];
    // A finite value times zero is zero; NaN and infinity become NaN.
    let mut poison = [0.0_f32; LANES];
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        for k in 0..LANES {
            low[k] = if block[k] < low[k] { block[k] } else { low[k] };
            high[k] = if block[k] > high[k] {
                block[k]
            } else {
                high[k]
            };
            poison[k] += block[k] * 0.0;
        }
    }
    for &value in rest {
        low[0] = low[0].min(value);
        high[0] = high[0].max(value);
        poison[0] += value * 0.0;
    }
    (
        low.into_iter().fold(f32::INFINITY, f32::min),
        high.into_iter().fold(f32::NEG_INFINITY, f32::max),
        poison.iter().sum::<f32>() == 0.0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_invalid_sphere_is_reported() {
        let mut spheres = SphereSet::new();
        for _ in 0..10 {
            spheres.push(Vec3::ZERO, 0.1, 0).unwrap();
        }
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut broken = spheres.clone();
            broken.y[7] = bad;
            assert!(matches!(
                broken.extent(),
                Err(SphereError::BadCenter { index: 7, .. })
            ));
        }
        spheres.radius[3] = -1.0;
        assert!(matches!(
            spheres.extent(),
            Err(SphereError::BadRadius { index: 3, .. })
        ));
        assert!(spheres.push(Vec3::NAN, 0.1, 0).is_err());
        assert!(spheres.push(Vec3::ZERO, f32::NAN, 0).is_err());
    }
}
