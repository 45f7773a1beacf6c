//! From coarse to fine: the first iterations with few spheres for each molecule.
//!
//! At the start molecules lie inside of one another and are pushed apart as wholes: where
//! single atoms are does not matter yet. Proxies do for that, at a fraction of the cost.
//!
//! Molecules that are free make room for proxies of full size, after which next to no atoms
//! touch. Those that are held in their place have no room to make: their proxies are mostly
//! air at the rim, and are taken much smaller.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{RelaxError, Relaxer};
use crate::crowd::Crowd;
use crate::force::{ParameterError, not_negative};
use crate::proxy::{PROXY_SEED, ProxySet};
use crate::spheres::SphereSet;

/// Proxies that stand for the molecules in the first iterations; see
/// [`RelaxConfig::coarse`](super::RelaxConfig::coarse).
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::relax::CoarseStart;
/// use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let scene = CrowdedBoxConfig { molecules: 8, spacing: 1.2, ..CrowdedBoxConfig::default() };
/// let crowd = crowded_box(&[protein], &scene)?;
/// let coarse = Some(CoarseStart::for_crowd(&crowd));
/// assert_eq!(coarse, Some(CoarseStart::FREE), "nothing holds them");
/// let mut relaxer = Relaxer::new(crowd, RelaxConfig { coarse, ..RelaxConfig::default() })?;
/// assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoarseStart {
    /// Proxies of each molecule.
    pub proxies: u32,
    /// Their radii in units of the smallest spheres around their atoms.
    pub radius_scale: f32,
    /// Most iterations with them; fewer if they come to rest before.
    pub iterations: u32,
}

impl CoarseStart {
    /// For molecules that may go anywhere: they make room for proxies of full size.
    ///
    /// Of 15, 20, 30 and 60 iterations on four boxes of 200 proteins, 30 needed the fewest
    /// in all: next to no atoms touch afterwards.
    pub const FREE: Self = Self {
        proxies: 17,
        radius_scale: 1.0,
        iterations: 30,
    };

    /// For molecules that are held in their places.
    ///
    /// Tried on 12 vesicles of 620 lipids: with 0.3 and 0.5, or with 30 iterations, they
    /// need more iterations in the median than with atoms alone, with these fewer.
    pub const HELD: Self = Self {
        proxies: 17,
        radius_scale: 0.4,
        iterations: 20,
    };

    /// What suits a crowd: [`HELD`](Self::HELD) if one of its molecules has a placement.
    #[must_use]
    pub fn for_crowd(crowd: &Crowd) -> Self {
        let mut members = crowd.members().iter();
        if members.any(|member| member.placement.is_some()) {
            Self::HELD
        } else {
            Self::FREE
        }
    }
}

impl CoarseStart {
    /// Checks that there are proxies, and that their scale is finite and not negative.
    ///
    /// # Errors
    /// [`ParameterError`] names the first that is impossible.
    pub fn check(&self) -> Result<(), ParameterError> {
        not_negative(&[("radius_scale", self.radius_scale)])?;
        if self.proxies == 0 {
            return Err(ParameterError {
                name: "proxies",
                allowed: "more than zero",
                value: 0.0,
            });
        }
        Ok(())
    }
}

/// What is put aside while molecules are coarse.
pub(super) struct Coarse {
    /// Proxies of each template.
    sets: Vec<Arc<ProxySet>>,
    /// The atoms.
    spheres: SphereSet,
    first_sphere: Vec<u32>,
    /// Iteration at which the atoms come back at the latest.
    until: u32,
}

impl Coarse {
    /// Proxies of one template's molecules, body frame, nm.
    pub(super) fn centers(&self, template: u32) -> &[glam::Vec3] {
        self.sets[template as usize].centers()
    }
}

impl Relaxer {
    /// Whether proxies stand for the molecules at present: then the status is theirs.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.coarse.is_some()
    }

    /// Puts proxies in the place of the atoms, if that was asked for.
    pub(super) fn begin_coarse(&mut self) -> Result<(), RelaxError> {
        let Some(start) = self.config.coarse.filter(|start| start.iterations > 0) else {
            return Ok(());
        };
        let sets = proxies(&self.crowd, start.proxies as usize)?;
        let radii = sets.iter().map(|set| set.radii().iter());
        let radii: Vec<Vec<f32>> = radii
            .map(|radii| radii.map(|r| r * start.radius_scale).collect())
            .collect();
        let members = self.crowd.members();
        let radii = self.order.iter().map(|&member| {
            let template = members[member as usize].template;
            &radii[template as usize][..]
        });
        let mut spheres = SphereSet::new();
        let mut first_sphere = Vec::new();
        spheres.lay_out(radii, &mut first_sphere)?;
        self.coarse = Some(Coarse {
            sets,
            spheres: std::mem::replace(&mut self.spheres, spheres),
            first_sphere: std::mem::replace(&mut self.first_sphere, first_sphere),
            until: self.iterations + start.iterations,
        });
        self.detect()?;
        self.end_coarse_if_due()
    }

    /// Brings the atoms back when the proxies have done what they can.
    pub(super) fn end_coarse_if_due(&mut self) -> Result<(), RelaxError> {
        let due = |coarse: &Coarse| self.iterations >= coarse.until || self.status.is_at_rest();
        if !self.coarse.as_ref().is_some_and(due) {
            return Ok(());
        }
        if let Some(coarse) = self.coarse.take() {
            self.spheres = coarse.spheres;
            self.first_sphere = coarse.first_sphere;
        }
        self.stall.restart();
        self.progress.restart();
        self.detect()
    }
}

/// Proxies of all templates of a crowd.
fn proxies(crowd: &Crowd, count: usize) -> Result<Vec<Arc<ProxySet>>, RelaxError> {
    let sets = crowd.templates().iter().map(|template| {
        let set = ProxySet::from_atoms(&**template, count, PROXY_SEED)?;
        Ok(Arc::new(set))
    });
    sets.collect()
}
