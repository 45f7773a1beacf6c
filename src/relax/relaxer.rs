//! The loop.

use std::ops::ControlFlow;
use std::time::Instant;

use rayon::prelude::*;
use thiserror::Error;

use super::capacity::{CapacityWarning, capacity_warnings};
use super::order::spatial_order;
use super::response::Response;
use super::stall::StallWatch;
use super::{ReactionLaw, RelaxConfig, RelaxReport, RelaxStatus, StageTimes, StopReason};
use crate::contact::{ContactError, ContactTable};
use crate::crowd::Crowd;
use crate::force::{Body, ParameterError, Push};
use crate::molecule::MoleculeTemplate;
use crate::search::{PairBuffer, PairSearch, SearchError, UniformGrid};
use crate::spheres::{SphereError, SphereSet};

/// Molecules that one task answers for: fixed, so that nothing depends on threads.
const MOLECULES_PER_TASK: usize = 64;

/// How much further than the clearance contacts are parted, nm.
///
/// Corrections approach their goal and never get there; with the goal a little
/// beyond what is asked for, they get there in finite time.
const OVERSHOOT_NM: f32 = 2.0e-3;

/// Longest push that still counts as a step, nm: a millimetre. Beyond it the law has
/// lost its mind, even if the numbers are finite.
const MAX_PUSH_NM: f32 = 1.0e6;

/// Largest turn that still counts as a step, radian: a hundred times round.
const MAX_TURN: f32 = 628.0;

/// Why a relaxation cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum RelaxError {
    /// The molecules cannot be searched for contacts.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A parameter of the law cannot be.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// There are more contacts than can be handled.
    #[error(transparent)]
    Contacts(#[from] ContactError),
    /// The clearance is negative, or not a number.
    #[error("the clearance must not be negative or infinite, and is {clearance} nm")]
    BadClearance {
        /// The clearance that was given, nm.
        clearance: f32,
    },
    /// A step threw a molecule out of the world: step sizes are too large.
    #[error(
        "molecule {molecule} was thrown out of the world in iteration {iteration}: the step sizes are too large"
    )]
    Diverged {
        /// Index of the molecule.
        molecule: usize,
        /// The iteration that did it.
        iteration: u32,
    },
}

impl From<SphereError> for RelaxError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}

/// Relaxes a [`Crowd`]. See the [module](super) page.
pub struct Relaxer {
    crowd: Crowd,
    config: RelaxConfig,
    search: Box<dyn PairSearch>,
    /// Members in the order in which they are worked on: neighbours in space are
    /// neighbours in memory. Owner `k` of the spheres is member `order[k]`.
    order: Vec<u32>,
    first_sphere: Vec<u32>,
    spheres: SphereSet,
    pairs: PairBuffer,
    contacts: ContactTable,
    bodies: Vec<Body>,
    pushes: Vec<Push>,
    start: RelaxStatus,
    status: RelaxStatus,
    iterations: u32,
    /// Progress since the start: whether to give up.
    stall: StallWatch,
    /// Progress since the last kick, and the iteration of that kick.
    progress: StallWatch,
    last_kick: u32,
    stages: StageTimes,
    warnings: Vec<CapacityWarning>,
}

impl Relaxer {
    /// Takes over `crowd` and looks for its overlaps with a [`UniformGrid`].
    ///
    /// # Errors
    /// [`RelaxError`] if there are too many atoms, or a parameter is impossible.
    pub fn new(crowd: Crowd, config: RelaxConfig) -> Result<Self, RelaxError> {
        Self::with_search(crowd, config, Box::new(UniformGrid::new()))
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
        if !(config.clearance.is_finite() && config.clearance >= 0.0) {
            return Err(RelaxError::BadClearance {
                clearance: config.clearance,
            });
        }
        config.law.check()?;
        let kick_after = match config.law {
            ReactionLaw::Projection(parameters) => parameters.kick_after,
            ReactionLaw::Thesis(_) => 0,
        };
        let warnings = capacity_warnings(&crowd);
        let order = spatial_order(crowd.members());
        let templates = order
            .iter()
            .map(|&member| crowd.template_of(&crowd.members()[member as usize]));
        let mut spheres = SphereSet::new();
        spheres.lay_out(templates.clone().map(MoleculeTemplate::radii))?;
        let molecules = order.len();
        let mut first_sphere = Vec::with_capacity(molecules + 1);
        let mut sum = 0;
        first_sphere.push(0);
        for template in templates {
            sum += template.atom_count() as u32;
            first_sphere.push(sum);
        }
        let mut relaxer = Self {
            crowd,
            config,
            search,
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
            progress: StallWatch::new(kick_after),
            stall: StallWatch::new(config.stall_window),
            last_kick: 0,
            stages: StageTimes::default(),
            warnings,
        };
        relaxer.detect()?;
        relaxer.start = relaxer.status;
        Ok(relaxer)
    }

    /// The molecules at their present poses.
    #[must_use]
    pub fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// Gives the molecules back.
    #[must_use]
    pub fn into_crowd(self) -> Crowd {
        self.crowd
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

    /// Time spent in each stage so far.
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
        self.respond()?;
        self.apply()?;
        self.iterations += 1;
        self.detect()?;
        self.stall.look(&self.status);
        self.progress.look(&self.status);
        if self.progress.is_stalled() {
            self.last_kick = self.iterations;
            self.progress.restart();
        }
        Ok(self.status)
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
        Ok(RelaxReport {
            iterations: self.iterations,
            reason,
            start: self.start,
            end: self.status,
            elapsed: begin.elapsed(),
            stages: self.stages,
        })
    }

