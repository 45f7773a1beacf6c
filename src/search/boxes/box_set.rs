//! World-space boxes as arrays.

use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use crate::search::content_id::ContentId;
use crate::spheres::{CHUNK, SphereSet};

/// Minimum number of boxes that one task computes.
const BOXES_PER_TASK: usize = 1024;

/// Largest coordinate of a box, nm: differences are finite.
pub const MAX_COORDINATE_NM: f32 = f32::MAX / 2.0;

/// Why a box is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BoxError {
    /// A corner is NaN or too far away, or the corners are swapped.
    #[error(
        "box {index} from {low} to {high} nm is invalid: coordinates must be finite, in range and in order"
    )]
    BadBox {
        /// Index of the box.
        index: usize,
        /// The corner with the smallest coordinates, nm.
        low: Vec3,
        /// The corner with the largest coordinates, nm.
        high: Vec3,
    },
    /// There are more boxes than 32-bit indices.
    #[error("{count} boxes are too many for 32-bit indices; search them in parts")]
    TooMany {
        /// Number of boxes.
        count: usize,
    },
}

/// Axis-aligned world-space boxes as arrays: two corners (nm) and an owner.
///
/// Accessors panic if an index is out of range.
#[derive(Clone, Debug, Default)]
pub struct BoxSet {
    /// Smallest coordinates along x, y and z.
    pub(crate) low: [Vec<f32>; 3],
    /// Largest coordinates along x, y and z.
    pub(crate) high: [Vec<f32>; 3],
    pub(crate) owner: Vec<u32>,
    /// Identifies the boxes; none if they have changed one by one.
    pub(super) content: Option<ContentId>,
}

impl PartialEq for BoxSet {
    fn eq(&self, other: &Self) -> bool {
        self.low == other.low && self.high == other.high && self.owner == other.owner
    }
}

