//! [`Interior`]: the space that a path is confined to.

use glam::{DVec3, Vec3};

use crate::compartment::Surface;

/// The inside of a surface, up to a distance from it.
#[derive(Clone, Copy, Debug)]
pub struct Interior<'a> {
    /// The surface around it.
    pub surface: &'a dyn Surface,
    /// Least distance of the points of a path from the surface, nm; at least the radius of the links.
    pub clearance: f32,
}

impl Interior<'_> {
    /// Whether a point is in this space.
    #[must_use]
    pub fn contains(&self, point: Vec3) -> bool {
        self.surface.signed_distance(point) <= -self.clearance
    }

    /// Whether the ends and the middle of a link are in this space.
    pub(super) fn contains_link(&self, start: DVec3, end: DVec3) -> bool {
        let middle = 0.5 * (start + end);
        self.contains(end.as_vec3()) && self.contains(middle.as_vec3())
    }

    /// The point itself, or one close to it in this space.
    pub(super) fn pulled_inside(&self, point: DVec3) -> DVec3 {
        let at = self.surface.distance_and_normal(point.as_vec3());
        let out = at.distance + self.clearance;
        if out > 0.0 {
            point - (at.normal * out).as_dvec3()
        } else {
            point
        }
    }
}
