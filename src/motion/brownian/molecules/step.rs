//! One step: everyone moves, and those who end in someone else go back.

use std::time::Instant;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::{BrownianMolecules, MoleculeStepReport, MoveRules};
use crate::motion::brownian::noise::{generator, normal, turn};
use crate::motion::error::check_positive;
use crate::motion::{CollisionOutcome, MotionError};
use crate::pose::Pose;
use crate::search::Pair;

/// Pairs of molecules that a thread takes at once.
const PAIRS_AT_ONCE: usize = 16;

/// A move that may be taken back.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// Length of the way, nm.
    way: f32,
    pose: Pose,
    place: (DVec3, DQuat),
}

/// A move of a body.
#[derive(Clone, Copy, Debug)]
struct BodyMove {
    by: DVec3,
    /// Rotation vector, radian.
    angle: DVec3,
    /// What it turns about, nm.
    center: DVec3,
}

impl BrownianMolecules {
    /// A step of `dt` s in which molecules that meet bounce.
    ///
    /// # Errors
    /// As [`Self::step_with`].
    pub fn step(&mut self, dt: f64) -> Result<MoleculeStepReport, MotionError> {
        self.step_with(dt, &mut |_: Pair| CollisionOutcome::Bounce)
    }

    /// `time` s, in as many steps of the same length as it takes for nobody to jump through
    /// another. [`Self::collisions`] are those of all of them.
    ///
    /// # Errors
    /// As [`Self::step_with`]; steps before that one have been done.
    pub fn advance(
        &mut self,
        time: f64,
        rules: &mut dyn MoveRules,
    ) -> Result<MoleculeStepReport, MotionError> {
        let steps = self.steps_for(time);
        let mut all = MoleculeStepReport::default();
        let mut collisions = Vec::new();
        for _ in 0..steps {
            all.add(&self.step_with(time / steps as f64, rules)?);
            collisions.append(&mut self.collisions);
        }
        collisions.sort_unstable();
        collisions.dedup();
        self.collisions = collisions;
        Ok(all)
    }

    /// A step of `dt` s.
    ///
    /// # Errors
    /// [`MotionError`] if the step is not positive, a molecule is too far away to be
    /// searched, or the search fails. Nobody has moved then.
    pub fn step_with(
        &mut self,
        dt: f64,
        rules: &mut dyn MoveRules,
    ) -> Result<MoleculeStepReport, MotionError> {
        check_positive("step", dt)?;
        let moved = self.draw(dt);
        let begin = Instant::now();
        self.find_candidates(&moved)?;
        let mut report = MoleculeStepReport {
            searching: begin.elapsed(),
            candidates: self.pairs.len() as u64,
            steps: 1,
            ..MoleculeStepReport::default()
        };
        let mut is_back = self.stopped(&moved, rules);
        let mut stuck = Vec::new();
        let mut passed: Vec<Pair> = Vec::new();
        let body = |index: u32| self.body_of[index as usize] as usize;
        let mut open: Vec<Pair> = self.pairs.iter().collect();
        self.collisions.clear();
        while !open.is_empty() {
            report.rounds += 1;
            open.retain(|pair| {
                let [a, b] = [body(pair.a), body(pair.b)];
                a != b && !(is_back[a] && is_back[b]) && passed.binary_search(pair).is_err()
            });
            report.confirmed += open.len() as u64;
            let mut overlapping = self.overlapping(&open, &moved, &is_back);
            // Who searched does not matter, nor in which order.
            overlapping.sort_unstable();
            let mut newly_back = vec![false; self.bodies.len()];
            for &pair in &overlapping {
                self.collisions.push(pair);
                match rules.meet(pair) {
                    CollisionOutcome::Pass => {
                        passed.push(pair);
                        continue;
                    }
                    CollisionOutcome::Stick => stuck.push(pair),
                    CollisionOutcome::Bounce => {}
                }
                for index in [pair.a, pair.b] {
                    newly_back[body(index)] = !is_back[body(index)];
                }
            }
            passed.sort_unstable();
            for (back, new) in is_back.iter_mut().zip(&newly_back) {
                *back |= new;
            }
            let changed = |pair: &Pair| newly_back[body(pair.a)] || newly_back[body(pair.b)];
            open.clear();
            open.extend(self.pairs.iter().filter(changed));
        }
        self.collisions.sort_unstable();
        for (index, moved) in moved.iter().enumerate() {
            if !is_back[self.body_of[index] as usize] {
                self.places[index] = moved.place;
                self.molecules[index].pose = moved.pose;
            } else if moved.way > 0.0 {
                report.back += 1;
            }
        }
        for pair in stuck {
            report.stuck += 1;
            self.join(pair.a, pair.b)?;
        }
        self.steps += 1;
        Ok(report)
    }

