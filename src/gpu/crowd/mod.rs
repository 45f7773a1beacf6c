//! Contacts of a crowd found and solved on the device: the twin of what
//! [`CrowdContacts`](crate::dynamics::CrowdContacts) does on the processor.
//!
//! | file | what it does |
//! |---|---|
//! | `tables` | structs that Rust and WGSL share |
//! | `arrays` | arrays that one substep does not leave to the next |
//! | `stock` | contacts and groups of one substep, and of the one before |
//! | `placed` | atoms that follow their molecules |
//! | `kernels` | the kernels |
//! | `upload` | what the processor sends for a substep |
//! | `record` | what each kernel binds, and in which order they run |
//! | `handover` | contacts on their way from the processor to the device, and back |

mod atom_placement;
mod buffers;
mod contact_set;
mod contact_transfer;
mod dispatch;
mod kernels;
mod types;
mod upload;

pub use types::{
    GpuCrowdBody, GpuCrowdCarried, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup,
    GpuCrowdImpulse, GpuCrowdImpulseDelta, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch,
};

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;

use atom_placement::AtomPlacement;
use buffers::CrowdBuffers;
use contact_set::{ContactSet, ContactSetSize};
use dispatch::record_leave;
use kernels::CrowdKernels;

use super::device::GpuDevice;
use super::groups::{GpuGroups, GroupCount};
use super::kernel::begin_pass;
use super::radix::RadixSorter;
use super::readback::Readback;
use super::scan::Scanner;
use super::search::write;
use super::searched::Searched;
use crate::backend::DeviceError;
use crate::dynamics::{
    CarriedImpulse, ContactMaterial, CrowdTouch, DeviceDetection, DeviceResponse, DeviceSolver,
    DeviceSubstep, GroupSearch, Impulse, InteractionGroups, MemberSpheres, MovingBody,
    SavedContacts,
};
use crate::search::{GridCell, SearchError, SearchTimes};

/// Finds and solves the contacts of a crowd on a GPU.
///
/// 1. atoms are placed from templates and poses; pairs are found, grouped by molecules and
///    digested (see [`GpuGroups`]), and stay there;
/// 2. *wake*: who is hit, lies too deep or has lost a neighbor;
/// 3. *relax*: the contacts of the substep before once more, without parting;
/// 4. *predict*: velocities as forces will have them;
/// 5. *prepare*: one thread makes the contacts of two molecules, with the impulses that
///    they carried; contacts with floors and other obstacles, which the processor tells,
///    become contacts too, and are left alone where no two molecules touch;
/// 6. *arrange*: a stable sort lists the groups of each body, and masses are divided;
/// 7. *iterate*: one thread solves the contacts of two molecules in turn, then one thread
///    for each body adds up its groups in rising order.
///
/// Nothing is added up by atomics, and both sides of a contact receive the same vector: so
/// runs are equal to the last bit, and momentum is kept. One impulse for each body comes
/// back, with a mark if the body is to be woken; and, unless nobody wants it, sixteen bytes
/// for each two molecules that touch or nearly do: for 1,492 lipids of 134 atoms 126 KiB or
/// 47 KiB, where pairs for the processor take 738 KiB. Contacts stay on the device; what
/// they carry is read now and then, by whoever wants to go on after the device is lost.
///
/// What is done is what the processor does, in the same order; results differ as
/// graphics drivers round, which they may do in their own way for quotients and roots.
#[derive(Debug)]
pub struct GpuContactSolver {
    device: Arc<GpuDevice>,
    search: GpuGroups,
    /// The molecules.
    placed: Option<AtomPlacement>,
    kernels: CrowdKernels,
    sorter: RadixSorter,
    scanner: Scanner,
    arrays: CrowdBuffers,
    /// Contacts of this substep, and of the one before.
    now: ContactSet,
    before: ContactSet,
    /// Length of the substep before, s; none if there was none.
    last_dt: Option<f32>,
    /// What was last detected.
    found: GroupCount,
    exempt: u32,
    packed: Vec<GpuCrowdBody>,
    readback: Readback,
}

