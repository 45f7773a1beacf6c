//! Fine-grained steps of molecules, from collision to collision (Johnson and Whalley, section 4.1).
//!
//! 1. Predict the first impact of each candidate pair, atom by atom ([`first_impact`]).
//! 2. Take the earliest one and move both molecules to its time.
//! 3. They bounce: with masses 1 / D and moments of inertia 1 / Dᵣ the collision is elastic, and
//!    the distribution of the random moves is preserved.
//! 4. Predict the impacts of these two again, and repeat from 2 until the end of the step.
//!
//! A wall or a rule vetoes the whole move of a molecule. It returns to its pose at the start of the
//! step, and so do molecules that would pass through it there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::noise::rotate;
use crate::motion::{CollisionOutcome, OverlapShape};
use crate::pose::{Pose, RigidMotion};
use crate::search::{IMPACT_TOLERANCE_NM, Impact, MovingMolecule, Pair, first_impact};

/// Gap at which atoms collide, nm: the accuracy of an impact, so that they never overlap.
const GAP_NM: f32 = IMPACT_TOLERANCE_NM as f32;

/// Number of collisions of a body in a step after which it rests for the remainder. Bodies that
/// are locked between others collide without end.
const MAX_COLLISIONS: u32 = 64;

/// Factor on the range that a molecule needs when its candidates are searched again.
const RANGE_MARGIN: f64 = 1.25;

/// Candidate pairs per parallel task.
const PAIRS_PER_TASK: usize = 16;

/// A molecule or a cluster at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyStart<'a> {
    pub members: &'a [u32],
    /// Diffusion coefficient, nm²/s; zero if it does not move in this step.
    pub diffusion: f64,
    /// Rotational diffusion coefficient, rad²/s; zero if it does not move in this step.
    pub rotational_diffusion: f64,
    /// Center of rotation, nm.
    pub center: DVec3,
    /// Displacement per step, nm.
    pub displacement: DVec3,
    /// Rotation vector per step, radian.
    pub turn: DVec3,
}

/// The molecules at the start of a step.
#[derive(Clone, Copy)]
pub(super) struct StepStart<'a> {
    pub shapes: &'a [&'a OverlapShape],
    pub poses: &'a [(DVec3, DQuat)],
    /// Body of each molecule.
    pub body_of: &'a [u32],
    /// Maximum distance of each molecule from its start that the candidates allow for, nm.
    pub ranges: &'a [f64],
}

/// What happened in a step.
#[derive(Debug, Default)]
pub(super) struct FineReport {
    /// All collisions in order of time.
    pub collisions: Vec<Pair>,
    /// Pairs that stick together.
    pub stuck: Vec<Pair>,
    /// Rounds until no molecules overlapped.
    pub rounds: u64,
    /// Tests of pairs.
    pub tested: u64,
    /// Molecules that rested after too many collisions.
    pub rested: u64,
}

/// A part of a step in which a body moves at constant velocity.
#[derive(Clone, Debug)]
struct Segment {
    /// Its start as a fraction of the step.
    start: f64,
    center: DVec3,
    /// Displacement per step, nm.
    displacement: DVec3,
    /// Rotation vector per step, radian.
    turn: DVec3,
    /// Poses of the members at its start.
    poses: Vec<(DVec3, DQuat)>,
}

impl Segment {
    /// Center at a time of the step, nm.
    fn center_at(&self, time: f64) -> DVec3 {
        self.center + (time - self.start) * self.displacement
    }

    /// Pose of a member at a time of the step.
    fn pose_at(&self, place: usize, time: f64) -> (DVec3, DQuat) {
        let (position, rotation) = self.poses[place];
        let turn = (time - self.start) * self.turn;
        let arm = position - self.center;
        let swing = if arm == DVec3::ZERO {
            DVec3::ZERO
        } else {
            DQuat::from_scaled_axis(turn) * arm - arm
        };
        let position = position + ((time - self.start) * self.displacement + swing);
        (position, rotate(rotation, turn))
    }

    /// Upper bound on the length of the path of a member per step, nm.
    fn speed(&self, place: usize) -> f64 {
        let arm = self.poses[place].0 - self.center;
        self.displacement.length() + self.turn.length() * arm.length()
    }
}

