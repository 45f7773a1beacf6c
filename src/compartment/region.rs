//! [`Region`]: the boundary of the space inside one surface but outside of others.

use std::sync::Arc;

use glam::Vec3;
use rand::{Rng, RngExt};

use super::{CompartmentError, DistanceAndNormal, Surface, checked_pose, unrotated_pose};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Rejected samples after which the last one is projected onto the boundary.
const MAX_ATTEMPTS: usize = 64;

/// Distance from the offset boundary up to which a sample is on it, nm: a picometer, and more than
/// the rounding of coordinates of a few micrometers.
const ON_BOUNDARY_NM: f32 = 1.0e-3;

/// Bound on the rounding of a bounding radius, relative to it.
const RADIUS_ROUNDING: f32 = 1.0e-4;

/// The boundary of the space inside one surface, or everywhere, but outside of others: the interior
/// of a vesicle without its organelles, or a box without its vesicles.
///
/// The signed distance is the maximum of that of the enclosing surface and the negative ones of
/// the excluded surfaces. It is exact inside the region. Outside, it is exact if the surfaces do
/// not intersect, and at most the distance otherwise. The normal points out of the region: into an
/// excluded surface.
///
/// In a periodic box, the images of the excluded surfaces are excluded as well; each of them has to
/// be smaller than the box. The enclosing surface has no images.
///
/// Queries skip excluded spheres and parry shapes that are further away than another surface; they
/// take the time to compare with the center of each.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::compartment::{Region, SphereShell, Surface};
/// use glam::Vec3;
///
/// let cell = Arc::new(SphereShell::new(Vec3::ZERO, 10.0)?);
/// let nucleus = Arc::new(SphereShell::new(Vec3::X * 3.0, 4.0)?);
/// let cytosol = Region::new(Some(cell), vec![nucleus], None)?;
/// assert_eq!(cytosol.signed_distance(Vec3::X * 3.0), 4.0, "nm: in the nucleus");
/// assert_eq!(cytosol.signed_distance(Vec3::X * 8.0), -1.0, "nm: below the nucleus");
/// assert_eq!(cytosol.normal(Vec3::X * 8.0), Vec3::NEG_X, "into the nucleus");
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Region {
    inside: Option<Arc<dyn Surface>>,
    without: Vec<Excluded>,
    periodic: Option<PeriodicBox>,
    /// Of the frame that was the world when the region was made.
    pose: Pose,
}

/// A surface whose inside is excluded.
#[derive(Clone, Debug)]
struct Excluded {
    surface: Arc<dyn Surface>,
    /// Of a ball about the center that contains the surface, nm; infinite if unknown.
    radius: f32,
}

impl Region {
    /// The space inside `inside`, or everywhere, but outside of the surfaces `without`, and of
    /// their images in a periodic box. The surfaces keep their poses in the world.
    ///
    /// # Errors
    /// [`CompartmentError::NoSurface`] if there is no surface at all.
    pub fn new(
        inside: Option<Arc<dyn Surface>>,
        without: Vec<Arc<dyn Surface>>,
        periodic: Option<PeriodicBox>,
    ) -> Result<Self, CompartmentError> {
        if inside.is_none() && without.is_empty() {
            return Err(CompartmentError::NoSurface);
        }
        let without = without.into_iter().map(Excluded::new);
        Ok(Self {
            inside,
            without: without.collect(),
            periodic,
            pose: Pose::IDENTITY,
        })
    }

    /// Each surface, and the offset from it that is `offset` outwards from the region, nm.
    fn parts(&self, offset: f32) -> impl Iterator<Item = (&dyn Surface, f32)> {
        let inside = self.inside.iter().map(move |inside| (&**inside, offset));
        let without = self.without.iter();
        inside.chain(without.map(move |excluded| (&*excluded.surface, -offset)))
    }

    /// In the own frame.
    fn local_distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let mut furthest = match &self.inside {
            Some(inside) => inside.distance_and_normal(point),
            None => DistanceAndNormal {
                distance: f32::NEG_INFINITY,
                normal: Vec3::Y,
            },
        };
        for excluded in &self.without {
            let beyond = -furthest.distance;
            if let Some(surface) = excluded.distance_below(beyond, point, self.periodic) {
                furthest = DistanceAndNormal {
                    distance: -surface.distance,
                    normal: -surface.normal,
                };
            }
        }
        furthest
    }

    /// A random point of one of the offset surfaces, by area. In the own frame.
    fn propose(&self, offset: f32, random: &mut dyn Rng) -> Option<Vec3> {
        let area = |(surface, offset): (&dyn Surface, f32)| surface.area_at(offset).max(0.0);
        let total: f32 = self.parts(offset).map(area).sum();
        let mut left = random.random::<f32>() * total;
        let picked = self.parts(offset).find(|part| {
            left -= area(*part);
            left < 0.0
        });
        // After rounding, or if nothing is left of all surfaces.
        let (surface, offset) = picked.or_else(|| self.parts(offset).next())?;
        Some(surface.sample(offset, random))
    }
}

