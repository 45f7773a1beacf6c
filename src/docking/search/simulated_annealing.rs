//! Shaking a ligand into a minimum.

use rand::{Rng, RngExt};

use super::start_pose::random_in_ball;
use super::{Bodies, DockingSearch};
use crate::docking::{DockingError, DockingPair, RigidMotion, is_free, overlapping_atoms};
use crate::pose::Pose;

/// Radian for each nm: what moves an atom of a small ligand about as far.
const TURN_PER_NM: f32 = 6.0;

/// How a ligand is shaken: steps and energies become smaller to the end.
pub(super) struct Shaking {
    steps: u32,
    /// Longest step at the start and at the end, nm.
    first_step: f32,
    last_step: f32,
    /// Energy that is readily paid at the start, kJ/mol.
    heat: f64,
    tolerance: f32,
}

impl Shaking {
    /// From a first pose into the next valley.
    pub fn wide(steps: u32, tolerance: f32) -> Self {
        Self {
            steps,
            first_step: 0.08,
            last_step: 0.003,
            heat: 6.0,
            tolerance,
        }
    }

    /// From a valley to its lowest point.
    pub fn narrow(steps: u32, tolerance: f32) -> Self {
        Self {
            steps,
            first_step: 0.04,
            last_step: 0.001,
            heat: 4.0,
            tolerance,
        }
    }

    /// Shakes from a free pose; the best pose on the way and its energy, kJ/mol.
    pub fn run(
        &self,
        docking: &DockingSearch,
        bodies: Bodies,
        start: Pose,
        random: &mut impl Rng,
    ) -> Result<(Pose, f64), DockingError> {
        let home = &docking.receptor_pose;
        let mut here = (start, docking.energy.energy(&start, home));
        let mut best = here;
        for step in 0..self.steps {
            let rest = 1.0 - step as f32 / self.steps as f32;
            let length = self.last_step + (self.first_step - self.last_step) * rest;
            let motion = RigidMotion {
                translation: random_in_ball(random) * length,
                rotation: random_in_ball(random) * (length * TURN_PER_NM),
            };
            let pose = self.step(bodies, home, &here.0, &motion)?;
            let energy = docking.energy.energy(&pose, home);
            let heat = self.heat * f64::from(rest * rest);
            let accepted =
                energy <= here.1 || random.random::<f64>() < ((here.1 - energy) / heat).exp();
            if accepted {
                here = (pose, energy);
            }
            if here.1 < best.1 {
                best = here;
            }
        }
        Ok(best)
    }

    /// A step as it is where its end is free, and sliding where not.
    ///
    /// Steps are shorter than atoms are wide: what has a free end does not have to be looked
    /// at on the way.
    fn step(
        &self,
        bodies: Bodies,
        home: &Pose,
        pose: &Pose,
        motion: &RigidMotion,
    ) -> Result<Pose, DockingError> {
        let Bodies { ligand, receptor } = bodies;
        let end = motion.pose_at(pose, 1.0);
        if is_free(ligand, &end, receptor, home) {
            return Ok(end);
        }
        let encounter = DockingPair {
            tolerance: self.tolerance,
            ..DockingPair::new(ligand, *pose, receptor, *home)
        };
        match encounter.slide(motion) {
            Ok(report) => Ok(report.pose),
            // Rounding alone: a pose that just touches counts as free, or as not.
            Err(DockingError::StartsOverlapping { .. }) => Ok(*pose),
            Err(error) => Err(error),
        }
    }
}

/// Steps in which a ligand that has grown may get free.
const GROWING_STEPS: u32 = 300;

/// Longest of those steps at the start, nm.
const GROWING_STEP_NM: f32 = 0.03;

/// Shakes a ligand that overlaps the receptor until it does not; none if it cannot.
pub(super) fn grow(docking: &DockingSearch, start: Pose, random: &mut impl Rng) -> Option<Pose> {
    let home = &docking.receptor_pose;
    // How deep atoms overlap, squared and summed up, nm².
    let depth = |pose: &Pose| {
        let pairs = overlapping_atoms(docking.ligand, pose, docking.receptor, home);
        pairs.iter().map(|pair| pair.gap * pair.gap).sum::<f32>()
    };
    let mut here = (start, depth(&start));
    for step in 0..GROWING_STEPS {
        if is_free(docking.ligand, &here.0, docking.receptor, home) {
            return Some(here.0);
        }
        let rest = 1.0 - step as f32 / GROWING_STEPS as f32;
        let length = GROWING_STEP_NM * rest * random.random::<f32>();
        let motion = RigidMotion {
            translation: random_in_ball(random) * length,
            rotation: random_in_ball(random) * (length * TURN_PER_NM),
        };
        let pose = motion.pose_at(&here.0, 1.0);
        let depth = depth(&pose);
        if depth < here.1 {
            here = (pose, depth);
        }
    }
    None
}