impl GpuContactSolver {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            search: GpuGroups::new(Arc::clone(&device))?,
            placed: None,
            kernels: CrowdKernels::new(&device)?,
            sorter: RadixSorter::new(&device)?,
            scanner: Scanner::new(&device)?,
            arrays: CrowdBuffers::new(&device)?,
            now: ContactSet::new(&device)?,
            before: ContactSet::new(&device)?,
            last_dt: None,
            found: GroupCount::default(),
            exempt: 0,
            packed: Vec::new(),
            readback: Readback::new(),
            device,
        })
    }

    /// Resets what a failed readback leaves behind.
    fn failed(&mut self, error: DeviceError) -> DeviceError {
        self.readback = Readback::new();
        error
    }

    fn try_set_surfaces(
        &mut self,
        surfaces: &[(ContactMaterial, InteractionGroups)],
        exempt: &[[u32; 2]],
    ) -> Result<(), DeviceError> {
        let surfaces: Vec<GpuCrowdSurface> = surfaces.iter().map(Into::into).collect();
        self.arrays.surfaces.upload(&self.device, &surfaces)?;
        self.arrays.exempt.upload(&self.device, exempt)?;
        self.exempt = exempt.len() as u32;
        Ok(())
    }

    /// Reads who touches whom.
    fn read_touches(&mut self, touches: &mut Vec<CrowdTouch>) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let touching = self.found.groups;
        self.now.hold(
            &device,
            ContactSetSize {
                touching,
                ..ContactSetSize::default()
            },
        )?;
        self.arrays.touches.resize(&device, touching as usize)?;
        let params = GpuCrowdParams {
            touching,
            groups: touching,
            exempt: self.exempt,
            ..GpuCrowdParams::default()
        };
        write(&device, &self.now.params, &params)?;
        let mut encoder = device.encoder("touches");
        let meet = self.meet()?;
        meet.record(&mut begin_pass(&mut encoder, "meet"));
        let range = 0..touching as usize;
        self.readback
            .record(&device, &mut encoder, &self.arrays.touches, range)?;
        device.submit(encoder)?;
        self.readback.read(&device, |found: &[GpuCrowdTouch]| {
            touches.extend(found.iter().filter_map(GpuCrowdTouch::touch));
        })
    }

    /// Records that the groups of a stock are listed by bodies, and masses divided.
    fn record_arrange(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: u32,
        before: bool,
    ) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let stock = if before {
            &mut self.before
        } else {
            &mut self.now
        };
        stock.hold_bodies(&device, bodies)?;
        stock.plan_sort(&device, &self.sorter, bodies)?;
        stock.arranged = true;
        let stock = if before { &self.before } else { &self.now };
        let [list, find, split] = self.arrange(stock, bodies)?;
        let pass = &mut begin_pass(encoder, "arrange contacts");
        list.record(pass);
        if let Some(sort) = stock.planned() {
            self.sorter.record(pass, sort);
        }
        find.record(pass);
        split.record(pass);
        Ok(())
    }

    /// Records steps 2 and 3.
    fn record_relax(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        substep: &DeviceSubstep<'_>,
    ) -> Result<(), DeviceError> {
        let bodies = substep.bodies.len() as u32;
        self.arrays.record_clear(encoder);
        {
            let pass = &mut begin_pass(encoder, "wake");
            self.meet()?.record(pass);
            for run in self.begin(bodies)? {
                run.record(pass);
            }
        }
        if self.last_dt.is_none() || self.before.group_count() == 0 {
            return Ok(());
        }
        if substep.renamed.is_some() {
            let pass = &mut begin_pass(encoder, "rename obstacles");
            self.rename()?.record(pass);
        }
        if substep.renamed.is_some() || !self.before.arranged {
            self.record_arrange(encoder, bodies, true)?;
        }
        let iteration = self.iteration(&self.before, bodies)?;
        let pass = &mut begin_pass(encoder, "relax contacts");
        iteration.record_follow(pass);
        iteration.record(pass, substep.config.relax_iterations);
        Ok(())
    }

    fn try_respond(
        &mut self,
        substep: &DeviceSubstep<'_>,
        answer: &mut DeviceResponse,
    ) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let bodies = substep.bodies.len() as u32;
        self.upload(substep)?;
        let mut encoder = device.encoder("solve contacts");
        self.record_relax(&mut encoder, substep)?;
        {
            let pass = &mut begin_pass(&mut encoder, "prepare contacts");
            for run in self.prepare(bodies)? {
                run.record(pass);
            }
            if self.now.leaning > 0 {
                record_leave(pass, &self.leave()?);
            }
        }
        self.record_arrange(&mut encoder, bodies, false)?;
        {
            let iteration = self.iteration(&self.now, bodies)?;
            let pass = &mut begin_pass(&mut encoder, "solve contacts");
            iteration.record_warm_start(pass);
            iteration.record(pass, substep.config.iterations);
        }
        let range = 0..bodies as usize;
        self.readback
            .record(&device, &mut encoder, &self.arrays.impulses, range)?;
        device.submit(encoder)?;
        self.readback.read(&device, |found: &[GpuCrowdImpulse]| {
            answer.impulses.clear();
            answer.impulses.extend(found.iter().map(Impulse::from));
            answer.woken.clear();
            let woken = found.iter().zip(0..).filter(|(found, _)| found.woken != 0);
            answer.woken.extend(woken.map(|(_, body)| body));
        })?;
        std::mem::swap(&mut self.now, &mut self.before);
        self.last_dt = Some(substep.dt);
        Ok(())
    }
}

