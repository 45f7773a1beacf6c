//! The relaxer when an engine does its iterations.
//!
//! Poses stay on the device, where they are lost if it is. So they are fetched every
//! [`KEEP_EVERY`] iterations, together with what belongs to them; the crowd and the pushes
//! of the relaxer itself are always those of that time. A device that fails is left, and
//! the iterations since then are done again on the processor: nobody sees more than that it took
//! longer.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::engine::{CenterWeights, EngineScene, EngineStep, Motion, RelaxEngine};
use super::stall::StallWatch;
use super::{RelaxError, RelaxStatus, Relaxer};
use crate::backend::DeviceError;
use crate::crowd::Crowd;

/// Iterations after which poses are fetched: few enough to be done again, and many enough
/// that fetching does not count.
const KEEP_EVERY: u32 = 16;

/// An engine at work.
pub(super) struct Offload {
    /// Behind a lock, so that a relaxer that is only looked at can fetch poses.
    engine: Mutex<Box<dyn RelaxEngine>>,
    /// The device.
    pub(super) adapter: String,
    /// The crowd at the present poses, if somebody asked for it.
    fetched: OnceLock<Crowd>,
    kept: Kept,
}

/// What belongs to the poses that were last fetched.
#[derive(Clone, Copy)]
struct Kept {
    iterations: u32,
    last_kick: u32,
    stall: StallWatch,
    progress: StallWatch,
}

impl Relaxer {
    /// As [`new`](Self::new), with iterations done by an engine that `make` makes. If it
    /// cannot, or the engine fails later, the processor does them; see
    /// [`fell_back`](Self::fell_back).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_engine(
        crowd: Crowd,
        config: super::RelaxConfig,
        make: impl FnOnce(&EngineScene<'_>) -> Result<Box<dyn RelaxEngine>, DeviceError>,
    ) -> Result<Self, RelaxError> {
        let mut relaxer = Self::unstarted(crowd, config)?;
        relaxer.gather();
        let scene = EngineScene {
            crowd: &relaxer.crowd,
            order: &relaxer.order,
            config: &relaxer.config,
            spheres: &relaxer.spheres,
            gap: relaxer.gap(),
        };
        let weight = relaxer.center_weight(0);
        let begun = make(&scene).and_then(|mut engine| {
            let status = engine.look(weight)?;
            Ok((engine, status))
        });
        match begun {
            Ok((engine, status)) => {
                relaxer.status = status;
                relaxer.offload = Some(Offload {
                    adapter: engine.device(),
                    engine: Mutex::new(engine),
                    fetched: OnceLock::new(),
                    kept: relaxer.kept(),
                });
            }
            Err(error) => {
                relaxer.fell_back = Some(error.to_string());
                relaxer.detect()?;
            }
        }
        relaxer.start = relaxer.status;
        Ok(relaxer)
    }

    /// Asks the engine, if it is a `T`; and in which order it has the members of the crowd.
    #[cfg(feature = "gpu")]
    pub(crate) fn ask_engine<T: 'static, R>(
        &self,
        question: impl FnOnce(&T, &[u32]) -> R,
    ) -> Option<R> {
        let engine = self.offload.as_ref()?.engine.lock();
        let engine = engine.unwrap_or_else(PoisonError::into_inner);
        let engine: &T = engine.as_any()?.downcast_ref()?;
        Some(question(engine, &self.order))
    }

    fn kept(&self) -> Kept {
        Kept {
            iterations: self.iterations,
            last_kick: self.last_kick,
            stall: self.stall,
            progress: self.progress,
        }
    }

    /// The crowd at its present poses. If the device fails now, at those that last came
    /// back: the next step will notice, and mend it.
    pub(super) fn present_crowd(&self) -> &Crowd {
        match &self.offload {
            Some(offload) if offload.kept.iterations != self.iterations => {
                offload.fetched.get_or_init(|| {
                    let mut engine = offload
                        .engine
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    let mut crowd = self.crowd.clone();
                    if let Ok(motion) = engine.motion() {
                        set_poses(&mut crowd, &self.order, &motion);
                    }
                    crowd
                })
            }
            _ => &self.crowd,
        }
    }

    /// One iteration on the engine; `None` if the processor has to do it.
    pub(super) fn step_on_engine(&mut self) -> Option<Result<RelaxStatus, RelaxError>> {
        let weights = CenterWeights {
            now: self.center_weight(0),
            next: self.center_weight(1),
        };
        let offload = self.offload.as_mut()?;
        let step = engine_of(offload).step(weights);
        match step {
            Ok(EngineStep::Moved(status)) => {
                offload.fetched.take();
                self.status = status;
                self.iterations += 1;
                self.watch_progress();
                let due = self.iterations.is_multiple_of(KEEP_EVERY);
                Some(if due { self.sync() } else { Ok(()) }.map(|()| self.status))
            }
            Ok(EngineStep::Diverged { owner }) => Some(Err(RelaxError::Diverged {
                molecule: self.order.get(owner as usize).map_or(0, |&m| m as usize),
                iteration: self.iterations,
            })),
            Err(error) => match self.fall_back(&error) {
                Ok(()) => None,
                Err(error) => Some(Err(error)),
            },
        }
    }

    /// Fetches poses and pushes, or does again what was lost with them.
    pub(super) fn sync(&mut self) -> Result<(), RelaxError> {
        let Some(offload) = &mut self.offload else {
            return Ok(());
        };
        let stages = engine_of(offload).take_stages();
        self.stages += stages;
        if offload.kept.iterations == self.iterations {
            return Ok(());
        }
        let motion = engine_of(offload).motion();
        match motion {
            Ok(motion) => {
                set_poses(&mut self.crowd, &self.order, &motion);
                self.pushes = motion.pushes;
                let kept = self.kept();
                if let Some(offload) = &mut self.offload {
                    offload.fetched.take();
                    offload.kept = kept;
                }
                Ok(())
            }
            Err(error) => self.fall_back(&error),
        }
    }

    /// Leaves the engine and does on the processor what it has done since poses came back.
    fn fall_back(&mut self, error: &DeviceError) -> Result<(), RelaxError> {
        let Some(offload) = self.offload.take() else {
            return Ok(());
        };
        self.fell_back = Some(error.to_string());
        let reached = self.iterations;
        let kept = offload.kept;
        self.iterations = kept.iterations;
        self.last_kick = kept.last_kick;
        self.stall = kept.stall;
        self.progress = kept.progress;
        self.detect()?;
        while self.iterations < reached {
            self.step_on_processor()?;
        }
        Ok(())
    }
}

fn engine_of(offload: &mut Offload) -> &mut dyn RelaxEngine {
    let engine = offload.engine.get_mut();
    engine.unwrap_or_else(PoisonError::into_inner).as_mut()
}

fn set_poses(crowd: &mut Crowd, order: &[u32], motion: &Motion) {
    let members = crowd.members_mut();
    for (&member, &pose) in order.iter().zip(&motion.poses) {
        members[member as usize].pose = pose;
    }
}
