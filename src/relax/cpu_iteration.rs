//! One iteration on the CPU.

use std::time::Instant;

use rayon::prelude::*;

use super::response::Response;
use super::{CountedSpheres, ReactionLaw, RelaxError, RelaxStatus, Relaxer};
use crate::force::Body;
use crate::pool::in_pool;

/// Molecules per task: fixed, so that results do not depend on the number of threads.
const MOLECULES_PER_TASK: usize = 64;

/// Contacts are pushed apart to the clearance plus this, nm.
///
/// Corrections converge to their target without reaching it. With a target slightly beyond
/// the clearance, they reach the clearance in finite time.
const OVERSHOOT_NM: f32 = 2.0e-3;

/// Maximum length of a push, nm: a millimeter. A longer push means that the iteration has
/// diverged.
pub(crate) const MAX_PUSH_NM: f32 = 1.0e6;

/// Maximum angle of a push, radian: a hundred revolutions.
pub(crate) const MAX_TURN: f32 = 628.0;

impl Relaxer {
    /// Responds, applies, and detects again.
    pub(super) fn step_on_cpu(&mut self) -> Result<RelaxStatus, RelaxError> {
        in_pool(|| {
            self.respond()?;
            self.apply()?;
            self.iterations += 1;
            self.detect()?;
            self.end_coarse_if_due()?;
            self.update_progress();
            Ok(self.status)
        })
    }

    /// Updates the stall detectors, and kicks after too little progress.
    pub(super) fn update_progress(&mut self) {
        self.stall.update(&self.status);
        self.progress.update(&self.status);
        if self.progress.is_stalled() {
            self.last_kick = self.iterations;
            self.progress.restart();
        }
    }

    /// Gap to which contacts are pushed apart, nm.
    pub(super) fn gap(&self) -> f32 {
        match self.config.law {
            // As in the thesis: no further than the clearance.
            ReactionLaw::Thesis(_) => self.config.clearance,
            ReactionLaw::Projection(_) => self.config.clearance + OVERSHOOT_NM,
        }
    }

    /// Places the atoms or proxies at the current poses.
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

    /// Gathers the spheres, finds the contacts, and updates the status.
    pub(super) fn detect(&mut self) -> Result<(), RelaxError> {
        self.gather();
        let times = self
            .search
            .find_pairs(&self.spheres, self.gap(), &mut self.pairs)?;
        self.stages.grid += times.build;
        self.stages.search += times.walk;

        let begin = Instant::now();
        self.status = self.count_status();
        self.stages.respond += begin.elapsed();
        Ok(())
    }

    fn count_status(&self) -> RelaxStatus {
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
                ..RelaxStatus::default()
            });
        if self.is_coarse() {
            status.spheres = CountedSpheres::Proxies;
        }
        let crowd = &self.crowd;
        status.out_of_place = crowd
            .members()
            .par_chunks(MOLECULES_PER_TASK)
            .map(|members| {
                let outside = members.iter().filter(|member| {
                    crowd
                        .placement_of(member)
                        .is_some_and(|(compartment, placement)| {
                            let deviation = placement.deviation(compartment, &member.pose);
                            !deviation.is_in_place(placement)
                        })
                });
                outside.count() as u64
            })
            .sum();
        status
    }

    /// Sums the contacts and springs of each molecule.
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
                    // The last push is the heavy-ball term of the new one.
                    *push = response.push(task * MOLECULES_PER_TASK + k, push);
                }
            });
        self.stages.respond += begin.elapsed();
        Ok(())
    }

    /// Weight of the direction between centers, `ahead` iterations from now.
    pub(super) fn center_weight(&self, ahead: u32) -> f32 {
        let ReactionLaw::Projection(parameters) = self.config.law else {
            return 0.0;
        };
        parameters.center_weight_after(self.iterations + ahead - self.last_kick)
    }

    /// Moves all molecules, or none if one would move out of range.
    fn apply(&mut self) -> Result<(), RelaxError> {
        let begin = Instant::now();
        let pushed = self.order.iter().zip(&self.pushes);
        let members = self.crowd.members();
        for (&member, push) in pushed.clone() {
            let in_range = push.linear.length() <= MAX_PUSH_NM && push.angular.length() <= MAX_TURN;
            if !in_range || !push.apply(&members[member as usize].pose).is_finite() {
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
