//! Time of impact of two rigid molecules, sphere by sphere.
//!
//! Both molecules move at constant velocity and rotate at constant rate. The gap of two spheres is
//! f(t) = |p(t) − q(t)| − R. A distance is convex along a straight line, so f″ ≥ −A, where A bounds
//! the relative acceleration of the centers: the sum of ω²r over both molecules, r the distance of
//! a center from the axis of rotation. Hence f(t + h) ≥ f + f′h − Ah²/2, and the spheres do not
//! touch before the root of the right side. Advancing to the root again and again (conservative
//! advancement, here Newton's method from the safe side) ends at the impact.
//!
//! 1. The same bound holds for spheres that enclose others: 16 spheres (cluster), or 16 clusters
//!    (region).
//! 2. Pairs of regions, then of clusters, are visited in the order of the earliest time at which
//!    they may touch, until that is later than the first impact found.
//! 3. The spheres of two clusters advance from that time on, in 64 bits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DMat3, DVec3, Vec3};

use super::RigidSpheres;
use super::rigid_spheres::{CLUSTER, CLUSTERS_PER_REGION, Cluster};
use crate::pose::{Pose, RigidMotion};

/// Accuracy of the gap at an impact, nm: a thousandth of an atom.
pub const IMPACT_TOLERANCE_NM: f64 = 1.0e-4;

/// Approach (nm per motion) below which spheres move along each other: rounding.
const MIN_APPROACH_NM: f64 = 1.0e-12;

/// Maximum number of steps of two enclosing spheres. More only make the bound sharper.
const MAX_BOUND_STEPS: usize = 4;

/// Maximum number of steps of two spheres. Spheres that have not passed each other by then count
/// as touching: they rotate along each other thousands of times.
const MAX_STEPS: usize = 10_000;

/// A rigid molecule in motion. World frame.
#[derive(Clone, Copy, Debug)]
pub struct MovingMolecule<'a> {
    /// Its spheres, body frame.
    pub spheres: &'a RigidSpheres,
    /// Pose of the body frame at the start, nm.
    pub pose: Pose,
    /// Center of rotation at the start, nm.
    pub center: Vec3,
    /// The motion, with `center` as the center of mass.
    pub motion: RigidMotion,
}

impl<'a> MovingMolecule<'a> {
    /// A molecule whose center of mass is the origin of its body frame, as that of a
    /// [`MoleculeTemplate`](crate::molecule::MoleculeTemplate) is.
    #[must_use]
    pub fn new(spheres: &'a RigidSpheres, pose: Pose, motion: RigidMotion) -> Self {
        Self {
            spheres,
            pose,
            center: pose.position,
            motion,
        }
    }

    fn is_valid(&self) -> bool {
        self.pose.is_rigid() && self.center.is_finite() && self.motion.is_finite()
    }
}

/// Two spheres that touch during a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Impact {
    /// Time as a fraction of the motion, from 0 to 1.
    pub fraction: f64,
    /// Sphere of the first molecule.
    pub a: u32,
    /// Sphere of the second molecule.
    pub b: u32,
    /// Distance of their surfaces at that time, nm; negative if they overlap at the start.
    pub gap: f32,
    /// Unit vector from the first to the second at that time, world frame.
    pub normal: Vec3,
    /// Point halfway between their surfaces at that time, nm, world frame.
    pub point: Vec3,
}

/// The first impact of two moving molecules: the first time at which the surfaces of two of their
/// spheres are `gap` nm apart and approach each other. None if they do not touch within the motion.
///
/// *Accuracy*: the gap of the spheres at the impact exceeds `gap` by at most
/// [`IMPACT_TOLERANCE_NM`]. At any speed and rate of rotation, no spheres come closer than `gap`
/// minus the tolerance before it.
///
/// *Closer at the start*: spheres that are closer than `gap` at the start, or overlap, touch when
/// they come closer still: at once if they approach each other. Those that separate do not touch,
/// so that molecules can leave an overlap.
///
/// Molecules with a pose or motion that is not finite do not touch.
///
/// ```
/// use bevy_rapier_molecules::pose::RigidMotion;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::search::{MovingMolecule, RigidSpheres, first_impact};
/// use glam::Vec3;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let spheres = RigidSpheres::atoms(&protein);
/// let resting = MovingMolecule::new(&spheres, Pose::IDENTITY, RigidMotion::default());
/// // Passes through the other within one step.
/// let pose = Pose::from_translation(Vec3::X * 20.0);
/// let fast = MovingMolecule::new(&spheres, pose, RigidMotion::translation(Vec3::X * -40.0));
/// let impact = first_impact(&fast, &resting, 0.0).ok_or("no impact")?;
/// assert!((0.35..0.5).contains(&impact.fraction));
/// assert!(impact.normal.x < 0.0, "from the first to the second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn first_impact(a: &MovingMolecule, b: &MovingMolecule, gap: f32) -> Option<Impact> {
    let mut first = None;
    visit_impacts(a, b, gap, |impact| {
        first = Some(impact);
        impact.fraction
    });
    first
}

