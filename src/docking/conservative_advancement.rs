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

use super::distance_field::DistanceField;
use super::rigid_motion::RelativeMotion;
use super::{AtomPair, DockingError, DockingMolecule, DockingPair, RigidMotion};
use crate::molecule::LocalGrid;
use crate::pose::Pose;
use crate::search::min_closing_time;

/// Default gap at which atoms count as touching, nm.
pub const CONTACT_TOLERANCE_NM: f32 = 1.0e-4;

/// Fraction of the tolerance that always stays open, so that rounding causes no overlap.
const MIN_OPEN: f64 = 0.5;

/// Gap at which atoms touch after a motion, relative to the tolerance: slightly more, because the
/// pose is rounded.
pub(super) const TOUCHING: f32 = 1.1;

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
        let blocked = self.first_contact(motion, 1.0)?;
        let fraction = blocked.unwrap_or(1.0);
        let pose = motion.pose_at(&self.pose, fraction);
        let mut report = SweepReport {
            fraction,
            pose,
            pairs: Vec::new(),
            normal: None,
        };
        if blocked.is_some() {
            let end = Self { pose, ..*self };
            report.pairs = end.atoms_within(TOUCHING * self.tolerance);
            let normals = report.pairs.iter().map(|atoms| end.contact_normal(atoms));
            report.normal = normals.sum::<Vec3>().try_normalize();
        }
        Ok(report)
    }

    /// The fraction of the motion at the first contact, if there is one before `limit`.
    pub(super) fn first_contact(
        &self,
        motion: &RigidMotion,
        mut limit: f64,
    ) -> Result<Option<f64>, DockingError> {
        let (moving, other) = (self.moving, self.other);
        let tolerance = check_tolerance(self.tolerance)?;
        let relative = RelativeMotion::new(&self.pose, &self.other_pose, motion)?;
        let mut contact = None;
        // The atoms of the smaller molecule move through the grid of the larger one.
        let is_swapped = moving.atom_count() > other.atom_count();
        let (small, large) = if is_swapped {
            (other, moving)
        } else {
            (moving, other)
        };
        let field = large.distance_field();
        let atoms = small.template().positions().iter();
        for ((position, &radius), index) in atoms.zip(small.template().radii()).zip(0..) {
            let position = position.as_dvec3();
            let sweep = AtomSweep {
                grid: &large.grid,
                field: Some(field),
                radius: f64::from(radius),
                tolerance,
                limit,
                collides_with: |_| true,
            };
            let path = if is_swapped {
                AtomPath::fixed(&relative, position)
            } else {
                AtomPath::moving(&relative, position)
            };
            match sweep.run(&path) {
                Ok(()) => {}
                Err(Obstacle::Contact(fraction)) => (limit, contact) = (fraction, Some(fraction)),
                Err(Obstacle::Overlap { atom, depth }) => {
                    let pair = if is_swapped {
                        (atom, index)
                    } else {
                        (index, atom)
                    };
                    let (moving, fixed) = pair;
                    return Err(DockingError::StartsOverlapping {
                        moving,
                        fixed,
                        penetration: depth as f32,
                    });
                }
            }
        }
        Ok(contact)
    }

    /// Unit vector from the atom of the other molecule to that of the moving one, world frame.
    pub(super) fn contact_normal(&self, atoms: &AtomPair) -> Vec3 {
        let position = |molecule: &DockingMolecule, pose: &Pose, atom: u32| {
            pose.transform_point(molecule.template().positions()[atom as usize])
        };
        let one = position(self.moving, &self.pose, atoms.a);
        let other = position(self.other, &self.other_pose, atoms.b);
        (one - other).normalize_or_zero()
    }
}

/// The tolerance in `f64`, if it is positive and finite.
pub(super) fn check_tolerance(tolerance: f32) -> Result<f64, DockingError> {
    if tolerance > 0.0 && tolerance.is_finite() {
        Ok(f64::from(tolerance))
    } else {
        Err(DockingError::BadTolerance { tolerance })
    }
}

/// The path of one atom in the frame of the molecule whose grid it moves through.
pub(super) struct AtomPath<'a> {
    motion: &'a RelativeMotion,
    /// Lever arm of an atom of the moving molecule at the start, or position of an atom of the
    /// fixed one, nm.
    point: DVec3,
    is_fixed: bool,
    /// Upper bound on the speed, nm.
    max_speed: f64,
    /// Upper bound on the acceleration, nm.
    max_acceleration: f64,
}

impl<'a> AtomPath<'a> {
    /// An atom of the moving molecule, in the frame of the fixed one.
    pub(super) fn moving(motion: &'a RelativeMotion, position: DVec3) -> Self {
        let point = motion.rotation * position;
        Self {
            motion,
            point,
            is_fixed: false,
            max_speed: motion.velocity.length() + motion.spin.length() * point.length(),
            max_acceleration: motion.spin.length_squared() * point.length(),
        }
    }

    /// An atom of the fixed molecule, in the frame of the moving one.
    fn fixed(motion: &'a RelativeMotion, point: DVec3) -> Self {
        // The distance from a straight path is largest at one of its ends.
        let begin = (point - motion.start).length();
        let end = (point - motion.start - motion.velocity).length();
        let max_distance = begin.max(end);
        let (speed, spin) = (motion.velocity.length(), motion.spin.length());
        Self {
            motion,
            point,
            is_fixed: true,
            max_speed: speed + spin * max_distance,
            max_acceleration: spin * (2.0 * speed + spin * max_distance),
        }
    }

