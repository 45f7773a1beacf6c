//! One substep as a sequence of kernels.

use super::GpuContactSolver;
use super::contact_set::ContactSet;
use crate::backend::DeviceError;
use crate::gpu::device::GpuDevice;
use crate::gpu::kernel::Kernel;

/// A kernel with what it binds, for so many threads.
pub(super) struct Run<'a> {
    kernel: &'a Kernel,
    bindings: wgpu::BindGroup,
    threads: u32,
}

impl<'a> Run<'a> {
    fn new(
        device: &GpuDevice,
        kernel: &'a Kernel,
        buffers: &[(u32, &wgpu::Buffer)],
        threads: u32,
    ) -> Result<Self, DeviceError> {
        let bindings = kernel.bind(device, buffers)?;
        Ok(Self {
            kernel,
            bindings,
            threads,
        })
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let (kernel, bindings) = (self.kernel, &self.bindings);
        kernel.record_threads(pass, bindings, self.threads);
    }

    /// Records a kernel that one thread runs.
    fn record_once(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.kernel.record(pass, &self.bindings, 1);
    }
}

/// Iterations on one stock of contacts.
pub(super) struct Iteration<'a> {
    follow: Run<'a>,
    start_warm: Run<'a>,
    solve: Run<'a>,
    add_up: Run<'a>,
}

impl Iteration<'_> {
    /// Moves the contacts along with the bodies.
    pub fn record_follow(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.follow.record(pass);
    }

    /// Gives the bodies the impulses that contacts begin with.
    pub fn record_warm_start(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.start_warm.record(pass);
        self.add_up.record(pass);
    }

    /// Solves all contacts `count` times.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, count: u32) {
        for _ in 0..count {
            self.solve.record(pass);
            self.add_up.record(pass);
        }
    }
}

