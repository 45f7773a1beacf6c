//! Where molecules belong: surfaces and volumes that hold them.
//!
//! A shape and a pose go in; distances, normals, areas and random points of its surface come
//! out, and by how much a molecule is out of its place. Everything is in the world frame and
//! nm unless it says otherwise; distances are positive outside and negative inside. Nothing
//! here moves anything: springs do (`force`).
//!
//! All of it is pure: the same question gets the same bits. Shapes that enclose nothing,
//! lengths that cannot be and meshes with holes are refused with a [`CompartmentError`] that
//! names the vertex, triangle or edge, impossible placements with a [`PlacementError`].
//!
//! A [`Surface`] answers three questions about its surface: how far is a
//! point, which way is outwards, and where is a random point. Everything that
//! springs and scenes need follows from these.
//!
//! | compartment | what it is |
//! |---|---|
//! | [`SphereShell`] | the exact and fast sphere of a vesicle |
//! | [`ShapeCompartment`] | a box, a capsule, a closed mesh, any solid parry shape |
//!
//! A molecule either sits in the surface ([`Placement`]: leaflet, depth, up) or
//! stays on one side of it; [`Confinement`] is either of these, and [`Excess`] is what
//! a spring has to take back.
//!
//! Lipids on a sphere, uniformly spread, and held at their distance with their heads up, are
//! those of J. Pauschenwein (2022, section 4.1 with Algorithm 4.2, and section 4.3); other
//! shapes, volumes and the two sides are ours.
//!
//! # Parallel surfaces
//!
//! Leaflets lie on surfaces that are moved outwards or inwards by an offset. All
//! points at signed distance *r* from a solid *K* with area *A* form its parallel
//! surface; outside a convex *K* its area is Steiner's polynomial
//!
//! A(r) = A + 2 M r + 4π r²,
//!
//! where M is the integral of the mean curvature. It has three kinds of parts:
//! copies of the faces, shifted; strips of cylinders along the edges; and pieces of
//! spheres at the vertices. The files of this room compute areas and samples by
//! these parts.

mod closed_mesh;
mod confinement;
mod cuboid;
mod error;
mod mesh_validation;
mod parallel_surface;
mod placement;
mod revolved_solid;
mod rounded_solid;
mod segment;
mod shape_compartment;
mod sphere_shell;
mod unit_sphere;

pub use confinement::{Confinement, Excess};
pub use error::CompartmentError;
pub use placement::{Deviation, Leaflet, Placement, PlacementError, bilayer_depth, up_and_head};
#[cfg(feature = "gpu")]
pub(crate) use placement::{HEIGHT_SLACK_NM, TILT_SLACK};
pub use shape_compartment::ShapeCompartment;
pub use sphere_shell::SphereShell;
pub(crate) use unit_sphere::sample_unit_sphere;

use std::sync::Arc;

use glam::Vec3;
use rand::Rng;

use crate::pose::Pose;

/// A surface seen from a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Distance of the point from the surface, nm: positive outside, negative inside.
    pub distance: f32,
    /// Unit vector that points outwards at the surface point nearest to the point.
    pub normal: Vec3,
}

/// A surface in the world that molecules are arranged along. Lengths in nm.
pub trait Surface: Send + Sync + std::fmt::Debug {
    /// Distance of `point` from the surface: positive outside, negative inside.
    fn signed_distance(&self, point: Vec3) -> f32;

    /// Unit vector that points outwards at the surface point nearest to `point`.
    ///
    /// Where several surface points are nearest, it is that of one of them: it is
    /// finite and of unit length everywhere, the center, edges and the surface itself
    /// included.
    fn normal(&self, point: Vec3) -> Vec3;

    /// Distance and normal in one go, for those who need both: springs do, for every
    /// molecule in every substep.
    fn surface(&self, point: Vec3) -> SurfacePoint {
        SurfacePoint {
            distance: self.signed_distance(point),
            normal: self.normal(point),
        }
    }

    /// The point that the surface is around, nm.
    fn center(&self) -> Vec3;

    /// Area (nm²) of the surface moved outwards by `offset`; zero if it vanishes.
    fn area_at(&self, offset: f32) -> f32;

    /// A uniformly distributed point of the surface moved outwards by `offset`; some
    /// point inside if it vanishes.
    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3;

    /// Center and radius (nm) if this is exactly a sphere: what a device that knows no
    /// other surface asks for.
    fn as_sphere(&self) -> Option<(Vec3, f32)> {
        None
    }

    /// The same surface with its own frame at `pose` in the world, wherever it is now.
    /// Cheap: what is large is shared.
    ///
    /// # Errors
    /// [`CompartmentError::BadPose`] if the pose is not finite or its rotation is none.
    fn at(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError>;
}

/// Squares of lengths between which a vector can be normalized as it is.
const SAFE_SQUARES: std::ops::Range<f32> = 1.0e-30..1.0e30;

/// The direction of a vector, however short or long; none if it is zero or not finite.
pub(crate) fn direction(vector: Vec3) -> Option<Vec3> {
    let squared = vector.length_squared();
    if SAFE_SQUARES.contains(&squared) {
        return Some(vector / squared.sqrt());
    }
    let largest = vector.abs().max_element();
    (largest > 0.0 && vector.is_finite()).then(|| (vector / largest).normalize())
}

/// The pose with its rotation made a unit quaternion to the last digit.
fn checked_pose(pose: &Pose) -> Result<Pose, CompartmentError> {
    if pose.is_rigid() {
        Ok(Pose::new(pose.position, pose.rotation.normalize()))
    } else {
        Err(CompartmentError::BadPose { pose: *pose })
    }
}
