//! Sweeping a molecule until its atoms touch another one.
//!
//! Conservative advancement of each atom along its own path: the gap between two balls, one of
//! which moves, is f(t) = |p(t) − c| − R. Its second derivative is at least −A, where A is the
//! maximum acceleration of p, because distance is convex along a straight line. So
//! f(t + h) ≥ f + f′h − Ah²/2, and there is no contact before the root of the right side: this
//! is Newton's method from the safe side. Time t is the fraction of the motion, so velocities
//! and accelerations are in nm.

use std::ops::ControlFlow;

use glam::{DQuat, DVec3, Vec3};

use super::overlap::atoms_within;
use super::rigid_motion::RelativeMotion;
use super::{AtomPair, DockingError, DockingMolecule, DockingPair, RigidMotion};
use crate::pose::Pose;

/// Default gap at which atoms count as touching, nm.
pub const CONTACT_TOLERANCE_NM: f32 = 1.0e-4;

/// Fraction of the tolerance that always stays open, so that rounding causes no overlap.
const MIN_OPEN: f64 = 0.5;

/// Maximum number of steps along the path of an atom: more than any path past a molecule
/// needs. Then the atom counts as blocked.
const MAX_STEPS: usize = 100_000;

/// Result of [`DockingPair::sweep`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SweepReport {
    /// Time of impact as a fraction of the motion, from 0 to 1; 1 without a contact.
    pub fraction: f64,
    /// Final pose of the moving molecule, world frame, nm.
    pub pose: Pose,
    /// Touching atoms of the moving and of the other molecule; empty without a contact.
    pub pairs: Vec<AtomPair>,
    /// Mean contact normal from the other molecule to the moving one, world frame, if there is
    /// a contact.
    pub normal: Option<Vec3>,
}

impl DockingPair<'_> {
    /// Moves the molecule along `motion` until it touches the other one.
    ///
    /// At any speed, no atom passes another: the closest atoms end at most the tolerance apart,
    /// and never overlap. Atoms that touch at the start and separate, or slide along each other,
    /// do not stop the motion.
    ///
    /// # Errors
    /// [`DockingError`] if the motion or a pose is not finite, the tolerance is not positive, or
    /// the molecules overlap at the start.
    pub fn sweep(&self, motion: &RigidMotion) -> Result<SweepReport, DockingError> {
        let &Self {
            moving,
            other,
            tolerance,
            ..
        } = self;
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(DockingError::BadTolerance { tolerance });
        }
        let relative = RelativeMotion::new(&self.pose, &self.other_pose, motion)?;
        let tolerance = f64::from(tolerance);
        let mut limit = 1.0;
        let mut is_blocked = false;
        // The atoms of the smaller molecule move through the grid of the larger one.
        let is_swapped = moving.atom_count() > other.atom_count();
        let (small, large) = if is_swapped {
            (other, moving)
        } else {
            (moving, other)
        };
        let atoms = small.template().positions().iter();
        for ((position, &radius), index) in atoms.zip(small.template().radii()).zip(0..) {
            let position = position.as_dvec3();
            let sweep = AtomSweep {
                large,
                radius: f64::from(radius),
                tolerance,
                limit,
            };
            let end = if is_swapped {
                sweep.run(&FixedAtom::new(&relative, position))
            } else {
                sweep.run(&MovingAtom::new(&relative, position))
            };
            match end {
                SweepEnd::Free => {}
                SweepEnd::Contact(fraction) => {
                    limit = fraction;
                    is_blocked = true;
                }
                SweepEnd::StartsOverlapping { atom, depth } => {
                    let (moving, fixed) = if is_swapped {
                        (atom, index)
                    } else {
                        (index, atom)
                    };
                    return Err(DockingError::StartsOverlapping {
                        moving,
                        fixed,
                        penetration: depth as f32,
                    });
                }
            }
        }
        let pose = motion.pose_at(&self.pose, limit);
        let mut report = SweepReport {
            fraction: limit,
            pose,
            pairs: Vec::new(),
            normal: None,
        };
        if is_blocked {
            // Slightly more than the tolerance, because the pose is rounded.
            let margin = 1.1 * tolerance as f32;
            let end = Self { pose, ..*self };
            report.pairs = atoms_within(margin, moving, &pose, other, &self.other_pose);
            let normals = report.pairs.iter().map(|atoms| contact_normal(&end, atoms));
            report.normal = normals.sum::<Vec3>().try_normalize();
        }
        Ok(report)
    }
}

