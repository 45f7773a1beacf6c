//! Why a compartment cannot exist.

use glam::Vec3;
use thiserror::Error;

use crate::pose::Pose;

/// Why a compartment cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CompartmentError {
    /// The radius is not a positive number.
    #[error("a sphere shell needs a positive radius, not {radius} nm")]
    BadRadius {
        /// The radius that was given, nm.
        radius: f32,
    },
    /// The center is not finite.
    #[error("a sphere shell needs a finite center, not {center} nm")]
    BadCenter {
        /// The center that was given, nm.
        center: Vec3,
    },
    /// The pose is NaN or infinite, or its rotation is not a rotation.
    #[error(
        "a compartment needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// The pose that was given.
        pose: Pose,
    },
    /// A length of a shape is not what it must be.
    #[error("the {what} of a compartment must be {allowed}, and is {value} nm")]
    BadExtent {
        /// Which length.
        what: &'static str,
        /// What it may be.
        allowed: &'static str,
        /// The length that was given, nm.
        value: f32,
    },
    /// The shape has no inside that a distance could tell from its outside.
    #[error(
        "a {kind} does not enclose a volume that a compartment could be; use a ball, cuboid, capsule, cylinder, cone, convex polyhedron or closed mesh"
    )]
    NotSolid {
        /// What kind of shape it is.
        kind: &'static str,
    },
    /// The mesh has no triangles.
    #[error("a mesh without triangles encloses nothing")]
    EmptyMesh,
    /// A vertex of the mesh is not finite.
    #[error("vertex {vertex} of the mesh is at {position}, which is not finite")]
    BadVertex {
        /// Index of the vertex.
        vertex: usize,
        /// Where it is, nm.
        position: Vec3,
    },
    /// A triangle has a corner that does not exist.
    #[error(
        "triangle {triangle} of the mesh has a corner {vertex}, and there are {count} vertices"
    )]
    NoSuchVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The corner that does not exist.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A triangle has no area.
    #[error("triangle {triangle} of the mesh has no area")]
    FlatTriangle {
        /// Index of the triangle.
        triangle: usize,
    },
    /// An edge belongs to one triangle only: the mesh has a hole there.
    #[error(
        "the mesh is open: no triangle meets triangle {triangle} at its edge from vertex {} to {}",
        edge[0], edge[1]
    )]
    OpenEdge {
        /// Index of the triangle.
        triangle: usize,
        /// The vertices at the two ends.
        edge: [u32; 2],
    },
    /// Two triangles run along an edge in the same direction: one is turned inside
    /// out, or more than two meet there.
    #[error(
        "triangles {} and {} of the mesh both run from vertex {} to {}: \
         one is inside out, or more than two meet there",
        triangles[0], triangles[1], edge[0], edge[1]
    )]
    CrowdedEdge {
        /// Indices of the two triangles.
        triangles: [usize; 2],
        /// The vertices at the two ends.
        edge: [u32; 2],
    },
    /// The mesh is closed, and flat.
    #[error("the mesh encloses no volume")]
    NoVolume,
}

impl CompartmentError {
    /// Checks that named lengths (nm) are finite and positive.
    pub(super) fn check_positive(lengths: &[(&'static str, f32)]) -> Result<(), Self> {
        Self::check(lengths, "a positive number", |value| value > 0.0)
    }

    /// Checks that named lengths (nm) are finite and not negative.
    pub(super) fn check_not_negative(lengths: &[(&'static str, f32)]) -> Result<(), Self> {
        Self::check(lengths, "a number that is not negative", |value| {
            value >= 0.0
        })
    }

    fn check(
        lengths: &[(&'static str, f32)],
        allowed: &'static str,
        good: fn(f32) -> bool,
    ) -> Result<(), Self> {
        match lengths
            .iter()
            .find(|(_, value)| !(value.is_finite() && good(*value)))
        {
            None => Ok(()),
            Some(&(what, value)) => Err(Self::BadExtent {
                what,
                allowed,
                value,
            }),
        }
    }
}
