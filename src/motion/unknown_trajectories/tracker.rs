//! The bounds of all spheres, and what happens when two of them collide: what
//! [`super::TimeVaryingDetector`] and [`super::HubbardDetector`] have in common.

use super::{Contact, EventCounts, MovingSphere, Probe, SphereMotion, TimeVaryingBound};
use crate::motion::error::check_positive;
use crate::motion::time_of_impact::{
    GrowingSphere, Wall, first_contact_relative, first_not_positive,
};
use crate::motion::{CollisionPartner, MotionError};

/// Part of what a bound allows, and of the size of numbers at hand, by which a sphere may
/// miss it: integrators round.
const LEEWAY: f64 = 1.0e-9;

/// Part of the time by which clocks are wrong: they round, too, and a sphere goes on
/// meanwhile, also where it comes by the origin and its place is next to nothing.
const CLOCK: f64 = 4.0 * f64::EPSILON;

/// Part of the tolerance that spheres have to be short of, for their next collision to be
/// that of their bounds; else the next look is when they may be as deep again.
const SHORT: f64 = 0.99;

/// Part of the tolerance that two spheres which stay together may sink into each other
/// from look to look.
const CREEP: f64 = 0.01;

/// A bound as it is from a time on, and whether its sphere has been probed then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    bound: GrowingSphere,
    is_fresh: bool,
}

/// The bounds of all spheres.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    pub(super) bounds: Vec<TimeVaryingBound>,
    pub(super) walls: Vec<Wall>,
    pub(super) tolerance: f64,
    pub(super) counts: EventCounts,
}

impl Tracker {
    /// Probes all spheres for the first time.
    pub(super) fn new(
        spheres: &[MovingSphere],
        walls: Vec<Wall>,
        tolerance: f64,
        start: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<Self, MotionError> {
        check_positive("tolerance", tolerance)?;
        if !start.is_finite() {
            return Err(MotionError::BadParameter {
                what: "start",
                allowed: "a finite number",
                value: start,
            });
        }
        let count = spheres.len();
        u32::try_from(count).map_err(|_| MotionError::TooMany { count })?;
        for (wall, index) in walls.iter().zip(0..) {
            wall.check(index)?;
        }
        let mut counts = EventCounts::default();
        let bounds = spheres.iter().zip(0..).map(|(sphere, index)| {
            for (what, value) in [
                ("radius", sphere.radius),
                ("bound on the acceleration", sphere.acceleration),
            ] {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(MotionError::BadSphere {
                        sphere: index,
                        what,
                        value,
                    });
                }
            }
            counts.probes += 1;
            let probe = probe(index, start, motion)?;
            Ok(TimeVaryingBound {
                since: start,
                position: probe.position,
                velocity: probe.velocity,
                radius: sphere.radius,
                acceleration: sphere.acceleration,
            })
        });
        let bounds = bounds.collect::<Result<_, _>>()?;
        Ok(Self {
            bounds,
            walls,
            tolerance,
            counts,
        })
    }

    /// Makes a bound as small as its sphere again.
    pub(super) fn reset(
        &mut self,
        sphere: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        let probe = self.ask(sphere, now, motion)?;
        check(sphere, &self.bounds[sphere as usize], &probe, now)?;
        self.set(sphere, now, &probe);
        Ok(())
    }

    /// The same where velocities may have jumped.
    pub(super) fn reset_after_jump(
        &mut self,
        sphere: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        let probe = self.ask(sphere, now, motion)?;
        self.set(sphere, now, &probe);
        Ok(())
    }

