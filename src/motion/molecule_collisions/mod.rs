//! When do molecules meet that an engine moves step by step?
//!
//! [`MoleculeCollisionDetector`] looks on. Of each molecule it knows a bound on its acceleration, and
//! after each step where it was and where it is:
//!
//! 1. [time-varying bounds](super::unknown_trajectories) of the bounding spheres tell which of them
//!    meet on their ways, and miss none; molecules that are far from each other cost
//!    nothing;
//! 2. from then on, until the spheres part, the atoms of the two are compared at the end of
//!    each step, and where they would have been if they had gone on as they were: a solver
//!    may have stopped them just before they touched;
//! 3. where they touch for the first time, the time is found by halving the step.
//!
//! Bounds are promises about what moves molecules on their own: gravity, fields, springs. A
//! molecule that is hit, kicked or put elsewhere breaks its promise, which is noticed and
//! costs a look around.
//!
//! Poses are those of the centers of mass in the world, nm; times s, velocities nm/s,
//! accelerations nm/s². Meetings come in the order of time, then of molecules, the same from
//! run to run.

mod cubic_motion;

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DVec3;

use self::cubic_motion::{CUBIC, Piece, Pieces, ROUNDING};
use super::error::check_positive;
use super::overlap_shape::OverlapShape;
use super::unknown_trajectories::{
    CollisionDetector, EventCounts, MovingSphere, Probe, TimeVaryingConfig, TimeVaryingDetector,
};
use super::{CollisionPartner, MotionError};
use crate::pose::Pose;
use crate::search::{AutoGrid, PairBuffer, PairSearch};
use crate::spheres::SphereSet;

/// Times that a step is halved to find when atoms touch: a thousandth of it.
const HALVINGS: u32 = 10;

/// Atoms that are so near to each other touch, nm: rounding.
const TOUCH_NM: f32 = 1.0e-3;

/// Molecules that touched may meet again when they are so far apart, nm: those that lie on
/// each other tremble.
const PARTED_NM: f32 = 0.02;

/// What bounding spheres are taken larger by, nm: solvers stop molecules before they touch.
const NEAR_NM: f32 = 0.05;

/// How deep bounding spheres may overlap before they are looked at, nm: the smallest gap
/// between molecules that matters.
const OVERLAP_NM: f64 = 1.0e-3;

/// Where a molecule is, and how fast.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovingPose {
    /// Where it is: its center of mass in the world, nm, and its rotation.
    pub pose: Pose,
    /// Velocity of its center of mass, nm/s.
    pub velocity: DVec3,
}

impl MovingPose {
    fn probe(&self) -> Probe {
        Probe {
            position: self.pose.position.as_dvec3(),
            velocity: self.velocity,
        }
    }

    /// Where the molecule would be after `dt` s if nobody had stopped it on its way to
    /// `end`.
    fn gone_on(&self, end: &Self, dt: f64) -> Pose {
        let way = (dt * self.velocity).as_vec3();
        Pose::new(self.pose.position + way, end.pose.rotation)
    }
}

/// Two molecules whose atoms touch, and did not before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCollision {
    /// When, s: a thousandth of a step is told apart.
    pub time: f64,
    /// The molecule; the smaller index of two.
    pub a: u32,
    /// The other one.
    pub b: u32,
}

/// Looks for molecules that meet. See the [module](self) page.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::motion::OverlapShape;
/// use bevy_rapier_molecules::motion::molecule_collisions::{MoleculeCollisionDetector, MovingPose};
/// use bevy_rapier_molecules::prelude::*;
/// use glam::{DVec3, Vec3};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lipid = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
/// let shape = Arc::new(OverlapShape::new(lipid)?);
/// // One is at rest; an engine moves the other one towards it, with 10 nm/s.
/// let at = |x: f32, speed: f64| MovingPose {
///     pose: Pose::from_translation(Vec3::X * x),
///     velocity: DVec3::X * speed,
/// };
/// let mut places = [at(0.0, 0.0), at(6.0, -10.0)];
/// let still = 0.0;
/// let mut watch = MoleculeCollisionDetector::new(&[(shape.clone(), still), (shape, still)], &places, 0.0)?;
/// let mut met = None;
/// for step in 1..=60 {
///     let next = [places[0], at(6.0 - 0.1 * step as f32, -10.0)];
///     met = met.or(watch.step(0.01, &places, &next)?.first().copied());
///     places = next;
/// }
/// let met = met.ok_or("they have not met")?;
/// assert_eq!((met.a, met.b), (0, 1));
/// assert!(met.time > 0.1 && met.time < 0.6, "after {} s", met.time);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MoleculeCollisionDetector {
    shapes: Vec<Arc<OverlapShape>>,
    spheres: Vec<MovingSphere>,
    motion: Pieces,
    detector: TimeVaryingDetector,
    /// Pairs whose bounding spheres overlap.
    near: BTreeSet<(u32, u32)>,
    /// Those of them whose atoms touch.
    touching: BTreeSet<(u32, u32)>,
    met: Vec<PairCollision>,
}