impl Excluded {
    fn new(surface: Arc<dyn Surface>) -> Self {
        let radius = if let Some((_, radius)) = surface.as_sphere() {
            radius
        } else if let Some((shape, pose)) = surface.as_shape() {
            let ball = shape.compute_local_bounding_sphere();
            let off_center = pose.transform_point(ball.center).distance(surface.center());
            off_center + ball.radius
        } else {
            f32::INFINITY
        };
        Self {
            surface,
            radius: radius * (1.0 + RADIUS_ROUNDING),
        }
    }

    /// Distance and normal of this surface and all of its images, if the distance is less than
    /// `limit` (nm).
    fn distance_below(
        &self,
        mut limit: f32,
        point: Vec3,
        periodic: Option<PeriodicBox>,
    ) -> Option<DistanceAndNormal> {
        let center = self.surface.center();
        let mut closest = None;
        let mut query = |arm: Vec3, point: Vec3| {
            // No point of the surface is closer than that.
            if arm.length() - self.radius < limit {
                let surface = self.surface.distance_and_normal(point);
                if surface.distance < limit {
                    limit = surface.distance;
                    closest = Some(surface);
                }
            }
        };
        let Some(periodic) = periodic else {
            query(point - center, point);
            return closest;
        };
        let size = periodic.size();
        let arm = periodic.shortest(point.as_dvec3() - center.as_dvec3());
        // The image whose center is the closest, which is the closest of spheres, and then those
        // on the other side along some of the axes.
        for sides in 0..8 {
            let across = Vec3::from_array([1, 2, 4].map(|bit| f32::from(sides & bit != 0)));
            let step = across * size.copysign(-arm.as_vec3());
            let arm = arm + step.as_dvec3();
            query(arm.as_vec3(), (center.as_dvec3() + arm).as_vec3());
        }
        closest
    }
}

impl Surface for Region {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let local = self.pose.inverse_transform_point(point);
        let DistanceAndNormal { distance, normal } = self.local_distance_and_normal(local);
        DistanceAndNormal {
            distance,
            normal: self.pose.rotation * normal,
        }
    }

    /// The center of the enclosing surface, which may be in an excluded one. Without it, that of
    /// the periodic box or of the first excluded surface.
    fn center(&self) -> Vec3 {
        let center = match (&self.inside, self.periodic, self.without.first()) {
            (Some(inside), ..) => inside.center(),
            (None, Some(periodic), _) => 0.5 * periodic.size(),
            (None, None, Some(excluded)) => excluded.surface.center(),
            // `new` rejects this.
            (None, None, None) => Vec3::ZERO,
        };
        self.pose.transform_point(center)
    }

    /// The sum over all surfaces. Exact if the offset surfaces do not intersect.
    fn area_at(&self, offset: f32) -> f32 {
        let areas = self.parts(offset).map(|(part, at)| part.area_at(at));
        areas.sum()
    }

    /// Uniform on the parts of the offset surfaces that bound the offset region; in a periodic box,
    /// on one image of each excluded surface.
    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let mut point = self.pose.inverse_transform_point(self.center());
        for _ in 0..MAX_ATTEMPTS {
            let Some(proposed) = self.propose(offset, random) else {
                break;
            };
            point = proposed;
            let distance = self.local_distance_and_normal(point).distance;
            if (distance - offset).abs() <= ON_BOUNDARY_NM {
                return self.pose.transform_point(point);
            }
        }
        // Almost nothing is left of the boundary at this offset.
        let DistanceAndNormal { distance, normal } = self.local_distance_and_normal(point);
        self.pose
            .transform_point(point + normal * (offset - distance))
    }

    /// The volume of the enclosing surface, or of the periodic box, minus those of the excluded
    /// surfaces. Exact if these are inside and do not intersect. `None` if the region is not
    /// bounded or a volume is unknown.
    fn volume(&self) -> Option<f32> {
        let whole = match (&self.inside, self.periodic) {
            (Some(inside), _) => inside.volume()?,
            (None, Some(periodic)) => periodic.size().element_product(),
            (None, None) => return None,
        };
        let mut volume = f64::from(whole);
        for excluded in &self.without {
            volume -= f64::from(excluded.surface.volume()?);
        }
        Some(volume.max(0.0) as f32)
    }

    fn pose(&self) -> Option<Pose> {
        Some(self.pose)
    }

    /// All surfaces move together. The frame of a new region is that of the world.
    ///
    /// # Errors
    /// [`CompartmentError::BadPose`] as for all surfaces; [`CompartmentError::Rotated`] if the pose
    /// has a rotation and the region is in a periodic box or has a periodic plane.
    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let mut parts = self.parts(0.0);
        let is_periodic =
            self.periodic.is_some() || parts.any(|(surface, _)| surface.period().is_some());
        let pose = if is_periodic {
            unrotated_pose(pose)?
        } else {
            checked_pose(pose)?
        };
        Ok(Arc::new(Self {
            pose,
            ..self.clone()
        }))
    }
}
