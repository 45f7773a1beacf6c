//! Relaxation on the device: the twin of an iteration on the processor.
//!
//! | file | what it does |
//! |---|---|
//! | `tables` | structs that Rust and WGSL share |
//! | `contacts` | the grid, and what contacts ask for |
//! | `choose` | a relaxer for a [`Backend`](crate::backend::Backend) |
//! | `device_poses` | poses for who draws them on the same device |

mod choose;
mod contacts;
mod device_poses;
mod tables;

pub use device_poses::DevicePoses;
pub use tables::{GpuBody, GpuLawParams, GpuMolecule, GpuPlacement, GpuPush, GpuRelaxCounters};

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contacts::{ContactStages, Shared};
use tables::Outcome;

use super::atoms::{GpuAtoms, GpuPose};
use super::buffer::GpuVec;
use super::constants::SUM_LANES;
use super::device::GpuDevice;
use super::kernel::{Kernel, begin_pass, uniform};
use super::readback::Readback;
use super::search::write;
use super::shader::{APPLY, BODIES, RESPOND, SUM_MOLECULES};
use super::timer::{PassTime, PassTimer};
use crate::backend::DeviceError;
use crate::molecule::BodySpheres;
use crate::pose::Pose;
use crate::relax::engine::{CenterWeights, EngineScene, EngineStep, Motion, RelaxEngine};
use crate::relax::{RelaxStatus, StageTimes};
use crate::search::uniform_grid::ReachPlan;

/// Iterations whose passes are timed before the clocks are read: eight passes each.
const TIMED_ITERATIONS: u32 = 48;

/// Does the iterations of a relaxer on a GPU.
///
/// Poses stay on the device. One iteration is one submission:
///
/// 1. respond: contacts summed up before, springs and momentum make a push for each
///    molecule;
/// 2. apply: all molecules move, or none if one would leave the finite world;
/// 3. transform: atoms at the new poses; mass and inertia in the world; who is in place;
/// 4. cells, count, prefix sum, sort: a folded grid, so that nobody has to look where the
///    atoms have gone;
/// 5. contacts: each sphere walks all 27 cells around it and sums up what its contacts ask
///    for. Each contact is met from both sides with one expression, so that no sum needs
///    atomics and what two molecules are told is opposite;
/// 6. sum: a reduction of fixed shape over the spheres of each molecule.
///
/// Then 44 bytes of counters come back, from which the relaxer decides how to go on.
///
/// Differences from the processor are those of sums in another order. Places are known for
/// spherical compartments only; a crowd that has others is refused, with
/// [`DeviceError::Unsupported`], and relaxed by the processor.
#[derive(Debug)]
pub struct GpuRelaxEngine {
    device: Arc<GpuDevice>,
    atoms: GpuAtoms,
    /// None if no two spheres can ever touch.
    contacts: Option<ContactStages>,
    bodies: (Kernel, wgpu::BindGroup),
    sum: (Kernel, wgpu::BindGroup),
    respond: (Kernel, wgpu::BindGroup),
    apply: (Kernel, wgpu::BindGroup),
    pushes: GpuVec<GpuPush>,
    counters: GpuVec<GpuRelaxCounters>,
    outcome: GpuVec<Outcome>,
    readback: Readback,
    law: GpuLawParams,
    law_buffer: wgpu::Buffer,
    /// Weight of the direction between centers that contacts were summed up with.
    summed_with: f32,
    timer: Option<PassTimer>,
    untimed: u32,
    stages: StageTimes,
    passes: Vec<PassTime>,
}

