//! Compartments: surfaces and volumes that molecules are confined to.
//!
//! A [`Surface`] answers three queries: the signed distance of a point, the outward normal, and a
//! uniformly random point. [`even_points`] spreads points evenly over any of them. A molecule
//! either sits in the surface ([`Placement`]: leaflet, depth, up) or stays on one side of it, with
//! its center of mass or with all of its atoms. [`Confinement`] is any of these; [`Excess`] is how
//! far a molecule violates it. Nothing here moves molecules: the springs of
//! [`force`](crate::force) do.
//!
//! | compartment | shape |
//! |---|---|
//! | [`SphereShell`] | the exact and fast sphere of a vesicle |
//! | [`FlatPatch`] | the plane of a flat bilayer in a periodic box |
//! | [`Torus`] | an exact ring |
//! | [`ShapeCompartment`] | box, capsule, closed mesh, or any solid parry shape |
//! | [`CombinedSolid`] | unions, intersections and complements of balls and boxes, also periodic |
//! | [`Region`] | the space inside one of these, or a periodic box, but outside of others |
//!
//! Everything is in the world frame and nm unless noted. Distances are positive outside and
//! negative inside. Queries are pure functions. Open meshes and invalid shapes are rejected
//! with a [`CompartmentError`] that names the vertex, triangle or edge; invalid placements with
//! a [`PlacementError`]. [`load_mesh`] reads meshes from OBJ, STL and PLY files.
//!
//! Uniformly sampled lipids on a sphere, held at their distance with their heads up, follow
//! J. Pauschenwein (2022, section 4.1 with Algorithm 4.2, and section 4.3). Other shapes,
//! volumes and the two sides are ours.
//!
//! # Parallel surfaces
//!
//! Leaflets lie on surfaces that are offset outwards or inwards. All points at signed distance
//! *r* from a solid *K* with area *A* form its parallel surface. Outside a convex *K*, its area
//! is Steiner's polynomial
//!
//! A(r) = A + 2 M r + 4π r²,
//!
//! where M is the integral of the mean curvature. It has three kinds of parts: translated
//! copies of the faces, cylinder strips along the edges, and sphere caps at the vertices. Areas
//! and samples are computed from these parts. The integral of A(r) is the volume between *K* and
//! its parallel surface, which gives the volume of rounded shapes.

mod closed_mesh;
mod combined;
mod cuboid;
mod error;
mod even_points;
mod flat_patch;
mod mesh_file;
mod mesh_validation;
mod offset_surface;
mod parallel_surface;
mod placement;
mod region;
mod revolved_solid;
mod segment;
mod shape_compartment;
mod sphere_shell;
mod steiner;
mod torus;
mod whole_molecule;

pub use combined::{CombinedSolid, CombinedSolids, SolidIndex};
pub use error::CompartmentError;
pub use even_points::even_points;
pub use flat_patch::FlatPatch;
pub use mesh_file::{
    MeshFileError, MeshFileProblem, MeshFormat, TriangleMesh, load_mesh, read_mesh,
};
pub use offset_surface::OffsetSurface;
pub use placement::{
    Confinement, Deviation, Excess, Leaflet, Placement, PlacementError, bilayer_depth,
    bilayer_depth_along, up_and_head,
};
#[cfg(feature = "gpu")]
pub(crate) use placement::{HEIGHT_SLACK_NM, TILT_SLACK};
pub use region::Region;
pub use shape_compartment::ShapeCompartment;
pub use sphere_shell::SphereShell;
pub(crate) use sphere_shell::sample_unit_sphere;
pub use torus::Torus;

use std::sync::Arc;

use glam::{Vec2, Vec3};
use rand::Rng;
use rapier3d::parry::shape::SharedShape;

use crate::pose::Pose;

/// Signed distance and normal of a surface, at some point in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceAndNormal {
    /// Distance of the point from the surface, nm: positive outside, negative inside.
    pub distance: f32,
    /// Outward unit normal at the surface point closest to the point.
    pub normal: Vec3,
}

