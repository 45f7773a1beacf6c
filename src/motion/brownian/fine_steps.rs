//! Fine-grained timesteps: from collision to collision until the end of the step.
//!
//! Times are in steps here, from 0 to 1.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;
use rayon::prelude::*;

use super::particles::BrownianParticles;
use super::{EventSearch, ParticleCollision, ParticleStepReport};
use crate::motion::time_of_impact::{GrowingSphere, Wall, first_contact_relative};
use crate::motion::{CollisionOutcome, CollisionPartner, MotionError};

/// Part of the tolerance that particles have to be short of not to touch already.
const SHORT: f64 = 0.99;

/// Part of the tolerance that a particle in a hollow wall may sink in from touch to touch.
const CREEP: f64 = 0.01;

/// What a particle is allowed beyond what it needs now.
const SPARE: f64 = 1.25;

/// Collisions for each particle in a step after which time is said to stand still.
const MOST_COLLISIONS: u64 = 10_000;

/// A collision that is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Expected {
    time: f64,
    particle: u32,
    other: CollisionPartner,
    /// How often the ways of both had changed.
    versions: [u32; 2],
}

impl Eq for Expected {}

impl Ord for Expected {
    /// The first one is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .time
            .total_cmp(&self.time)
            .then_with(|| other.particle.cmp(&self.particle))
            .then_with(|| other.other.cmp(&self.other))
    }
}

impl PartialOrd for Expected {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One step of a crowd.
pub(super) struct Step<'a> {
    crowd: &'a mut BrownianParticles,
    /// Length of the step, s.
    dt: f64,
    queue: BinaryHeap<Expected>,
    /// Who passes through whom.
    passed: Vec<(u32, CollisionPartner)>,
    report: ParticleStepReport,
}

impl<'a> Step<'a> {
    pub(super) fn new(crowd: &'a mut BrownianParticles, dt: f64) -> Self {
        Self {
            crowd,
            dt,
            queue: BinaryHeap::new(),
            passed: Vec::new(),
            report: ParticleStepReport::default(),
        }
    }