/// Unit vector from the atom of the other molecule to that of the moving one, world frame.
pub(super) fn contact_normal(pair: &DockingPair, atoms: &AtomPair) -> Vec3 {
    let position = |molecule: &DockingMolecule, pose: &Pose, atom: u32| {
        pose.transform_point(molecule.template().positions()[atom as usize])
    };
    let one = position(pair.moving, &pair.pose, atoms.a);
    let other = position(pair.other, &pair.other_pose, atoms.b);
    (one - other).normalize_or_zero()
}

/// The path of one atom in the frame of the molecule whose grid it moves through.
trait AtomPath {
    /// Position and velocity after a `fraction` of the motion, nm.
    fn at(&self, fraction: f64) -> (DVec3, DVec3);

    /// Upper bound on the speed, nm.
    fn max_speed(&self) -> f64;

    /// Upper bound on the acceleration, nm.
    fn max_acceleration(&self) -> f64;
}

/// An atom of the moving molecule in the frame of the fixed one.
struct MovingAtom<'a> {
    motion: &'a RelativeMotion,
    /// Lever arm at the start, nm.
    arm: DVec3,
}

impl<'a> MovingAtom<'a> {
    /// An atom at `position` in its body frame, nm.
    fn new(motion: &'a RelativeMotion, position: DVec3) -> Self {
        Self {
            motion,
            arm: motion.rotation * position,
        }
    }
}

impl AtomPath for MovingAtom<'_> {
    fn at(&self, fraction: f64) -> (DVec3, DVec3) {
        let motion = self.motion;
        let arm = rotate(motion.spin * fraction, self.arm);
        let position = motion.start + motion.velocity * fraction + arm;
        (position, motion.velocity + motion.spin.cross(arm))
    }

    fn max_speed(&self) -> f64 {
        self.motion.velocity.length() + self.motion.spin.length() * self.arm.length()
    }

    fn max_acceleration(&self) -> f64 {
        self.motion.spin.length_squared() * self.arm.length()
    }
}

/// An atom of the fixed molecule in the frame of the moving one.
struct FixedAtom<'a> {
    motion: &'a RelativeMotion,
    position: DVec3,
    /// Maximum distance from the center of the moving molecule, nm.
    max_distance: f64,
}

impl<'a> FixedAtom<'a> {
    /// An atom at `position` in its body frame, nm.
    fn new(motion: &'a RelativeMotion, position: DVec3) -> Self {
        // The distance from a straight path is largest at one of its ends.
        let begin = (position - motion.start).length();
        let end = (position - motion.start - motion.velocity).length();
        Self {
            motion,
            position,
            max_distance: begin.max(end),
        }
    }
}

impl AtomPath for FixedAtom<'_> {
    fn at(&self, fraction: f64) -> (DVec3, DVec3) {
        let motion = self.motion;
        let arm = self.position - motion.start - motion.velocity * fraction;
        // The frame rotates, so everything else rotates in the opposite direction.
        let back = rotate(-motion.spin * fraction, arm);
        let velocity = rotate(-motion.spin * fraction, -motion.velocity) - motion.spin.cross(back);
        let to_body = motion.rotation.inverse();
        (to_body * back, to_body * velocity)
    }

    fn max_speed(&self) -> f64 {
        self.motion.velocity.length() + self.motion.spin.length() * self.max_distance
    }

    fn max_acceleration(&self) -> f64 {
        let spin = self.motion.spin.length();
        spin * (2.0 * self.motion.velocity.length() + spin * self.max_distance)
    }
}

/// Rotates `vector` by a rotation vector in radian.
fn rotate(rotation: DVec3, vector: DVec3) -> DVec3 {
    if rotation == DVec3::ZERO {
        vector
    } else {
        DQuat::from_scaled_axis(rotation) * vector
    }
}

/// The first time at which a gap with this rate of change and a second derivative of at least
/// `-max_acceleration` can be zero.
fn min_closing_time(gap: f64, rate: f64, max_acceleration: f64) -> f64 {
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

/// How the sweep of an atom ends.
enum SweepEnd {
    /// Without a contact up to the limit.
    Free,
    /// With a contact after this fraction of the motion.
    Contact(f64),
    /// At the start, inside an atom.
    StartsOverlapping { atom: u32, depth: f64 },
}

/// The surroundings of an atom on its path.
enum Surroundings {
    /// There is no contact for this fraction of the motion.
    Open(f64),
    /// The atom touches another one that it approaches.
    Contact,
    /// The atom overlaps another one.
    Overlap { atom: u32, depth: f64 },
}

/// The sweep of one ball through the grid of a molecule.
struct AtomSweep<'a> {
    large: &'a DockingMolecule,
    /// Radius of the ball, nm.
    radius: f64,
    /// Gap at which it touches, nm.
    tolerance: f64,
    /// Fraction of the motion to test.
    limit: f64,
}

