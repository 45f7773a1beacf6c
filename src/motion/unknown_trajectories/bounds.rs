//! Time-varying bounds of spheres, and what happens when two of them collide. Shared by both
//! detectors.

use glam::DVec3;

use super::{Contact, EventCounts, MovingSphere, Probe, SphereMotion};
use crate::motion::error::{check_positive, check_sphere};
use crate::motion::time_of_impact::{
    GrowingSphere, Wall, first_contact_relative, first_not_positive,
};
use crate::motion::{CollisionPartner, MotionError};

/// Relative rounding error of positions and velocities that a bound check accepts.
const ROUNDING: f64 = 1.0e-9;

/// Relative rounding error of times. A moving sphere has this error in its position even
/// where its coordinates are close to zero.
const CLOCK_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Fraction of the tolerance below which the next event of a pair is the collision of its
/// bounds. Deeper pairs are checked when they may be as deep again.
const SHALLOW: f64 = 0.99;

/// Fraction of the tolerance by which two resting spheres may sink into each other between checks.
const CREEP: f64 = 0.01;

/// A sphere that contains another sphere of unknown trajectory from the time of its last
/// probe on (equations 5 and 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeVaryingBound {
    /// Time of the last probe, s.
    pub since: f64,
    /// Center at that time, nm.
    pub position: DVec3,
    /// Velocity at that time, nm/s.
    pub velocity: DVec3,
    /// Radius of the real sphere, nm.
    pub radius: f64,
    /// Bound on the acceleration, nm/s².
    pub acceleration: f64,
}

impl TimeVaryingBound {
    /// Center of the bound at a time, nm.
    #[must_use]
    pub fn center_at(&self, time: f64) -> DVec3 {
        self.position + (time - self.since) * self.velocity
    }

    /// Radius of the bound at a time, nm.
    #[must_use]
    pub fn radius_at(&self, time: f64) -> f64 {
        let elapsed = time - self.since;
        self.radius + 0.5 * self.acceleration * elapsed * elapsed
    }

    /// The bound as a growing sphere with its origin of time at `now`.
    #[inline]
    pub(super) fn growing(&self, now: f64) -> GrowingSphere {
        let elapsed = now - self.since;
        let growth = self.acceleration * elapsed;
        GrowingSphere {
            center: self.position + elapsed * self.velocity,
            velocity: self.velocity,
            radius: self.radius + 0.5 * growth * elapsed,
            growth,
            acceleration: self.acceleration,
        }
    }

    /// Time at which the diameter of the bound is `width` nm (equation 8); infinite if the
    /// bound does not grow.
    pub(super) fn time_of_width(&self, width: f64) -> f64 {
        let margin = (width - 2.0 * self.radius).max(0.0);
        if self.acceleration > 0.0 {
            self.since + (margin / self.acceleration).sqrt()
        } else {
            f64::INFINITY
        }
    }
}

/// The bounds of all spheres.
#[derive(Clone, Debug)]
pub(super) struct BoundSet {
    pub(super) bounds: Vec<TimeVaryingBound>,
    pub(super) walls: Vec<Wall>,
    pub(super) tolerance: f64,
    pub(super) counts: EventCounts,
}