    pub(super) fn run(
        mut self,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<ParticleStepReport, MotionError> {
        self.find_neighbors();
        match self.crowd.config.event_search {
            EventSearch::Queue => self.run_queue(decide)?,
            EventSearch::Rescan => self.run_subdivided(decide)?,
        }
        for body in 0..self.crowd.bodies.len() as u32 {
            self.crowd.bring(body, 1.0);
        }
        Ok(self.report)
    }

    fn find_neighbors(&mut self) {
        let crowd = &mut *self.crowd;
        let ways = crowd
            .body_of
            .iter()
            .map(|&body| crowd.bodies[body as usize].way.length());
        let mut allowed: Vec<f64> = ways.collect();
        let squares: f64 = allowed.iter().map(|way| way * way).sum();
        let mean = (squares / allowed.len().max(1) as f64).sqrt();
        for way in &mut allowed {
            *way += mean + crowd.config.tolerance;
        }
        let (starts, radii) = (&crowd.positions, &crowd.radii);
        crowd.neighbors.build(starts, radii, &allowed);
    }

    /// The miniature queue.
    fn run_queue(
        &mut self,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<(), MotionError> {
        let this = &*self;
        let count = this.crowd.positions.len() as u32;
        let expected: Vec<(Vec<Expected>, u64)> = (0..count)
            .into_par_iter()
            .map(|particle| {
                let mut list = Vec::new();
                let checks = this.expect(particle, 0.0, |other| other > particle, &mut list);
                (list, checks)
            })
            .collect();
        let mut all = Vec::new();
        for (list, checks) in expected {
            all.extend(list);
            self.report.checks += checks;
        }
        self.queue = all.into();
        while let Some(next) = self.queue.pop() {
            if self.versions(next.particle, next.other) != next.versions {
                continue;
            }
            let changed = self.respond(next.time, next.particle, next.other, decide)?;
            for body in changed.into_iter().flatten() {
                let members = self.crowd.bodies[body as usize].members.clone();
                self.widen(&members, next.time);
                let mut list = Vec::new();
                for &member in &members {
                    self.report.checks += self.expect(member, next.time, |_| true, &mut list);
                }
                self.queue.extend(list);
            }
        }
        Ok(())
    }

    /// Everyone again after each collision, with an upper bound.
    fn run_subdivided(
        &mut self,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<(), MotionError> {
        let mut now = 0.0;
        while let Some((time, particle, other)) = self.earliest(now) {
            now = time;
            let changed = self.respond(time, particle, other, decide)?;
            for body in changed.into_iter().flatten() {
                let members = self.crowd.bodies[body as usize].members.clone();
                self.widen(&members, time);
            }
        }
        Ok(())
    }

    /// The earliest collision of all.
    fn earliest(&mut self, now: f64) -> Option<(f64, u32, CollisionPartner)> {
        let mut best = None;
        let mut bound = 1.0;
        for particle in 0..self.crowd.positions.len() as u32 {
            for wall in 0..self.crowd.config.walls.len() as u32 {
                let other = CollisionPartner::Wall(wall);
                if let Some(time) = self.wall_contact(particle, wall, now, bound)
                    && !self.passed.contains(&(particle, other))
                {
                    (bound, best) = (time, Some((time, particle, other)));
                }
            }
            let (place, way) = self.at(particle, now);
            let radius = self.crowd.radii[particle as usize];
            let neighbors = self.crowd.neighbors.of(particle);
            for &other in neighbors.iter().filter(|&&other| other > particle) {
                let (there, other_way) = self.at(other, now);
                let reach = radius + self.crowd.radii[other as usize];
                let far = reach + (way.length() + other_way.length()) * (bound - now);
                if place.distance_squared(there) > far * far {
                    self.report.spared += 1;
                    continue;
                }
                self.report.checks += 1;
                let other_one = CollisionPartner::Sphere(other);
                if let Some(time) = self.contact(particle, other, now, bound)
                    && !self.passed.contains(&(particle, other_one))
                {
                    (bound, best) = (time, Some((time, particle, other_one)));
                }
            }
        }
        best
    }

    /// Where a particle is at a time, nm, and its way in a step, nm.
    fn at(&self, particle: u32, now: f64) -> (DVec3, DVec3) {
        let index = particle as usize;
        let body = &self.crowd.bodies[self.crowd.body_of[index] as usize];
        let place = self.crowd.positions[index] + (now - body.time) * body.way;
        (place, body.way)
    }

    fn versions(&self, particle: u32, other: CollisionPartner) -> [u32; 2] {
        let crowd = &self.crowd;
        let of = |particle: u32| crowd.bodies[crowd.body_of[particle as usize] as usize].version;
        match other {
            CollisionPartner::Sphere(other) => [of(particle), of(other)],
            CollisionPartner::Wall(_) => [of(particle), 0],
        }
    }

    /// Adds the collisions of a particle with those that `wanted` says, and gives the
    /// number of pairs that were looked at.
    fn expect(
        &self,
        particle: u32,
        now: f64,
        wanted: impl Fn(u32) -> bool,
        list: &mut Vec<Expected>,
    ) -> u64 {
        let mut checks = 0;
        let mut add = |time: f64, other: CollisionPartner| {
            // The smaller one first, whoever looks.
            let (particle, other) = match other {
                CollisionPartner::Sphere(other) => (
                    particle.min(other),
                    CollisionPartner::Sphere(particle.max(other)),
                ),
                CollisionPartner::Wall(_) => (particle, other),
            };
            if !self.passed.contains(&(particle, other)) {
                list.push(Expected {
                    time,
                    particle,
                    other,
                    versions: self.versions(particle, other),
                });
            }
        };
        for wall in 0..self.crowd.config.walls.len() as u32 {
            if let Some(time) = self.wall_contact(particle, wall, now, 1.0) {
                add(time, CollisionPartner::Wall(wall));
            }
        }
        for &other in self.crowd.neighbors.of(particle) {
            if wanted(other) {
                checks += 1;
                if let Some(time) = self.contact(particle, other, now, 1.0) {
                    add(time, CollisionPartner::Sphere(other));
                }
            }
        }
        checks
    }

    /// When two particles touch and approach, from `now` to `until`.
    fn contact(&self, one: u32, other: u32, now: f64, until: f64) -> Option<f64> {
        let crowd = &self.crowd;
        if crowd.body_of[one as usize] == crowd.body_of[other as usize] {
            return None;
        }
        let [(a, way_a), (b, way_b)] = [one, other].map(|particle| self.at(particle, now));
        let (apart, motion) = (a - b, way_a - way_b);
        let closing = -apart.dot(motion);
        // On straight ways those who part do not meet again.
        if closing <= 0.0 {
            return None;
        }
        let reach = crowd.radii[one as usize] + crowd.radii[other as usize];
        let tolerance = crowd.config.tolerance;
        if reach - apart.length() > SHORT * tolerance {
            return Some(now);
        }
        let radius = [(reach - tolerance).max(0.0), 0.0, 0.0];
        first_contact_relative(apart, motion, radius, until - now).map(|time| now + time)
    }

    /// When a particle touches a wall, from `now` to `until`.
    fn wall_contact(&self, particle: u32, wall: u32, now: f64, until: f64) -> Option<f64> {
        let (place, way) = self.at(particle, now);
        let wall = &self.crowd.config.walls[wall as usize];
        let radius = self.crowd.radii[particle as usize];
        let within = until - now;
        let seen = wall.signed_distance(place);
        let depth = radius - seen.distance;
        // Nobody is nearer to a wall than its way brings it.
        let length = way.length();
        let tolerance = self.crowd.config.tolerance;
        if -depth > length * within {
            return None;
        }
        let approaching = seen.normal.dot(way) < 0.0;
        if let Wall::Surface { .. } = wall {
            let blur = wall.tolerance(place);
            if depth >= -2.0 * blur && approaching {
                return Some(now);
            }
            let sphere = GrowingSphere::constant(place, way, radius);
            let time = wall.first_contact(&sphere, within)?.max(blur / length);
            return (time <= within).then_some(now + time);
        }
        let mut slack = tolerance;
        if depth > SHORT * tolerance {
            if approaching {
                return Some(now);
            }
            if !wall.is_hollow() {
                return None;
            }
            slack = depth + CREEP * tolerance;
        }
        let sphere = GrowingSphere::constant(place, way, radius - slack);
        wall.first_contact(&sphere, within).map(|time| now + time)
    }

    /// What happens when they touch. Gives the bodies whose ways are others now.
    fn respond(
        &mut self,
        time: f64,
        particle: u32,
        other: CollisionPartner,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<[Option<u32>; 2], MotionError> {
        let crowd = &mut *self.crowd;
        let events = self.report.collisions + self.report.wall_collisions;
        if events > MOST_COLLISIONS * crowd.radii.len() as u64 {
            let (sphere, span) = (particle, self.dt);
            return Err(MotionError::NoProgress {
                sphere,
                events,
                span,
            });
        }
        let one = crowd.body_of[particle as usize];
        crowd.bring(one, time);
        let place = crowd.positions[particle as usize];
        let way = crowd.bodies[one as usize].way;
        let (normal, two) = match other {
            CollisionPartner::Sphere(other) => {
                let two = crowd.body_of[other as usize];
                crowd.bring(two, time);
                let apart = crowd.positions[other as usize] - place;
                (apart.try_normalize().unwrap_or(DVec3::X), Some(two))
            }
            CollisionPartner::Wall(wall) => {
                let seen = crowd.config.walls[wall as usize].signed_distance(place);
                (-seen.normal, None)
            }
        };
        let other_way = two.map_or(DVec3::ZERO, |two| crowd.bodies[two as usize].way);
        let closing = (way - other_way).dot(normal);
        if closing <= 0.0 {
            // Only near to a surface that bends away: look again.
            crowd.bodies[one as usize].version += 1;
            return Ok([Some(one), None]);
        }
        let meeting = ParticleCollision {
            time: time * self.dt,
            particle,
            other,
            normal,
        };
        crowd.meetings.push(meeting);
        match two {
            Some(_) => self.report.collisions += 1,
            None => self.report.wall_collisions += 1,
        }
        match (decide(&meeting), two) {
            (CollisionOutcome::Pass, _) => {
                self.passed.push((particle, other));
                return Ok([None, None]);
            }
            (CollisionOutcome::Bounce, Some(two)) => {
                let [a, b] = [one, two].map(|body| crowd.bodies[body as usize].diffusion);
                // For masses 1 / D. One of them moves, so that one of these is not zero.
                let push = 2.0 * closing / (a + b) * normal;
                crowd.bodies[one as usize].way -= a * push;
                crowd.bodies[two as usize].way += b * push;
                crowd.bodies[two as usize].version += 1;
            }
            (CollisionOutcome::Bounce, None) => {
                crowd.bodies[one as usize].way -= 2.0 * closing * normal
            }
            (CollisionOutcome::Stick, Some(two)) => {
                let kept = crowd.merge(one, two);
                crowd.bodies[kept as usize].version += 1;
                return Ok([Some(kept), None]);
            }
            (CollisionOutcome::Stick, None) => crowd.bodies[one as usize].way = DVec3::ZERO,
        }
        crowd.bodies[one as usize].version += 1;
        Ok([Some(one), two])
    }

    /// Gives more neighbors to those who get further than they were allowed.
    fn widen(&mut self, members: &[u32], now: f64) {
        for &member in members {
            let (place, way) = self.at(member, now);
            let neighbors = &mut self.crowd.neighbors;
            let needed = place.distance(neighbors.start(member)) + way.length() * (1.0 - now);
            if needed > neighbors.allowed(member) {
                neighbors.allow(member, SPARE * needed);
                self.report.widened += 1;
            }
        }
    }
}