/// Calls `each` with the first impact of each two spheres, in no particular but a fixed order.
/// `each` returns the fraction of the motion after which impacts no longer matter; 1 to visit all.
/// The rules are those of [`first_impact`].
pub fn visit_impacts(
    a: &MovingMolecule,
    b: &MovingMolecule,
    gap: f32,
    mut each: impl FnMut(Impact) -> f64,
) {
    let mut end = 1.0_f64;
    if !(a.is_valid() && b.is_valid() && gap.is_finite()) {
        return;
    }
    let pair = MovingPair {
        sides: [a, b].map(Side::new),
        offset: a.center.as_dvec3() - b.center.as_dvec3(),
        velocity: a.motion.translation.as_dvec3() - b.motion.translation.as_dvec3(),
        gap: f64::from(gap),
    };
    let spheres = [a.spheres, b.spheres];
    let mut queue = BinaryHeap::new();
    let all_regions = spheres.map(|one| 0..one.regions.len() as u32);
    pair.enqueue(&mut queue, Level::Region, all_regions, 0.0, end);
    while let Some(Reverse(next)) = queue.pop() {
        let start = next.time();
        if start > end {
            return;
        }
        let parts = [next.a, next.b];
        match next.level {
            Level::Region => {
                let clusters = [0, 1].map(|k| {
                    let first = parts[k] * CLUSTERS_PER_REGION as u32;
                    let count = spheres[k].clusters.len() as u32;
                    first..count.min(first + CLUSTERS_PER_REGION as u32)
                });
                pair.enqueue(&mut queue, Level::Cluster, clusters, start, end);
            }
            Level::Cluster => {
                let clusters = [0, 1].map(|k| &spheres[k].clusters[parts[k] as usize]);
                pair.compare_spheres(clusters, start, &mut end, &mut |arms, at| {
                    let center = b.center.as_dvec3() + b.motion.translation.as_dvec3() * at;
                    each(pair.impact(center, arms, at))
                });
            }
        }
    }
}

/// What a bound encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Region,
    Cluster,
}

/// Two parts of the molecules, and the earliest time at which they may touch. Ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PartPair {
    /// Bits of the time, which have the order of the times because these are not negative.
    time: u64,
    level: Level,
    a: u32,
    b: u32,
}

impl PartPair {
    fn time(&self) -> f64 {
        f64::from_bits(self.time)
    }
}

/// One molecule in the frame that moves with its center of rotation.
struct Side<'a> {
    spheres: &'a RigidSpheres,
    /// Rotation at the start.
    rotation: DMat3,
    /// From the center of rotation to the origin of the body frame at the start, nm.
    shift: DVec3,
    /// Unit vector, or zero.
    axis: DVec3,
    /// Angle of the motion, radian.
    angle: f64,
}

impl<'a> Side<'a> {
    fn new(molecule: &MovingMolecule<'a>) -> Self {
        let turn = molecule.motion.rotation.as_dvec3();
        Self {
            spheres: molecule.spheres,
            rotation: DMat3::from_quat(molecule.pose.rotation.as_dquat().normalize()),
            shift: molecule.pose.position.as_dvec3() - molecule.center.as_dvec3(),
            axis: turn.normalize_or_zero(),
            angle: turn.length(),
        }
    }

    /// The path of a sphere in the body frame.
    fn arm(&self, index: u32, center: Vec3, radius: f32) -> Arm {
        let start = self.rotation * center.as_dvec3() + self.shift;
        let axial = self.axis * self.axis.dot(start);
        let radial = start - axial;
        Arm {
            index,
            radius: f64::from(radius),
            axial,
            radial,
            tangent: self.axis.cross(start),
            reach: radial.length(),
        }
    }

    /// Cosine and sine of the angle after a fraction of the motion.
    fn turn(&self, fraction: f64) -> (f64, f64) {
        if self.angle == 0.0 {
            return (1.0, 0.0);
        }
        let (sin, cos) = (self.angle * fraction).sin_cos();
        (cos, sin)
    }
}

