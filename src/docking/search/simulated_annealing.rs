//! Simulated annealing of a ligand pose.

use rand::{Rng, RngExt};

use super::DockingSearch;
use super::start_pose::random_in_ball;
use crate::docking::{CONTACT_TOLERANCE_NM, DockingError, RigidMotion};
use crate::pose::Pose;

/// Rotation per translation, radian/nm: both move an atom of a small ligand about equally far.
const RADIAN_PER_NM: f32 = 6.0;

/// A random motion by at most `length` nm, with a rotation to match.
fn random_motion(random: &mut impl Rng, length: f32) -> RigidMotion {
    RigidMotion {
        translation: random_in_ball(random) * length,
        rotation: random_in_ball(random) * (length * RADIAN_PER_NM),
    }
}

/// An annealing schedule: steps and temperature decrease towards the end.
pub(super) struct Annealer {
    steps: u32,
    /// Maximum step at the start and at the end, nm.
    first_step: f32,
    last_step: f32,
    /// Temperature at the start, as an energy in kJ/mol.
    temperature: f64,
    tolerance: f32,
}

impl Annealer {
    /// From a start pose into a nearby valley.
    pub(super) fn wide(steps: u32, tolerance: f32) -> Self {
        Self {
            steps,
            first_step: 0.08,
            last_step: 0.003,
            temperature: 6.0,
            tolerance,
        }
    }

    /// From a valley to its minimum.
    pub(super) fn narrow(steps: u32, tolerance: f32) -> Self {
        Self {
            steps,
            first_step: 0.04,
            last_step: 0.001,
            temperature: 4.0,
            tolerance,
        }
    }

    /// Anneals from a free pose. Returns the best pose and its energy, kJ/mol.
    pub(super) fn run(
        &self,
        search: &DockingSearch,
        start: Pose,
        random: &mut impl Rng,
    ) -> Result<(Pose, f64), DockingError> {
        let receptor_pose = &search.receptor_pose;
        let mut current = (start, search.energy.energy(&start, receptor_pose));
        let mut best = current;
        for step in 0..self.steps {
            let rest = 1.0 - step as f32 / self.steps as f32;
            let length = self.last_step + (self.first_step - self.last_step) * rest;
            let motion = random_motion(random, length);
            let pose = self.step(search, &current.0, &motion)?;
            let energy = search.energy.energy(&pose, receptor_pose);
            let temperature = self.temperature * f64::from(rest * rest);
            let accepted = energy <= current.1
                || random.random::<f64>() < ((current.1 - energy) / temperature).exp();
            if accepted {
                current = (pose, energy);
            }
            if current.1 < best.1 {
                best = current;
            }
        }
        Ok(best)
    }

    /// Applies a step if its end is free, and slides otherwise.
    ///
    /// Steps are shorter than atoms, so a step with a free end needs no sweep.
    fn step(
        &self,
        search: &DockingSearch,
        pose: &Pose,
        motion: &RigidMotion,
    ) -> Result<Pose, DockingError> {
        let end = motion.pose_at(pose, 1.0);
        if search.is_free(&end) {
            return Ok(end);
        }
        match search.pair(*pose, self.tolerance).slide(motion) {
            Ok(report) => Ok(report.pose),
            // A touching pose may count as overlapping due to rounding.
            Err(DockingError::StartsOverlapping { .. }) => Ok(*pose),
            Err(error) => Err(error),
        }
    }
}

/// Maximum number of steps of [`resolve_overlap`].
const RESOLVE_STEPS: u32 = 300;

/// Maximum step of [`resolve_overlap`] at the start, nm.
const RESOLVE_STEP_NM: f32 = 0.03;

/// Moves a ligand at random until it does not overlap the receptor; none if that fails.
pub(super) fn resolve_overlap(
    search: &DockingSearch,
    start: Pose,
    random: &mut impl Rng,
) -> Option<Pose> {
    // Sum of squared overlaps, nm².
    let depth = |pose: &Pose| {
        let pairs = search.pair(*pose, CONTACT_TOLERANCE_NM).atoms_within(0.0);
        pairs.iter().map(|pair| pair.gap * pair.gap).sum::<f32>()
    };
    let mut current = (start, depth(&start));
    for step in 0..RESOLVE_STEPS {
        if search.is_free(&current.0) {
            return Some(current.0);
        }
        let rest = 1.0 - step as f32 / RESOLVE_STEPS as f32;
        let length = RESOLVE_STEP_NM * rest * random.random::<f32>();
        let pose = random_motion(random, length).pose_at(&current.0, 1.0);
        let depth = depth(&pose);
        if depth < current.1 {
            current = (pose, depth);
        }
    }
    None
}
