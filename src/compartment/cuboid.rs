//! [`Cuboid`]: a box centered at the origin, along the axes.

use std::f32::consts::{PI, TAU};

use glam::Vec3;
use rand::{Rng, RngExt};

use super::shape_compartment::Solid;
use super::steiner::SteinerPolynomial;
use super::{CompartmentError, DistanceAndNormal, direction, sample_unit_sphere};

/// A box with positive half extents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuboid {
    half: Vec3,
}

impl Cuboid {
    pub(super) fn new(half: Vec3) -> Result<Self, CompartmentError> {
        CompartmentError::check_positive(&half.to_array().map(|value| ("half extent", value)))?;
        Ok(Self { half })
    }

    /// Half extents and rounding of the surface at `offset`: a rounded box outside, a smaller
    /// box inside.
    fn offset(&self, offset: f32) -> (Vec3, f32) {
        let shrunk = (self.half + offset.min(0.0)).max(Vec3::ZERO);
        (shrunk, offset.max(0.0))
    }

    /// Areas of the parts of a box rounded by `radius`: the faces perpendicular to each axis,
    /// the quarter cylinders along each axis (four make a full one), and the eight corners,
    /// which make a sphere.
    fn part_areas(half: Vec3, radius: f32) -> [f32; 7] {
        let faces = 8.0 * Vec3::new(half.y * half.z, half.z * half.x, half.x * half.y);
        let strips = 2.0 * TAU * radius * half;
        let corners = 4.0 * PI * radius * radius;
        [
            faces.x, faces.y, faces.z, strips.x, strips.y, strips.z, corners,
        ]
    }
}

/// 1 or −1 in each component, by its sign.
fn signs(vector: Vec3) -> Vec3 {
    Vec3::ONE.copysign(vector)
}

impl Solid for Cuboid {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        // Distance beyond each pair of faces.
        let beyond = point.abs() - self.half;
        let outside = beyond.max(Vec3::ZERO);
        if let Some(out) = direction(outside) {
            return DistanceAndNormal {
                distance: outside.length(),
                normal: out * signs(point),
            };
        }
        let axis = beyond.max_position();
        DistanceAndNormal {
            distance: beyond[axis],
            normal: Vec3::AXES[axis] * signs(point),
        }
    }

    fn center(&self) -> Vec3 {
        Vec3::ZERO
    }

    fn area_at(&self, offset: f32) -> f32 {
        if self.half.min_element() + offset <= 0.0 {
            return 0.0;
        }
        let (half, radius) = self.offset(offset);
        Self::part_areas(half, radius).iter().sum()
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let (half, radius) = self.offset(offset);
        let areas = Self::part_areas(half, radius);
        let mut left = random.random::<f32>() * areas.iter().sum::<f32>();
        let part = areas
            .iter()
            .position(|area| {
                left -= area;
                left < 0.0
            })
            // After rounding, or if nothing is left of the box.
            .unwrap_or(0);
        let axis = Vec3::AXES[part % 3];
        let fractions = Vec3::from_array(std::array::from_fn(|_| random.random()));
        let inside = half * (2.0 * fractions - 1.0);
        let out = sample_unit_sphere(random.random(), random.random());
        match part {
            // A face: anywhere across the axis, on one of the two sides along it.
            0..3 => inside * (Vec3::ONE - axis) + axis * signs(out) * (half + radius),
            // A strip: anywhere along the axis, on a circle cut into quarters across it.
            3..6 => {
                let (sine, cosine) = (TAU * random.random::<f32>()).sin_cos();
                let across =
                    Vec3::AXES[(part + 1) % 3] * cosine + Vec3::AXES[(part + 2) % 3] * sine;
                inside * axis + (signs(across) * half) * (Vec3::ONE - axis) + across * radius
            }
            _ => signs(out) * half + out * radius,
        }
    }

    fn steiner_polynomial(&self) -> SteinerPolynomial {
        SteinerPolynomial::cuboid(self.half.to_array())
    }
}