/// A sphere and the circle that it rotates on, relative to the center of rotation, nm.
#[derive(Clone, Copy, Default)]
struct Arm {
    index: u32,
    radius: f64,
    axial: DVec3,
    radial: DVec3,
    /// Perpendicular to `axial` and `radial`, as long as `radial` if the molecule rotates.
    tangent: DVec3,
    /// Length of `radial`.
    reach: f64,
}

impl Arm {
    fn at(&self, (cos, sin): (f64, f64)) -> DVec3 {
        self.axial + cos * self.radial + sin * self.tangent
    }

    /// Change of the position per radian.
    fn slope(&self, (cos, sin): (f64, f64)) -> DVec3 {
        cos * self.tangent - sin * self.radial
    }
}

/// Where two spheres are after a fraction of the motion.
struct State {
    /// From the second center to the first, nm.
    difference: DVec3,
    /// Gap minus the target gap, nm.
    gap: f64,
    /// Its rate of change, nm per motion.
    rate: f64,
}

/// Two molecules in motion, relative to the center of the second.
struct MovingPair<'a> {
    sides: [Side<'a>; 2],
    /// Center of the first at the start, nm.
    offset: DVec3,
    /// Its translation in the motion, nm.
    velocity: DVec3,
    /// Gap at which surfaces touch, nm.
    gap: f64,
}