impl GpuContactSolver {
    /// Who may touch whom.
    pub(super) fn meet(&self) -> Result<Run<'_>, DeviceError> {
        let now = &self.now;
        let buffers = [
            (0, &now.params),
            (1, self.search.groups().buffer()),
            (2, self.arrays.surfaces.buffer()),
            (3, self.arrays.exempt.buffer()),
            (4, now.groups.buffer()),
            (5, self.arrays.touches.buffer()),
        ];
        Run::new(&self.device, &self.kernels.meet, &buffers, now.touching)
    }

    /// Who wakes up, and what bodies begin with.
    pub(super) fn begin(&self, bodies: u32) -> Result<[Run<'_>; 4], DeviceError> {
        let (device, kernels, arrays) = (&*self.device, &self.kernels, &self.arrays);
        let (now, before) = (&self.now, &self.before);
        let params = (0, &now.params);
        let all = (1, arrays.bodies.buffer());
        let groups = (2, now.groups.buffer());
        let lasting = (3, arrays.lasting.buffer());
        let kept = (3, self.search.kept().buffer());
        let spheres = (4, self.search.spheres().buffer());
        let woken = (5, arrays.woken.buffer());
        let earlier = (7, before.groups.buffer());
        let received = (5, arrays.impulses.buffer());
        let awake = (6, arrays.woken.buffer());
        Ok([
            Run::new(
                device,
                &kernels.wake_disturbed,
                &[params, all, groups, kept, spheres, woken],
                now.touching,
            )?,
            Run::new(
                device,
                &kernels.mark_lasting,
                &[params, groups, lasting, earlier],
                now.touching,
            )?,
            Run::new(
                device,
                &kernels.wake_bereaved,
                &[params, lasting, woken, earlier],
                before.touching,
            )?,
            Run::new(
                device,
                &kernels.begin,
                &[params, all, received, awake],
                bodies,
            )?,
        ])
    }

    /// Velocities with forces, and contacts from pairs and supports.
    pub(super) fn prepare(&self, bodies: u32) -> Result<[Run<'_>; 3], DeviceError> {
        let (device, kernels, arrays) = (&*self.device, &self.kernels, &self.arrays);
        let (now, before) = (&self.now, &self.before);
        let params = (0, &now.params);
        let all = (1, arrays.bodies.buffer());
        let groups = (2, now.groups.buffer());
        let contacts = (6, now.contacts.buffer());
        let earlier = (8, before.contacts.buffer());
        Ok([
            Run::new(device, &kernels.predict, &[params, all], bodies)?,
            Run::new(
                device,
                &kernels.prepare,
                &[
                    params,
                    all,
                    groups,
                    (3, self.search.kept().buffer()),
                    (4, self.search.spheres().buffer()),
                    (5, arrays.surfaces.buffer()),
                    contacts,
                    (7, before.groups.buffer()),
                    earlier,
                ],
                now.touching,
            )?,
            Run::new(
                device,
                &kernels.prepare_supports,
                &[
                    params,
                    all,
                    groups,
                    (3, arrays.supports.buffer()),
                    contacts,
                    earlier,
                ],
                now.leaning,
            )?,
        ])
    }

    /// Supports that are left to the physics engine.
    pub(super) fn leave(&self) -> Result<[Run<'_>; 3], DeviceError> {
        let (device, kernels, now) = (&*self.device, &self.kernels, &self.now);
        let params = (0, &now.params);
        let all = (1, self.arrays.bodies.buffer());
        let groups = (2, now.groups.buffer());
        let contacts = (3, now.contacts.buffer());
        let crowded = (4, self.arrays.crowded.buffer());
        let marked = [params, all, groups, crowded];
        let left = [params, groups, contacts, crowded];
        Ok([
            Run::new(device, &kernels.mark_touching, &marked, now.touching)?,
            Run::new(device, &kernels.mark_leaning, &marked, 1)?,
            Run::new(device, &kernels.leave_supports, &left, now.leaning)?,
        ])
    }

    /// Obstacles of the substep before by their new numbers.
    pub(super) fn rename(&self) -> Result<Run<'_>, DeviceError> {
        let before = &self.before;
        let buffers = [
            (0, &before.params),
            (1, before.groups.buffer()),
            (6, self.arrays.renamed.buffer()),
        ];
        let kernel = &self.kernels.rename;
        Run::new(&self.device, kernel, &buffers, before.leaning)
    }

    /// Groups by bodies, and masses divided among them: before and after the sort.
    pub(super) fn arrange<'a>(
        &'a self,
        stock: &ContactSet,
        bodies: u32,
    ) -> Result<[Run<'a>; 3], DeviceError> {
        let (device, kernels) = (&*self.device, &self.kernels);
        let params = (0, &stock.params);
        let groups = (1, stock.groups.buffer());
        let keys = (2, stock.side_keys.buffer());
        let sides = (3, stock.sides.buffer());
        let starts = (4, stock.side_starts.buffer());
        let contacts = (5, stock.contacts.buffer());
        let count = stock.group_count();
        Ok([
            Run::new(
                device,
                &kernels.list_sides,
                &[params, groups, keys, sides],
                count,
            )?,
            Run::new(
                device,
                &kernels.find_sides,
                &[params, keys, starts],
                bodies + 1,
            )?,
            Run::new(
                device,
                &kernels.split_masses,
                &[params, groups, starts, contacts],
                count,
            )?,
        ])
    }

    /// Iterations on the contacts of a stock.
    pub(super) fn iteration<'a>(
        &'a self,
        stock: &ContactSet,
        bodies: u32,
    ) -> Result<Iteration<'a>, DeviceError> {
        let (device, kernels, arrays) = (&*self.device, &self.kernels, &self.arrays);
        let params = (0, &stock.params);
        let all = (1, arrays.bodies.buffer());
        let groups = (2, stock.groups.buffer());
        let contacts = (3, stock.contacts.buffer());
        let starts = (4, stock.side_starts.buffer());
        let changes = (5, arrays.changes.buffer());
        let count = stock.group_count();
        Ok(Iteration {
            follow: Run::new(
                device,
                &kernels.follow,
                &[params, all, groups, contacts, starts],
                count,
            )?,
            start_warm: Run::new(
                device,
                &kernels.start_warm,
                &[params, groups, contacts, changes],
                count,
            )?,
            solve: Run::new(
                device,
                &kernels.solve,
                &[params, all, groups, contacts, starts, changes],
                count,
            )?,
            add_up: Run::new(
                device,
                &kernels.add_up,
                &[
                    params,
                    all,
                    (2, stock.side_starts.buffer()),
                    (3, stock.sides.buffer()),
                    (4, arrays.changes.buffer()),
                    (5, arrays.impulses.buffer()),
                ],
                bodies,
            )?,
        })
    }
}

/// Records how supports are left to the physics engine.
pub(super) fn record_leave(
    pass: &mut wgpu::ComputePass<'_>,
    [touching, leaning, leave]: &[Run<'_>; 3],
) {
    touching.record(pass);
    leaning.record_once(pass);
    leave.record(pass);
}
