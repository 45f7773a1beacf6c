//! [`OffsetSurface`]: a surface moved along its normals.

use std::sync::Arc;

use glam::Vec3;
use rand::Rng;

use super::{CompartmentError, DistanceAndNormal, Surface};
use crate::pose::Pose;

/// The surface at a distance from another one, outwards if the distance is positive.
///
/// Signed distances are those of the other surface minus the offset. Outside of a solid with sharp
/// inner edges, and inside of one with sharp outer edges, this is a lower bound.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::compartment::{OffsetSurface, SphereShell, Surface};
/// use glam::Vec3;
///
/// let membrane = Arc::new(SphereShell::new(Vec3::ZERO, 10.0)?);
/// let below_the_heads = OffsetSurface::new(membrane, -2.0);
/// assert_eq!(below_the_heads.signed_distance(Vec3::X * 9.0), 1.0);
/// let volume = SphereShell::new(Vec3::ZERO, 8.0)?.volume().unwrap_or_default();
/// assert!((below_the_heads.volume().unwrap_or_default() / volume - 1.0).abs() < 1e-4);
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OffsetSurface {
    surface: Arc<dyn Surface>,
    offset: f32,
}

impl OffsetSurface {
    /// The surface `offset` nm outwards of `surface`.
    #[must_use]
    pub fn new(surface: Arc<dyn Surface>, offset: f32) -> Self {
        Self { surface, offset }
    }
}

impl Surface for OffsetSurface {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let DistanceAndNormal { distance, normal } = self.surface.distance_and_normal(point);
        DistanceAndNormal {
            distance: distance - self.offset,
            normal,
        }
    }

    fn center(&self) -> Vec3 {
        self.surface.center()
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.surface.area_at(offset + self.offset)
    }

    fn volume(&self) -> Option<f32> {
        // The area is a polynomial of second degree, for which Simpson's rule is exact.
        let area = |part: f32| self.surface.area_at(part * self.offset);
        let shell = self.offset * (area(0.0) + 4.0 * area(0.5) + area(1.0)) / 6.0;
        Some((self.surface.volume()? + shell).max(0.0))
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        self.surface.sample(offset + self.offset, random)
    }

    fn pose(&self) -> Option<Pose> {
        self.surface.pose()
    }

    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let surface = self.surface.with_pose(pose)?;
        Ok(Arc::new(Self::new(surface, self.offset)))
    }
}
