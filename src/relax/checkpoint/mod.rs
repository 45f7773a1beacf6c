//! [`RelaxCheckpoint`]: the state of a relaxation between two iterations, to be saved and resumed.
//!
//! A relaxer that [resumes](Relaxer::resume) continues with the same bits as one that was never
//! interrupted. What follows from the poses is not saved: the contacts are found again, and
//! neither what a search remembers nor the number of threads changes them.

mod error;
mod file;

pub use error::CheckpointError;

use std::hash::Hasher;

use super::coarse_start::CoarsePhase;
use super::local_motion::LocalMotion;
use super::stall_detector::StallDetector;
use super::{RelaxConfig, RelaxError, RelaxStatus, Relaxer, StageTimes};
use crate::crowd::Crowd;
use crate::fnv::Fnv;
use crate::force::Push;
use crate::pose::Pose;

/// The state of a [`Relaxer`] between two iterations.
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::relax::RelaxCheckpoint;
/// use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let scene = CrowdedBoxConfig { molecules: 8, ..CrowdedBoxConfig::default() };
/// let crowd = crowded_box(&[protein], &scene)?;
/// let config = RelaxConfig::default();
///
/// let mut relaxer = Relaxer::new(crowd.clone(), config)?;
/// relaxer.step()?;
/// let path = std::env::temp_dir().join("checkpoint_of_a_doc_test");
/// relaxer.checkpoint().save(&path)?;
/// let report = relaxer.run(|_| ControlFlow::Continue(()))?;
///
/// let mut resumed = Relaxer::resume(crowd, config, &RelaxCheckpoint::load(&path)?)?;
/// assert_eq!(resumed.iterations(), 1);
/// assert_eq!(resumed.run(|_| ControlFlow::Continue(()))?.iterations, report.iterations);
/// assert_eq!(resumed.crowd().members(), relaxer.crowd().members());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RelaxCheckpoint {
    /// A number of the caller that is saved with the state, such as a hash of what the crowd was
    /// made from. A relaxer does not read it. Default: 0.
    pub origin: u64,
    /// Hash of the molecules without their poses.
    molecules: u64,
    /// Hash of the config without the limits of time and iterations.
    config: u64,
    progress: Progress,
    start: RelaxStatus,
    stages: StageTimes,
    /// Iteration at which the atoms return at the latest, during a coarse start.
    coarse_end: Option<u32>,
    /// Last iteration in which each owner moves, with local motion.
    local: Option<Vec<u32>>,
    /// Member of each owner.
    order: Vec<u32>,
    /// Pose of each member.
    poses: Vec<Pose>,
    /// Last push of each owner, which its next one depends on.
    pushes: Vec<Push>,
}

/// Iterations and what was noticed in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Progress {
    pub iterations: u32,
    pub last_kick: u32,
    pub stall: StallDetector,
    pub since_kick: StallDetector,
}

impl RelaxCheckpoint {
    /// Number of iterations before it.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.progress.iterations
    }

    /// Number of molecules.
    #[must_use]
    pub fn molecules(&self) -> usize {
        self.poses.len()
    }

    /// The same checkpoint with a number of the caller.
    #[must_use]
    pub fn with_origin(self, origin: u64) -> Self {
        Self { origin, ..self }
    }

    /// Checks that it is of these molecules and this config.
    fn check(&self, crowd: &Crowd, config: &RelaxConfig) -> Result<(), CheckpointError> {
        let molecules = crowd.members().len();
        if self.poses.len() != molecules || self.molecules != molecules_hash(crowd) {
            let saved = self.poses.len();
            return Err(CheckpointError::OtherMolecules { saved, molecules });
        }
        if self.config != config_hash(config) {
            return Err(CheckpointError::OtherConfig);
        }
        Ok(())
    }
}

impl Relaxer {
    /// The state between two iterations, for [`resume`](Self::resume).
    ///
    /// On a GPU, poses are read back. If that fails, the state is that of the last time they were.
    #[must_use]
    pub fn checkpoint(&self) -> RelaxCheckpoint {
        let (progress, motion) = self.current_motion();
        // Of the last time that poses were read back.
        let members = self.crowd.members().iter();
        let mut poses: Vec<Pose> = members.map(|member| member.pose).collect();
        let pushes = match motion {
            None => self.pushes.clone(),
            Some(motion) => {
                for (&member, &pose) in self.order.iter().zip(&motion.poses) {
                    poses[member as usize] = pose;
                }
                motion.pushes
            }
        };
        RelaxCheckpoint {
            origin: 0,
            molecules: molecules_hash(&self.crowd),
            config: config_hash(&self.config),
            progress,
            start: self.start_status(),
            stages: self.stages,
            coarse_end: self.coarse.as_ref().map(CoarsePhase::end),
            local: self.local.as_ref().map(|local| local.until().to_vec()),
            order: self.order.clone(),
            poses,
            pushes,
        }
    }