impl MoleculeCollisionDetector {
    /// Molecules with bounds on their accelerations (nm/s²) that are here at `start` s.
    /// Those that touch now have not met.
    ///
    /// # Errors
    /// [`MotionError`] if a number is not what it has to be, or someone is too far away
    /// to be searched; [`MotionError::CountMismatch`] in it if there is not one place for each
    /// molecule.
    pub fn new(
        molecules: &[(Arc<OverlapShape>, f64)],
        places: &[MovingPose],
        start: f64,
    ) -> Result<Self, MotionError> {
        let shapes: Vec<Arc<OverlapShape>> = molecules.iter().map(|one| one.0.clone()).collect();
        check_count(molecules.len(), places.len())?;
        let spheres = molecules.iter().map(|(shape, acceleration)| MovingSphere {
            radius: f64::from(shape.bounding_radius() + NEAR_NM),
            acceleration: CUBIC * acceleration + ROUNDING,
        });
        let spheres: Vec<MovingSphere> = spheres.collect();
        let mut motion = Pieces {
            pieces: places.iter().map(|at| Piece::at(at.probe())).collect(),
            begin: start,
            ..Pieces::default()
        };
        let config = TimeVaryingConfig {
            tolerance: OVERLAP_NM,
            ..TimeVaryingConfig::default()
        };
        let detector = TimeVaryingDetector::new(&spheres, Vec::new(), &config, start, &mut motion)?;
        let mut watch = Self {
            shapes,
            spheres,
            motion,
            detector,
            near: BTreeSet::new(),
            touching: BTreeSet::new(),
            met: Vec::new(),
        };
        // The detector only tells of those that approach.
        let (mut spheres, mut pairs) = (SphereSet::new(), PairBuffer::new());
        for ((place, sphere), owner) in places.iter().zip(&watch.spheres).zip(0..) {
            spheres.push(place.pose.position, sphere.radius as f32, owner)?;
        }
        AutoGrid::new().find_pairs(&spheres, 0.0, &mut pairs)?;
        watch.near = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        let overlapping = watch.near.iter().copied();
        watch.touching = overlapping
            .filter(|&pair| {
                let poses = [0, 1].map(|k| at(places, pair, k));
                watch.atoms_are_within(PARTED_NM, pair, poses)
            })
            .collect();
        Ok(watch)
    }

    /// Whether two molecules have met and not parted since.
    #[must_use]
    pub fn are_touching(&self, one: u32, other: u32) -> bool {
        self.touching.contains(&(one.min(other), one.max(other)))
    }

    /// A step of `dt` s that took molecules from `starts` to `ends`: who met in it, in the
    /// order of time, then of molecules.
    ///
    /// # Errors
    /// [`MotionError`] if the step is not positive, or a place is not finite;
    /// [`MotionError::CountMismatch`] if there is not one start and one end for each molecule.
    pub fn step(
        &mut self,
        dt: f64,
        starts: &[MovingPose],
        ends: &[MovingPose],
    ) -> Result<&[PairCollision], MotionError> {
        self.met.clear();
        check_positive("step", dt)?;
        check_count(self.shapes.len(), starts.len())?;
        check_count(self.shapes.len(), ends.len())?;
        let begin = self.detector.time();
        (self.motion.begin, self.motion.dt) = (begin, dt);
        self.motion.contacts.clear();
        let mut displaced = Vec::new();
        for (index, sphere) in (0..).zip(&self.spheres) {
            let [start, end] = [starts, ends].map(|list| list[index as usize].probe());
            let piece = Piece::between(start, end, dt, sphere.acceleration);
            let before = &mut self.motion.pieces[index as usize];
            let jumps = !piece.follows(before);
            if !piece.starts_where(before) {
                displaced.push(index);
            }
            *before = piece;
            if jumps {
                self.detector.disturb(index, &mut self.motion)?;
            }
        }
        self.detector.advance(begin + dt, &mut self.motion)?;
        for contact in &self.motion.contacts {
            if let CollisionPartner::Sphere(other) = contact.other {
                self.near.insert((contact.sphere, other));
            }
        }
        // Whoever was put into others need not approach them.
        for one in displaced {
            for other in (0..self.shapes.len() as u32).filter(|other| *other != one) {
                let pair = (one.min(other), one.max(other));
                if self.spheres_overlap(pair, ends) {
                    self.near.insert(pair);
                }
            }
        }
        self.compare(begin, dt, starts, ends);
        Ok(&self.met)
    }

