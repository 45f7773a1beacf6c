//! The relaxer: construction, stop criteria, and changes between iterations.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

#[cfg(feature = "gpu")]
use super::GpuRelaxer;
use super::capacity::{CapacityWarning, capacity_warnings};
use super::coarse_start::CoarsePhase;
use super::contact_sums::{ContactSums, SumsConfig};
use super::cpu_iteration::gap_of;
use super::device_session::{CreateDevice, DeviceSession};
use super::joint_sums::JointSums;
use super::local_motion::LocalMotion;
use super::morton_order::morton_order;
use super::stall_detector::StallDetector;
use super::{
    DeviceRelaxer, DeviceScene, RelaxConfig, RelaxError, RelaxReport, RelaxStatus, StageTimes,
    StopReason,
};
use crate::backend::{Backend, DeviceError, Offload};
use crate::compartment::Confinement;
use crate::crowd::Crowd;
use crate::force::{Body, Push};
#[cfg(feature = "gpu")]
use crate::gpu::{GpuDevice, GpuOptions};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::search::{MoleculeSearch, PairBuffer, PairSearch, PairsByMolecules, RigidSpheres};
use crate::spheres::SphereSet;

/// Relaxes a [`Crowd`]. See the [module](super) docs.
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::relax::StopReason;
/// use glam::Vec3;
///
/// // Two proteins that overlap by half.
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let mut crowd = Crowd::new();
/// let template = crowd.add_template(protein);
/// for position in [Vec3::ZERO, Vec3::X] {
///     let pose = Pose::from_translation(position);
///     crowd.add_member(CrowdMember { template, pose, ..CrowdMember::default() })?;
/// }
/// let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
/// let report = relaxer.run(|_| ControlFlow::Continue(()))?;
/// assert_eq!((report.reason, report.end.overlaps), (StopReason::AtRest, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Relaxer {
    pub(super) crowd: Crowd,
    pub(super) config: RelaxConfig,
    /// Member of each owner, along a Morton curve: owner `k` is member `order[k]`.
    pub(super) order: Vec<u32>,
    /// The atoms of each template.
    pub(super) shapes: Vec<Arc<RigidSpheres>>,
    pub(super) molecules: MoleculeSearch,
    /// A search over all atoms that is used instead.
    pub(super) search: Option<Box<dyn PairSearch>>,
    /// The atoms in the world, for that search or a device, and the first of each owner.
    pub(super) spheres: SphereSet,
    pub(super) first_sphere: Vec<u32>,
    /// What that search has found.
    pub(super) pairs: PairBuffer,
    pub(super) by_molecules: PairsByMolecules,
    pub(super) contacts: ContactSums,
    pub(super) joints: JointSums,
    /// What `contacts` were made with; none before the first.
    pub(super) sums_config: Option<SumsConfig>,
    pub(super) bodies: Vec<Body>,
    /// Push of each owner's springs at its pose.
    pub(super) springs: Vec<Push>,
    /// Buffer for the next pose of each owner.
    pub(super) next_poses: Vec<Pose>,
    pub(super) pushes: Vec<Push>,
    pub(super) start: RelaxStatus,
    pub(super) status: RelaxStatus,
    pub(super) iterations: u32,
    /// Progress since the start: when to stop.
    pub(super) stall: StallDetector,
    /// Progress since the last kick: when to kick again.
    pub(super) progress: StallDetector,
    pub(super) last_kick: u32,
    pub(super) stages: StageTimes,
    warnings: Vec<CapacityWarning>,
    /// The coarse start, while it lasts.
    pub(super) coarse: Option<CoarsePhase>,
    /// Which molecules move; none if all do.
    pub(super) local: Option<LocalMotion>,
    pub(super) offload: Offload<DeviceSession>,
}

