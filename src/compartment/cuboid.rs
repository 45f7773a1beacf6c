//! A box about its center, along its own axes.

use std::f32::consts::{PI, TAU};

use glam::Vec3;
use rand::{Rng, RngExt};

use super::rounded_solid::Solid;
use super::{CompartmentError, SurfacePoint, direction, sample_unit_sphere};

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

    /// The half extents and the rounding of the surface moved outwards by `offset`:
    /// outside, the box is rounded; inside, it is a smaller box.
    fn moved(&self, offset: f32) -> (Vec3, f32) {
        let shrunk = (self.half + offset.min(0.0)).max(Vec3::ZERO);
        (shrunk, offset.max(0.0))
    }

    /// Areas of the parts of a box rounded by r: the faces across each axis, the
    /// quarter cylinders along each axis (four make a whole one), and the eight
    /// corners, which make a sphere.
    fn parts(half: Vec3, radius: f32) -> [f32; 7] {
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
    fn surface(&self, point: Vec3) -> SurfacePoint {
        // How far the point is beyond each pair of faces.
        let beyond = point.abs() - self.half;
        let outside = beyond.max(Vec3::ZERO);
        if let Some(out) = direction(outside) {
            return SurfacePoint {
                distance: outside.length(),
                normal: out * signs(point),
            };
        }
        let axis = beyond.max_position();
        SurfacePoint {
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
        let (half, radius) = self.moved(offset);
        Self::parts(half, radius).iter().sum()
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let (half, radius) = self.moved(offset);
        let parts = Self::parts(half, radius);
        let mut left = random.random::<f32>() * parts.iter().sum::<f32>();
        let part = parts
            .iter()
            .position(|area| {
                left -= area;
                left < 0.0
            })
            // Rounding, or a box that has vanished.
            .unwrap_or(0);
        let axis = Vec3::AXES[part % 3];
        let anywhere = Vec3::from_array(std::array::from_fn(|_| random.random()));
        let inside = half * (2.0 * anywhere - 1.0);
        let out = sample_unit_sphere(random.random(), random.random());
        match part {
            // A face: anywhere across, and on one of the two sides along.
            0..3 => inside * (Vec3::ONE - axis) + axis * signs(out) * (half + radius),
            // A strip: anywhere along, and on a circle across, cut into quarters.
            3..6 => {
                let (sine, cosine) = (TAU * random.random::<f32>()).sin_cos();
                let across =
                    Vec3::AXES[(part + 1) % 3] * cosine + Vec3::AXES[(part + 2) % 3] * sine;
                inside * axis + (signs(across) * half) * (Vec3::ONE - axis) + across * radius
            }
            _ => signs(out) * half + out * radius,
        }
    }
}