/// A body on its way through the step.
struct Body<'a> {
    start: BodyStart<'a>,
    /// Earlier segments, in order of time.
    past: Vec<Segment>,
    current: Segment,
    /// Incremented whenever its velocity changes.
    version: u32,
    collisions: u32,
}

impl Body<'_> {
    /// Moves on from a time of the step with another velocity.
    fn turn_at(&mut self, time: f64, displacement: DVec3, turn: DVec3) {
        let places = 0..self.start.members.len();
        let next = Segment {
            start: time,
            center: self.current.center_at(time),
            displacement,
            turn,
            poses: places
                .map(|place| self.current.pose_at(place, time))
                .collect(),
        };
        self.past.push(std::mem::replace(&mut self.current, next));
        self.version += 1;
    }

    fn rest_at(&mut self, time: f64) {
        self.turn_at(time, DVec3::ZERO, DVec3::ZERO);
    }

    /// Whether it takes part in collisions: resting bodies are obstacles.
    fn is_moving(&self) -> bool {
        self.current.displacement != DVec3::ZERO || self.current.turn != DVec3::ZERO
    }

    /// Displacement and rotation per unit of impulse along `normal` at `point`, and the
    /// displacement of the point along the normal.
    fn response(&self, normal: DVec3, point: DVec3, time: f64) -> [DVec3; 2] {
        let arm = point - self.current.center_at(time);
        [
            self.start.diffusion * normal,
            self.start.rotational_diffusion * arm.cross(normal),
        ]
    }

    /// Displacement per step of one of its points, nm.
    fn displacement_of(&self, point: DVec3, time: f64) -> DVec3 {
        let arm = point - self.current.center_at(time);
        self.current.displacement + self.current.turn.cross(arm)
    }

    /// Its segments with the time at which each ends.
    fn segments(&self) -> impl Iterator<Item = (&Segment, f64)> {
        let all = self.past.iter().chain([&self.current]);
        let ends = self.past.iter().skip(1).chain([&self.current]);
        all.zip(ends.map(|next| next.start).chain([1.0]))
    }
}

/// A predicted collision, ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Prediction {
    /// Bits of the time, which is not negative: they have the order of times.
    time: u64,
    pair: Pair,
    /// Versions of both bodies at the time of the prediction.
    versions: [u32; 2],
    /// Index of the impact.
    impact: usize,
}

/// A fine-grained step. Times are fractions of the step, from 0 to 1.
pub(super) struct FineStep<'a> {
    start: StepStart<'a>,
    bodies: Vec<Body<'a>>,
    /// Index of each molecule among the members of its body.
    place_of: Vec<usize>,
    ranges: Vec<f64>,
    candidates: Vec<Vec<u32>>,
    queue: BinaryHeap<Reverse<Prediction>>,
    impacts: Vec<Impact>,
    passing: Vec<Pair>,
    report: FineReport,
}