impl DeviceSolver for GpuContactSolver {
    fn name(&self) -> &'static str {
        "gpu-contacts"
    }

    fn set_molecules(&mut self, molecules: &[Arc<MemberSpheres>]) -> Result<(), DeviceError> {
        // First the memory of those that were.
        self.placed = None;
        match AtomPlacement::new(&self.device, molecules) {
            Ok(placed) => self.placed = Some(placed),
            Err(error) => return Err(self.failed(error)),
        }
        Ok(())
    }

    fn set_surfaces(
        &mut self,
        surfaces: &[(ContactMaterial, InteractionGroups)],
        exempt: &[[u32; 2]],
    ) -> Result<(), DeviceError> {
        self.try_set_surfaces(surfaces, exempt)
            .map_err(|error| self.failed(error))
    }

    fn detect(
        &mut self,
        bodies: &[MovingBody],
        margin: f32,
        touches: Option<&mut Vec<CrowdTouch>>,
    ) -> Result<DeviceDetection, SearchError> {
        let start = Instant::now();
        self.found = GroupCount::default();
        let Some(placed) = &mut self.placed else {
            return Ok(DeviceDetection::default());
        };
        let Some(plan) = placed.plan(bodies, margin)? else {
            return Ok(DeviceDetection::default());
        };
        if let Err(error) = placed.move_to(&self.device, bodies) {
            return Err(self.failed(error).into());
        }
        let searched = Searched::Placed(placed.atoms());
        let (found, build) = self.search.find_on_device(searched, &plan)?;
        self.found = found;
        if let Some(touches) = touches.filter(|_| found.groups > 0)
            && let Err(error) = self.read_touches(touches)
        {
            touches.clear();
            return Err(self.failed(error).into());
        }
        Ok(DeviceDetection {
            candidates: found.pairs as usize,
            times: SearchTimes {
                build,
                walk: start.elapsed().saturating_sub(build),
            },
        })
    }

    fn respond(
        &mut self,
        substep: &DeviceSubstep<'_>,
        answer: &mut DeviceResponse,
    ) -> Result<(), DeviceError> {
        self.try_respond(substep, answer)
            .map_err(|error| self.failed(error))
    }

    fn take_over(&mut self, contacts: &SavedContacts) -> Result<(), DeviceError> {
        self.send(contacts).map_err(|error| self.failed(error))
    }

    fn contacts(&mut self) -> Result<SavedContacts, DeviceError> {
        self.receive().map_err(|error| self.failed(error))
    }

    fn impulses(&mut self) -> Result<Vec<CarriedImpulse>, DeviceError> {
        self.receive_impulses().map_err(|error| self.failed(error))
    }

    fn forget(&mut self) {
        self.last_dt = None;
        self.before.touching = 0;
        self.before.leaning = 0;
        self.before.held.clear();
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        GroupSearch::cell_around(&self.search, point)
    }
}
