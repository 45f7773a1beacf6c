//! Collisions of molecules that a physics engine moves step by step.
//!
//! [`MoleculeCollisionDetector`] observes; it moves nothing. It knows a bound on the
//! acceleration of each molecule, and the poses and velocities before and after each step:
//!
//! 1. [Time-varying bounds](super::unknown_trajectories) of the bounding spheres find every pair
//!    whose bounding spheres overlap during the step. Molecules far from each other cost nothing.
//! 2. While the bounding spheres of a pair overlap, the [time of impact](first_impact) of its
//!    atoms is computed on the way through each step, and also on the way without the engine's
//!    response: the solver may have stopped the molecules just before they touched.
//!
//! Molecules that pass through each other within a step are found, at any speed. Between its start
//! and end pose a molecule moves in a straight line and rotates by the shorter way: it may rotate
//! by at most half a turn per step.
//!
//! Acceleration bounds cover gravity, fields and springs. A molecule that is hit, kicked or
//! teleported exceeds its bound; the detector notices this and resets its trajectory.

mod cubic_motion;

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DVec3;

use self::cubic_motion::{CUBIC_FACTOR, CubicMotion, CubicSegment, ROUNDING};
use super::error::{check_count, check_positive};
use super::unknown_trajectories::{
    CollisionDetector, MovingSphere, Probe, TimeVaryingConfig, TimeVaryingDetector,
};
use super::{CollisionPartner, MotionError, OverlapShape};
use crate::pose::{Pose, RigidMotion};
use crate::search::{AutoGrid, MovingMolecule, PairBuffer, PairSearch, first_impact};
use crate::spheres::SphereSet;

/// Gap at which atoms count as touching, nm: rounding.
const TOUCH_GAP_NM: f32 = 1.0e-3;

/// Gap at which touching molecules count as separated, nm. Resting contacts jitter.
const SEPARATION_GAP_NM: f32 = 0.02;

/// Margin of the bounding spheres, nm: solvers stop molecules before they touch.
const MARGIN_NM: f32 = 0.05;

/// Overlap tolerance of the bounding spheres, nm.
const OVERLAP_NM: f64 = 1.0e-3;

/// Pose and velocity of a molecule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovingPose {
    /// Center of mass in the world, nm, and rotation.
    pub pose: Pose,
    /// Velocity of the center of mass, nm/s.
    pub velocity: DVec3,
}

impl MovingPose {
    fn probe(&self) -> Probe {
        Probe {
            position: self.pose.position.as_dvec3(),
            velocity: self.velocity,
        }
    }

    /// The pose after `dt` s at constant velocity, with the rotation of `end`.
    fn unobstructed(&self, end: &Self, dt: f64) -> Pose {
        let displacement = (dt * self.velocity).as_vec3();
        Pose::new(self.pose.position + displacement, end.pose.rotation)
    }
}

/// Two molecules whose atoms start to touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCollision {
    /// Time at which they start to touch, s.
    pub time: f64,
    /// Smaller index.
    pub a: u32,
    /// Larger index.
    pub b: u32,
}

/// Finds the times at which molecules start to touch. See the [module](self) docs.
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
/// // One lipid is at rest; an engine moves another towards it with 10 nm/s.
/// let at = |x: f32, speed: f64| MovingPose {
///     pose: Pose::from_translation(Vec3::X * x),
///     velocity: DVec3::X * speed,
/// };
/// let mut poses = [at(0.0, 0.0), at(6.0, -10.0)];
/// let molecules = [(shape.clone(), 0.0), (shape, 0.0)];
/// let mut detector = MoleculeCollisionDetector::new(&molecules, &poses, 0.0)?;
/// let mut collision = None;
/// for step in 1..=60 {
///     let next = [poses[0], at(6.0 - 0.1 * step as f32, -10.0)];
///     collision = collision.or(detector.step(0.01, &poses, &next)?.first().copied());
///     poses = next;
/// }
/// let collision = collision.ok_or("no collision")?;
/// assert_eq!((collision.a, collision.b), (0, 1));
/// assert!(collision.time > 0.1 && collision.time < 0.6, "{} s", collision.time);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MoleculeCollisionDetector {
    shapes: Vec<Arc<OverlapShape>>,
    spheres: Vec<MovingSphere>,
    motion: CubicMotion,
    detector: TimeVaryingDetector,
    /// Pairs whose bounding spheres overlap.
    near: BTreeSet<(u32, u32)>,
    /// Pairs whose atoms touch.
    touching: BTreeSet<(u32, u32)>,
    collisions: Vec<PairCollision>,
}