impl AtomSweep<'_> {
    fn run(&self, path: &impl AtomPath) -> SweepEnd {
        let speed = path.max_speed();
        let acceleration = path.max_acceleration();
        let mut fraction = 0.0;
        for step in 0..MAX_STEPS {
            let (position, velocity) = path.at(fraction);
            let rest = (self.limit - fraction) * speed;
            let margin = f64::from(self.large.grid().quick_margin(self.radius as f32));
            let margin = margin.min(rest).max(2.0 * self.tolerance);
            let distance =
                f64::from(self.large.distance_field().at(position.as_vec3())) - self.radius;
            let open = if distance > margin {
                distance / speed
            } else {
                match self.test(position, velocity, acceleration, margin) {
                    Surroundings::Open(time) => time.min(margin / speed),
                    Surroundings::Overlap { atom, depth } if step == 0 => {
                        return SweepEnd::StartsOverlapping { atom, depth };
                    }
                    // After the first step, only rounding causes an overlap.
                    Surroundings::Contact | Surroundings::Overlap { .. } => {
                        return SweepEnd::Contact(fraction);
                    }
                }
            };
            fraction += open;
            if fraction >= self.limit || open.is_nan() {
                return SweepEnd::Free;
            }
        }
        SweepEnd::Contact(fraction)
    }

    /// Tests all atoms within `margin` nm of the ball.
    fn test(
        &self,
        position: DVec3,
        velocity: DVec3,
        acceleration: f64,
        margin: f64,
    ) -> Surroundings {
        let mut open = f64::INFINITY;
        let end = self.large.grid().visit_touching(
            position.as_vec3(),
            (self.radius + margin) as f32,
            |other| {
                let offset = position - other.center.as_dvec3();
                let distance = offset.length();
                let gap = distance - self.radius - f64::from(other.radius);
                if gap < 0.0 {
                    return ControlFlow::Break(Surroundings::Overlap {
                        atom: other.index,
                        depth: -gap,
                    });
                }
                let rate = velocity.dot(offset) / distance;
                if rate < 0.0 && gap <= self.tolerance {
                    return ControlFlow::Break(Surroundings::Contact);
                }
                let available = if rate < 0.0 {
                    gap - MIN_OPEN * self.tolerance
                } else {
                    gap
                };
                open = open.min(min_closing_time(available, rate, acceleration));
                ControlFlow::Continue(())
            },
        );
        match end {
            ControlFlow::Continue(()) => Surroundings::Open(open),
            ControlFlow::Break(surroundings) => surroundings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion() -> RelativeMotion {
        RelativeMotion {
            start: DVec3::new(1.0, -2.0, 0.5),
            rotation: DQuat::from_scaled_axis(DVec3::new(0.3, 0.2, -0.9)),
            velocity: DVec3::new(0.7, 3.0, -1.0),
            spin: DVec3::new(-1.0, 0.4, 2.0),
        }
    }

    /// Asserts that velocities are derivatives and respect their bounds.
    fn check(path: &impl AtomPath) {
        let step = 1.0e-5;
        for k in 0..50 {
            let fraction = f64::from(k) / 50.0;
            let ((position, velocity), (next, next_velocity)) =
                (path.at(fraction), path.at(fraction + step));
            let slope = (next - position) / step;
            assert!((slope - velocity).length() < 1.0e-3, "{slope} {velocity}");
            assert!(velocity.length() <= path.max_speed());
            let bend = (next_velocity - velocity).length() / step;
            assert!(bend <= path.max_acceleration() * 1.001, "{bend}");
        }
    }

    #[test]
    fn velocities_are_derivatives_within_their_bounds() {
        let motion = motion();
        check(&MovingAtom::new(&motion, DVec3::new(0.5, 1.5, -0.2)));
        check(&FixedAtom::new(&motion, DVec3::new(0.5, 1.5, -0.2)));
    }

    #[test]
    fn distance_is_the_same_in_both_frames() {
        let motion = motion();
        let (moving, fixed) = (DVec3::new(0.1, -0.7, 0.4), DVec3::new(2.0, 0.3, 0.3));
        for k in 0..=10 {
            let fraction = f64::from(k) / 10.0;
            let (one, _) = MovingAtom::new(&motion, moving).at(fraction);
            let (other, _) = FixedAtom::new(&motion, fixed).at(fraction);
            let distances = [one.distance(fixed), other.distance(moving)];
            assert!(
                (distances[0] - distances[1]).abs() < 1.0e-12,
                "{distances:?}"
            );
        }
    }

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