impl Relaxer {
    /// Takes a crowd and detects its overlaps with a [`MoleculeSearch`] on the CPU.
    ///
    /// # Errors
    /// [`RelaxError`] if there are too many atoms, a parameter is invalid, two fixed molecules
    /// overlap or have a strained joint, or a molecule is larger than the periodic box of the crowd.
    pub fn new(crowd: Crowd, config: RelaxConfig) -> Result<Self, RelaxError> {
        let mut relaxer = Self::unstarted(crowd, config)?;
        relaxer.detect()?;
        relaxer.check_fixed()?;
        relaxer.started()
    }

    /// As [`new`](Self::new), but fixed molecules may overlap: the status counts it.
    #[cfg(feature = "recipe")]
    pub(crate) fn with_fixed_overlaps(
        crowd: Crowd,
        config: RelaxConfig,
    ) -> Result<Self, RelaxError> {
        let mut relaxer = Self::unstarted(crowd, config)?;
        relaxer.detect()?;
        relaxer.started()
    }

    /// As [`new`](Self::new), with the iterations on `backend`, with a device of its own.
    ///
    /// If there is no GPU or it fails, the CPU runs the iterations and
    /// [`device_error`](Self::device_error) says why.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use bevy_rapier_molecules::prelude::*;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
    /// let size = VesicleSize::Counts { outer: 60, inner: 6, radius: 3.2 };
    /// let vesicle = vesicle(Arc::new(lipid), &VesicleConfig { size, ..VesicleConfig::default() })?;
    /// let config = RelaxConfig::default();
    /// let mut relaxer = Relaxer::with_backend(vesicle.crowd, config, Backend::Auto)?;
    /// let before = relaxer.status().overlaps;
    /// let after = relaxer.step()?.overlaps;
    /// println!("{before} overlaps, then {after}, on {:?}", relaxer.adapter());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_backend(
        crowd: Crowd,
        config: RelaxConfig,
        backend: Backend,
    ) -> Result<Self, RelaxError> {
        match open_device(backend) {
            Ok(None) => Self::new(crowd, config),
            Ok(Some(create)) => Self::with_device_relaxer(crowd, config, create),
            Err(error) => Self::with_device_relaxer(crowd, config, move |_| Err(error.clone())),
        }
    }

    /// As [`with_backend`](Self::with_backend), on an existing GPU device.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "gpu")]
    pub fn on_device(
        crowd: Crowd,
        config: RelaxConfig,
        device: &Arc<GpuDevice>,
    ) -> Result<Self, RelaxError> {
        Self::with_device_relaxer(crowd, config, create_on(Arc::clone(device)))
    }

    /// As [`new`](Self::new), with the iterations on a device relaxer that `create` returns:
    /// now, and again whenever law or placements change. If that fails, the CPU runs the
    /// iterations and [`device_error`](Self::device_error) says why.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_device_relaxer(
        crowd: Crowd,
        config: RelaxConfig,
        create: impl FnMut(&DeviceScene<'_>) -> Result<Box<dyn DeviceRelaxer>, DeviceError>
        + Send
        + Sync
        + 'static,
    ) -> Result<Self, RelaxError> {
        let mut relaxer = Self::unstarted(crowd, config)?;
        relaxer.start_device(Box::new(create))?;
        relaxer.check_fixed()?;
        relaxer.started()
    }

    /// A relaxer that has not yet detected its overlaps.
    fn unstarted(crowd: Crowd, config: RelaxConfig) -> Result<Self, RelaxError> {
        let order = morton_order(crowd.members());
        Self::with_order(crowd, config, order)
    }

    /// A relaxer that has not yet detected its overlaps, with the member of each owner.
    pub(super) fn with_order(
        crowd: Crowd,
        config: RelaxConfig,
        order: Vec<u32>,
    ) -> Result<Self, RelaxError> {
        config.check()?;
        check_sizes(&crowd, &config)?;
        let atoms = |template: &Arc<MoleculeTemplate>| Arc::new(RigidSpheres::atoms(template));
        let molecules = order.len();
        let joints = JointSums::new(&crowd, &order);
        let mut relaxer = Self {
            warnings: capacity_warnings(&crowd),
            shapes: crowd.templates().iter().map(atoms).collect(),
            crowd,
            config,
            order,
            molecules: MoleculeSearch::new(),
            search: None,
            spheres: SphereSet::new(),
            first_sphere: Vec::new(),
            pairs: PairBuffer::new(),
            by_molecules: PairsByMolecules::default(),
            contacts: ContactSums::default(),
            joints,
            sums_config: None,
            bodies: vec![Body::default(); molecules],
            springs: vec![Push::default(); molecules],
            next_poses: vec![Pose::IDENTITY; molecules],
            pushes: vec![Push::default(); molecules],
            start: RelaxStatus::default(),
            status: RelaxStatus::default(),
            iterations: 0,
            progress: StallDetector::new(config.law.kick_after()),
            stall: StallDetector::new(config.stall_window),
            last_kick: 0,
            stages: StageTimes::default(),
            coarse: None,
            local: None,
            offload: Offload::none(),
        };
        relaxer.set_molecules()?;
        Ok(relaxer)
    }

    /// Records the status at the start, and begins the coarse start on the CPU.
    fn started(mut self) -> Result<Self, RelaxError> {
        self.start = self.status;
        let is_coarse_possible = self.backend() == Backend::Cpu && self.crowd.joints().is_empty();
        if is_coarse_possible && !self.start.is_at_rest() {
            self.begin_coarse()?;
        }
        Ok(self)
    }

    /// Checks that no joint between two fixed molecules exceeds its limits.
    fn check_fixed_joints(&self) -> Result<(), RelaxError> {
        let members = self.crowd.members();
        let is_fixed = |member: u32| members[member as usize].fixed;
        let stuck = self.crowd.joints().iter().find(|joint| {
            joint.members.into_iter().all(is_fixed)
                && self
                    .crowd
                    .state_of(joint)
                    .excess(&joint.limits)
                    .is_strained()
        });
        stuck.map_or(Ok(()), |joint| {
            let molecules = joint.members.map(|member| member as usize);
            Err(RelaxError::FixedJoint { molecules })
        })
    }

    /// Checks that no two fixed molecules overlap, and their joints.
    fn check_fixed(&self) -> Result<(), RelaxError> {
        let (mut molecules, mut deepest) = ([0; 2], 0.0);
        self.contacts.for_each_pair(|owners, depth| {
            let pair = owners.map(|owner| self.order[owner as usize] as usize);
            let are_fixed = pair.iter().all(|&one| self.crowd.members()[one].fixed);
            if are_fixed && depth > deepest {
                (molecules, deepest) = (pair, depth);
            }
        });
        if deepest > 0.0 {
            molecules.sort_unstable();
            let depth = deepest;
            return Err(RelaxError::FixedOverlap { molecules, depth });
        }
        self.check_fixed_joints()
    }

    /// The molecules at their current poses. On a GPU, poses are read back once per
    /// iteration.
    #[must_use]
    pub fn crowd(&self) -> &Crowd {
        self.current_crowd()
    }

    /// Returns the molecules at their current poses.
    #[must_use]
    pub fn into_crowd(mut self) -> Crowd {
        // If iterations of a failed device cannot be repeated, the last checkpoint remains.
        let _ = self.read_back();
        self.crowd
    }

    /// How each molecule was moved in the last iteration, in the order of the crowd.
    ///
    /// # Errors
    /// As [`step`](Self::step), if a device failed and its iterations cannot be repeated.
    pub fn pushes(&mut self) -> Result<Vec<Push>, RelaxError> {
        self.read_back()?;
        let mut pushes = vec![Push::default(); self.pushes.len()];
        for (&member, &push) in self.order.iter().zip(&self.pushes) {
            pushes[member as usize] = push;
        }
        Ok(pushes)
    }

    /// Maximum penetration of each molecule at the current poses, nm; 0 without overlaps. In
    /// the order of the crowd. Of proxies during a coarse start ([`is_coarse`](Self::is_coarse)).
    ///
    /// On a GPU, poses are read back and the CPU searches them.
    ///
    /// # Errors
    /// [`RelaxError`] if the search fails.
    pub fn penetrations(&mut self) -> Result<Vec<f32>, RelaxError> {
        self.read_back()?;
        if self.backend() == Backend::Gpu {
            let status = self.status;
            self.detect()?;
            // That of the device: sums are rounded differently.
            self.status = status;
        }
        let mut deepest = vec![0.0_f32; self.order.len()];
        self.contacts.for_each_pair(|owners, depth| {
            for owner in owners {
                let member = self.order[owner as usize] as usize;
                deepest[member] = deepest[member].max(depth);
            }
        });
        Ok(deepest)
    }

    /// The config.
    #[must_use]
    pub fn config(&self) -> &RelaxConfig {
        &self.config
    }

    /// Changes law, clearance and stop criteria between two iterations. Poses, pushes, the
    /// iteration count, the backend and a running coarse start are kept; stall detection
    /// restarts.
    ///
    /// # Errors
    /// [`RelaxError`] if a parameter is invalid, or the clearance too large for the periodic box;
    /// nothing has changed then.
    pub fn set_config(&mut self, config: RelaxConfig) -> Result<(), RelaxError> {
        config.check()?;
        if config == self.config {
            return Ok(());
        }
        check_sizes(&self.crowd, &config)?;
        self.read_back()?;
        self.config = config;
        if self.coarse.is_some() && self.crowd.periodic_box().is_some() {
            self.end_coarse_if_too_large()?;
        }
        self.restart_stall_detection();
        self.restart()
    }

    /// Changes the placements of the crowd between two iterations, such as their leeways.
    /// Everything else is kept, as in [`set_config`](Self::set_config).
    ///
    /// # Errors
    /// [`RelaxError::Placement`] if a placement is invalid; nothing has changed then.
    pub fn update_placements(
        &mut self,
        update: impl FnMut(&mut Confinement),
    ) -> Result<(), RelaxError> {
        self.read_back()?;
        if self.crowd.update_placements(update)? {
            self.warnings = capacity_warnings(&self.crowd);
            self.restart_stall_detection();
            self.restart()?;
        }
        Ok(())
    }

    pub(super) fn restart_stall_detection(&mut self) {
        self.stall = StallDetector::new(self.config.stall_window);
        self.progress = StallDetector::new(self.config.law.kick_after());
    }

    /// Sets the search over all atoms that the CPU uses from the next iteration on; `None` is a
    /// [`MoleculeSearch`], which is faster. A GPU has its own.
    ///
    /// In a periodic box, only the [`MoleculeSearch`] finds images: with another search, the next
    /// iteration returns [`RelaxError::PeriodicSearch`].
    pub fn set_search(&mut self, search: Option<Box<dyn PairSearch>>) {
        self.search = search;
    }

    /// The backend that runs the iterations: [`Backend::Cpu`] or [`Backend::Gpu`].
    #[must_use]
    pub fn backend(&self) -> Backend {
        match self.offload.as_ref() {
            Some(_) => Backend::Gpu,
            None => Backend::Cpu,
        }
    }

    /// The GPU adapter, if a GPU runs the iterations.
    #[must_use]
    pub fn adapter(&self) -> Option<&str> {
        self.offload.as_ref().map(|session| &*session.adapter)
    }

    /// The error after which the CPU replaced the GPU.
    #[must_use]
    pub fn device_error(&self) -> Option<&DeviceError> {
        self.offload.error()
    }

    /// Status at the current poses.
    #[must_use]
    pub fn status(&self) -> RelaxStatus {
        self.status
    }

    /// Status before the first iteration.
    #[must_use]
    pub fn start_status(&self) -> RelaxStatus {
        self.start
    }

    /// Surfaces with more molecules than they can hold.
    #[must_use]
    pub fn warnings(&self) -> &[CapacityWarning] {
        &self.warnings
    }

    /// Number of iterations.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Time spent in each stage. Times of a GPU are added whenever poses are read back: every
    /// few iterations and at the end of a run.
    #[must_use]
    pub fn stages(&self) -> StageTimes {
        self.stages
    }

    /// Runs one iteration: respond to the contacts, apply, and detect contacts again.
    ///
    /// # Errors
    /// [`RelaxError::Diverged`] if a molecule would move out of range; no molecule has moved
    /// then.
    pub fn step(&mut self) -> Result<RelaxStatus, RelaxError> {
        match self.step_on_device() {
            Some(outcome) => outcome,
            None => self.step_on_cpu(),
        }
    }

    /// Whether the last [`stall_window`](RelaxConfig::stall_window) iterations brought no
    /// progress.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stall.is_stalled()
    }

    /// Iterates until the crowd is at rest or a stop criterion is met. `watch` is called
    /// before the first and after each iteration, and may stop the run.
    ///
    /// A crowd that diverges stops with a report, at the last valid poses.
    ///
    /// # Errors
    /// [`RelaxError`] if the search fails or there are too many contacts.
    pub fn run(
        &mut self,
        mut watch: impl FnMut(&Self) -> ControlFlow<()>,
    ) -> Result<RelaxReport, RelaxError> {
        let begin = Instant::now();
        let reason = loop {
            let stop = watch(self).is_break();
            if self.status.is_at_rest() {
                break StopReason::AtRest;
            }
            if stop {
                break StopReason::Interrupted;
            }
            if self.iterations >= self.config.max_iterations {
                break StopReason::MaxIterations;
            }
            let max_time = self.config.max_time;
            if max_time.is_some_and(|max| begin.elapsed() >= max) {
                break StopReason::MaxTime;
            }
            if self.is_stalled() {
                break StopReason::Stalled;
            }
            match self.step() {
                Err(RelaxError::Diverged { .. }) => break StopReason::Diverged,
                outcome => outcome?,
            };
        };
        self.read_back()?;
        Ok(RelaxReport {
            iterations: self.iterations,
            reason,
            start: self.start,
            end: self.status,
            elapsed: begin.elapsed(),
            stages: self.stages,
            backend: self.backend(),
            adapter: self.adapter().map(str::to_owned),
            device_error: self.device_error().cloned(),
        })
    }
}

