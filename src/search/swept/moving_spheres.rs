//! Spheres that move in straight lines.

use glam::DVec3;

use super::contact_time::relative_contact;
use super::{Collision, SweptError};
use crate::search::Pair;
use crate::spheres::SphereSet;

/// Spheres on their way through a step.
#[derive(Clone, Debug, Default)]
pub(super) struct MovingSpheres {
    /// Current positions, nm.
    pub(super) centers: Vec<DVec3>,
    /// Displacements per step, nm.
    pub(super) displacements: Vec<DVec3>,
    /// Radii, nm.
    pub(super) radii: Vec<f64>,
    owners: Vec<u32>,
    /// Current time, from 0 to 1.
    pub(super) now: f64,
}

impl MovingSpheres {
    /// Spheres at rest.
    pub(super) fn new(spheres: &SphereSet) -> Result<Self, SweptError> {
        spheres.extent()?;
        let all = 0..spheres.len();
        Ok(Self {
            centers: all.clone().map(|k| spheres.center(k).as_dvec3()).collect(),
            displacements: vec![DVec3::ZERO; spheres.len()],
            radii: all.map(|k| f64::from(spheres.radius(k))).collect(),
            owners: spheres.owner.clone(),
            now: 0.0,
        })
    }

    /// Number of spheres.
    pub(super) fn len(&self) -> u32 {
        self.radii.len() as u32
    }

    /// Starts a step with these displacements, nm.
    pub(super) fn begin_step(&mut self, displacements: &[DVec3]) -> Result<(), SweptError> {
        let (spheres, displaced) = (self.centers.len(), displacements.len());
        if spheres != displaced {
            return Err(SweptError::BadCount { spheres, displaced });
        }
        for (index, &displacement) in displacements.iter().enumerate() {
            check_displacement(index, self.centers[index], displacement)?;
        }
        self.displacements.copy_from_slice(displacements);
        self.now = 0.0;
        Ok(())
    }

    /// Changes the path of a sphere from now on.
    pub(super) fn redirect(&mut self, sphere: u32, displacement: DVec3) -> Result<(), SweptError> {
        let index = sphere as usize;
        check_displacement(index, self.centers[index], displacement)?;
        self.displacements[index] = displacement;
        Ok(())
    }

    /// Moves all spheres to a time of the step.
    pub(super) fn advance(&mut self, time: f64) {
        let by = time - self.now;
        for (center, displacement) in self.centers.iter_mut().zip(&self.displacements) {
            *center += by * *displacement;
        }
        self.now = time;
    }

    /// Distance from a point that a sphere reaches in the rest of the step, radius included, nm.
    pub(super) fn reach_from(&self, point: DVec3, sphere: u32) -> f64 {
        let index = sphere as usize;
        let left = (1.0 - self.now) * self.displacements[index].length();
        self.centers[index].distance(point) + left + self.radii[index]
    }

    /// The collision of two spheres in the rest of the step, if neither changes its path.
    pub(super) fn collision(&self, one: u32, other: u32) -> Option<Collision> {
        let pair = Pair::new(one, other);
        let [a, b] = [pair.a as usize, pair.b as usize];
        if self.owners[a] == self.owners[b] {
            return None;
        }
        let motion = self.displacements[b] - self.displacements[a];
        let reach = self.radii[a] + self.radii[b];
        let times = relative_contact(self.centers[b] - self.centers[a], motion, reach)?;
        let time = self.now + times.first_until(1.0 - self.now)?;
        Some(Collision { pair, time })
    }

    /// Whether the distance of two spheres decreases now.
    pub(super) fn approach(&self, pair: Pair) -> bool {
        let [a, b] = [pair.a as usize, pair.b as usize];
        let motion = self.displacements[b] - self.displacements[a];
        (self.centers[b] - self.centers[a]).dot(motion) < 0.0
    }
}

/// Positions have to stay in the range of `f32`, so that squares of distances are finite.
fn check_displacement(index: usize, from: DVec3, displacement: DVec3) -> Result<(), SweptError> {
    let end = from + displacement;
    if end.as_vec3().is_finite() {
        return Ok(());
    }
    Err(SweptError::BadDisplacement {
        index,
        displacement,
    })
}
