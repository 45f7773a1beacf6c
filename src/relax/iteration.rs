//! An iteration on the processor.

use std::time::Instant;

use rayon::prelude::*;

use super::response::Response;
use super::{ReactionLaw, RelaxError, RelaxStatus, Relaxer};
use crate::force::Body;
use crate::pool::in_pool;

/// Molecules that one task answers for: fixed, so that nothing depends on threads.
const MOLECULES_PER_TASK: usize = 64;

/// How much further than the clearance contacts are parted, nm.
///
/// Corrections approach their goal and never get there; with the goal a little
/// beyond what is asked for, they get there in finite time.
const OVERSHOOT_NM: f32 = 2.0e-3;

/// Longest push that still counts as a step, nm: a millimeter. Beyond it the law has
/// lost its mind, even if the numbers are finite.
pub(crate) const MAX_PUSH_NM: f32 = 1.0e6;

/// Largest turn that still counts as a step, radian: a hundred times round.
pub(crate) const MAX_TURN: f32 = 628.0;

impl Relaxer {
    /// Respond, apply, and look again.
    pub(super) fn step_on_processor(&mut self) -> Result<RelaxStatus, RelaxError> {
        in_pool(|| {
            self.respond()?;
            self.apply()?;
            self.iterations += 1;
            self.detect()?;
            self.end_coarse_if_due()?;
            self.watch_progress();
            Ok(self.status)
        })
    }

    /// Looks at what an iteration has reached, and kicks if that is too little.
    pub(super) fn watch_progress(&mut self) {
        self.stall.look(&self.status);
        self.progress.look(&self.status);
        if self.progress.is_stalled() {
            self.last_kick = self.iterations;
            self.progress.restart();
        }
    }

    /// Gap that contacts are parted to, nm.
    pub(super) fn gap(&self) -> f32 {
        match self.config.law {
            // As in the thesis: no further than asked for.
            ReactionLaw::Thesis(_) => self.config.clearance,
            ReactionLaw::Projection(_) => self.config.clearance + OVERSHOOT_NM,
        }
    }

    /// Writes the atoms, or what stands for them, at the present poses.
    pub(super) fn gather(&mut self) {
        let begin = Instant::now();
        let (crowd, order, coarse) = (&self.crowd, &self.order, &self.coarse);
        self.spheres.place(&self.first_sphere, |owner| {
            let member = &crowd.members()[order[owner] as usize];
            let centers = match coarse {
                Some(coarse) => coarse.centers(member.template),
                None => crowd.template_of(member).positions(),
            };
            (centers, member.pose)
        });
        self.stages.gather += begin.elapsed();
    }

    /// Gathers the atoms, finds the contacts, and takes stock.
    pub(super) fn detect(&mut self) -> Result<(), RelaxError> {
        self.gather();
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
                    let gap = pair.gap(spheres);
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
                        .placement_of(member)
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
            center_weight: self.center_weight(0),
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

    /// Weight of the direction between centers, some iterations `ahead`.
    pub(super) fn center_weight(&self, ahead: u32) -> f32 {
        let ReactionLaw::Projection(parameters) = self.config.law else {
            return 0.0;
        };
        parameters.center_weight_after(self.iterations + ahead - self.last_kick)
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