impl BoundSet {
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
        Wall::check_all(&walls)?;
        let mut counts = EventCounts::default();
        let bounds = spheres.iter().zip(0..).map(|(sphere, index)| {
            let (radius, acceleration) = (sphere.radius, sphere.acceleration);
            let properties = [
                ("radius", radius),
                ("bound on the acceleration", acceleration),
            ];
            check_sphere(index, &properties)?;
            counts.probes += 1;
            let probe = probe(index, start, motion)?;
            Ok(TimeVaryingBound {
                since: start,
                position: probe.position,
                velocity: probe.velocity,
                radius,
                acceleration,
            })
        });
        let bounds = bounds.collect::<Result<_, MotionError>>()?;
        Ok(Self {
            bounds,
            walls,
            tolerance,
            counts,
        })
    }

    /// Probes a sphere and shrinks its bound to it. Only if it `may_jump` may it be outside.
    pub(super) fn reset(
        &mut self,
        sphere: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
        may_jump: bool,
    ) -> Result<(), MotionError> {
        self.counts.probes += 1;
        let probe = probe(sphere, now, motion)?;
        let bound = &mut self.bounds[sphere as usize];
        if !may_jump {
            check_bound(sphere, bound, &probe, now)?;
        }
        (bound.since, bound.position, bound.velocity) = (now, probe.position, probe.velocity);
        Ok(())
    }

    /// A bound as it moves and grows from `now` on, and whether its sphere was probed then.
    pub(super) fn current(&self, sphere: u32, now: f64) -> (GrowingSphere, bool) {
        let bound = &self.bounds[sphere as usize];
        (bound.growing(now), bound.since == now)
    }

    /// When a bound collides with that of sphere `other`, up to `until` s.
    #[inline]
    pub(super) fn next_collision(
        &self,
        (a, is_fresh): &(GrowingSphere, bool),
        other: u32,
        now: f64,
        until: f64,
    ) -> Option<f64> {
        let (b, is_other_fresh) = self.current(other, now);
        let offset = a.center - b.center;
        let velocity = a.velocity - b.velocity;
        let growth = a.growth + b.growth;
        let acceleration = a.acceleration + b.acceleration;
        let reach = a.radius + b.radius;
        let mut slack = self.tolerance;
        if *is_fresh && is_other_fresh {
            let distance = offset.length();
            let depth = reach - distance;
            if depth > SHALLOW * self.tolerance {
                let receding = if distance > 0.0 {
                    offset.dot(velocity) / distance
                } else {
                    velocity.length()
                };
                if receding >= 0.0 {
                    return self.next_check(receding, acceleration, now, until);
                }
                // They approach despite the contact: report again at twice the depth.
                slack = 2.0 * depth;
            }
        }
        let radius = [(reach - slack).max(0.0), growth, acceleration];
        first_contact_relative(offset, velocity, radius, until - now).map(|time| now + time)
    }

    /// When two overlapping spheres that recede may be as deep again: not before
    /// u t − a t² / 2 = 0 for the speed u and the sum of the acceleration bounds a.
    fn next_check(&self, receding: f64, acceleration: f64, now: f64, until: f64) -> Option<f64> {
        if acceleration <= 0.0 {
            return None;
        }
        let back = 2.0 * receding / acceleration;
        let creep = (2.0 * CREEP * self.tolerance / acceleration).sqrt();
        let time = now + back.max(creep);
        (time <= until).then_some(time)
    }

    /// The first wall that a bound collides with up to `until` s, and when.
    pub(super) fn next_wall(&self, sphere: u32, now: f64, until: f64) -> Option<(f64, u32)> {
        let mut best: Option<(f64, u32)> = None;
        for index in 0..self.walls.len() as u32 {
            let until = best.map_or(until, |(time, _)| time);
            if let Some(time) = self.next_wall_collision(sphere, index, now, until)
                && best.is_none_or(|(earliest, _)| time < earliest)
            {
                best = Some((time, index));
            }
        }
        best
    }

    /// When a bound collides with a wall, up to `until` s.
    pub(super) fn next_wall_collision(
        &self,
        sphere: u32,
        wall: u32,
        now: f64,
        until: f64,
    ) -> Option<f64> {
        let bound = &self.bounds[sphere as usize];
        let wall = &self.walls[wall as usize];
        let mut growing = bound.growing(now);
        let tolerance = self.tolerance;
        let max_time = until - now;
        if let Wall::Plane { normal, offset } = wall {
            let gap = growing.center.dot(*normal) - offset - growing.radius;
            let speed = growing.velocity.dot(*normal) - growing.growth;
            if gap > 0.0 {
                // Most bounds are far from most walls: reject without a root.
                let closing = (-speed).max(0.0) + 0.5 * growing.acceleration * max_time;
                if gap > closing * max_time {
                    return None;
                }
                let step = first_not_positive(gap + tolerance, speed, -0.5 * growing.acceleration);
                return (now + step <= until).then_some(now + step);
            }
        }
        if let Wall::Surface { .. } = wall {
            // Advance at least by the time in which the sphere moves by the accuracy of the
            // surface, so that time always progresses.
            let (accuracy, speed) = (wall.accuracy(growing.center), growing.velocity.length());
            let min_time = first_not_positive(accuracy, -speed, -0.5 * growing.acceleration);
            let time = wall.first_contact(&growing, max_time)?.max(min_time);
            return (time <= max_time).then_some(now + time);
        }
        let surface = wall.signed_distance(growing.center);
        let depth = growing.radius - surface.distance;
        let mut slack = tolerance;
        if bound.since == now && depth > SHALLOW * tolerance {
            let receding = surface.normal.dot(growing.velocity);
            if receding < 0.0 {
                // It approaches despite the contact: report again at twice the depth.
                slack = 2.0 * depth;
            } else if wall.is_concave() {
                slack = depth + CREEP * tolerance;
            } else {
                return self.next_check(receding, growing.acceleration, now, until);
            }
        }
        growing.radius -= slack;
        wall.first_contact(&growing, max_time)
            .map(|time| now + time)
    }

    /// Handles the collision of two bounds: resets both, and reports a contact if the spheres
    /// touch and approach each other.
    pub(super) fn collide(
        &mut self,
        a: u32,
        b: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        self.counts.colliding += 1;
        let (a, b) = (a.min(b), a.max(b));
        self.reset(a, now, motion, false)?;
        self.reset(b, now, motion, false)?;
        let [one, other] = [a, b].map(|index| &self.bounds[index as usize]);
        let offset = other.position - one.position;
        let distance = offset.length();
        let depth = one.radius + other.radius - distance;
        if depth < 0.0 {
            return Ok(());
        }
        // Coincident spheres separate along an arbitrary axis.
        let normal = if distance > 0.0 {
            offset / distance
        } else {
            DVec3::X
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
        self.reset(a, now, motion, true)?;
        self.reset(b, now, motion, true)
    }

    /// [`Self::collide`] for a bound and a wall.
    pub(super) fn collide_with_wall(
        &mut self,
        sphere: u32,
        wall: u32,
        now: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        self.counts.at_walls += 1;
        self.reset(sphere, now, motion, false)?;
        let bound = &self.bounds[sphere as usize];
        let at = &self.walls[wall as usize];
        let surface = at.signed_distance(bound.position);
        let depth = bound.radius - surface.distance;
        let speed = -bound.velocity.dot(surface.normal);
        if depth < -2.0 * at.accuracy(bound.position) || speed <= 0.0 {
            return Ok(());
        }
        self.counts.wall_contacts += 1;
        motion.collide(&Contact {
            time: now,
            sphere,
            other: CollisionPartner::Wall(wall),
            normal: -surface.normal,
            speed,
            penetration: depth,
        });
        self.reset(sphere, now, motion, true)
    }
}