    /// Gap that contacts are parted to, nm.
    fn gap(&self) -> f32 {
        match self.config.law {
            // As in the thesis: no further than asked for.
            ReactionLaw::Thesis(_) => self.config.clearance,
            ReactionLaw::Projection(_) => self.config.clearance + OVERSHOOT_NM,
        }
    }

    /// Gathers the atoms, finds the contacts, and takes stock.
    fn detect(&mut self) -> Result<(), RelaxError> {
        let begin = Instant::now();
        let (crowd, order) = (&self.crowd, &self.order);
        self.spheres.place(&self.first_sphere, |owner| {
            let member = &crowd.members()[order[owner] as usize];
            (crowd.template_of(member).positions(), member.pose)
        });
        self.stages.gather += begin.elapsed();

        let times = self
            .search
            .find_pairs(&self.spheres, self.gap(), &mut self.pairs)?;
        self.stages.grid += times.build;
        self.stages.search += times.walk;

        let begin = Instant::now();
        self.status = self.take_stock();
        self.stages.respond += begin.elapsed();
        Ok(())
    }

    fn take_stock(&self) -> RelaxStatus {
        let (spheres, clearance) = (&self.spheres, self.config.clearance);
        let mut status = self
            .pairs
            .lists()
            .par_iter()
            .map(|list| {
                let mut status = RelaxStatus::default();
                for pair in list {
                    let (a, b) = (pair.a as usize, pair.b as usize);
                    let reach = spheres.radius(a) + spheres.radius(b);
                    let gap = spheres.centre(a).distance(spheres.centre(b)) - reach;
                    status.unresolved += u64::from(gap < clearance);
                    status.overlaps += u64::from(gap < 0.0);
                    status.max_penetration_nm = status.max_penetration_nm.max(-gap);
                }
                status
            })
            .reduce(RelaxStatus::default, |a, b| RelaxStatus {
                overlaps: a.overlaps + b.overlaps,
                unresolved: a.unresolved + b.unresolved,
                max_penetration_nm: a.max_penetration_nm.max(b.max_penetration_nm),
                out_of_place: 0,
            });
        let crowd = &self.crowd;
        status.out_of_place = crowd
            .members()
            .par_chunks(MOLECULES_PER_TASK)
            .map(|members| {
                let strays = members.iter().filter(|member| {
                    crowd
                        .place_of(member)
                        .is_some_and(|(compartment, placement)| {
                            let deviation = placement.deviation(compartment, &member.pose);
                            !deviation.is_in_place(placement)
                        })
                });
                strays.count() as u64
            })
            .sum();
        status
    }

    /// Sums up each molecule's contacts and springs.
    fn respond(&mut self) -> Result<(), RelaxError> {
        let begin = Instant::now();
        let crowd = &self.crowd;
        self.contacts
            .build(&self.spheres, &self.pairs, crowd.members().len())?;
        self.bodies
            .par_chunks_mut(MOLECULES_PER_TASK)
            .zip(self.order.par_chunks(MOLECULES_PER_TASK))
            .for_each(|(bodies, order)| {
                for (body, &member) in bodies.iter_mut().zip(order) {
                    let member = &crowd.members()[member as usize];
                    *body = Body::new(crowd.template_of(member), &member.pose);
                }
            });
        let response = Response {
            crowd,
            order: &self.order,
            spheres: &self.spheres,
            contacts: &self.contacts,
            bodies: &self.bodies,
            law: &self.config.law,
            centre_weight: self.centre_weight(),
            gap: self.gap(),
        };
        self.pushes
            .par_chunks_mut(MOLECULES_PER_TASK)
            .enumerate()
            .for_each(|(task, pushes)| {
                for (k, push) in pushes.iter_mut().enumerate() {
                    // The old push is still there: its momentum goes into the new one.
                    *push = response.push(task * MOLECULES_PER_TASK + k, push);
                }
            });
        self.stages.respond += begin.elapsed();
        Ok(())
    }

    fn centre_weight(&self) -> f32 {
        let ReactionLaw::Projection(parameters) = self.config.law else {
            return 0.0;
        };
        parameters.centre_weight_after(self.iterations - self.last_kick)
    }

    /// Moves the molecules, all or none.
    fn apply(&mut self) -> Result<(), RelaxError> {
        let begin = Instant::now();
        let pushed = self.order.iter().zip(&self.pushes);
        let members = self.crowd.members();
        for (&member, push) in pushed.clone() {
            let sane = push.linear.length() <= MAX_PUSH_NM && push.angular.length() <= MAX_TURN;
            if !sane || !push.apply(&members[member as usize].pose).is_finite() {
                return Err(RelaxError::Diverged {
                    molecule: member as usize,
                    iteration: self.iterations,
                });
            }
        }
        let members = self.crowd.members_mut();
        for (&member, push) in pushed {
            let pose = &mut members[member as usize].pose;
            *pose = push.apply(pose);
        }
        self.stages.apply += begin.elapsed();
        Ok(())
    }
}
