//! [`CompartmentError`].

use glam::Vec3;
use thiserror::Error;

use crate::pose::Pose;

/// Why a compartment is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CompartmentError {
    /// The pose is NaN or infinite, or its rotation is not a unit quaternion.
    #[error(
        "a compartment needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// The given pose.
        pose: Pose,
    },
    /// The surface can be moved, but not rotated.
    #[error("a periodic surface cannot be rotated, but its rotation is {}", pose.rotation)]
    Rotated {
        /// The given pose.
        pose: Pose,
    },
    /// A length of a shape is out of range.
    #[error("the {what} of a compartment must be {allowed}, but is {value} nm")]
    BadExtent {
        /// Which length.
        what: &'static str,
        /// The allowed range.
        allowed: &'static str,
        /// The given length, nm.
        value: f32,
    },
    /// The shape does not enclose a volume.
    #[error(
        "a {kind} does not enclose a volume; use a ball, cuboid, capsule, cylinder, cone, convex polyhedron or closed mesh"
    )]
    NotSolid {
        /// The kind of shape.
        kind: &'static str,
    },
    /// The mesh has no triangles.
    #[error("the mesh has no triangles")]
    EmptyMesh,
    /// A vertex of the mesh is not finite.
    #[error("vertex {vertex} of the mesh is not finite: {position}")]
    BadVertex {
        /// Index of the vertex.
        vertex: usize,
        /// Its position, nm.
        position: Vec3,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} of the mesh refers to vertex {vertex}, but there are {count}")]
    NoSuchVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The missing vertex.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A triangle has no area.
    #[error("triangle {triangle} of the mesh has no area")]
    FlatTriangle {
        /// Index of the triangle.
        triangle: usize,
    },
    /// An edge belongs to one triangle only: the mesh has a hole.
    #[error(
        "the mesh is open: no other triangle shares the edge from vertex {} to {} of triangle {triangle}",
        edge[0], edge[1]
    )]
    OpenEdge {
        /// Index of the triangle.
        triangle: usize,
        /// The vertices at both ends.
        edge: [u32; 2],
    },
    /// Two triangles traverse an edge in the same direction: one has the wrong winding, or the
    /// edge belongs to more than two triangles.
    #[error(
        "triangles {} and {} of the mesh both contain the edge from vertex {} to {}: \
         one has the wrong winding, or more than two share the edge",
        triangles[0], triangles[1], edge[0], edge[1]
    )]
    NonManifoldEdge {
        /// Indices of the two triangles.
        triangles: [usize; 2],
        /// The vertices at both ends.
        edge: [u32; 2],
    },
    /// A region has neither an enclosing nor an excluded surface.
    #[error("a region needs a surface that encloses it or that is excluded")]
    NoSurface,
    /// A combination of solids is empty.
    #[error("no point of the box is inside of the compartment")]
    Empty,
    /// A combination of solids has too many parts.
    #[error("a compartment of {count} parts is too complex: at most {max} are possible")]
    TooManyParts {
        /// Number of parts.
        count: usize,
        /// Largest number.
        max: usize,
    },
    /// The mesh is closed, but flat.
    #[error("the mesh encloses no volume")]
    NoVolume,
}

impl CompartmentError {
    /// Checks that named lengths (nm) are finite and positive.
    pub(super) fn check_positive(lengths: &[(&'static str, f32)]) -> Result<(), Self> {
        Self::check(lengths, "positive and finite", |value| value > 0.0)
    }

    /// Checks that named lengths (nm) are finite and not negative.
    pub(super) fn check_not_negative(lengths: &[(&'static str, f32)]) -> Result<(), Self> {
        Self::check(lengths, "finite and not negative", |value| value >= 0.0)
    }

    fn check(
        lengths: &[(&'static str, f32)],
        allowed: &'static str,
        is_valid: fn(f32) -> bool,
    ) -> Result<(), Self> {
        let mut lengths = lengths.iter();
        match lengths.find(|(_, value)| !(value.is_finite() && is_valid(*value))) {
            None => Ok(()),
            Some(&(what, value)) => Err(Self::BadExtent {
                what,
                allowed,
                value,
            }),
        }
    }
}