impl GpuRelaxEngine {
    /// Sends a scene to `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if it does not fit, has places that the kernels do not know, or the
    /// device fails.
    pub fn new(device: Arc<GpuDevice>, scene: &EngineScene<'_>) -> Result<Self, DeviceError> {
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
        let placements = tables::placements(scene.crowd)?;
        let mut atoms = GpuAtoms::new(gpu, &templates, &kinds)?;
        atoms.set_poses(gpu, &poses)?;

        let law = GpuLawParams::new(scene);
        let law_buffer = uniform(gpu, "law", &law)?;
        let molecules = GpuVec::from_slice(gpu, "molecules", &tables::molecules(scene))?;
        let placements = GpuVec::from_slice(gpu, "placements", &placements)?;
        let counters = GpuVec::from_slice(gpu, "counters", &[GpuRelaxCounters::default()])?;
        let outcome = GpuVec::from_slice(gpu, "outcome", &[Outcome::default()])?;
        let bodies = GpuVec::<GpuBody>::new(gpu, "bodies", kinds.len())?;
        let sums = GpuVec::<GpuPush>::new(gpu, "sums", kinds.len())?;
        let proposals = GpuVec::<GpuPush>::new(gpu, "proposals", kinds.len())?;
        let pushes = vec![GpuPush::default(); kinds.len()];
        let pushes = GpuVec::from_slice(gpu, "pushes", &pushes)?;
        let count = atoms.spheres().len();
        let linear = GpuVec::<[f32; 4]>::new(gpu, "shifts of spheres", count)?;
        let angular = GpuVec::<[f32; 4]>::new(gpu, "turns of spheres", count)?;
        let shared = Shared {
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
            Some(plan) => Some(ContactStages::new(gpu, &plan, &shared)?),
            None => None,
        };

        let kernel = |shader, entry, buffers: &[(u32, &wgpu::Buffer)]| {
            let kernel = Kernel::new(gpu, shader, entry)?;
            let bindings = kernel.bind(gpu, buffers)?;
            Ok::<_, DeviceError>((kernel, bindings))
        };
        let law_binding = (1, &law_buffer);
        let bodies = kernel(
            &BODIES,
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
            outcome,
            readback: Readback::new(),
            law,
            law_buffer,
            summed_with: f32::NAN,
            timer,
            untimed: 0,
            stages: StageTimes::default(),
            passes: Vec::new(),
            device,
        })
    }

    /// How long each pass took since this was last asked for, in the order in which they
    /// ran; nothing if the adapter cannot time.
    ///
    /// # Errors
    /// [`DeviceError`] if the device is lost.
    pub fn take_passes(&mut self) -> Result<Vec<PassTime>, DeviceError> {
        self.read_clocks()?;
        Ok(std::mem::take(&mut self.passes))
    }

    /// Records a pass, timed if that is possible.
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
    }

    fn record_detect(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let molecules = self.law.molecules;
        self.pass(encoder, "transform", |engine, pass| {
            engine.atoms.record(pass);
            let (kernel, bindings) = &engine.bodies;
            kernel.record_threads(pass, bindings, molecules);
        });
        if self.contacts.is_some() {
            type Record = fn(&ContactStages, &mut wgpu::ComputePass<'_>);
            let stages: [(&'static str, Record); 3] = [
                ("insert", ContactStages::record_insert),
                ("prefix sum", ContactStages::record_sum),
                ("sort", ContactStages::record_sort),
            ];
            for (label, record) in stages {
                self.pass(encoder, label, |engine, pass| {
                    if let Some(contacts) = &engine.contacts {
                        record(contacts, pass);
                    }
                });
            }
            self.record_contacts(encoder);
        }
    }

    fn record_contacts(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let threads = self.law.molecules.saturating_mul(SUM_LANES);
        self.pass(encoder, "detect", |engine, pass| {
            if let Some(contacts) = &engine.contacts {
                contacts.record_walk(pass);
            }
        });
        self.pass(encoder, "sum", |engine, pass| {
            let (kernel, bindings) = &engine.sum;
            kernel.record_threads(pass, bindings, threads);
        });
    }

    /// Begins a submission in which contacts are summed up with this weight.
    fn begin(&mut self, weight: f32) -> Result<wgpu::CommandEncoder, DeviceError> {
        let law = self.law.with_center_weight(weight);
        write(&self.device, &self.law_buffer, &law)?;
        self.summed_with = weight;
        let mut encoder = self.device.encoder("relaxation");
        self.counters.record_clear(&mut encoder);
        Ok(encoder)
    }

    /// Submits, waits, and reads the counters.
    fn finish(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<GpuRelaxCounters, DeviceError> {
        let (from, to) = (self.counters.buffer(), self.outcome.buffer());
        let counters = size_of::<GpuRelaxCounters>() as u64;
        encoder.copy_buffer_to_buffer(from, 0, to, 0, counters);
        if let Some(contacts) = &self.contacts {
            let bytes = size_of::<Outcome>() as u64 - counters;
            let measured = contacts.measured.buffer();
            encoder.copy_buffer_to_buffer(measured, 0, to, counters, bytes);
        }
        let device = &*self.device;
        self.readback
            .record(device, &mut encoder, &self.outcome, 0..1)?;
        device.submit(encoder)?;
        let outcome = self
            .readback
            .read(device, |found: &[Outcome]| found.first().copied())?;
        let outcome = outcome.unwrap_or_default();
        if outcome.crowding.is_crowded() {
            let message = format!(
                "{} spheres in one cell are too many to compare",
                outcome.crowding.most
            );
            return Err(DeviceError::Rejected { message });
        }
        self.untimed += 1;
        if self.untimed >= TIMED_ITERATIONS {
            self.read_clocks()?;
        }
        Ok(outcome.counters)
    }

    fn read_clocks(&mut self) -> Result<(), DeviceError> {
        self.untimed = 0;
        let Some(timer) = &mut self.timer else {
            return Ok(());
        };
        for pass in timer.read(&self.device)? {
            *stage_of(&mut self.stages, pass.label) += pass.time;
            // Nobody may ever ask for them.
            if self.passes.len() < 1 << 10 {
                self.passes.push(pass);
            }
        }
        Ok(())
    }

    fn try_look(&mut self, weight: f32) -> Result<RelaxStatus, DeviceError> {
        let mut encoder = self.begin(weight)?;
        self.record_detect(&mut encoder);
        Ok(self.finish(encoder)?.status())
    }

    fn try_step(&mut self, weights: CenterWeights) -> Result<EngineStep, DeviceError> {
        if self.summed_with != weights.now && self.contacts.is_some() {
            // A kick came in between: the contacts are the same, their directions are not.
            let mut encoder = self.begin(weights.now)?;
            self.record_contacts(&mut encoder);
            self.finish(encoder)?;
        }
        let molecules = self.law.molecules;
        let mut encoder = self.begin(weights.next)?;
        self.pass(&mut encoder, "spring", |engine, pass| {
            let (kernel, bindings) = &engine.respond;
            kernel.record_threads(pass, bindings, molecules);
        });
        self.pass(&mut encoder, "apply", |engine, pass| {
            let (kernel, bindings) = &engine.apply;
            kernel.record_threads(pass, bindings, molecules);
        });
        self.record_detect(&mut encoder);
        let counters = self.finish(encoder)?;
        Ok(match counters.diverged() {
            Some(owner) => EngineStep::Diverged { owner },
            None => EngineStep::Moved(counters.status()),
        })
    }

    /// Runs `work`; where the device has no clock of its own, the time counts as search.
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

/// The stage of a relaxer that a pass belongs to.
fn stage_of<'a>(stages: &'a mut StageTimes, label: &str) -> &'a mut Duration {
    match label {
        "transform" => &mut stages.gather,
        "insert" | "prefix sum" | "sort" => &mut stages.grid,
        "detect" => &mut stages.search,
        "apply" => &mut stages.apply,
        _ => &mut stages.respond,
    }
}

impl RelaxEngine for GpuRelaxEngine {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn device(&self) -> String {
        self.device.summary().to_string()
    }

    fn look(&mut self, next: f32) -> Result<RelaxStatus, DeviceError> {
        self.timed(|engine| engine.try_look(next))
    }

    fn step(&mut self, weights: CenterWeights) -> Result<EngineStep, DeviceError> {
        self.timed(|engine| engine.try_step(weights))
    }

    fn motion(&mut self) -> Result<Motion, DeviceError> {
        let read = || -> Result<Motion, DeviceError> {
            let poses = self.atoms.poses().read(&self.device)?;
            let pushes = self.pushes.read(&self.device)?;
            Ok(Motion {
                poses: poses.into_iter().map(Pose::from).collect(),
                pushes: pushes.into_iter().map(Into::into).collect(),
            })
        };
        read()
    }

    fn take_stages(&mut self) -> StageTimes {
        // A device that is lost will say so when it is asked for something that matters.
        let _ = self.read_clocks();
        std::mem::take(&mut self.stages)
    }
}