    /// Position and velocity after a `fraction` of the motion, nm.
    fn at(&self, fraction: f64) -> (DVec3, DVec3) {
        let motion = self.motion;
        if self.is_fixed {
            let arm = self.point - motion.start - motion.velocity * fraction;
            // The frame rotates, so everything else rotates in the opposite direction.
            let turn = -motion.spin * fraction;
            let back = rotate(turn, arm);
            let velocity = rotate(turn, -motion.velocity) - motion.spin.cross(back);
            let to_body = motion.rotation.inverse();
            return (to_body * back, to_body * velocity);
        }
        let arm = rotate(motion.spin * fraction, self.point);
        let position = motion.start + motion.velocity * fraction + arm;
        (position, motion.velocity + motion.spin.cross(arm))
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

/// What an atom meets on its path.
pub(super) enum Obstacle {
    /// An atom that it touches and approaches, after this fraction of the motion.
    Contact(f64),
    /// An atom that it overlaps by `depth` nm at the start.
    Overlap { atom: u32, depth: f64 },
}

/// The sweep of one ball through the grid of a molecule.
pub(super) struct AtomSweep<'a, F> {
    pub grid: &'a LocalGrid,
    /// Distance field of the molecule, which skips empty space.
    pub field: Option<&'a DistanceField>,
    /// Radius of the ball, nm.
    pub radius: f64,
    /// Gap at which it touches, nm.
    pub tolerance: f64,
    /// Fraction of the motion to test.
    pub limit: f64,
    /// Whether the ball collides with an atom of the molecule.
    pub collides_with: F,
}

impl<F: Fn(u32) -> bool> AtomSweep<'_, F> {
    /// Moves the ball to the limit, or to the first obstacle.
    pub(super) fn run(&self, path: &AtomPath) -> Result<(), Obstacle> {
        let speed = path.max_speed;
        let mut fraction = 0.0;
        for step in 0..MAX_STEPS {
            let (position, velocity) = path.at(fraction);
            let rest = (self.limit - fraction) * speed;
            let margin = f64::from(self.grid.quick_margin(self.radius as f32));
            let margin = margin.min(rest).max(2.0 * self.tolerance);
            let bound = self.field.map_or(0.0, |field| field.at(position.as_vec3()));
            let distance = f64::from(bound) - self.radius;
            let open = if distance > margin {
                distance / speed
            } else {
                match self.open_time(position, velocity, path.max_acceleration, margin) {
                    Ok(time) => time.min(margin / speed),
                    Err(Some((atom, depth))) if step == 0 => {
                        return Err(Obstacle::Overlap { atom, depth });
                    }
                    // After the first step, only rounding causes an overlap.
                    Err(_) => return Err(Obstacle::Contact(fraction)),
                }
            };
            fraction += open;
            if fraction >= self.limit || open.is_nan() {
                return Ok(());
            }
        }
        Err(Obstacle::Contact(fraction))
    }

    /// The fraction of the motion without a contact with the atoms within `margin` nm. An error
    /// if the ball touches one and approaches it, with index and depth if it overlaps one.
    fn open_time(
        &self,
        position: DVec3,
        velocity: DVec3,
        acceleration: f64,
        margin: f64,
    ) -> Result<f64, Option<(u32, f64)>> {
        let mut open = f64::INFINITY;
        let reach = (self.radius + margin) as f32;
        let end = self
            .grid
            .visit_touching(position.as_vec3(), reach, |other| {
                if !(self.collides_with)(other.index) {
                    return ControlFlow::Continue(());
                }
                let offset = position - other.center.as_dvec3();
                let distance = offset.length();
                let gap = distance - self.radius - f64::from(other.radius);
                if gap < 0.0 {
                    return ControlFlow::Break(Some((other.index, -gap)));
                }
                let rate = velocity.dot(offset) / distance;
                if rate < 0.0 && gap <= self.tolerance {
                    return ControlFlow::Break(None);
                }
                let kept = if rate < 0.0 {
                    MIN_OPEN * self.tolerance
                } else {
                    0.0
                };
                open = open.min(min_closing_time(gap - kept, rate, acceleration));
                ControlFlow::Continue(())
            });
        match end {
            ControlFlow::Continue(()) => Ok(open),
            ControlFlow::Break(obstacle) => Err(obstacle),
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
    fn check(path: &AtomPath) {
        let step = 1.0e-5;
        for k in 0..50 {
            let fraction = f64::from(k) / 50.0;
            let ((position, velocity), (next, next_velocity)) =
                (path.at(fraction), path.at(fraction + step));
            let slope = (next - position) / step;
            assert!((slope - velocity).length() < 1.0e-3, "{slope} {velocity}");
            assert!(velocity.length() <= path.max_speed);
            let bend = (next_velocity - velocity).length() / step;
            assert!(bend <= path.max_acceleration * 1.001, "{bend}");
        }
    }

    #[test]
    fn velocities_are_derivatives_within_their_bounds() {
        let motion = motion();
        check(&AtomPath::moving(&motion, DVec3::new(0.5, 1.5, -0.2)));
        check(&AtomPath::fixed(&motion, DVec3::new(0.5, 1.5, -0.2)));
    }

    #[test]
    fn distance_is_the_same_in_both_frames() {
        let motion = motion();
        let (moving, fixed) = (DVec3::new(0.1, -0.7, 0.4), DVec3::new(2.0, 0.3, 0.3));
        for k in 0..=10 {
            let fraction = f64::from(k) / 10.0;
            let (one, _) = AtomPath::moving(&motion, moving).at(fraction);
            let (other, _) = AtomPath::fixed(&motion, fixed).at(fraction);
            let distances = [one.distance(fixed), other.distance(moving)];
            assert!(
                (distances[0] - distances[1]).abs() < 1.0e-12,
                "{distances:?}"
            );
        }
    }
}