impl BoxSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of boxes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.owner.len()
    }

    /// Whether there are no boxes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owner.is_empty()
    }

    /// Removes all boxes, keeping the memory.
    pub fn clear(&mut self) {
        for axis in self.low.iter_mut().chain(&mut self.high) {
            axis.clear();
        }
        self.owner.clear();
        self.content = None;
    }

    /// Adds the box from `low` to `high`, nm.
    ///
    /// # Errors
    /// [`BoxError`] if a corner is not finite or beyond [`MAX_COORDINATE_NM`], `high` is below
    /// `low`, or the set is full.
    pub fn push(&mut self, low: Vec3, high: Vec3, owner: u32) -> Result<(), BoxError> {
        let index = self.len();
        if index >= u32::MAX as usize {
            return Err(BoxError::TooMany { count: index + 1 });
        }
        if !is_valid(low, high) {
            return Err(BoxError::BadBox { index, low, high });
        }
        for k in 0..3 {
            self.low[k].push(low[k]);
            self.high[k].push(high[k]);
        }
        self.owner.push(owner);
        self.content = None;
        Ok(())
    }

    /// Replaces a box; it keeps its owner.
    ///
    /// # Errors
    /// [`BoxError::BadBox`] if the corners (nm) are invalid.
    pub(crate) fn set(&mut self, index: usize, low: Vec3, high: Vec3) -> Result<(), BoxError> {
        if !is_valid(low, high) {
            return Err(BoxError::BadBox { index, low, high });
        }
        for k in 0..3 {
            (self.low[k][index], self.high[k][index]) = (low[k], high[k]);
        }
        self.content = None;
        Ok(())
    }

    /// Moves boxes to other indices: `move_entries` does so with each column of coordinates. Each
    /// is its own owner.
    pub(crate) fn move_boxes(&mut self, move_entries: impl Fn(&mut Vec<f32>)) {
        for axis in self.low.iter_mut().chain(&mut self.high) {
            move_entries(axis);
        }
        let count = self.low[0].len() as u32;
        self.owner.clear();
        self.owner.extend(0..count);
        self.content = None;
    }

    /// Corner of a box with the smallest coordinates, nm.
    #[inline]
    #[must_use]
    pub fn low(&self, index: usize) -> Vec3 {
        let [x, y, z] = &self.low;
        Vec3::new(x[index], y[index], z[index])
    }

    /// Corner of a box with the largest coordinates, nm.
    #[inline]
    #[must_use]
    pub fn high(&self, index: usize) -> Vec3 {
        let [x, y, z] = &self.high;
        Vec3::new(x[index], y[index], z[index])
    }

    /// Owner of a box.
    #[inline]
    #[must_use]
    pub fn owner(&self, index: usize) -> u32 {
        self.owner[index]
    }

    /// Whether two boxes have different owners and a common point.
    #[inline]
    #[must_use]
    pub fn overlap(&self, a: usize, b: usize) -> bool {
        let along =
            |k: usize| self.low[k][a] <= self.high[k][b] && self.low[k][b] <= self.high[k][a];
        self.owner[a] != self.owner[b] && along(0) && along(1) && along(2)
    }

    /// Replaces the boxes by one around each sphere, extended by half of `margin` (nm) on every
    /// side: the boxes of two spheres overlap if they are closer than their radii plus the margin,
    /// whatever the rounding.
    ///
    /// # Errors
    /// [`BoxError`] names the first sphere that is not finite or too far away; the set is empty
    /// then.
    pub fn set_around_spheres(&mut self, spheres: &SphereSet, margin: f32) -> Result<(), BoxError> {
        self.resize(spheres.len());
        let centers = [&spheres.x, &spheres.y, &spheres.z];
        for ((low, high), center) in self.low.iter_mut().zip(&mut self.high).zip(centers) {
            low.par_chunks_mut(CHUNK)
                .zip(high.par_chunks_mut(CHUNK))
                .zip(
                    center
                        .par_chunks(CHUNK)
                        .zip(spheres.radius.par_chunks(CHUNK)),
                )
                .for_each(|((low, high), (center, radius))| {
                    for (k, (&center, &radius)) in center.iter().zip(radius).enumerate() {
                        (low[k], high[k]) = interval(center, radius, margin);
                    }
                });
        }
        self.owner.copy_from_slice(&spheres.owner);
        self.check()
    }

    /// Replaces the boxes by one around each run of spheres, extended by half of `margin` (nm) on
    /// every side. A run is a range of spheres of one owner: a molecule.
    ///
    /// # Errors
    /// As [`set_around_spheres`](Self::set_around_spheres), with the index of the run.
    ///
    /// # Panics
    /// If a run is empty or out of range.
    pub fn set_around_runs(
        &mut self,
        spheres: &SphereSet,
        runs: &[Range<u32>],
        margin: f32,
    ) -> Result<(), BoxError> {
        const RUNS_PER_TASK: usize = 64;
        self.resize(runs.len());
        let centers = [&spheres.x, &spheres.y, &spheres.z];
        for ((low, high), center) in self.low.iter_mut().zip(&mut self.high).zip(centers) {
            low.par_chunks_mut(RUNS_PER_TASK)
                .zip(high.par_chunks_mut(RUNS_PER_TASK))
                .zip(runs.par_chunks(RUNS_PER_TASK))
                .for_each(|((low, high), runs)| {
                    for (k, run) in runs.iter().enumerate() {
                        let run = run.start as usize..run.end as usize;
                        let spheres = center[run.clone()].iter().zip(&spheres.radius[run]);
                        (low[k], high[k]) = hull(spheres, margin);
                    }
                });
        }
        for (owner, run) in self.owner.iter_mut().zip(runs) {
            *owner = spheres.owner[run.start as usize];
        }
        self.check()
    }

    /// Replaces the boxes by `count` ones with the corners (nm) that `corners` returns; each is its
    /// own owner.
    ///
    /// # Errors
    /// [`BoxError`] names the first invalid box; the set is empty then.
    pub(crate) fn set_each(
        &mut self,
        count: usize,
        corners: impl Fn(usize) -> (Vec3, Vec3) + Sync,
    ) -> Result<(), BoxError> {
        self.resize(count);
        let ([low_x, low_y, low_z], [high_x, high_y, high_z]) = (&mut self.low, &mut self.high);
        let low = low_x.par_iter_mut().zip(low_y).zip(low_z);
        let high = high_x.par_iter_mut().zip(high_y).zip(high_z);
        let owners = self.owner.par_iter_mut().enumerate();
        low.zip(high)
            .zip(owners)
            .with_min_len(BOXES_PER_TASK)
            .for_each(|((low, high), (index, owner))| {
                let corners = corners(index);
                ((*low.0.0, *low.0.1), *low.1) = split(corners.0);
                ((*high.0.0, *high.0.1), *high.1) = split(corners.1);
                *owner = index as u32;
            });
        self.check()
    }

    /// Median of the longest sides of the boxes, nm, estimated from a sample if there are many;
    /// zero if there are no boxes.
    pub(crate) fn median_side(&self) -> f32 {
        const MAX_SAMPLES: usize = 1023;
        let mut sides = [0.0; MAX_SAMPLES];
        let samples = self.len().min(MAX_SAMPLES);
        for (sample, side) in sides[..samples].iter_mut().enumerate() {
            let index = sample * self.len() / samples;
            *side = (self.high(index) - self.low(index)).max_element();
        }
        if samples == 0 {
            return 0.0;
        }
        let (_, median, _) = sides[..samples].select_nth_unstable_by(samples / 2, f32::total_cmp);
        *median
    }

    fn resize(&mut self, count: usize) {
        for axis in self.low.iter_mut().chain(&mut self.high) {
            axis.resize(count, 0.0);
        }
        self.owner.resize(count, 0);
    }

    /// Whether a box is valid.
    pub(super) fn is_valid(&self, index: usize) -> bool {
        is_valid(self.low(index), self.high(index))
    }

    /// Ends a replacement of all boxes: clears the set if one is invalid.
    fn check(&mut self) -> Result<(), BoxError> {
        let checked = self.extent();
        match checked {
            Ok(_) => self.content = Some(ContentId::new()),
            Err(_) => self.clear(),
        }
        checked.map(|_| ())
    }

    /// Corners of the bounding box of all boxes, nm.
    ///
    /// # Errors
    /// [`BoxError`] names the first invalid box.
    pub(crate) fn extent(&self) -> Result<[Vec3; 2], BoxError> {
        let one = |index| {
            let (low, high) = (self.low(index), self.high(index));
            let invalid = if is_valid(low, high) {
                usize::MAX
            } else {
                index
            };
            (low, high, invalid)
        };
        type Part = (Vec3, Vec3, usize);
        let join = |a: Part, b: Part| (a.0.min(b.0), a.1.max(b.1), a.2.min(b.2));
        let empty = (Vec3::INFINITY, Vec3::NEG_INFINITY, usize::MAX);
        let boxes = (0..self.len()).into_par_iter().with_min_len(CHUNK);
        let (low, high, index) = boxes.map(one).reduce(|| empty, join);
        if index == usize::MAX {
            return Ok([low, high]);
        }
        let (low, high) = (self.low(index), self.high(index));
        Err(BoxError::BadBox { index, low, high })
    }
}