impl<'a> FineStep<'a> {
    /// A step of these bodies. `pairs` may touch while the molecules stay in their ranges.
    pub(super) fn new(start: StepStart<'a>, bodies: &[BodyStart<'a>], pairs: &[Pair]) -> Self {
        let mut place_of = vec![0; start.poses.len()];
        for body in bodies {
            for (place, &member) in body.members.iter().enumerate() {
                place_of[member as usize] = place;
            }
        }
        let mut candidates = vec![Vec::new(); start.poses.len()];
        for &Pair { a, b } in pairs {
            candidates[a as usize].push(b);
            candidates[b as usize].push(a);
        }
        let body = |&body: &BodyStart<'a>| Body {
            current: Segment {
                start: 0.0,
                center: body.center,
                displacement: body.displacement,
                turn: body.turn,
                poses: (body.members.iter())
                    .map(|&member| start.poses[member as usize])
                    .collect(),
            },
            start: body,
            past: Vec::new(),
            version: 0,
            collisions: 0,
        };
        Self {
            bodies: bodies.iter().map(body).collect(),
            place_of,
            ranges: start.ranges.to_vec(),
            candidates,
            queue: BinaryHeap::new(),
            impacts: Vec::new(),
            passing: Vec::new(),
            report: FineReport::default(),
            start,
        }
    }

    /// Follows the bodies from collision to collision.
    pub(super) fn run(&mut self, decide: &mut dyn FnMut(Pair) -> CollisionOutcome) {
        let mut pairs: Vec<Pair> = Vec::new();
        for (molecule, others) in (0..).zip(&self.candidates) {
            let later = others.iter().filter(|other| **other > molecule);
            pairs.extend(later.map(|&other| Pair::new(molecule, other)));
        }
        self.predict(&pairs, 0.0);
        while let Some(Reverse(next)) = self.queue.pop() {
            if self.versions(next.pair) != next.versions || self.passing.contains(&next.pair) {
                continue;
            }
            let time = f64::from_bits(next.time);
            let changed = self.respond(time, next.pair, &self.impacts[next.impact].clone(), decide);
            for &body in changed.iter().flatten() {
                self.update_ranges(body, time);
            }
            let mut pairs = Vec::new();
            for &body in changed.iter().flatten() {
                for &member in self.bodies[body].start.members {
                    let others = self.candidates[member as usize].iter();
                    pairs.extend(others.map(|&other| Pair::new(member, other)));
                }
            }
            pairs.sort_unstable();
            pairs.dedup();
            self.predict(&pairs, time);
        }
    }

    /// The pose of each molecule at the end of the step, whether its body returned to its start,
    /// and what happened. `is_vetoed` tells whether a molecule may not be at a pose.
    pub(super) fn finish(
        mut self,
        is_vetoed: &(dyn Fn(u32, (DVec3, DQuat)) -> bool + Sync),
    ) -> (Vec<(DVec3, DQuat)>, Vec<bool>, FineReport) {
        let ends: Vec<(DVec3, DQuat)> = (0..self.start.poses.len())
            .map(|molecule| {
                let body = &self.bodies[self.start.body_of[molecule] as usize];
                body.current.pose_at(self.place_of[molecule], 1.0)
            })
            .collect();
        let bodies = self.bodies.par_iter();
        // Bodies on their first segment have been asked before the step.
        let vetoed = bodies.map(|body| {
            let mut members = body.start.members.iter();
            !body.past.is_empty() && members.any(|&member| is_vetoed(member, ends[member as usize]))
        });
        let mut is_rejected: Vec<bool> = vetoed.collect();
        let mut newly_rejected = vec![true; self.bodies.len()];
        loop {
            self.report.rounds += 1;
            let mut open = Vec::new();
            for (molecule, others) in (0..).zip(&self.candidates) {
                let later = others.iter().filter(|other| **other > molecule);
                open.extend(
                    later
                        .map(|&other| Pair::new(molecule, other))
                        .filter(|pair| {
                            let bodies = self.bodies_of(*pair);
                            bodies[0] != bodies[1]
                                && bodies.iter().any(|&body| newly_rejected[body])
                                && !bodies.iter().all(|&body| is_rejected[body])
                                && !self.passing.contains(pair)
                        }),
                );
            }
            self.report.tested += open.len() as u64;
            let pairs = open.par_iter().with_min_len(PAIRS_PER_TASK);
            let blocked = pairs.filter(|pair| self.is_blocked(**pair, &ends, &is_rejected));
            let blocked: Vec<Pair> = blocked.copied().collect();
            newly_rejected.fill(false);
            for &pair in &blocked {
                for body in self.bodies_of(pair) {
                    newly_rejected[body] = !is_rejected[body];
                }
            }
            if !newly_rejected.contains(&true) {
                return (ends, is_rejected, self.report);
            }
            for (rejected, new) in is_rejected.iter_mut().zip(&newly_rejected) {
                *rejected |= new;
            }
        }
    }

    fn bodies_of(&self, pair: Pair) -> [usize; 2] {
        [pair.a, pair.b].map(|molecule| self.start.body_of[molecule as usize] as usize)
    }

    fn versions(&self, pair: Pair) -> [u32; 2] {
        self.bodies_of(pair).map(|body| self.bodies[body].version)
    }

    fn shape(&self, molecule: u32) -> &'a OverlapShape {
        self.start.shapes[molecule as usize]
    }

    /// A molecule in a segment, from a time of the step to another.
    fn moving(&self, molecule: u32, segment: &Segment, from: f64, to: f64) -> MovingMolecule<'a> {
        let pose = to_pose(segment.pose_at(self.place_of[molecule as usize], from));
        let motion = RigidMotion {
            translation: ((to - from) * segment.displacement).as_vec3(),
            rotation: ((to - from) * segment.turn).as_vec3(),
        };
        let mut moving = MovingMolecule::new(self.shape(molecule).spheres(), pose, motion);
        moving.center = segment.center_at(from).as_vec3();
        moving
    }

    /// Predicts the first impact of each pair from a time of the step on.
    fn predict(&mut self, pairs: &[Pair], now: f64) {
        let this = &*self;
        let impact = |&pair: &Pair| {
            let bodies = this.bodies_of(pair);
            if bodies[0] == bodies[1] || this.passing.contains(&pair) {
                return None;
            }
            let [one, other] = bodies.map(|body| &this.bodies[body]);
            if !(one.is_moving() || other.is_moving()) {
                return None;
            }
            let [a, b] = [(pair.a, one), (pair.b, other)].map(|(molecule, body)| {
                let place = this.place_of[molecule as usize];
                let reach = f64::from(this.shape(molecule).bounding_radius())
                    + (1.0 - now) * body.current.speed(place);
                let moving = this.moving(molecule, &body.current, now, 1.0);
                (moving, reach)
            });
            let distance = a.0.pose.position.distance(b.0.pose.position);
            if f64::from(distance - 2.0 * GAP_NM) > a.1 + b.1 {
                return None;
            }
            let impact = first_impact(&a.0, &b.0, GAP_NM)?;
            Some((pair, now + (1.0 - now) * impact.fraction, impact))
        };
        let found = pairs.par_iter().with_min_len(PAIRS_PER_TASK);
        let found: Vec<(Pair, f64, Impact)> = found.filter_map(impact).collect();
        self.report.tested += pairs.len() as u64;
        for (pair, time, impact) in found {
            self.queue.push(Reverse(Prediction {
                time: time.to_bits(),
                pair,
                versions: self.versions(pair),
                impact: self.impacts.len(),
            }));
            self.impacts.push(impact);
        }
    }

    /// Applies the outcome of a collision. Returns the bodies whose velocity changed.
    fn respond(
        &mut self,
        time: f64,
        pair: Pair,
        impact: &Impact,
        decide: &mut dyn FnMut(Pair) -> CollisionOutcome,
    ) -> [Option<usize>; 2] {
        let both = self.bodies_of(pair);
        let (normal, point) = (impact.normal.as_dvec3(), impact.point.as_dvec3());
        let displacement = |body: usize| self.bodies[body].displacement_of(point, time);
        let closing = (displacement(both[0]) - displacement(both[1])).dot(normal);
        let mut outcome = CollisionOutcome::Bounce;
        if closing > 0.0 {
            self.report.collisions.push(pair);
            outcome = decide(pair);
        }
        match outcome {
            CollisionOutcome::Pass => {
                self.passing.push(pair);
                return [None, None];
            }
            CollisionOutcome::Stick => {
                self.report.stuck.push(pair);
                for body in both {
                    self.bodies[body].rest_at(time);
                }
                return both.map(Some);
            }
            CollisionOutcome::Bounce | CollisionOutcome::React => {}
        }
        // Resting bodies have infinite mass.
        let response = both.map(|body| match &self.bodies[body] {
            body if body.is_moving() => body.response(normal, point, time),
            _ => [DVec3::ZERO; 2],
        });
        let mut mobility = 0.0;
        for (body, [displacement, turn]) in both.iter().zip(response) {
            let arm = point - self.bodies[*body].current.center_at(time);
            mobility += displacement.dot(normal) + turn.dot(arm.cross(normal));
        }
        // An impact of bodies that part, up to rounding, changes nothing.
        let impulse = match 2.0 * closing.max(0.0) / mobility {
            impulse if impulse.is_finite() => impulse,
            _ => 0.0,
        };
        for ((body, [displacement, turn]), sign) in both.iter().zip(response).zip([-1.0, 1.0]) {
            let body = &mut self.bodies[*body];
            if !body.is_moving() {
                continue;
            }
            body.collisions += 1;
            if body.collisions > MAX_COLLISIONS {
                self.report.rested += body.start.members.len() as u64;
                body.rest_at(time);
            } else {
                let displacement = body.current.displacement + sign * impulse * displacement;
                let turn = body.current.turn + sign * impulse * turn;
                body.turn_at(time, displacement, turn);
            }
        }
        both.map(Some)
    }

    /// Enlarges the range of the members of a body whose new path leaves it.
    fn update_ranges(&mut self, body: usize, now: f64) {
        for &member in self.bodies[body].start.members {
            let index = member as usize;
            let place = self.place_of[index];
            let segment = &self.bodies[body].current;
            let start = self.start.poses[index].0;
            let needed =
                segment.pose_at(place, now).0.distance(start) + (1.0 - now) * segment.speed(place);
            if needed <= self.ranges[index] {
                continue;
            }
            self.ranges[index] = RANGE_MARGIN * needed;
            let reach = |molecule: usize| {
                self.ranges[molecule]
                    + f64::from(self.start.shapes[molecule].bounding_radius() + GAP_NM)
            };
            let own = reach(index);
            let others = (0..self.start.poses.len())
                .into_par_iter()
                .filter(|&other| {
                    let distance = self.start.poses[other].0.distance(start);
                    other != index && distance <= own + reach(other)
                });
            let others: Vec<u32> = others.map(|other| other as u32).collect();
            for &other in &others {
                let back = &mut self.candidates[other as usize];
                if !back.contains(&member) {
                    back.push(member);
                }
            }
            self.candidates[index] = others;
        }
    }

    /// Whether two molecules overlap at the end of the step, or one passes through the other on
    /// its way, with rejected bodies at their starts.
    fn is_blocked(&self, pair: Pair, ends: &[(DVec3, DQuat)], is_rejected: &[bool]) -> bool {
        let bodies = self.bodies_of(pair);
        let molecules = [pair.a, pair.b];
        let poses = [0, 1].map(|k| {
            let index = molecules[k] as usize;
            let is_rejected = is_rejected[bodies[k]];
            to_pose(if is_rejected {
                self.start.poses[index]
            } else {
                ends[index]
            })
        });
        if self.overlaps(molecules, poses) {
            let starts = molecules.map(|index| to_pose(self.start.poses[index as usize]));
            // Molecules that overlap at the start may separate slowly.
            return bodies.iter().any(|&body| is_rejected[body])
                || !self.overlaps(molecules, starts);
        }
        let [rejected, moved] = match bodies.map(|body| is_rejected[body]) {
            [true, false] => [0, 1],
            [false, true] => [1, 0],
            _ => return false,
        };
        let start = &self.bodies[bodies[rejected]];
        let start = start.past.first().unwrap_or(&start.current);
        let obstacle = self.moving(molecules[rejected], start, 0.0, 0.0);
        self.bodies[bodies[moved]].segments().any(|(segment, end)| {
            let moving = self.moving(molecules[moved], segment, segment.start, end);
            first_impact(&moving, &obstacle, 0.0)
                .is_some_and(|impact| impact.fraction > 0.0 || impact.gap >= 0.0)
        })
    }

    fn overlaps(&self, [one, other]: [u32; 2], [pose, other_pose]: [Pose; 2]) -> bool {
        let (one, other) = (self.shape(one), self.shape(other));
        let reach = one.bounding_radius() + other.bounding_radius();
        pose.position.distance_squared(other_pose.position) <= reach * reach
            && one.is_within(0.0, &pose, other, &other_pose)
    }
}

/// A pose in `f32`.
pub(super) fn to_pose((position, rotation): (DVec3, DQuat)) -> Pose {
    Pose::new(position.as_vec3(), rotation.as_quat().normalize())
}