    /// Where everyone would go.
    fn draw(&self, dt: f64) -> Vec<Move> {
        let moves = self.bodies.par_iter().map(|body| {
            let (&first, true) = (body.members.first()?, body.is_mobile()) else {
                return None;
            };
            let mut random = generator(self.seed, self.steps, first);
            Some(BodyMove {
                by: normal(&mut random, (2.0 * body.diffusion * dt).sqrt()),
                angle: normal(&mut random, (2.0 * body.rotational_diffusion * dt).sqrt()),
                center: self.center(body),
            })
        });
        let moves: Vec<Option<BodyMove>> = moves.collect();
        let of = |index: usize| {
            let place = self.places[index];
            let body = self.body_of[index] as usize;
            let Some(BodyMove { by, angle, center }) = moves[body] else {
                let pose = self.molecules[index].pose;
                return Move {
                    way: 0.0,
                    pose,
                    place,
                };
            };
            let arm = place.0 - center;
            let turned = if arm == DVec3::ZERO {
                DVec3::ZERO
            } else {
                DQuat::from_scaled_axis(angle) * arm - arm
            };
            let way = by + turned;
            let place = (place.0 + way, turn(place.1, angle));
            Move {
                way: way.length() as f32,
                pose: Pose::new(place.0.as_vec3(), place.1.as_quat().normalize()),
                place,
            }
        };
        (0..self.molecules.len()).into_par_iter().map(of).collect()
    }

    /// All pairs that may overlap, whether either moves or not.
    fn find_candidates(&mut self, moved: &[Move]) -> Result<(), MotionError> {
        self.spheres.clear();
        for ((molecule, moved), owner) in self.molecules.iter().zip(moved).zip(0..) {
            let shape = &self.templates[molecule.template as usize];
            let reach = shape.bounding_radius() + moved.way;
            self.spheres.push(molecule.pose.position, reach, owner)?;
        }
        self.search
            .find_pairs(&self.spheres, 0.0, &mut self.pairs)?;
        Ok(())
    }

    /// Which bodies do not move, because they cannot, or walls or rules are against it.
    fn stopped(&self, moved: &[Move], rules: &dyn MoveRules) -> Vec<bool> {
        let stopped = |index: usize| {
            self.is_in_a_wall(index, &moved[index])
                || !rules.may_move(
                    index as u32,
                    &self.molecules[index].pose,
                    &moved[index].pose,
                )
        };
        let of = self.bodies.par_iter().map(|body| {
            !body.is_mobile() || body.members.iter().any(|&member| stopped(member as usize))
        });
        of.collect()
    }

    /// Which of these pairs overlap, if those who are back are where they were.
    fn overlapping(&self, pairs: &[Pair], moved: &[Move], is_back: &[bool]) -> Vec<Pair> {
        let placed = |index: u32| {
            let molecule = &self.molecules[index as usize];
            let back = is_back[self.body_of[index as usize] as usize];
            let pose = if back {
                molecule.pose
            } else {
                moved[index as usize].pose
            };
            (self.shape(molecule), pose)
        };
        let overlap = |&&Pair { a, b }: &&Pair| {
            let [one, two] = [a, b].map(placed);
            let reach = one.0.bounding_radius() + two.0.bounding_radius();
            let apart = one.1.position.distance_squared(two.1.position);
            apart <= reach * reach && one.0.overlaps(&one.1, two.0, &two.1)
        };
        let pairs = pairs.par_iter().with_min_len(PAIRS_AT_ONCE);
        pairs.filter(overlap).copied().collect()
    }

    fn is_in_a_wall(&self, index: usize, moved: &Move) -> bool {
        let radius = f64::from(self.shape(&self.molecules[index]).bounding_radius());
        self.walls.iter().any(|wall| {
            let [before, after] = [self.places[index].0, moved.place.0]
                .map(|place| wall.signed_distance(place).distance);
            // Whoever is in it already may come out.
            after < radius && after < before
        })
    }
}