fn split(corner: Vec3) -> ((f32, f32), f32) {
    ((corner.x, corner.y), corner.z)
}

/// Interval of a sphere along an axis, rounded outwards.
#[inline]
fn interval(center: f32, radius: f32, margin: f32) -> (f32, f32) {
    // Nearly exact in 64 bits; one step of 32 bits outwards covers the rest.
    let reach = f64::from(radius) + 0.5 * f64::from(margin);
    let low = (f64::from(center) - reach) as f32;
    let high = (f64::from(center) + reach) as f32;
    (low.next_down(), high.next_up())
}

/// Interval of several spheres along an axis, rounded outwards.
fn hull<'a>(spheres: impl Iterator<Item = (&'a f32, &'a f32)>, margin: f32) -> (f32, f32) {
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    let mut valid = true;
    for (&center, &radius) in spheres {
        valid &= (center + radius).is_finite();
        // Each is off by at most half a step of 32 bits, which the step below covers.
        low = low.min(center - radius);
        high = high.max(center + radius);
    }
    let half = 0.5 * f64::from(margin);
    let (low, high) = (
        (f64::from(low.next_down()) - half) as f32,
        (f64::from(high.next_up()) + half) as f32,
    );
    // Minima ignore NaN.
    let poison = if valid { 0.0 } else { f32::NAN };
    (low.next_down() + poison, high.next_up() + poison)
}

fn is_valid(low: Vec3, high: Vec3) -> bool {
    low.min_element() >= -MAX_COORDINATE_NM
        && high.max_element() <= MAX_COORDINATE_NM
        && low.cmple(high).all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_sphere_is_reported_and_clears_the_set() {
        let mut spheres = SphereSet::new();
        for k in 0..9 {
            spheres.push(Vec3::X * k as f32, 0.5, k / 3).unwrap();
        }
        spheres.y[7] = f32::NAN;
        let mut boxes = BoxSet::new();
        let error = boxes.set_around_spheres(&spheres, 0.0);
        assert!(matches!(error, Err(BoxError::BadBox { index: 7, .. })));
        assert!(boxes.is_empty());
        let error = boxes.set_around_runs(&spheres, &[0..3, 3..6, 6..9], 0.0);
        assert!(matches!(error, Err(BoxError::BadBox { index: 2, .. })));
        assert!(boxes.is_empty());
    }

    #[test]
    fn few_giants_do_not_change_the_median_side() {
        let mut boxes = BoxSet::new();
        assert_eq!(boxes.median_side(), 0.0);
        for k in 0..5000 {
            let side = if k % 10 == 0 { 100.0 } else { 2.0 };
            boxes.push(Vec3::ZERO, Vec3::X * side, 0).unwrap();
        }
        assert_eq!(boxes.median_side(), 2.0);
    }
}
