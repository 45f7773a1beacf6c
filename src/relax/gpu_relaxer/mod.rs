//! The iterations of a relaxer on the GPU. CPU reference: `relax/cpu_iteration.rs`.

mod brute_force_contacts;
mod contact_passes;
mod grid_contacts;
mod types;

pub use types::{
    GpuBody, GpuContactBatch, GpuLawParams, GpuMolecule, GpuPlacement, GpuPush, GpuRelaxCounters,
};

use std::sync::Arc;
use std::time::{Duration, Instant};

use contact_passes::{ContactPasses, SharedBuffers};
use grid_contacts::GridContacts;
use types::StepResult;

use super::{CenterWeights, DeviceRelaxer, DeviceScene, DeviceSearch, DeviceStep, Motion};
use super::{RelaxStatus, StageTimes};
use crate::backend::DeviceError;
use crate::gpu::kernel::{BoundKernel, uniform, write_uniform};
use crate::gpu::readback::Readback;
use crate::gpu::shader::{APPLY, PLACE_BODIES, RESPOND, SUM_MOLECULES};
use crate::gpu::shader_constants::SUM_LANES;
use crate::gpu::{DevicePoses, GpuAtomSpheres, GpuDevice, GpuPose, GpuVec};
use crate::gpu::{PassTime, PassTimer, begin_pass};
use crate::molecule::BodySpheres;
use crate::pose::Pose;
use crate::search::uniform_grid::ReachPlan;

/// Passes between two reads of the timestamps: 48 iterations with a grid.
const TIMED_PASSES: u32 = 384;

/// Runs the iterations of a relaxer on a GPU.
///
/// Poses stay on the device. One iteration is one submission:
///
/// 1. respond: the push of each molecule from its summed contacts, its springs and its last
///    push;
/// 2. apply: all molecules move, or none if one would move out of range;
/// 3. transform: atoms at the new poses; mass and inertia in the world; molecules in place;
/// 4. bin, count, prefix sum, sort: a periodic grid, which needs no bounds of the atoms;
/// 5. contacts: each sphere visits the 27 cells around it and sums its corrections. Each
///    contact is evaluated from both sides with the same expression, so that sums need no
///    atomics and the corrections of two molecules are opposite. With
///    [`DeviceSearch::BruteForce`], each sphere visits all others instead, without a grid and in
///    several submissions;
/// 6. sum: a reduction of fixed shape over the spheres of each molecule.
///
/// Then 44 bytes of counters are read back, from which the relaxer decides how to continue.
///
/// Results differ from the CPU by the order of sums only. Only spherical compartments are
/// supported; others return [`DeviceError::Unsupported`].
#[derive(Debug)]
pub struct GpuRelaxer {
    device: Arc<GpuDevice>,
    atoms: GpuAtomSpheres,
    /// None if no two spheres can touch.
    contacts: Option<ContactPasses>,
    bodies: BoundKernel,
    sum: BoundKernel,
    respond: BoundKernel,
    apply: BoundKernel,
    pushes: GpuVec<GpuPush>,
    counters: GpuVec<GpuRelaxCounters>,
    result: GpuVec<StepResult>,
    readback: Readback,
    law: GpuLawParams,
    law_buffer: wgpu::Buffer,
    /// Weight of the direction between centers in the current sums of contacts.
    sums_weight: f32,
    timer: Option<PassTimer>,
    untimed: u32,
    stages: StageTimes,
    passes: Vec<PassTime>,
}

impl GpuRelaxer {
    /// Uploads a scene to `device`. Contacts are found with FFRNN.
    ///
    /// # Errors
    /// [`DeviceError`] if it does not fit or is not supported, or the device fails.
    pub fn new(device: Arc<GpuDevice>, scene: &DeviceScene<'_>) -> Result<Self, DeviceError> {
        Self::with_search(device, scene, DeviceSearch::default())
    }

