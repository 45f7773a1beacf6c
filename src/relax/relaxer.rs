//! The loop.

use std::ops::ControlFlow;
use std::time::Instant;

use super::adjust::kick_after;
use super::capacity::{CapacityWarning, capacity_warnings};
use super::coarse::Coarse;
use super::offload::Offload;
use super::order::spatial_order;
use super::stall::StallWatch;
use super::{RelaxConfig, RelaxError, RelaxReport, RelaxStatus, StageTimes, StopReason};
use crate::backend::Backend;
use crate::contact::ContactTable;
use crate::crowd::Crowd;
use crate::force::{Body, Push};
use crate::molecule::MoleculeTemplate;
use crate::search::{AutoGrid, PairBuffer, PairSearch};
use crate::spheres::SphereSet;

/// Relaxes a [`Crowd`]. See the [module](super) page.
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// // Two proteins, one halfway inside of the other.
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let mut crowd = Crowd::new();
/// let template = crowd.add_template(protein);
/// for position in [Vec3::ZERO, Vec3::X] {
///     let pose = Pose::from_translation(position);
///     crowd.add_member(CrowdMember { template, pose, placement: None })?;
/// }
/// let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
/// let report = relaxer.run(|_| ControlFlow::Continue(()))?;
/// assert_eq!((report.reason, report.end.overlaps), (StopReason::AtRest, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Relaxer {
    pub(super) crowd: Crowd,
    pub(super) config: RelaxConfig,
    pub(super) search: Box<dyn PairSearch>,
    /// Members in the order in which they are worked on: neighbors in space are
    /// neighbors in memory. Owner `k` of the spheres is member `order[k]`.
    pub(super) order: Vec<u32>,
    pub(super) first_sphere: Vec<u32>,
    pub(super) spheres: SphereSet,
    pub(super) pairs: PairBuffer,
    pub(super) contacts: ContactTable,
    pub(super) bodies: Vec<Body>,
    pub(super) pushes: Vec<Push>,
    pub(super) start: RelaxStatus,
    pub(super) status: RelaxStatus,
    pub(super) iterations: u32,
    /// Progress since the start: whether to give up.
    pub(super) stall: StallWatch,
    /// Progress since the last kick, and the iteration of that kick.
    pub(super) progress: StallWatch,
    pub(super) last_kick: u32,
    pub(super) stages: StageTimes,
    warnings: Vec<CapacityWarning>,
    /// What is put aside while proxies stand for the molecules.
    pub(super) coarse: Option<Coarse>,
    /// Who does the iterations, if not the processor.
    pub(super) offload: Option<Offload>,
    /// Why the processor does them after all.
    pub(super) fell_back: Option<String>,
}

impl Relaxer {
    /// Takes over `crowd` and looks for its overlaps with an [`AutoGrid`].
    ///
    /// # Errors
    /// [`RelaxError`] if there are too many atoms, or a parameter is impossible.
    pub fn new(crowd: Crowd, config: RelaxConfig) -> Result<Self, RelaxError> {
        Self::with_search(crowd, config, Box::new(AutoGrid::new()))
    }

