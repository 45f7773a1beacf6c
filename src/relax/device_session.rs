//! A relaxer whose iterations run on a device.
//!
//! Poses stay on the device and are lost with it. They are therefore read back every
//! [`CHECKPOINT_INTERVAL`] iterations, so that crowd and pushes of the relaxer are always
//! those of the last checkpoint. If the device fails, the CPU repeats the iterations since
//! then.

use std::sync::OnceLock;

use super::checkpoint::Progress;
use super::{CenterWeights, DeviceRelaxer, DeviceScene, DeviceStep, Motion};
use super::{RelaxError, RelaxStatus, Relaxer};
use crate::backend::{DeviceCell, DeviceError};
use crate::crowd::Crowd;

/// Iterations between two checkpoints: few enough to repeat, many enough that reading back
/// costs little.
const CHECKPOINT_INTERVAL: u32 = 16;

/// Creates the device relaxer of a scene.
pub(super) type CreateDevice =
    Box<dyn FnMut(&DeviceScene<'_>) -> Result<Box<dyn DeviceRelaxer>, DeviceError> + Send + Sync>;

/// A device that runs the iterations.
pub(super) struct DeviceSession {
    device: DeviceCell<dyn DeviceRelaxer>,
    pub(super) adapter: String,
    create: CreateDevice,
    /// The crowd at the current poses, once a caller has asked for it.
    fetched: OnceLock<Crowd>,
    /// That of the poses last read back.
    checkpoint: Progress,
}

impl Relaxer {
    /// Moves the iterations to the device that `create` returns. If there is none, or it fails
    /// at once, they stay on the CPU.
    pub(super) fn start_device(&mut self, mut create: CreateDevice) -> Result<(), RelaxError> {
        self.gather()?;
        let scene = DeviceScene {
            crowd: &self.crowd,
            order: &self.order,
            config: &self.config,
            spheres: &self.spheres,
            pushes: &self.pushes,
            gap: self.gap(),
        };
        let weight = self.center_weight(0);
        let created = if self.crowd.periodic_box().is_some() {
            Err(DeviceError::Unsupported {
                feature: "a periodic box",
            })
        } else if self.crowd.members().iter().any(|member| member.fixed) {
            Err(DeviceError::Unsupported {
                feature: "a fixed molecule",
            })
        } else if !self.crowd.joints().is_empty() {
            Err(DeviceError::Unsupported { feature: "a joint" })
        } else {
            create(&scene)
        };
        let started = created.and_then(|mut device| {
            let status = device.status(weight)?;
            Ok((device, status))
        });
        match started {
            Ok((device, status)) => {
                self.status = status;
                self.offload.start(DeviceSession {
                    adapter: device.adapter(),
                    device: DeviceCell::new(device),
                    create,
                    fetched: OnceLock::new(),
                    checkpoint: self.progress(),
                });
                Ok(())
            }
            Err(error) => {
                self.offload.fail(error);
                self.detect()
            }
        }
    }

    /// Detects again after law or placements have changed, on a newly created device if there
    /// is one.
    pub(super) fn restart(&mut self) -> Result<(), RelaxError> {
        match self.offload.stop() {
            Some(session) => self.start_device(session.create),
            None => self.detect(),
        }
    }

    /// The current progress, with the poses and pushes on the device if they have not been read
    /// back. If the device fails now, the progress at the last time that they were.
    pub(super) fn current_motion(&self) -> (Progress, Option<Motion>) {
        match self.offload.as_ref() {
            Some(session) if session.checkpoint.iterations != self.iterations => {
                match session.device.lock().motion() {
                    Ok(motion) => (self.progress(), Some(motion)),
                    Err(_) => (session.checkpoint, None),
                }
            }
            _ => (self.progress(), None),
        }
    }

    /// The crowd at its current poses. If the device fails now, at the poses of the last
    /// checkpoint; the next step falls back to the CPU.
    pub(super) fn current_crowd(&self) -> &Crowd {
        match self.offload.as_ref() {
            Some(session) if session.checkpoint.iterations != self.iterations => {
                session.fetched.get_or_init(|| {
                    let mut crowd = self.crowd.clone();
                    if let Ok(motion) = session.device.lock().motion() {
                        set_poses(&mut crowd, &self.order, &motion);
                    }
                    crowd
                })
            }
            _ => &self.crowd,
        }
    }

    /// Where the poses are on the GPU, if it runs the iterations. They change with every
    /// iteration; after a failure of the device they stay as they were.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn device_poses(&self) -> Option<crate::gpu::DevicePoses> {
        self.offload.as_ref()?.device.lock().poses(&self.order)
    }

    /// Runs one iteration on the device; `None` if the CPU has to run it.
    pub(super) fn step_on_device(&mut self) -> Option<Result<RelaxStatus, RelaxError>> {
        let weights = CenterWeights {
            current: self.center_weight(0),
            next: self.center_weight(1),
        };
        let session = self.offload.as_mut()?;
        match session.device.get_mut().step(weights) {
            Ok(DeviceStep::Moved(status)) => {
                session.fetched.take();
                self.status = status;
                self.iterations += 1;
                self.update_progress();
                let due = self.iterations.is_multiple_of(CHECKPOINT_INTERVAL);
                Some(if due { self.read_back() } else { Ok(()) }.map(|()| self.status))
            }
            Ok(DeviceStep::Diverged { owner }) => Some(Err(RelaxError::Diverged {
                molecule: self.order.get(owner as usize).map_or(0, |&m| m as usize),
                iteration: self.iterations,
            })),
            Err(error) => match self.fall_back(error) {
                Ok(()) => None,
                Err(error) => Some(Err(error)),
            },
        }
    }

    /// Reads poses and pushes back from the device, or repeats its iterations if it fails.
    pub(super) fn read_back(&mut self) -> Result<(), RelaxError> {
        let Some(session) = self.offload.as_mut() else {
            return Ok(());
        };
        self.stages += session.device.get_mut().take_stages();
        if session.checkpoint.iterations == self.iterations {
            return Ok(());
        }
        match session.device.get_mut().motion() {
            Ok(motion) => {
                set_poses(&mut self.crowd, &self.order, &motion);
                self.pushes = motion.pushes;
                let checkpoint = self.progress();
                if let Some(session) = self.offload.as_mut() {
                    session.fetched.take();
                    session.checkpoint = checkpoint;
                }
                Ok(())
            }
            Err(error) => self.fall_back(error),
        }
    }

    /// Leaves the device and repeats its iterations since the last checkpoint on the CPU.
    fn fall_back(&mut self, error: DeviceError) -> Result<(), RelaxError> {
        let Some(session) = self.offload.fail(error) else {
            return Ok(());
        };
        let reached = self.iterations;
        self.set_progress(&session.checkpoint);
        self.detect()?;
        while self.iterations < reached {
            self.step_on_cpu()?;
        }
        Ok(())
    }
}

fn set_poses(crowd: &mut Crowd, order: &[u32], motion: &Motion) {
    let members = crowd.members_mut();
    for (&member, &pose) in order.iter().zip(&motion.poses) {
        members[member as usize].pose = pose;
    }
}