    fn ask(
        &mut self,
        sphere: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<Probe, MotionError> {
        self.counts.probes += 1;
        probe(sphere, now, motion)
    }

    fn set(&mut self, sphere: u32, now: f64, probe: &Probe) {
        let bound = &mut self.bounds[sphere as usize];
        bound.since = now;
        bound.position = probe.position;
        bound.velocity = probe.velocity;
    }

    /// When the bounds of two spheres collide next, at the latest at `until` s.
    pub(super) fn next_collision(&self, a: u32, b: u32, now: f64, until: f64) -> Option<f64> {
        self.next_collision_of(&self.seen(a, now), b, now, until)
    }

    /// A bound as it is from `now` on.
    pub(super) fn seen(&self, sphere: u32, now: f64) -> Seen {
        let bound = &self.bounds[sphere as usize];
        Seen {
            bound: bound.growing(now),
            is_fresh: bound.since == now,
        }
    }

    /// [`Self::next_collision`] for one against many.
    #[inline]
    pub(super) fn next_collision_of(
        &self,
        one: &Seen,
        other: u32,
        now: f64,
        until: f64,
    ) -> Option<f64> {
        let (left, two) = (&one.bound, self.seen(other, now));
        let right = &two.bound;
        let apart = left.center - right.center;
        let motion = left.velocity - right.velocity;
        let growth = left.growth + right.growth;
        let acceleration = left.acceleration + right.acceleration;
        let reach = left.radius + right.radius;
        let within = until - now;
        let slack = if one.is_fresh && two.is_fresh {
            let distance = apart.length();
            let depth = reach - distance;
            if depth > SHORT * self.tolerance {
                let receding = if distance > 0.0 {
                    apart.dot(motion) / distance
                } else {
                    motion.length()
                };
                if receding >= 0.0 {
                    return self.look_again(receding, acceleration, now, until);
                }
                // Nobody has stopped them, and nobody will.
                2.0 * depth
            } else {
                self.tolerance
            }
        } else {
            self.tolerance
        };
        let radius = [(reach - slack).max(0.0), growth, acceleration];
        first_contact_relative(apart, motion, radius, within).map(|time| now + time)
    }

    /// When two that overlap, and recede from each other, may be as deep again: not before
    /// u t − a t² / 2 = 0 for the speed u and the sum of the accelerations a.
    fn look_again(&self, receding: f64, acceleration: f64, now: f64, until: f64) -> Option<f64> {
        if acceleration <= 0.0 {
            return None;
        }
        let back = 2.0 * receding / acceleration;
        let creep = (2.0 * CREEP * self.tolerance / acceleration).sqrt();
        let time = now + back.max(creep);
        (time <= until).then_some(time)
    }

    /// When the bound of a sphere collides with a wall next, and with which.
    pub(super) fn next_wall(&self, sphere: u32, now: f64, until: f64) -> Option<(f64, u32)> {
        let bound = &self.bounds[sphere as usize];
        let mut best: Option<(f64, u32)> = None;
        for (wall, index) in self.walls.iter().zip(0..) {
            let until = best.map_or(until, |(time, _)| time);
            if let Some(time) = self.next_at_wall(bound, wall, now, until)
                && best.is_none_or(|(earliest, _)| time < earliest)
            {
                best = Some((time, index));
            }
        }
        best
    }

    fn next_at_wall(
        &self,
        bound: &TimeVaryingBound,
        wall: &Wall,
        now: f64,
        until: f64,
    ) -> Option<f64> {
        let mut growing = bound.growing(now);
        let tolerance = self.tolerance;
        if let Wall::Plane { normal, offset } = wall {
            // Most are far from most walls.
            let gap = growing.center.dot(*normal) - offset - growing.radius;
            let speed = growing.velocity.dot(*normal) - growing.growth;
            if gap > 0.0 {
                // The way that it can come nearer without the first root.
                let within = until - now;
                let closing = (-speed).max(0.0) + 0.5 * growing.acceleration * within;
                if gap > closing * within {
                    return None;
                }
                let step = first_not_positive(gap + tolerance, speed, -0.5 * growing.acceleration);
                return (now + step <= until).then_some(now + step);
            }
        }
        let within = until - now;
        if let Wall::Surface { .. } = wall {
            // Nobody knows how it is bent, but on so short a way nobody gets far into it.
            let short = [wall.tolerance(growing.center), -growing.velocity.length()];
            let least = first_not_positive(short[0], short[1], -0.5 * growing.acceleration);
            let time = wall.first_contact(&growing, within)?.max(least);
            return (time <= within).then_some(now + time);
        }
        let seen = wall.signed_distance(growing.center);
        let depth = growing.radius - seen.distance;
        let mut slack = tolerance;
        if bound.since == now && depth > SHORT * tolerance {
            let receding = seen.normal.dot(growing.velocity);
            if receding < 0.0 {
                // Nobody has stopped it, and nobody will.
                slack = 2.0 * depth;
            } else if wall.is_hollow() {
                slack = depth + CREEP * tolerance;
            } else {
                return self.look_again(receding, growing.acceleration, now, until);
            }
        }
        growing.radius -= slack;
        wall.first_contact(&growing, within).map(|time| now + time)
    }

    /// The bounds of two spheres have collided: resets both, after they have collided
    /// themselves if they do.
    pub(super) fn meet(
        &mut self,
        a: u32,
        b: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        self.counts.colliding += 1;
        let (a, b) = (a.min(b), a.max(b));
        self.reset(a, now, motion)?;
        self.reset(b, now, motion)?;
        let [one, other] = [a, b].map(|index| &self.bounds[index as usize]);
        let apart = other.position - one.position;
        let distance = apart.length();
        let depth = one.radius + other.radius - distance;
        if depth < 0.0 {
            return Ok(());
        }
        // Spheres in the same place part along any axis.
        let normal = if distance > 0.0 {
            apart / distance
        } else {
            glam::DVec3::X
        };
        let speed = (one.velocity - other.velocity).dot(normal);
        if speed <= 0.0 {
            return Ok(());
        }
        self.counts.contacts += 1;
        motion.collide(&Contact {
            time: now,
            sphere: a,
            other: CollisionPartner::Sphere(b),
            normal,
            speed,
            penetration: depth,
        });
        self.reset_after_jump(a, now, motion)?;
        self.reset_after_jump(b, now, motion)
    }

    /// The bound of a sphere has collided with a wall: the same.
    pub(super) fn meet_wall(
        &mut self,
        sphere: u32,
        wall: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        self.counts.at_walls += 1;
        self.reset(sphere, now, motion)?;
        let bound = &self.bounds[sphere as usize];
        let at = &self.walls[wall as usize];
        let seen = at.signed_distance(bound.position);
        let depth = bound.radius - seen.distance;
        let speed = -bound.velocity.dot(seen.normal);
        if depth < -2.0 * at.tolerance(bound.position) || speed <= 0.0 {
            return Ok(());
        }
        self.counts.wall_contacts += 1;
        motion.collide(&Contact {
            time: now,
            sphere,
            other: CollisionPartner::Wall(wall),
            normal: -seen.normal,
            speed,
            penetration: depth,
        });
        self.reset_after_jump(sphere, now, motion)
    }
}

fn probe(sphere: u32, time: f64, motion: &mut dyn SphereMotion) -> Result<Probe, MotionError> {
    let probe = motion.probe(sphere, time);
    for (what, vector) in [("place", probe.position), ("velocity", probe.velocity)] {
        if !vector.is_finite() {
            return Err(MotionError::NotFinite { sphere, what, time });
        }
    }
    Ok(probe)
}

/// Refuses a sphere that is not within its bound (equation 2), or faster than it can be.
fn check(
    sphere: u32,
    bound: &TimeVaryingBound,
    probe: &Probe,
    now: f64,
) -> Result<(), MotionError> {
    let elapsed = now - bound.since;
    let change = bound.acceleration * elapsed;
    let way = probe.position.distance(bound.center_at(now));
    let jump = probe.velocity.distance(bound.velocity);
    let speed = probe.velocity.abs().max_element() + change;
    let place = probe.position.abs().max_element() + speed * elapsed;
    let blur = CLOCK * now.abs();
    for (what, found, allowed, rounding) in [
        (
            "position",
            way,
            0.5 * change * elapsed,
            LEEWAY * place + blur * speed,
        ),
        (
            "velocity",
            jump,
            change,
            LEEWAY * speed + blur * bound.acceleration,
        ),
    ] {
        if found > allowed + LEEWAY * allowed + rounding {
            return Err(MotionError::BoundViolated {
                sphere,
                time: now,
                since: bound.since,
                what,
                excess: found - allowed,
                bound: bound.acceleration,
            });
        }
    }
    Ok(())
}