impl MoleculeCollisionDetector {
    /// Starts at `start` s with molecules, bounds on their accelerations (nm/s²) and poses.
    /// Molecules that touch at the start do not collide.
    ///
    /// # Errors
    /// [`MotionError`] if a bound or a pose is invalid, a molecule is too far away for the
    /// broad phase, or there is not one pose for each molecule.
    pub fn new(
        molecules: &[(Arc<OverlapShape>, f64)],
        poses: &[MovingPose],
        start: f64,
    ) -> Result<Self, MotionError> {
        check_count(molecules.len(), poses.len())?;
        let spheres = molecules.iter().map(|(shape, acceleration)| MovingSphere {
            radius: f64::from(shape.bounding_radius() + MARGIN_NM),
            acceleration: CUBIC_FACTOR * acceleration + ROUNDING,
        });
        let spheres: Vec<MovingSphere> = spheres.collect();
        let resting = |pose: &MovingPose| CubicSegment::resting(pose.probe());
        let mut motion = CubicMotion {
            segments: poses.iter().map(resting).collect(),
            begin: start,
            ..CubicMotion::default()
        };
        let config = TimeVaryingConfig {
            tolerance: OVERLAP_NM,
            ..TimeVaryingConfig::default()
        };
        let detector = TimeVaryingDetector::new(&spheres, Vec::new(), &config, start, &mut motion)?;
        // The detector reports approaching pairs only: search pairs that already overlap.
        let (mut bounding_spheres, mut pairs) = (SphereSet::new(), PairBuffer::new());
        for ((pose, sphere), owner) in poses.iter().zip(&spheres).zip(0..) {
            bounding_spheres.push(pose.pose.position, sphere.radius as f32, owner)?;
        }
        AutoGrid::new().find_pairs(&bounding_spheres, 0.0, &mut pairs)?;
        let mut this = Self {
            shapes: molecules.iter().map(|(shape, _)| shape.clone()).collect(),
            spheres,
            motion,
            detector,
            near: pairs.iter().map(|pair| (pair.a, pair.b)).collect(),
            touching: BTreeSet::new(),
            collisions: Vec::new(),
        };
        let near = this.near.iter().copied();
        this.touching = near
            .filter(|&pair| this.atoms_are_within(SEPARATION_GAP_NM, pair, poses_of(poses, pair)))
            .collect();
        Ok(this)
    }

    /// Whether two molecules have collided and not separated since.
    #[must_use]
    pub fn are_touching(&self, one: u32, other: u32) -> bool {
        self.touching.contains(&(one.min(other), one.max(other)))
    }

