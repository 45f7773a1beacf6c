//! [`Segment`]: the core of a capsule or, with both ends at the same point, of a ball.

use std::f32::consts::{PI, TAU};

use glam::Vec3;
use rand::{Rng, RngExt};

use super::shape_compartment::Solid;
use super::steiner::SteinerPolynomial;
use super::{CompartmentError, DistanceAndNormal, direction, sample_unit_sphere};

/// The segment between two points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    ends: [Vec3; 2],
    /// Two directions perpendicular to the segment and to each other.
    across: [Vec3; 2],
}

impl Segment {
    pub(super) fn new(ends: [Vec3; 2]) -> Result<Self, CompartmentError> {
        for end in ends {
            let coordinates = end.to_array().map(|value| ("end", value.abs()));
            CompartmentError::check_not_negative(&coordinates)?;
        }
        let along = (ends[1] - ends[0]).try_normalize();
        let (first, second) = along.unwrap_or(Vec3::Z).any_orthonormal_pair();
        Ok(Self {
            ends,
            across: [first, second],
        })
    }

    fn axis(&self) -> Vec3 {
        self.ends[1] - self.ends[0]
    }
}

impl Solid for Segment {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let axis = self.axis();
        let squared = axis.length_squared();
        let along = if squared > 0.0 {
            ((point - self.ends[0]).dot(axis) / squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let arm = point - (self.ends[0] + axis * along);
        DistanceAndNormal {
            distance: arm.length(),
            normal: direction(arm).unwrap_or(self.across[0]),
        }
    }

    fn center(&self) -> Vec3 {
        self.ends[0].midpoint(self.ends[1])
    }

    /// The side of a cylinder and two half spheres: 2π r l + 4π r².
    fn area_at(&self, offset: f32) -> f32 {
        let radius = offset.max(0.0);
        TAU * radius * self.axis().length() + 4.0 * PI * radius * radius
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let radius = offset.max(0.0);
        let length = self.axis().length();
        // Both areas divided by 2π r.
        if random.random::<f32>() * (length + 2.0 * radius) < length {
            let (sine, cosine) = (TAU * random.random::<f32>()).sin_cos();
            let out = self.across[0] * cosine + self.across[1] * sine;
            self.ends[0].lerp(self.ends[1], random.random()) + out * radius
        } else {
            let out = sample_unit_sphere(random.random(), random.random());
            let end = usize::from(out.dot(self.axis()) > 0.0);
            self.ends[end] + out * radius
        }
    }

    fn steiner_polynomial(&self) -> SteinerPolynomial {
        SteinerPolynomial::segment(self.axis().length())
    }
}
