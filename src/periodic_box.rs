//! [`PeriodicBox`]: a box that repeats in space.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::pose::Pose;

/// Why a periodic box is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("the edges of a periodic box must be positive and finite, not {} × {} × {} nm", size.x, size.y, size.z)]
pub struct PeriodicBoxError {
    /// The given edges, nm.
    pub size: Vec3,
}

/// An orthorhombic box from the origin to `size`, with copies of itself on all sides.
///
/// A triclinic box would have three edge vectors; all users ask this type for wrapped positions,
/// images and shifts, so that only this file has to change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec3", into = "Vec3")]
pub struct PeriodicBox {
    size: Vec3,
}

impl PeriodicBox {
    /// A box with these edges, nm.
    ///
    /// # Errors
    /// [`PeriodicBoxError`] if an edge is not positive and finite.
    pub fn new(size: Vec3) -> Result<Self, PeriodicBoxError> {
        if size.is_finite() && size.cmpgt(Vec3::ZERO).all() {
            Ok(Self { size })
        } else {
            Err(PeriodicBoxError { size })
        }
    }

    /// The edges, nm.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        self.size
    }

    /// Translation to the image with these numbers, nm.
    #[must_use]
    pub fn shift(&self, image: [i32; 3]) -> Vec3 {
        let [x, y, z] = image.map(|number| number as f32);
        Vec3::new(x, y, z) * self.size
    }

    /// As [`shift`](Self::shift), exactly if the numbers have at most 29 bits, nm.
    #[must_use]
    pub fn exact_shift(&self, image: [i32; 3]) -> DVec3 {
        let [x, y, z] = image.map(f64::from);
        DVec3::new(x, y, z) * self.size.as_dvec3()
    }

    /// Numbers of the image of the box around `point` (nm): the point minus their
    /// [`shift`](Self::shift) is inside, except for rounding. Saturates.
    #[must_use]
    pub fn image_of(&self, point: DVec3) -> [i32; 3] {
        let edges = (point / self.size.as_dvec3()).floor();
        edges.to_array().map(|number| number as i32)
    }

    /// Images of the box between two corners (nm) that have a common point with the box between
    /// two others.
    pub(crate) fn images_within(
        &self,
        [low, high]: [Vec3; 2],
        [first, last]: [Vec3; 2],
    ) -> impl Iterator<Item = [i32; 3]> + use<> {
        let size = self.size.as_dvec3();
        let from = ((first.as_dvec3() - high.as_dvec3()) / size).ceil();
        let to = ((last.as_dvec3() - low.as_dvec3()) / size).floor();
        let [xs, ys, zs] = [0, 1, 2].map(|axis| from[axis] as i32..=to[axis] as i32);
        xs.flat_map(move |x| {
            let zs = zs.clone();
            ys.clone()
                .flat_map(move |y| zs.clone().map(move |z| [x, y, z]))
        })
    }

    /// The image of `point` inside the box, nm: at least zero, and less than the edge.
    #[must_use]
    pub fn wrap(&self, point: Vec3) -> Vec3 {
        let wrapped = point - (point / self.size).floor() * self.size;
        // Rounding may leave a point on the far side, or just outside.
        Vec3::select(
            wrapped.cmpge(self.size) | wrapped.cmplt(Vec3::ZERO),
            Vec3::ZERO,
            wrapped,
        )
    }

    /// The pose whose position is inside the box.
    #[must_use]
    pub fn wrap_pose(&self, pose: &Pose) -> Pose {
        Pose::new(self.wrap(pose.position), pose.rotation)
    }

    /// The shortest of all vectors from an image of one point to the other, given one of them, nm.
    #[must_use]
    pub fn shortest(&self, vector: DVec3) -> DVec3 {
        let size = self.size.as_dvec3();
        vector - (vector / size).round() * size
    }
}

impl TryFrom<Vec3> for PeriodicBox {
    type Error = PeriodicBoxError;

    fn try_from(size: Vec3) -> Result<Self, PeriodicBoxError> {
        Self::new(size)
    }
}

impl From<PeriodicBox> for Vec3 {
    fn from(value: PeriodicBox) -> Self {
        value.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_edges_are_rejected() {
        for edge in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let error = PeriodicBox::new(Vec3::new(1.0, edge, 1.0)).unwrap_err();
            assert!(error.to_string().contains("positive and finite"));
        }
    }

    #[test]
    fn points_are_wrapped_into_the_box_and_differ_by_whole_edges() {
        let periodic = PeriodicBox::new(Vec3::new(3.0, 4.0, 5.0)).unwrap();
        for point in [
            Vec3::ZERO,
            Vec3::new(3.0, -4.0, 5.0),
            Vec3::new(-1.0e-9, 7.5, -12.25),
            Vec3::splat(-1.0e4),
        ] {
            let wrapped = periodic.wrap(point);
            assert!(wrapped.cmpge(Vec3::ZERO).all() && wrapped.cmplt(periodic.size()).all());
            let edges = (point - wrapped) / periodic.size();
            assert!((edges - edges.round()).abs().max_element() < 1.0e-3);
        }
    }

    #[test]
    fn a_point_is_its_wrapped_image_plus_the_shift() {
        let periodic = PeriodicBox::new(Vec3::new(3.0, 4.0, 5.0)).unwrap();
        for (point, image) in [
            (Vec3::ZERO, [0, 0, 0]),
            (Vec3::new(3.0, -4.0, 4.9), [1, -1, 0]),
            (Vec3::new(-0.5, 7.5, -5012.5), [-1, 1, -1003]),
        ] {
            assert_eq!(periodic.image_of(point.as_dvec3()), image);
            assert_eq!(periodic.wrap(point) + periodic.shift(image), point);
            let exact = periodic.exact_shift(image);
            assert_eq!(exact, periodic.shift(image).as_dvec3());
        }
        assert_eq!(periodic.image_of(DVec3::X * 1.0e30)[0], i32::MAX);
    }

    #[test]
    fn images_within_a_region_are_those_that_overlap_it() {
        let periodic = PeriodicBox::new(Vec3::new(3.0, 4.0, 5.0)).unwrap();
        let corners = [Vec3::new(-1.0, 1.0, 4.0), Vec3::new(0.5, 3.0, 12.0)];
        let region = [Vec3::splat(-0.5), Vec3::new(3.5, 4.0, 5.5)];
        let found: Vec<_> = periodic.images_within(corners, region).collect();
        let mut expected = Vec::new();
        for number in 0..9 * 9 * 9 {
            let image = [number / 81 - 4, number / 9 % 9 - 4, number % 9 - 4];
            let [low, high] = corners.map(|corner| corner + periodic.shift(image));
            if low.cmple(region[1]).all() && region[0].cmple(high).all() {
                expected.push(image);
            }
        }
        assert_eq!(found, expected);
        assert!(expected.len() > 2, "{expected:?}");
    }

    #[test]
    fn the_shortest_vector_is_at_most_half_an_edge() {
        let periodic = PeriodicBox::new(Vec3::new(3.0, 4.0, 5.0)).unwrap();
        let short = periodic.shortest(DVec3::new(2.0, -2.5, 11.0));
        assert!(short.abs_diff_eq(DVec3::new(-1.0, 1.5, 1.0), 1.0e-6));
    }
}