    /// As [`new`](Self::new), with contacts found by `search`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_search(
        device: Arc<GpuDevice>,
        scene: &DeviceScene<'_>,
        search: DeviceSearch,
    ) -> Result<Self, DeviceError> {
        let gpu = &*device;
        let templates: Vec<BodySpheres<'_>> = scene
            .crowd
            .templates()
            .iter()
            .map(|template| BodySpheres::from(&**template))
            .collect();
        let members = scene.crowd.members();
        let members = scene.order.iter().map(|&k| &members[k as usize]);
        let kinds: Vec<u32> = members.clone().map(|member| member.template).collect();
        let poses: Vec<GpuPose> = members.map(|member| member.pose.into()).collect();
        let placements = types::placements(scene.crowd)?;
        let mut atoms = GpuAtomSpheres::new(gpu, &templates, &kinds)?;
        atoms.set_poses(gpu, &poses)?;

        let law = GpuLawParams::new(scene);
        let law_buffer = uniform(gpu, "law", &law)?;
        let molecules = GpuVec::from_slice(gpu, "molecules", &types::molecules(scene))?;
        let placements = GpuVec::from_slice(gpu, "placements", &placements)?;
        let counters = GpuVec::from_slice(gpu, "counters", &[GpuRelaxCounters::default()])?;
        let result = GpuVec::from_slice(gpu, "result", &[StepResult::default()])?;
        let bodies = GpuVec::<GpuBody>::new(gpu, "bodies", kinds.len())?;
        let sums = GpuVec::<GpuPush>::new(gpu, "sums", kinds.len())?;
        let proposals = GpuVec::<GpuPush>::new(gpu, "proposals", kinds.len())?;
        let pushes: Vec<GpuPush> = scene.pushes.iter().map(|&push| push.into()).collect();
        let pushes = GpuVec::from_slice(gpu, "pushes", &pushes)?;
        let count = atoms.spheres().len();
        let linear = GpuVec::<[f32; 4]>::new(gpu, "shift of each sphere", count)?;
        let angular = GpuVec::<[f32; 4]>::new(gpu, "rotation of each sphere", count)?;
        let shared = SharedBuffers {
            atoms: &atoms,
            law: &law_buffer,
            bodies: &bodies,
            linear: &linear,
            angular: &angular,
            counters: &counters,
        };
        let plan =
            ReachPlan::new(scene.spheres, scene.gap).map_err(|error| DeviceError::Rejected {
                message: error.to_string(),
            })?;
        let contacts = match plan {
            Some(plan) => Some(ContactPasses::new(gpu, search, &plan, &shared)?),
            None => None,
        };

        let kernel = |shader, entry, buffers: &[(u32, &wgpu::Buffer)]| {
            BoundKernel::new(gpu, shader, entry, buffers)
        };
        let law_binding = (1, &law_buffer);
        let bodies = kernel(
            &PLACE_BODIES,
            "place_bodies",
            &[
                law_binding,
                (2, molecules.buffer()),
                (3, atoms.poses().buffer()),
                (4, placements.buffer()),
                (5, bodies.buffer()),
                (6, counters.buffer()),
            ],
        )?;
        let sum = kernel(
            &SUM_MOLECULES,
            "sum_molecules",
            &[
                law_binding,
                (2, atoms.ranges().buffer()),
                (3, linear.buffer()),
                (4, angular.buffer()),
                (5, sums.buffer()),
            ],
        )?;
        let respond = kernel(
            &RESPOND,
            "respond",
            &[
                law_binding,
                (2, molecules.buffer()),
                (3, atoms.poses().buffer()),
                (4, placements.buffer()),
                (5, sums.buffer()),
                (6, pushes.buffer()),
                (7, proposals.buffer()),
                (8, counters.buffer()),
            ],
        )?;
        let apply = kernel(
            &APPLY,
            "apply_pushes",
            &[
                law_binding,
                (2, proposals.buffer()),
                (3, atoms.poses().buffer()),
                (4, pushes.buffer()),
                (5, counters.buffer()),
            ],
        )?;
        let timer = match gpu.has_timestamps() {
            true => Some(PassTimer::new(gpu)?),
            false => None,
        };
        Ok(Self {
            atoms,
            contacts,
            bodies,
            sum,
            respond,
            apply,
            pushes,
            counters,
            result,
            readback: Readback::new(),
            law,
            law_buffer,
            sums_weight: f32::NAN,
            timer,
            untimed: 0,
            stages: StageTimes::default(),
            passes: Vec::new(),
            device,
        })
    }

    /// Takes the times of the passes since the last call, in the order in which they ran;
    /// empty without timestamps.
    ///
    /// # Errors
    /// [`DeviceError`] if the device is lost.
    pub fn take_passes(&mut self) -> Result<Vec<PassTime>, DeviceError> {
        self.read_timestamps()?;
        Ok(std::mem::take(&mut self.passes))
    }

    /// Records a pass, timed if the device has timestamps.
    fn pass(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        label: &'static str,
        record: impl FnOnce(&Self, &mut wgpu::ComputePass<'_>),
    ) {
        let mut timer = self.timer.take();
        let mut pass = match &mut timer {
            Some(timer) => timer.begin(encoder, label),
            None => begin_pass(encoder, label),
        };
        record(self, &mut pass);
        drop(pass);
        self.timer = timer;
        self.untimed += 1;
    }

    /// Records the passes that detect contacts at the current poses. Brute force submits all but
    /// the last.
    fn record_detect(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<wgpu::CommandEncoder, DeviceError> {
        let molecules = self.law.molecules;
        self.pass(&mut encoder, "transform", |relaxer, pass| {
            relaxer.atoms.record(pass);
            relaxer.bodies.record_threads(pass, molecules);
        });
        if let Some(ContactPasses::Grid(_)) = &self.contacts {
            type Record = fn(&GridContacts, &mut wgpu::ComputePass<'_>);
            let stages: [(&'static str, Record); 3] = [
                ("insert", GridContacts::record_insert),
                ("prefix sum", GridContacts::record_sum),
                ("sort", GridContacts::record_sort),
            ];
            for (label, record) in stages {
                self.pass(&mut encoder, label, |relaxer, pass| {
                    if let Some(ContactPasses::Grid(grid)) = &relaxer.contacts {
                        record(grid, pass);
                    }
                });
            }
        }
        self.record_contacts(encoder)
    }

    /// Records the passes that sum the contacts of all molecules, if there can be any.
    fn record_contacts(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<wgpu::CommandEncoder, DeviceError> {
        match &self.contacts {
            None => return Ok(encoder),
            Some(ContactPasses::Grid(_)) => {
                self.pass(&mut encoder, "detect", |relaxer, pass| {
                    if let Some(ContactPasses::Grid(grid)) = &relaxer.contacts {
                        grid.record_walk(pass);
                    }
                });
            }
            Some(ContactPasses::BruteForce(all)) => {
                for batch in all.batches() {
                    encoder = self.record_batch(encoder, &batch)?;
                }
            }
        }
        let threads = self.law.molecules.saturating_mul(SUM_LANES);
        self.pass(&mut encoder, "sum", |relaxer, pass| {
            relaxer.sum.record_threads(pass, threads);
        });
        Ok(encoder)
    }

    /// Submits what was recorded, and records a batch of comparisons in another submission.
    fn record_batch(
        &mut self,
        encoder: wgpu::CommandEncoder,
        batch: &GpuContactBatch,
    ) -> Result<wgpu::CommandEncoder, DeviceError> {
        self.device.submit(encoder)?;
        if self.untimed >= TIMED_PASSES {
            self.read_timestamps()?;
        }
        if let Some(ContactPasses::BruteForce(all)) = &self.contacts {
            all.set_batch(&self.device, batch)?;
        }
        let mut encoder = self.device.encoder("brute force");
        self.pass(&mut encoder, "detect", |relaxer, pass| {
            if let Some(ContactPasses::BruteForce(all)) = &relaxer.contacts {
                all.record_walk(pass, batch);
            }
        });
        Ok(encoder)
    }

    /// Begins a submission in which contacts are summed with this weight.
    fn begin(&mut self, weight: f32) -> Result<wgpu::CommandEncoder, DeviceError> {
        let law = self.law.with_center_weight(weight);
        write_uniform(&self.device, &self.law_buffer, &law)?;
        self.sums_weight = weight;
        let mut encoder = self.device.encoder("relaxation");
        self.counters.record_clear(&mut encoder);
        Ok(encoder)
    }

    /// Submits, waits, and reads the counters.
    fn finish(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<GpuRelaxCounters, DeviceError> {
        let (from, to) = (self.counters.buffer(), self.result.buffer());
        let counters = size_of::<GpuRelaxCounters>() as u64;
        encoder.copy_buffer_to_buffer(from, 0, to, 0, counters);
        if let Some(ContactPasses::Grid(grid)) = &self.contacts {
            let bytes = size_of::<StepResult>() as u64 - counters;
            let occupancy = grid.occupancy.buffer();
            encoder.copy_buffer_to_buffer(occupancy, 0, to, counters, bytes);
        }
        let device = &*self.device;
        self.readback
            .record(device, &mut encoder, &self.result, 0..1)?;
        device.submit(encoder)?;
        let result = self
            .readback
            .read(device, |found: &[StepResult]| found.first().copied())?;
        let result = result.unwrap_or_default();
        if result.occupancy.is_overcrowded() {
            let message = format!(
                "{} spheres in one cell are too many to compare with each other",
                result.occupancy.max
            );
            return Err(DeviceError::Rejected { message });
        }
        if self.untimed >= TIMED_PASSES {
            self.read_timestamps()?;
        }
        Ok(result.counters)
    }

    fn read_timestamps(&mut self) -> Result<(), DeviceError> {
        self.untimed = 0;
        let Some(timer) = &mut self.timer else {
            return Ok(());
        };
        for pass in timer.read(&self.device)? {
            *stage_of(&mut self.stages, pass.label) += pass.time;
            // Bounded, since no caller may ever take them.
            if self.passes.len() < 1 << 10 {
                self.passes.push(pass);
            }
        }
        Ok(())
    }

    fn try_status(&mut self, weight: f32) -> Result<RelaxStatus, DeviceError> {
        let encoder = self.begin(weight)?;
        let encoder = self.record_detect(encoder)?;
        Ok(self.finish(encoder)?.status())
    }

    fn try_step(&mut self, weights: CenterWeights) -> Result<DeviceStep, DeviceError> {
        if self.sums_weight != weights.current && self.contacts.is_some() {
            // After a kick the contacts are the same, but not their directions.
            let encoder = self.begin(weights.current)?;
            let encoder = self.record_contacts(encoder)?;
            self.finish(encoder)?;
        }
        let molecules = self.law.molecules;
        let mut encoder = self.begin(weights.next)?;
        self.pass(&mut encoder, "spring", |relaxer, pass| {
            relaxer.respond.record_threads(pass, molecules);
        });
        self.pass(&mut encoder, "apply", |relaxer, pass| {
            relaxer.apply.record_threads(pass, molecules);
        });
        let encoder = self.record_detect(encoder)?;
        let counters = self.finish(encoder)?;
        Ok(match counters.diverged() {
            Some(owner) => DeviceStep::Diverged { owner },
            None => DeviceStep::Moved(counters.status()),
        })
    }

    /// Runs `work`. Without timestamps, its time counts as search.
    fn timed<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let begin = Instant::now();
        let result = work(self);
        if self.timer.is_none() {
            self.stages.search += begin.elapsed();
        }
        result
    }
}

/// The stage of a pass.
fn stage_of<'a>(stages: &'a mut StageTimes, label: &str) -> &'a mut Duration {
    match label {
        "transform" => &mut stages.gather,
        "insert" | "prefix sum" | "sort" => &mut stages.grid,
        "detect" => &mut stages.search,
        "apply" => &mut stages.apply,
        _ => &mut stages.respond,
    }
}

impl DeviceRelaxer for GpuRelaxer {
    fn adapter(&self) -> String {
        self.device.summary().to_string()
    }

    fn status(&mut self, next: f32) -> Result<RelaxStatus, DeviceError> {
        self.timed(|relaxer| relaxer.try_status(next))
    }

    fn step(&mut self, weights: CenterWeights) -> Result<DeviceStep, DeviceError> {
        self.timed(|relaxer| relaxer.try_step(weights))
    }

    fn motion(&mut self) -> Result<Motion, DeviceError> {
        let poses = self.atoms.poses().read(&self.device)?;
        let pushes = self.pushes.read(&self.device)?;
        Ok(Motion {
            poses: poses.into_iter().map(Pose::from).collect(),
            pushes: pushes.into_iter().map(Into::into).collect(),
        })
    }

    fn take_stages(&mut self) -> StageTimes {
        // A lost device is reported by the next step.
        let _ = self.read_timestamps();
        std::mem::take(&mut self.stages)
    }

    fn poses(&self, order: &[u32]) -> Option<DevicePoses> {
        Some(DevicePoses {
            buffer: self.atoms.poses().buffer().clone(),
            device: Arc::clone(&self.device),
            order: order.into(),
        })
    }
}
