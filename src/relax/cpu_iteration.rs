//! One iteration on the CPU.

use std::time::Instant;

use rayon::prelude::*;

use super::coarse_start::CoarsePhase;
use super::contact_sums::{ContactResponse, PartSums, SumsConfig};
use super::response::Response;
use super::{CountedSpheres, ReactionLaw, RelaxConfig, RelaxError, RelaxStatus, Relaxer};
use crate::force::{Body, MAX_PUSH_NM, MAX_TURN, Push, thesis_spring};
use crate::pool::in_pool;
use crate::search::{FoundPairs, FoundPairsSink};

/// Molecules per task: fixed, so that results do not depend on the number of threads.
const MOLECULES_PER_TASK: usize = 64;

/// Contacts are pushed apart to the clearance plus this, nm.
///
/// Corrections converge to their target without reaching it. With a target slightly beyond
/// the clearance, they reach the clearance in finite time.
const OVERSHOOT_NM: f32 = 2.0e-3;

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
            if self.local.take().is_some() {
                self.sums_config = None;
            }
        }
    }

    /// Gap to which contacts are pushed apart, nm.
    pub(super) fn gap(&self) -> f32 {
        gap_of(&self.config)
    }

    /// Places the atoms or proxies in the world, for a search over all of them.
    pub(super) fn gather(&mut self) -> Result<(), RelaxError> {
        let begin = Instant::now();
        let (crowd, order, coarse) = (&self.crowd, &self.order, &self.coarse);
        let members = crowd.members();
        let shapes = coarse.as_ref().map_or(&self.shapes, CoarsePhase::shapes);
        let shape = |owner: usize| &shapes[members[order[owner] as usize].template as usize];
        if self.first_sphere.len() != order.len() + 1 {
            let radii = (0..order.len()).map(|owner| shape(owner).radii());
            self.spheres.lay_out(radii, &mut self.first_sphere)?;
        }
        self.spheres.place(&self.first_sphere, |owner| {
            (shape(owner).centers(), members[order[owner] as usize].pose)
        });
        self.stages.gather += begin.elapsed();
        Ok(())
    }

    /// Passes the current molecules to the search.
    pub(super) fn set_molecules(&mut self) -> Result<(), RelaxError> {
        self.first_sphere.clear();
        let members = self.crowd.members();
        let coarse = self.coarse.as_ref();
        let shapes = coarse.map_or(&self.shapes, CoarsePhase::shapes);
        let molecules = self
            .order
            .iter()
            .map(|&member| shapes[members[member as usize].template as usize].clone());
        self.molecules.set_molecules(molecules)?;
        self.molecules.set_periodic_box(self.crowd.periodic_box());
        Ok(())
    }

    /// Finds the contacts, sums their corrections, and updates the status.
    pub(super) fn detect(&mut self) -> Result<(), RelaxError> {
        if let (Some(search), Some(_)) = (&self.search, self.crowd.periodic_box()) {
            let search = search.name();
            return Err(RelaxError::PeriodicSearch { search });
        }
        self.place_bodies();
        if self.search.is_some() {
            self.gather()?;
        }
        let (crowd, order) = (&self.crowd, &self.order);
        let response = ContactResponse {
            bodies: &self.bodies,
            law: &self.config.law,
            center_weight: self.center_weight(0),
            gap: self.gap(),
            clearance: self.config.clearance,
        };
        let sums_config = SumsConfig {
            law: self.config.law,
            clearance: self.config.clearance,
            center_weight: self.local.is_none().then_some(response.center_weight),
            by_molecules: self.search.is_none(),
        };
        // Sums of molecules that have not moved stay valid if nothing else has changed either.
        let keep_unmoved = self.sums_config.replace(sums_config) == Some(sums_config);
        let parts = &mut self.contacts.parts;
        let times = match &mut self.search {
            None => {
                let pose = |owner: usize| crowd.members()[order[owner] as usize].pose;
                let sink = FoundPairsSink {
                    parts,
                    keep_unmoved: |_: &PartSums| keep_unmoved,
                    with_centers: true,
                    clear: PartSums::clear,
                    // A sum does not tell what two molecules contributed.
                    repeat: |_: &mut PartSums, _| false,
                    receive: |part: &mut PartSums, found: &FoundPairs<'_>| {
                        part.add(found, &response);
                    },
                };
                self.molecules.find(pose, response.gap, sink)?
            }
            Some(search) => {
                let times = search.find_pairs(&self.spheres, response.gap, &mut self.pairs)?;
                parts.resize_with(1, PartSums::default);
                parts[0].clear();
                self.by_molecules
                    .visit(&self.spheres, &self.pairs, |found| {
                        parts[0].add(found, &response);
                    });
                times
            }
        };
        self.stages.grid += times.build;
        self.stages.search += times.walk;

        let begin = Instant::now();
        let out_of_place = self.place_springs();
        self.status = RelaxStatus {
            spheres: if self.is_coarse() {
                CountedSpheres::Proxies
            } else {
                CountedSpheres::Atoms
            },
            out_of_place,
            ..self.contacts.status()
        };
        self.mark_moving();
        self.stages.respond += begin.elapsed();
        Ok(())
    }

    /// Computes mass, inertia and center of each owner at its pose.
    fn place_bodies(&mut self) {
        let begin = Instant::now();
        let crowd = &self.crowd;
        self.bodies
            .par_chunks_mut(MOLECULES_PER_TASK)
            .zip(self.order.par_chunks(MOLECULES_PER_TASK))
            .for_each(|(bodies, order)| {
                for (body, &member) in bodies.iter_mut().zip(order) {
                    let member = &crowd.members()[member as usize];
                    *body = if member.fixed {
                        Body {
                            center: member.pose.position,
                            ..Body::default()
                        }
                    } else {
                        Body::new(crowd.template_of(member), &member.pose)
                    };
                }
            });
        self.stages.gather += begin.elapsed();
    }

    /// Computes the springs of each owner at its pose; returns how many exceed their leeways.
    fn place_springs(&mut self) -> u64 {
        let (crowd, law) = (&self.crowd, &self.config.law);
        self.springs
            .par_chunks_mut(MOLECULES_PER_TASK)
            .zip(self.order.par_chunks(MOLECULES_PER_TASK))
            .map(|(springs, order)| {
                let mut out_of_place = 0;
                for (spring, &member) in springs.iter_mut().zip(order) {
                    let member = &crowd.members()[member as usize];
                    let place = crowd.confinement_of(member).filter(|_| !member.fixed);
                    let Some((compartment, confinement)) = place else {
                        continue;
                    };
                    let template = crowd.template_of(member);
                    let excess = confinement.excess(compartment, template, &member.pose);
                    out_of_place += u64::from(!excess.is_in_place());
                    *spring = match law {
                        ReactionLaw::Thesis(steps) => thesis_spring(&excess, steps),
                        ReactionLaw::Projection(parameters) => parameters.spring(&excess),
                    };
                }
                out_of_place
            })
            .sum()
    }

    /// Sums the contacts and springs of each molecule.
    fn respond(&mut self) -> Result<(), RelaxError> {
        let weight = self.center_weight(0);
        let is_outdated = |made_with: f32| made_with != weight;
        if self
            .sums_config
            .is_none_or(|sums| sums.center_weight.is_some_and(is_outdated))
        {
            // There was a kick after the sums were made.
            self.detect()?;
        }
        let begin = Instant::now();
        self.contacts.sort(self.order.len());
        let response = Response {
            contacts: &self.contacts,
            springs: &self.springs,
            law: &self.config.law,
        };
        let (bodies, local, iteration) = (&self.bodies, &self.local, self.iterations);
        let rests = |owner: usize| {
            let local = local.as_ref();
            bodies[owner].is_fixed() || local.is_some_and(|local| !local.moves(owner, iteration))
        };
        self.pushes
            .par_chunks_mut(MOLECULES_PER_TASK)
            .enumerate()
            .for_each(|(task, pushes)| {
                for (k, push) in pushes.iter_mut().enumerate() {
                    let owner = task * MOLECULES_PER_TASK + k;
                    *push = if rests(owner) {
                        Push::default()
                    } else {
                        response.push(owner, push)
                    };
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
        let members = self.crowd.members();
        let first_out = self
            .next_poses
            .par_iter_mut()
            .zip(&self.pushes)
            .zip(&self.order)
            .with_min_len(MOLECULES_PER_TASK)
            .enumerate()
            .filter_map(|(owner, ((next, push), &member))| {
                *next = push.apply(&members[member as usize].pose);
                let valid = is_in_range(push) && next.is_finite();
                (!valid).then_some(owner)
            })
            .min();
        if let Some(owner) = first_out {
            return Err(RelaxError::Diverged {
                molecule: self.order[owner] as usize,
                iteration: self.iterations,
            });
        }
        let members = self.crowd.members_mut();
        for (&member, pose) in self.order.iter().zip(&self.next_poses) {
            members[member as usize].pose = *pose;
        }
        self.stages.apply += begin.elapsed();
        Ok(())
    }
}

/// Gap to which contacts are pushed apart, nm.
pub(super) fn gap_of(config: &RelaxConfig) -> f32 {
    match config.law {
        // As in the thesis: no further than the clearance.
        ReactionLaw::Thesis(_) => config.clearance,
        ReactionLaw::Projection(_) => config.clearance + OVERSHOOT_NM,
    }
}

/// Whether a push is short enough to apply; false for NaN.
fn is_in_range(push: &Push) -> bool {
    push.linear.length() <= MAX_PUSH_NM && push.angular.length() <= MAX_TURN
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{Quat, Vec3};

    use super::*;
    use crate::crowd::{Crowd, CrowdMember};
    use crate::force::Projection;
    use crate::molecule::{Atom, Element, MoleculeTemplate, Residue};
    use crate::pose::Pose;

    /// Rods in rows, some of which overlap.
    fn rods() -> Crowd {
        let atoms = (0..5).map(|k| Atom {
            position: Vec3::Y * (0.15 * k as f32),
            radius: 0.1,
            element: Element::C,
            name: "C".into(),
            residue: 0,
        });
        let rod = MoleculeTemplate::new("rod", atoms.collect(), vec![Residue::default()]).unwrap();
        let mut crowd = Crowd::new();
        let template = crowd.add_template(Arc::new(rod));
        for k in 0..120 {
            // The rows are closer and closer.
            let (row, column) = (k / 12, k % 12);
            let gap = 0.26 - 0.015 * row as f32;
            let pose = Pose::new(
                Vec3::new(gap * column as f32, 0.0, 2.0 * row as f32),
                Quat::from_rotation_x(0.1 * column as f32),
            );
            let member = CrowdMember {
                template,
                pose,
                ..CrowdMember::default()
            };
            crowd.add_member(member).unwrap();
        }
        crowd
    }

    #[test]
    fn kept_sums_are_those_of_a_new_search() {
        let law = ReactionLaw::Projection(Projection {
            fade_iterations: 3,
            kick_after: 8,
            ..Projection::default()
        });
        let config = RelaxConfig {
            law,
            ..RelaxConfig::default()
        };
        let mut keeping = Relaxer::new(rods(), config).unwrap();
        let mut searching = Relaxer::new(rods(), config).unwrap();
        assert!(keeping.status.overlaps > 100, "{:?}", keeping.status);
        let mut still = 0;
        for iteration in 0..60 {
            let before = keeping.crowd.members().to_vec();
            let status = keeping.step_on_cpu().unwrap();
            // Nothing is kept of sums that were made with another config.
            searching.sums_config = searching.sums_config.map(|sums| SumsConfig {
                clearance: -1.0,
                ..sums
            });
            assert_eq!(status, searching.step_on_cpu().unwrap(), "{iteration}");
            assert_eq!(keeping.crowd.members(), searching.crowd.members());
            assert_eq!(keeping.pushes, searching.pushes);
            let members = keeping.crowd.members().iter().zip(&before);
            still += members
                .filter(|(now, before)| now.pose == before.pose)
                .count();
        }
        assert!(still > 1_000, "{still}");
    }
}