/// Checks that no molecule is close enough to its own images in a periodic box to touch them.
pub(super) fn check_sizes(crowd: &Crowd, config: &RelaxConfig) -> Result<(), RelaxError> {
    let Some(periodic) = crowd.periodic_box() else {
        return Ok(());
    };
    let edge = periodic.size().min_element();
    for member in crowd.members() {
        let template = crowd.template_of(member);
        let diameter = 2.0 * template.bounding_radius() + gap_of(config);
        if diameter > edge {
            return Err(RelaxError::LargerThanBox {
                name: template.name().to_owned(),
                diameter,
                edge,
            });
        }
    }
    Ok(())
}

/// Opens the device of a backend; `None` for the CPU.
#[cfg(feature = "gpu")]
fn open_device(backend: Backend) -> Result<Option<CreateDevice>, DeviceError> {
    let device = GpuDevice::for_backend(backend, &GpuOptions::default())?;
    Ok(device.map(create_on))
}

/// Without the feature `gpu` there is only the CPU.
#[cfg(not(feature = "gpu"))]
fn open_device(backend: Backend) -> Result<Option<CreateDevice>, DeviceError> {
    match backend {
        Backend::Gpu => Err(DeviceError::FeatureDisabled),
        Backend::Auto | Backend::Cpu => Ok(None),
    }
}

/// Creates GPU relaxers on `device`.
#[cfg(feature = "gpu")]
fn create_on(device: Arc<GpuDevice>) -> CreateDevice {
    Box::new(move |scene| Ok(Box::new(GpuRelaxer::new(Arc::clone(&device), scene)?)))
}