    /// Continues where a relaxer of the same crowd and config was when it returned the checkpoint,
    /// on the CPU. The poses of `crowd` are replaced; limits of time and iterations may differ.
    ///
    /// The result is the same as without an interruption, bit for bit, if the CPU ran all
    /// iterations. With [local motion](Self::set_local_motion) during a fade of the direction between
    /// centers, the last bits may differ: contacts of resting molecules are summed again.
    ///
    /// # Errors
    /// [`RelaxError::Checkpoint`] if it is of other molecules or another config. As
    /// [`new`](Self::new), except that fixed molecules were checked at the start.
    pub fn resume(
        crowd: Crowd,
        config: RelaxConfig,
        checkpoint: &RelaxCheckpoint,
    ) -> Result<Self, RelaxError> {
        checkpoint.check(&crowd, &config)?;
        let mut crowd = crowd;
        for (member, pose) in crowd.members_mut().iter_mut().zip(&checkpoint.poses) {
            member.pose = *pose;
        }
        let mut relaxer = Self::with_order(crowd, config, checkpoint.order.clone())?;
        relaxer.set_progress(&checkpoint.progress);
        relaxer.start = checkpoint.start;
        relaxer.stages = checkpoint.stages;
        relaxer.pushes.copy_from_slice(&checkpoint.pushes);
        let until = checkpoint.local.clone();
        relaxer.local = until.map(LocalMotion::with_until);
        if let Some(end) = checkpoint.coarse_end {
            relaxer.continue_coarse(end)?;
        }
        relaxer.detect()?;
        Ok(relaxer)
    }

    /// Iterations and detectors now.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            iterations: self.iterations,
            last_kick: self.last_kick,
            stall: self.stall,
            since_kick: self.progress,
        }
    }

    pub(super) fn set_progress(&mut self, progress: &Progress) {
        let Progress {
            iterations,
            last_kick,
            stall,
            since_kick,
        } = *progress;
        (self.iterations, self.last_kick) = (iterations, last_kick);
        (self.stall, self.progress) = (stall, since_kick);
    }
}

/// Hash of everything about a crowd that iterations do not change, except for the shapes of its
/// compartments, of which the areas and volumes are compared.
fn molecules_hash(crowd: &Crowd) -> u64 {
    let mut hash = Fnv::default();
    for template in crowd.templates() {
        hash.write(&(template.atom_count() as u64).to_le_bytes());
        let atoms = template.positions().iter().zip(template.radii());
        for ((position, radius), element) in atoms.zip(template.elements()) {
            for number in position.extend(*radius).to_array() {
                hash.write(&number.to_le_bytes());
            }
            hash.write(&[element.atomic_number()]);
        }
    }
    for compartment in crowd.compartments() {
        hash.write(&compartment.area_at(0.0).to_le_bytes());
        let volume = compartment.volume().unwrap_or(f32::INFINITY);
        hash.write(&volume.to_le_bytes());
    }
    for member in crowd.members() {
        hash.write(&member.template.to_le_bytes());
        let placement = member.placement.map_or(u32::MAX, |index| index);
        hash.write(&placement.to_le_bytes());
        hash.write(&[u8::from(member.fixed)]);
    }
    // As text, in which each number has all of its digits.
    for placement in crowd.placements() {
        hash.write(format!("{placement:?}").as_bytes());
    }
    for joint in crowd.joints() {
        hash.write(format!("{joint:?}").as_bytes());
    }
    hash.write(format!("{:?}", crowd.periodic_box()).as_bytes());
    hash.finish()
}

/// Hash of what changes the iterations.
fn config_hash(config: &RelaxConfig) -> u64 {
    let RelaxConfig {
        law,
        clearance,
        stall_window,
        coarse,
        max_iterations: _,
        max_time: _,
    } = config;
    let mut hash = Fnv::default();
    hash.write(format!("{law:?} {clearance:?} {stall_window} {coarse:?}").as_bytes());
    hash.finish()
}