    /// As [`new`](Self::new), with another search.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_search(
        crowd: Crowd,
        config: RelaxConfig,
        search: Box<dyn PairSearch>,
    ) -> Result<Self, RelaxError> {
        let mut relaxer = Self::unstarted(crowd, config)?;
        relaxer.search = search;
        relaxer.detect()?;
        relaxer.start = relaxer.status;
        // Who is at rest needs no coarse start.
        if !relaxer.start.is_at_rest() {
            relaxer.begin_coarse()?;
        }
        Ok(relaxer)
    }

    /// A relaxer that has not yet looked at its molecules.
    pub(super) fn unstarted(crowd: Crowd, config: RelaxConfig) -> Result<Self, RelaxError> {
        config.check()?;
        let warnings = capacity_warnings(&crowd);
        let order = spatial_order(crowd.members());
        let templates = order
            .iter()
            .map(|&member| crowd.template_of(&crowd.members()[member as usize]));
        let mut spheres = SphereSet::new();
        let mut first_sphere = Vec::new();
        spheres.lay_out(templates.map(MoleculeTemplate::radii), &mut first_sphere)?;
        let molecules = order.len();
        Ok(Self {
            crowd,
            config,
            search: Box::new(AutoGrid::new()),
            order,
            first_sphere,
            spheres,
            pairs: PairBuffer::new(),
            contacts: ContactTable::default(),
            bodies: vec![Body::default(); molecules],
            pushes: vec![Push::default(); molecules],
            start: RelaxStatus::default(),
            status: RelaxStatus::default(),
            iterations: 0,
            progress: StallWatch::new(kick_after(&config.law)),
            stall: StallWatch::new(config.stall_window),
            last_kick: 0,
            stages: StageTimes::default(),
            warnings,
            coarse: None,
            offload: None,
            fell_back: None,
        })
    }

    /// The molecules at their present poses. If these are on another device they are
    /// fetched, once an iteration.
    #[must_use]
    pub fn crowd(&self) -> &Crowd {
        self.present_crowd()
    }

    /// Gives the molecules back, at their present poses.
    #[must_use]
    pub fn into_crowd(mut self) -> Crowd {
        // What cannot be done again after a failure leaves the last poses that were good.
        let _ = self.sync();
        self.crowd
    }

    /// How each molecule was moved in the last iteration, in the order of the crowd.
    ///
    /// # Errors
    /// As [`step`](Self::step), if a device failed and its work cannot be done again.
    pub fn pushes(&mut self) -> Result<Vec<Push>, RelaxError> {
        self.sync()?;
        let mut pushes = vec![Push::default(); self.pushes.len()];
        for (&member, &push) in self.order.iter().zip(&self.pushes) {
            pushes[member as usize] = push;
        }
        Ok(pushes)
    }

    /// Who does the iterations now.
    #[must_use]
    pub fn backend(&self) -> Backend {
        match self.offload {
            Some(_) => Backend::Gpu,
            None => Backend::Cpu,
        }
    }

    /// The device that does the iterations, if it is not the processor.
    #[must_use]
    pub fn adapter(&self) -> Option<&str> {
        self.offload.as_ref().map(|offload| &*offload.adapter)
    }

    /// Why the processor does what another device was to do.
    #[must_use]
    pub fn fell_back(&self) -> Option<&str> {
        self.fell_back.as_deref()
    }

    /// How the crowd is doing at its present poses.
    #[must_use]
    pub fn status(&self) -> RelaxStatus {
        self.status
    }

    /// How the crowd was doing at the start.
    #[must_use]
    pub fn start_status(&self) -> RelaxStatus {
        self.start
    }

    /// Surfaces that have more molecules than they can hold.
    #[must_use]
    pub fn warnings(&self) -> &[CapacityWarning] {
        &self.warnings
    }

    /// Iterations done.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Time spent in each stage so far. What another device did is added whenever poses
    /// come back, every few iterations and at the end of a run.
    #[must_use]
    pub fn stages(&self) -> StageTimes {
        self.stages
    }

    /// One iteration: respond to the contacts, apply, and look for contacts again.
    ///
    /// # Errors
    /// [`RelaxError::Diverged`] if a molecule left the finite world; the poses are
    /// then those before the iteration.
    pub fn step(&mut self) -> Result<RelaxStatus, RelaxError> {
        if self.offload.is_some()
            && let Some(outcome) = self.step_on_engine()
        {
            return outcome;
        }
        self.step_on_processor()
    }

    /// Whether there was no progress in the last [`stall_window`] iterations.
    ///
    /// [`stall_window`]: RelaxConfig::stall_window
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stall.is_stalled()
    }

    /// Iterates until the crowd is at rest or a stop criterion is met. `watch` is
    /// called before the first and after each iteration, and may break off.
    ///
    /// A crowd that diverges is a reason to stop, with a report; its poses are the
    /// last good ones.
    ///
    /// # Errors
    /// [`RelaxError`] if the molecules cannot be searched, or touch too often.
    pub fn run(
        &mut self,
        mut watch: impl FnMut(&Self) -> ControlFlow<()>,
    ) -> Result<RelaxReport, RelaxError> {
        let begin = Instant::now();
        let reason = loop {
            let stop = watch(self).is_break();
            if self.status.is_at_rest() {
                break StopReason::AtRest;
            }
            if stop {
                break StopReason::Interrupted;
            }
            if self.iterations >= self.config.max_iterations {
                break StopReason::MaxIterations;
            }
            if self
                .config
                .max_time
                .is_some_and(|most| begin.elapsed() >= most)
            {
                break StopReason::MaxTime;
            }
            if self.is_stalled() {
                break StopReason::Stalled;
            }
            match self.step() {
                Err(RelaxError::Diverged { .. }) => break StopReason::Diverged,
                outcome => outcome?,
            };
        };
        self.sync()?;
        Ok(RelaxReport {
            iterations: self.iterations,
            reason,
            start: self.start,
            end: self.status,
            elapsed: begin.elapsed(),
            stages: self.stages,
            backend: self.backend(),
            adapter: self.adapter().map(str::to_owned),
            fell_back: self.fell_back.clone(),
        })
    }
}
