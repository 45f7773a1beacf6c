//! Coarse start: the first iterations run with a few proxies per molecule.
//!
//! At the start, molecules interpenetrate and are pushed apart as a whole, so the positions of
//! single atoms do not matter. Proxies do the same at a fraction of the cost.
//!
//! Molecules without a placement can move apart for proxies of full size, after which almost no
//! atoms touch. Molecules with a placement cannot: the rim of their proxies is mostly empty, so
//! they get much smaller proxies.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{RelaxError, Relaxer};
use crate::crowd::Crowd;
use crate::force::{ParameterError, not_negative};
use crate::proxy::{PROXY_SEED, ProxySet};
use crate::search::RigidSpheres;

/// Proxies that replace the atoms in the first iterations on the CPU; see
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
/// assert_eq!(coarse, Some(CoarseStart::FREE), "no placements");
/// let mut relaxer = Relaxer::new(crowd, RelaxConfig { coarse, ..RelaxConfig::default() })?;
/// assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoarseStart {
    /// Proxies per molecule.
    pub proxies: u32,
    /// Factor on the radii of the proxies, which enclose their atoms.
    pub radius_scale: f32,
    /// Maximum number of iterations; fewer if the proxies come to rest.
    pub iterations: u32,
}

impl CoarseStart {
    /// For molecules without placements: proxies of full size.
    ///
    /// Measured with 15, 20, 30 and 60 coarse iterations on four boxes of 200 proteins: 30
    /// need the fewest iterations in total, since almost no atoms touch afterwards.
    pub const FREE: Self = Self {
        proxies: 17,
        radius_scale: 1.0,
        iterations: 30,
    };

    /// For molecules with placements: small proxies.
    ///
    /// Measured on 12 vesicles of 620 lipids: scales of 0.3 and 0.5, or 30 iterations, need more
    /// iterations in the median than atoms alone; these values need fewer.
    pub const PLACED: Self = Self {
        proxies: 17,
        radius_scale: 0.4,
        iterations: 20,
    };

    /// [`PLACED`](Self::PLACED) if a molecule of the crowd has a placement, else
    /// [`FREE`](Self::FREE).
    #[must_use]
    pub fn for_crowd(crowd: &Crowd) -> Self {
        let mut members = crowd.members().iter();
        if members.any(|member| member.placement.is_some()) {
            Self::PLACED
        } else {
            Self::FREE
        }
    }

    /// Checks that there are proxies, and that their scale is finite and not negative.
    ///
    /// # Errors
    /// [`ParameterError`] names the first invalid parameter.
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

/// A coarse start under way.
pub(super) struct CoarsePhase {
    /// Proxies of each template.
    shapes: Vec<Arc<RigidSpheres>>,
    /// Iteration at which the atoms return at the latest.
    end: u32,
}

impl CoarsePhase {
    /// The proxies of each template.
    pub(super) fn shapes(&self) -> &Vec<Arc<RigidSpheres>> {
        &self.shapes
    }

    /// Iteration at which the atoms return at the latest.
    pub(super) fn end(&self) -> u32 {
        self.end
    }
}

impl Relaxer {
    /// Whether proxies replace the atoms in the current iteration. The status then counts
    /// proxies.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.coarse.is_some()
    }

    /// Replaces the atoms by proxies if the config asks for it and they fit into the periodic box.
    pub(super) fn begin_coarse(&mut self) -> Result<(), RelaxError> {
        let Some(start) = self.config.coarse.filter(|start| start.iterations > 0) else {
            return Ok(());
        };
        let coarse = CoarsePhase {
            shapes: proxies(&self.crowd, &start)?,
            end: self.iterations + start.iterations,
        };
        if !self.fits_into_box(&coarse) {
            return Ok(());
        }
        self.coarse = Some(coarse);
        self.set_molecules()?;
        self.detect()?;
        self.end_coarse_if_due()
    }

    /// Replaces the atoms by proxies until `end` at the latest, as they were at a checkpoint.
    pub(super) fn continue_coarse(&mut self, end: u32) -> Result<(), RelaxError> {
        let Some(start) = &self.config.coarse else {
            return Ok(());
        };
        let shapes = proxies(&self.crowd, start)?;
        self.coarse = Some(CoarsePhase { shapes, end });
        self.set_molecules()
    }

    /// Restores the atoms if proxies do not fit into the periodic box with the current clearance.
    pub(super) fn end_coarse_if_too_large(&mut self) -> Result<(), RelaxError> {
        let coarse = self.coarse.take();
        self.coarse = coarse.filter(|coarse| self.fits_into_box(coarse));
        self.set_molecules()
    }

    /// Whether no proxies are close enough to their own images to touch them. Proxies enclose their
    /// atoms, so they may do so in a box that is large enough for the atoms.
    fn fits_into_box(&self, coarse: &CoarsePhase) -> bool {
        let Some(periodic) = self.crowd.periodic_box() else {
            return true;
        };
        let radii = coarse.shapes.iter().map(|shape| shape.bounding_radius());
        2.0 * radii.fold(0.0, f32::max) + self.gap() <= periodic.size().min_element()
    }

    /// Restores the atoms when the coarse start is over.
    pub(super) fn end_coarse_if_due(&mut self) -> Result<(), RelaxError> {
        let due = |coarse: &CoarsePhase| self.iterations >= coarse.end || self.status.is_at_rest();
        if !self.coarse.as_ref().is_some_and(due) {
            return Ok(());
        }
        self.coarse = None;
        self.set_molecules()?;
        self.stall.restart();
        self.progress.restart();
        self.detect()
    }
}

/// Proxies of all templates of a crowd.
fn proxies(crowd: &Crowd, start: &CoarseStart) -> Result<Vec<Arc<RigidSpheres>>, RelaxError> {
    let sets = crowd.templates().iter().map(|template| {
        let set = ProxySet::from_atoms(&**template, start.proxies as usize, PROXY_SEED)?;
        let radii = set.radii().iter().map(|radius| radius * start.radius_scale);
        let spheres = set.centers().iter().copied().zip(radii);
        Ok(Arc::new(RigidSpheres::new(spheres)?))
    });
    sets.collect()
}