    /// The collisions in a step of `dt` s that moved the molecules from `starts` to `ends`.
    ///
    /// # Errors
    /// [`MotionError`] if the step is not positive, a pose is not finite, or there is not one
    /// start and one end for each molecule.
    pub fn step(
        &mut self,
        dt: f64,
        starts: &[MovingPose],
        ends: &[MovingPose],
    ) -> Result<&[PairCollision], MotionError> {
        self.collisions.clear();
        check_positive("step", dt)?;
        check_count(self.shapes.len(), starts.len())?;
        check_count(self.shapes.len(), ends.len())?;
        let begin = self.detector.time();
        (self.motion.begin, self.motion.dt) = (begin, dt);
        self.motion.contacts.clear();
        let mut teleported = Vec::new();
        for (index, sphere) in (0..).zip(&self.spheres) {
            let [start, end] = [starts, ends].map(|list| list[index as usize].probe());
            let segment = CubicSegment::new(start, end, dt, sphere.acceleration);
            let current = &mut self.motion.segments[index as usize];
            let jumps = segment.start != current.end;
            if segment.start.position != current.end.position {
                teleported.push(index);
            }
            *current = segment;
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
        // A molecule that was teleported into others does not have to approach them.
        for one in teleported {
            for other in (0..self.shapes.len() as u32).filter(|other| *other != one) {
                let pair = (one.min(other), one.max(other));
                if self.spheres_overlap(pair, ends) {
                    self.near.insert(pair);
                }
            }
        }
        self.compare_atoms(begin, dt, starts, ends);
        Ok(&self.collisions)
    }

    /// Compares the atoms of all near pairs.
    fn compare_atoms(&mut self, begin: f64, dt: f64, starts: &[MovingPose], ends: &[MovingPose]) {
        let near = std::mem::take(&mut self.near);
        let mut still_near = BTreeSet::new();
        for pair in near {
            let last = poses_of(ends, pair);
            if self.touching.contains(&pair) {
                if !self.atoms_are_within(SEPARATION_GAP_NM, pair, last) {
                    self.touching.remove(&pair);
                }
            } else {
                let first = poses_of(starts, pair);
                let unobstructed = [pair.0, pair.1].map(|index| {
                    let [start, end] = [starts, ends].map(|list| &list[index as usize]);
                    start.unobstructed(end, dt)
                });
                let touch = self.first_touch(pair, first, [unobstructed, last]);
                if let Some(fraction) = touch {
                    // They may have passed each other.
                    if self.atoms_are_within(SEPARATION_GAP_NM, pair, last) {
                        self.touching.insert(pair);
                    }
                    self.collisions.push(PairCollision {
                        time: begin + fraction * dt,
                        a: pair.0,
                        b: pair.1,
                    });
                }
            }
            // Pairs that have separated are found again by the detector.
            if self.spheres_overlap(pair, ends) {
                still_near.insert(pair);
            }
        }
        self.near = still_near;
        self.collisions.sort_by(|one, other| {
            let order = one.time.total_cmp(&other.time);
            order.then_with(|| (one.a, one.b).cmp(&(other.a, other.b)))
        });
    }

    fn spheres_overlap(&self, (a, b): (u32, u32), poses: &[MovingPose]) -> bool {
        let [one, other] = [a, b].map(|index| poses[index as usize].pose.position);
        let [r, s] = [a, b].map(|index| self.spheres[index as usize].radius);
        f64::from(one.distance(other)) < r + s
    }

    fn atoms_are_within(&self, gap: f32, (a, b): (u32, u32), poses: [Pose; 2]) -> bool {
        let [one, other] = [a, b].map(|index| &self.shapes[index as usize]);
        one.is_within(gap, &poses[0], other, &poses[1])
    }

    /// The fraction of the step after which two molecules touch on the way to one of `targets`.
    fn first_touch(
        &self,
        pair: (u32, u32),
        first: [Pose; 2],
        targets: [[Pose; 2]; 2],
    ) -> Option<f64> {
        let impact = |last: &[Pose; 2]| {
            let [one, other] = [(pair.0, 0), (pair.1, 1)].map(|(index, k)| {
                let spheres = self.shapes[index as usize].spheres();
                let motion = RigidMotion::between(&first[k], &last[k]);
                MovingMolecule::new(spheres, first[k], motion)
            });
            first_impact(&one, &other, TOUCH_GAP_NM).map(|impact| impact.fraction)
        };
        let within = |poses: &[Pose; 2]| self.atoms_are_within(TOUCH_GAP_NM, pair, *poses);
        // A molecule that was teleported into another does not have to approach it.
        let rests = || (targets.iter().any(within) && within(&first)).then_some(0.0);
        rests().or_else(|| targets.iter().find_map(impact))
    }
}

fn poses_of(poses: &[MovingPose], (a, b): (u32, u32)) -> [Pose; 2] {
    [a, b].map(|index| poses[index as usize].pose)
}