fn probe(sphere: u32, time: f64, motion: &mut dyn SphereMotion) -> Result<Probe, MotionError> {
    let probe = motion.probe(sphere, time);
    for (what, vector) in [("position", probe.position), ("velocity", probe.velocity)] {
        if !vector.is_finite() {
            return Err(MotionError::NotFinite { sphere, what, time });
        }
    }
    Ok(probe)
}

/// Returns an error if a sphere is outside its bound (equation 2), or faster than possible.
fn check_bound(
    sphere: u32,
    bound: &TimeVaryingBound,
    probe: &Probe,
    now: f64,
) -> Result<(), MotionError> {
    let elapsed = now - bound.since;
    let change = bound.acceleration * elapsed;
    let deviation = probe.position.distance(bound.center_at(now));
    let jump = probe.velocity.distance(bound.velocity);
    let speed = probe.velocity.abs().max_element() + change;
    let extent = probe.position.abs().max_element() + speed * elapsed;
    let clock_error = CLOCK_ROUNDING * now.abs();
    let drift = 0.5 * change * elapsed;
    let position_error = ROUNDING * extent + clock_error * speed;
    let velocity_error = ROUNDING * speed + clock_error * bound.acceleration;
    for (what, found, allowed, rounding) in [
        ("position", deviation, drift, position_error),
        ("velocity", jump, change, velocity_error),
    ] {
        if found > allowed + ROUNDING * allowed + rounding {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_moves_and_grows_by_equations_5_and_6() {
        let bound = TimeVaryingBound {
            since: 1.0,
            position: DVec3::new(1.0, 2.0, 3.0),
            velocity: DVec3::new(2.0, 0.0, -1.0),
            radius: 0.5,
            acceleration: 4.0,
        };
        assert_eq!(bound.center_at(3.0), DVec3::new(5.0, 2.0, 1.0));
        assert_eq!(bound.radius_at(3.0), 8.5);
        let later = bound.growing(2.0);
        assert_eq!(later.center_at(1.0), bound.center_at(3.0));
        assert_eq!(later.radius_at(1.0), bound.radius_at(3.0));
        let time = bound.time_of_width(17.0);
        assert_eq!(time, 3.0);
        assert_eq!(2.0 * bound.radius_at(time), 17.0);
    }
}