    /// What the detector has done so far.
    #[must_use]
    pub fn counts(&self) -> EventCounts {
        self.detector.counts()
    }

    /// Compares the atoms of all that are near each other.
    fn compare(&mut self, begin: f64, dt: f64, starts: &[MovingPose], ends: &[MovingPose]) {
        let near = std::mem::take(&mut self.near);
        let mut still_near = BTreeSet::new();
        for pair in near {
            let last = [0, 1].map(|k| at(ends, pair, k));
            if self.touching.contains(&pair) {
                if !self.atoms_are_within(PARTED_NM, pair, last) {
                    self.touching.remove(&pair);
                }
            } else {
                let first = [0, 1].map(|k| at(starts, pair, k));
                let gone_on = [pair.0, pair.1].map(|index| {
                    let [start, end] = [starts, ends].map(|list| &list[index as usize]);
                    start.gone_on(end, dt)
                });
                let targets = [gone_on, last];
                let touched = |poses: &[Pose; 2]| self.atoms_are_within(TOUCH_NM, pair, *poses);
                if let Some(target) = targets.into_iter().find(touched) {
                    let part = self.first_touch(pair, first, target);
                    self.touching.insert(pair);
                    self.met.push(PairCollision {
                        time: begin + part * dt,
                        a: pair.0,
                        b: pair.1,
                    });
                }
            }
            // A pair that only begins to meet is as good as apart, and reported again.
            if self.spheres_overlap(pair, ends) {
                still_near.insert(pair);
            }
        }
        self.near = still_near;
        self.met.sort_by(|one, other| {
            let order = one.time.total_cmp(&other.time);
            order.then_with(|| (one.a, one.b).cmp(&(other.a, other.b)))
        });
    }

    fn spheres_overlap(&self, (a, b): (u32, u32), places: &[MovingPose]) -> bool {
        let [one, other] = [a, b].map(|index| places[index as usize].pose.position);
        let [r, s] = [a, b].map(|index| self.spheres[index as usize].radius);
        f64::from(one.distance(other)) < r + s
    }

    fn atoms_are_within(&self, gap: f32, (a, b): (u32, u32), poses: [Pose; 2]) -> bool {
        let [one, other] = [a, b].map(|index| &self.shapes[index as usize]);
        one.is_within(gap, &poses[0], other, &poses[1])
    }

    /// The part of the step after which two touch that do at its end.
    fn first_touch(&self, pair: (u32, u32), first: [Pose; 2], last: [Pose; 2]) -> f64 {
        if self.atoms_are_within(TOUCH_NM, pair, first) {
            return 0.0;
        }
        let (mut apart, mut touching) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (apart + touching);
            let poses = [0, 1].map(|k| between(&first[k], &last[k], middle as f32));
            if self.atoms_are_within(TOUCH_NM, pair, poses) {
                touching = middle;
            } else {
                apart = middle;
            }
        }
        touching
    }
}

fn at(places: &[MovingPose], pair: (u32, u32), which: usize) -> Pose {
    let index = [pair.0, pair.1][which];
    places[index as usize].pose
}

/// A pose between two others.
fn between(first: &Pose, last: &Pose, part: f32) -> Pose {
    Pose::new(
        first.position.lerp(last.position, part),
        first.rotation.lerp(last.rotation, part).normalize(),
    )
}

fn check_count(count: usize, given: usize) -> Result<(), MotionError> {
    if count == given {
        return Ok(());
    }
    Err(MotionError::CountMismatch { given, count })
}
