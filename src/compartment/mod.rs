//! Where molecules belong: surfaces and volumes that hold them.
//!
//! A [`Compartment`] answers three questions about its surface: how far is a
//! point, which way is outwards, and where is a random point. Everything that
//! springs and scenes need follows from these, so that boxes and meshes can join
//! the [`SphereShell`] later.

mod placement;
mod sampling;
mod sphere_shell;

pub use placement::{Deviation, Leaflet, Placement, PlacementError, head_and_axis};
pub use sampling::{sample_unit_sphere, sample_unit_sphere_clustered};
pub use sphere_shell::{CompartmentError, SphereShell};

use glam::Vec3;
use rand::Rng;

/// A surface in the world that molecules are arranged along. Lengths in nm.
pub trait Compartment: Send + Sync + std::fmt::Debug {
    /// Distance of `point` from the surface: positive outside, negative inside.
    fn signed_distance(&self, point: Vec3) -> f32;

    /// Unit vector that points outwards at the surface point nearest to `point`.
    fn normal(&self, point: Vec3) -> Vec3;

    /// The point that the surface is around, nm.
    fn centre(&self) -> Vec3;

    /// Area (nm²) of the surface moved outwards by `offset`; zero if it vanishes.
    fn area_at(&self, offset: f32) -> f32;

    /// A uniformly distributed point of the surface moved outwards by `offset`.
    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3;
}