/// A surface in the world that molecules are arranged along: closed, or a periodic plane. Lengths
/// in nm.
pub trait Surface: Send + Sync + std::fmt::Debug {
    /// Signed distance of `point`, and the outward normal at the closest surface point.
    ///
    /// The normal is finite and of unit length everywhere, including the center, edges and the
    /// surface itself. If several surface points are closest, it belongs to one of them.
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal;

    /// Distance of `point` from the surface: positive outside, negative inside.
    fn signed_distance(&self, point: Vec3) -> f32 {
        self.distance_and_normal(point).distance
    }

    /// Outward unit normal at the surface point closest to `point`.
    fn normal(&self, point: Vec3) -> Vec3 {
        self.distance_and_normal(point).normal
    }

    /// Center of the enclosed volume, or of one period of a plane.
    fn center(&self) -> Vec3;

    /// Area (nm²) of the surface offset outwards by `offset`; zero if nothing is left of it.
    fn area_at(&self, offset: f32) -> f32;

    /// A uniformly distributed point of the surface offset outwards by `offset`; some point
    /// inside if nothing is left of it.
    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3;

    /// Exactly `count` points that are spread evenly over the surface offset outwards by `offset`,
    /// in any order, if this surface has a pattern of such points; placed at random as a whole.
    ///
    /// [`even_points`] calls this and falls back to relaxed random points.
    fn even_pattern(
        &self,
        _offset: f32,
        _count: usize,
        _random: &mut dyn Rng,
    ) -> Option<Vec<Vec3>> {
        None
    }

    /// Enclosed volume, nm³; `None` if there is none, as of a periodic plane.
    ///
    /// The default is `None`.
    fn volume(&self) -> Option<f32> {
        None
    }

    /// The edges along x and y (nm) of one period, if this is a periodic plane.
    fn period(&self) -> Option<Vec2> {
        None
    }

    /// Center and radius (nm) if this is exactly a sphere, the only surface that the GPU
    /// relaxer supports.
    fn as_sphere(&self) -> Option<(Vec3, f32)> {
        None
    }

    /// The parry shape in its own frame, and the pose of that frame in the world, if this is the
    /// surface of a parry shape.
    fn as_shape(&self) -> Option<(&SharedShape, Pose)> {
        None
    }

    /// The pose of its own frame in the world, which [`with_pose`](Self::with_pose) replaces.
    ///
    /// The default is `None`, unknown. Such a surface cannot become an entity of a Bevy app.
    fn pose(&self) -> Option<Pose> {
        None
    }

    /// The same surface with its own frame at `pose` in the world, instead of its current
    /// pose. Cheap: the shape is shared.
    ///
    /// # Errors
    /// [`CompartmentError::BadPose`] if the pose is not finite or its rotation is not a unit
    /// quaternion; [`CompartmentError::Rotated`] if this is a periodic plane or region and the
    /// pose has a rotation.
    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError>;
}

/// Squared lengths for which a vector can be normalized without overflow or underflow.
const SAFE_SQUARES: std::ops::Range<f32> = 1.0e-30..1.0e30;

/// The direction of a vector of any length; `None` if it is zero or not finite.
pub(crate) fn direction(vector: Vec3) -> Option<Vec3> {
    let squared = vector.length_squared();
    if SAFE_SQUARES.contains(&squared) {
        return Some(vector / squared.sqrt());
    }
    let largest = vector.abs().max_element();
    (largest > 0.0 && vector.is_finite()).then(|| (vector / largest).normalize())
}

/// Largest sine of half the angle of a rotation that counts as none.
const MAX_TURN: f32 = 1.0e-5;

/// As [`checked_pose`], for surfaces that repeat along the axes of the world.
fn unrotated_pose(pose: &Pose) -> Result<Pose, CompartmentError> {
    let pose = checked_pose(pose)?;
    if pose.rotation.xyz().length() > MAX_TURN {
        return Err(CompartmentError::Rotated { pose });
    }
    Ok(pose)
}

/// Validates a pose and normalizes its rotation, unless that would only change its rounding.
fn checked_pose(pose: &Pose) -> Result<Pose, CompartmentError> {
    if pose.is_rigid() {
        Ok(pose.normalized_once())
    } else {
        Err(CompartmentError::BadPose { pose: *pose })
    }
}
