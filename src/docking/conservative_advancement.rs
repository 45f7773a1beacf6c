//! Moving until atoms touch.

use std::ops::ControlFlow;

use glam::{DVec3, Vec3};

use super::overlap::closer_than;
use super::path::{AtomPath, Carried, Passed, open_for};
use super::rigid_motion::RelativeMotion;
use super::{AtomPair, DockingError, DockingMolecule, DockingPair, RigidMotion};
use crate::pose::Pose;

/// How close atoms come before they touch, nm, unless told otherwise.
pub const CONTACT_TOLERANCE_NM: f32 = 1.0e-4;

/// Share of the tolerance that is always left open, so that rounding ends inside no one.
const KEPT_OPEN: f64 = 0.5;

/// Steps after which an atom's way is given up, and taken as blocked where it is: more
/// than any way past a molecule needs.
const MOST_STEPS: usize = 100_000;

/// Where a motion ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SweepReport {
    /// Fraction of the motion that was possible, from 0 to 1; one if nothing was touched.
    pub fraction: f64,
    /// Where the molecule is now, world frame, nm.
    pub pose: Pose,
    /// Atoms that touch: the moved molecule's and the other's. None if nothing was touched.
    pub pairs: Vec<AtomPair>,
    /// Unit vector in the world from the other molecule to the moved one, the mean of the
    /// pairs' directions; none if nothing was touched.
    pub normal: Option<Vec3>,
}

impl DockingPair<'_> {
    /// Moves the molecule along `motion` until it touches the other, or to the end.
    ///
    /// However fast the motion is, no atom passes another: it ends with the nearest atoms no
    /// further apart than the tolerance, and never inside each other. Atoms that touch at
    /// the start and move apart, or along each other, hinder nothing.
    ///
    /// # Errors
    /// [`DockingError`] if a number is not finite, the tolerance is not positive, or the
    /// molecules overlap at the start.
    pub fn sweep(&self, motion: &RigidMotion) -> Result<SweepReport, DockingError> {
        let &Self {
            moving,
            other,
            ref other_pose,
            tolerance,
            ..
        } = self;
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(DockingError::BadTolerance { tolerance });
        }
        let relative = RelativeMotion::new(&self.pose, other_pose, motion)?;
        let tolerance = f64::from(tolerance);
        let mut limit = 1.0;
        let mut blocked = false;
        // The atoms of the smaller molecule pass through the cells of the larger one.
        let swapped = moving.atom_count() > other.atom_count();
        let (small, large) = if swapped {
            (other, moving)
        } else {
            (moving, other)
        };
        let atoms = small.template().positions().iter();
        for ((position, &radius), index) in atoms.zip(small.template().radii()).zip(0..) {
            let position = position.as_dvec3();
            let way = Way {
                large,
                radius: f64::from(radius),
                tolerance,
                limit,
            };
            let end = if swapped {
                way.follow(&Passed::new(&relative, position))
            } else {
                way.follow(&Carried::new(&relative, position))
            };
            match end {
                End::Free => {}
                End::Touch(fraction) => {
                    limit = fraction;
                    blocked = true;
                }
                End::Inside { atom, depth } => {
                    let (moving, fixed) = if swapped {
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
        if blocked {
            // A little more than the tolerance: the pose is rounded.
            let margin = 1.1 * tolerance as f32;
            report.pairs = closer_than(moving, &pose, other, other_pose, margin);
            let normals = report.pairs.iter();
            let normals = normals.map(|pair| normal_of(pair, moving, &pose, other, other_pose));
            report.normal = normals.sum::<Vec3>().try_normalize();
        }
        Ok(report)
    }
}

/// Unit vector in the world from an atom of the `fixed` molecule to one of the `moving`.
pub(super) fn normal_of(
    pair: &AtomPair,
    moving: &DockingMolecule,
    pose: &Pose,
    fixed: &DockingMolecule,
    fixed_pose: &Pose,
) -> Vec3 {
    let one = pose.transform_point(moving.template().positions()[pair.a as usize]);
    let other = fixed_pose.transform_point(fixed.template().positions()[pair.b as usize]);
    (one - other).normalize_or_zero()
}

/// How an atom's way ends.
enum End {
    /// It is free up to the limit.
    Free,
    /// It touches an atom after this fraction of the motion.
    Touch(f64),
    /// It begins inside another.
    Inside { atom: u32, depth: f64 },
}

/// The way of one ball through the cells of a molecule.
struct Way<'a> {
    large: &'a DockingMolecule,
    /// Of the ball, nm.
    radius: f64,
    /// Gap at which it touches, nm.
    tolerance: f64,
    /// Fraction of the motion that is looked at.
    limit: f64,
}

impl Way<'_> {
    fn follow(&self, path: &impl AtomPath) -> End {
        let speed = path.top_speed();
        let bend = path.top_acceleration();
        let mut fraction = 0.0;
        for step in 0..MOST_STEPS {
            let (place, velocity) = path.at(fraction);
            let rest = (self.limit - fraction) * speed;
            let margin = f64::from(self.large.grid().quick_margin(self.radius as f32));
            let margin = margin.min(rest).max(2.0 * self.tolerance);
            let away = f64::from(self.large.clearance().at(place.as_vec3())) - self.radius;
            let free = if away > margin {
                away / speed
            } else {
                match self.look(place, velocity, bend, margin) {
                    Ahead::Open(time) => time.min(margin / speed),
                    Ahead::Inside { atom, depth } if step == 0 => {
                        return End::Inside { atom, depth };
                    }
                    // Later, rounding alone leads inside.
                    Ahead::Blocked | Ahead::Inside { .. } => return End::Touch(fraction),
                }
            };
            fraction += free;
            if fraction >= self.limit || free.is_nan() {
                return End::Free;
            }
        }
        End::Touch(fraction)
    }

    /// Looks at all atoms no further from the ball at `place` than `margin`.
    fn look(&self, place: DVec3, velocity: DVec3, bend: f64, margin: f64) -> Ahead {
        let mut open = f64::INFINITY;
        let end = self.large.grid().visit_touching(
            place.as_vec3(),
            (self.radius + margin) as f32,
            |other| {
                let apart = place - other.center.as_dvec3();
                let distance = apart.length();
                let gap = distance - self.radius - f64::from(other.radius);
                if gap < 0.0 {
                    return ControlFlow::Break(Ahead::Inside {
                        atom: other.index,
                        depth: -gap,
                    });
                }
                let rate = velocity.dot(apart) / distance;
                if rate < 0.0 && gap <= self.tolerance {
                    return ControlFlow::Break(Ahead::Blocked);
                }
                let spare = if rate < 0.0 {
                    gap - KEPT_OPEN * self.tolerance
                } else {
                    gap
                };
                open = open.min(open_for(spare, rate, bend));
                ControlFlow::Continue(())
            },
        );
        match end {
            ControlFlow::Continue(()) => Ahead::Open(open),
            ControlFlow::Break(ahead) => ahead,
        }
    }
}

/// What a ball sees around it.
enum Ahead {
    /// Nothing is touched for this part of the motion.
    Open(f64),
    /// It touches something that it moves towards.
    Blocked,
    /// It is inside an atom.
    Inside { atom: u32, depth: f64 },
}