impl MovingPair<'_> {
    fn state(&self, arms: [&Arm; 2], fraction: f64) -> State {
        let [one, other] = &self.sides;
        let turns = [one.turn(fraction), other.turn(fraction)];
        let arm = arms[0].at(turns[0]) - arms[1].at(turns[1]);
        let difference = self.offset + self.velocity * fraction + arm;
        let velocity = self.velocity + one.angle * arms[0].slope(turns[0])
            - other.angle * arms[1].slope(turns[1]);
        let distance = difference.length();
        State {
            difference,
            gap: distance - arms[0].radius - arms[1].radius - self.gap,
            rate: if distance > 0.0 {
                velocity.dot(difference) / distance
            } else {
                // Concentric spheres can only separate.
                velocity.length()
            },
        }
    }

    /// Bound on the relative acceleration of two centers, nm per motion².
    fn bend(&self, arms: [&Arm; 2]) -> f64 {
        let [one, other] = &self.sides;
        one.angle * one.angle * arms[0].reach + other.angle * other.angle * arms[1].reach
    }

    /// Adds all pairs of parts that may touch between `start` and `end`.
    fn enqueue(
        &self,
        queue: &mut BinaryHeap<Reverse<PartPair>>,
        level: Level,
        [first, second]: [std::ops::Range<u32>; 2],
        start: f64,
        end: f64,
    ) {
        let bound = |side: &Side, part: u32| {
            let (center, radius) = match level {
                Level::Region => side.spheres.regions[part as usize],
                Level::Cluster => side.spheres.bounds.get(part as usize),
            };
            side.arm(part, center, radius)
        };
        for a in first {
            let arm = bound(&self.sides[0], a);
            for b in second.clone() {
                let other = bound(&self.sides[1], b);
                if let Some(time) = self.earliest_touch([&arm, &other], start, end) {
                    let time = time.to_bits();
                    queue.push(Reverse(PartPair { time, level, a, b }));
                }
            }
        }
    }

    /// The earliest time from `start` on at which enclosing spheres may touch; none if after `end`.
    fn earliest_touch(&self, arms: [&Arm; 2], start: f64, end: f64) -> Option<f64> {
        let bend = self.bend(arms);
        let mut time = start;
        for _ in 0..MAX_BOUND_STEPS {
            let State { gap, rate, .. } = self.state(arms, time);
            let gap = gap - IMPACT_TOLERANCE_NM;
            if gap <= 0.0 {
                break;
            }
            time += min_closing_time(gap, rate, bend);
            if time.is_nan() || time > end {
                return None;
            }
        }
        Some(time)
    }

    /// Calls `each` with the spheres of two clusters that touch between `start` and `end`, which
    /// it may lower.
    fn compare_spheres(
        &self,
        clusters: [&Cluster; 2],
        start: f64,
        end: &mut f64,
        each: &mut impl FnMut([&Arm; 2], f64) -> f64,
    ) {
        let mut arms = [[Arm::default(); CLUSTER]; 2];
        let mut places = [[DVec3::ZERO; CLUSTER]; 2];
        // The fastest rotation about the center.
        let mut max_speed = self.velocity.length();
        for k in 0..2 {
            let (side, cluster) = (&self.sides[k], clusters[k]);
            let turn = side.turn(start);
            let mut reach = 0.0;
            for sphere in 0..cluster.len as usize {
                let arm = side.arm(
                    cluster.index[sphere],
                    cluster.center(sphere),
                    cluster.radius[sphere],
                );
                reach = arm.reach.max(reach);
                places[k][sphere] = arm.at(turn);
                arms[k][sphere] = arm;
            }
            max_speed += side.angle * reach;
        }
        let offset = self.offset + self.velocity * start;
        for (arm, place) in arms[0].iter().zip(places[0]).take(clusters[0].len as usize) {
            for (other, at) in arms[1].iter().zip(places[1]).take(clusters[1].len as usize) {
                let travel = max_speed * (*end - start) + IMPACT_TOLERANCE_NM;
                let reach = arm.radius + other.radius + self.gap + travel;
                let difference = offset + place - at;
                if difference.length_squared() > reach * reach {
                    continue;
                }
                if let Some(time) = self.touch([arm, other], start, *end) {
                    *end = end.min(each([arm, other], time));
                }
            }
        }
    }

    /// The first time from `start` on at which two spheres touch that do not touch before; none
    /// if after `end`.
    fn touch(&self, arms: [&Arm; 2], start: f64, end: f64) -> Option<f64> {
        let bend = self.bend(arms);
        let mut time = start;
        // Spheres that are closer at the start touch when they come closer still.
        let mut level = 0.0;
        for _ in 0..MAX_STEPS {
            let State { gap, rate, .. } = self.state(arms, time);
            if time == 0.0 {
                level = gap.min(0.0);
            }
            let above = gap - level;
            let approaches = rate < -MIN_APPROACH_NM;
            if approaches && above <= IMPACT_TOLERANCE_NM {
                return Some(time);
            }
            // Half of the tolerance stays open, so that a step always makes progress and never
            // passes a contact.
            let open = if approaches {
                above - 0.5 * IMPACT_TOLERANCE_NM
            } else {
                (above + 0.5 * IMPACT_TOLERANCE_NM).max(0.25 * IMPACT_TOLERANCE_NM)
            };
            time += min_closing_time(open, rate, bend);
            if time.is_nan() || time > end {
                return None;
            }
        }
        Some(time)
    }

    /// The impact of two spheres at a time; `center` is that of the second molecule then, nm.
    fn impact(&self, center: DVec3, arms: [&Arm; 2], fraction: f64) -> Impact {
        let [arm, other] = arms;
        let state = self.state(arms, fraction);
        let normal = (-state.difference).normalize_or(DVec3::Y);
        let gap = state.gap + self.gap;
        let second = other.at(self.sides[1].turn(fraction));
        let point = second - normal * (other.radius + 0.5 * gap);
        Impact {
            fraction,
            a: arm.index,
            b: other.index,
            gap: gap as f32,
            normal: normal.as_vec3(),
            point: (center + point).as_vec3(),
        }
    }
}

/// The first time at which a gap with this rate of change and a second derivative of at least
/// `-max_acceleration` can be zero.
pub(crate) fn min_closing_time(gap: f64, rate: f64, max_acceleration: f64) -> f64 {
    let gap = gap.max(0.0);
    if max_acceleration <= 0.0 {
        return if rate < 0.0 {
            gap / -rate
        } else {
            f64::INFINITY
        };
    }
    let root = (rate * rate + 2.0 * max_acceleration * gap).sqrt();
    if rate > 0.0 {
        (rate + root) / max_acceleration
    } else {
        // Equivalent form without cancellation.
        2.0 * gap / (root - rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_closes_at_the_root_of_the_parabola() {
        assert_eq!(min_closing_time(2.0, -4.0, 0.0), 0.5);
        assert_eq!(min_closing_time(2.0, 1.0, 0.0), f64::INFINITY);
        assert_eq!(min_closing_time(-1.0, -1.0, 0.0), 0.0);
        for (gap, rate, bend) in [(2.0, -4.0, 3.0), (0.1, 5.0, 0.2), (1.0e-9, 0.0, 7.0)] {
            let time = min_closing_time(gap, rate, bend);
            let left: f64 = gap + rate * time - 0.5 * bend * time * time;
            assert!(time > 0.0 && left.abs() < 1.0e-9, "{left}");
        }
    }
}
