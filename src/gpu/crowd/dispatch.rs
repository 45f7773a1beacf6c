//! The kernels of the contact solver, and what each of them binds.

use super::buffers::{ContactSet, CrowdBuffers};
use crate::backend::DeviceError;
use crate::gpu::device::GpuDevice;
use crate::gpu::group_search::GpuGroupSearch;
use crate::gpu::kernel::Kernel;
use crate::gpu::shader::{
    CROWD_BODIES, CROWD_BODY_SIDES, CROWD_FILTER_GROUPS, CROWD_PREPARE, CROWD_PREPARE_EXTERNALS,
    CROWD_SKIP_ISOLATED_EXTERNALS, CROWD_SOLVE, CROWD_WAKE, CROWD_WAKE_LOST_NEIGHBORS,
};

/// Declares [`CrowdKernels`]: the entry points of each shader.
macro_rules! kernels {
    ($($shader:ident: $($entry:ident)*;)*) => {
        #[derive(Debug)]
        pub(super) struct CrowdKernels {
            $($(pub $entry: Kernel,)*)*
        }

        impl CrowdKernels {
            pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
                Ok(Self {
                    $($($entry: Kernel::new(device, &$shader, stringify!($entry))?,)*)*
                })
            }
        }
    };
}

kernels! {
    CROWD_FILTER_GROUPS: filter_groups;
    CROWD_WAKE: wake_disturbed;
    CROWD_WAKE_LOST_NEIGHBORS: mark_persistent wake_lost_neighbors;
    CROWD_BODIES: begin_bodies predict_velocities apply_changes;
    CROWD_PREPARE: prepare_contacts;
    CROWD_PREPARE_EXTERNALS: prepare_externals;
    CROWD_SKIP_ISOLATED_EXTERNALS: mark_touching mark_supporting skip_isolated_externals;
    CROWD_BODY_SIDES: relabel_externals list_sides find_sides split_masses;
    CROWD_SOLVE: follow_bodies apply_warm_start solve_groups;
}

/// A kernel with its bindings and number of threads.
pub(super) struct Dispatch<'a> {
    kernel: &'a Kernel,
    bindings: wgpu::BindGroup,
    threads: u32,
}

impl<'a> Dispatch<'a> {
    pub fn new(
        device: &GpuDevice,
        kernel: &'a Kernel,
        buffers: &[(u32, &wgpu::Buffer)],
        threads: u32,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            kernel,
            bindings: kernel.bind(device, buffers)?,
            threads,
        })
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.kernel
            .record_threads(pass, &self.bindings, self.threads);
    }
}

/// The dispatches of an iteration on one [`ContactSet`].
pub(super) struct IterationDispatch<'a> {
    /// Moves the contacts along with the bodies.
    pub follow_bodies: Dispatch<'a>,
    apply_warm_start: Dispatch<'a>,
    solve_groups: Dispatch<'a>,
    apply_changes: Dispatch<'a>,
}

impl IterationDispatch<'_> {
    /// Applies the impulses that the contacts start with.
    pub fn record_warm_start(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.apply_warm_start.record(pass);
        self.apply_changes.record(pass);
    }

    /// Solves all contacts `count` times.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, count: u32) {
        for _ in 0..count {
            self.solve_groups.record(pass);
            self.apply_changes.record(pass);
        }
    }
}

/// Everything that kernels bind.
pub(super) struct Bindings<'a> {
    pub device: &'a GpuDevice,
    pub kernels: &'a CrowdKernels,
    pub search: &'a GpuGroupSearch,
    pub buffers: &'a CrowdBuffers,
    pub current: &'a ContactSet,
    pub previous: &'a ContactSet,
    /// Number of bodies.
    pub bodies: u32,
}

impl<'a> Bindings<'a> {
    fn bind(
        &self,
        kernel: &'a Kernel,
        buffers: &[(u32, &wgpu::Buffer)],
        threads: u32,
    ) -> Result<Dispatch<'a>, DeviceError> {
        Dispatch::new(self.device, kernel, buffers, threads)
    }

    /// Applies the collision filter.
    pub fn filter(&self) -> Result<Dispatch<'a>, DeviceError> {
        let current = self.current;
        let buffers = [
            (0, &current.params),
            (1, self.search.groups().buffer()),
            (2, self.buffers.surfaces.buffer()),
            (3, self.buffers.ignored.buffer()),
            (4, current.groups.buffer()),
            (5, self.buffers.touches.buffer()),
        ];
        self.bind(&self.kernels.filter_groups, &buffers, current.member_groups)
    }

    /// Wakes bodies and resets their results.
    pub fn wake(&self) -> Result<[Dispatch<'a>; 4], DeviceError> {
        let (kernels, current, previous) = (self.kernels, self.current, self.previous);
        let params = (0, &current.params);
        let bodies = (1, self.buffers.bodies.buffer());
        let groups = (2, current.groups.buffer());
        let kept = (3, self.search.kept().buffer());
        let persistent = (3, self.buffers.persistent.buffer());
        let spheres = (4, self.search.spheres().buffer());
        let woken = (5, self.buffers.woken.buffer());
        let impulses = (5, self.buffers.impulses.buffer());
        let read_woken = (6, self.buffers.woken.buffer());
        let previous_groups = (7, previous.groups.buffer());
        let count = current.member_groups;
        let disturbed = [params, bodies, groups, kept, spheres, woken];
        let marked = [params, groups, persistent, previous_groups];
        let lost = [params, persistent, woken, previous_groups];
        let begin = [params, bodies, impulses, read_woken];
        Ok([
            self.bind(&kernels.wake_disturbed, &disturbed, count)?,
            self.bind(&kernels.mark_persistent, &marked, count)?,
            self.bind(&kernels.wake_lost_neighbors, &lost, previous.member_groups)?,
            self.bind(&kernels.begin_bodies, &begin, self.bodies)?,
        ])
    }

    /// Predicts velocities and makes contacts.
    pub fn prepare(&self) -> Result<[Dispatch<'a>; 3], DeviceError> {
        let (kernels, current, previous) = (self.kernels, self.current, self.previous);
        let params = (0, &current.params);
        let bodies = (1, self.buffers.bodies.buffer());
        let groups = (2, current.groups.buffer());
        let kept = (3, self.search.kept().buffer());
        let externals = (3, self.buffers.externals.buffer());
        let spheres = (4, self.search.spheres().buffer());
        let surfaces = (5, self.buffers.surfaces.buffer());
        let contacts = (6, current.contacts.buffer());
        let previous_groups = (7, previous.groups.buffer());
        let previous_contacts = (8, previous.contacts.buffer());
        let from_pairs = [
            params,
            bodies,
            groups,
            kept,
            spheres,
            surfaces,
            contacts,
            previous_groups,
            previous_contacts,
        ];
        let from_externals = [
            params,
            bodies,
            groups,
            externals,
            contacts,
            previous_contacts,
        ];
        Ok([
            self.bind(&kernels.predict_velocities, &[params, bodies], self.bodies)?,
            self.bind(
                &kernels.prepare_contacts,
                &from_pairs,
                current.member_groups,
            )?,
            self.bind(
                &kernels.prepare_externals,
                &from_externals,
                current.external_groups,
            )?,
        ])
    }

    /// Leaves isolated external contacts to the physics engine.
    pub fn skip_isolated_externals(&self) -> Result<[Dispatch<'a>; 3], DeviceError> {
        let (kernels, current) = (self.kernels, self.current);
        let params = (0, &current.params);
        let bodies = (1, self.buffers.bodies.buffer());
        let groups = (2, current.groups.buffer());
        let contacts = (3, current.contacts.buffer());
        let crowded = (4, self.buffers.crowded.buffer());
        let mark = [params, bodies, groups, crowded];
        let skip = [params, groups, contacts, crowded];
        Ok([
            self.bind(&kernels.mark_touching, &mark, current.member_groups)?,
            // One workgroup of one thread.
            self.bind(&kernels.mark_supporting, &mark, 1)?,
            self.bind(
                &kernels.skip_isolated_externals,
                &skip,
                current.external_groups,
            )?,
        ])
    }

    /// Relabels the external bodies of the previous substep.
    pub fn relabel_externals(&self) -> Result<Dispatch<'a>, DeviceError> {
        let previous = self.previous;
        let buffers = [
            (0, &previous.params),
            (1, previous.groups.buffer()),
            (6, self.buffers.relabeled.buffer()),
        ];
        let kernel = &self.kernels.relabel_externals;
        self.bind(kernel, &buffers, previous.external_groups)
    }

    /// Iterates on the contacts of `set`.
    pub fn iteration(&self, set: &ContactSet) -> Result<IterationDispatch<'a>, DeviceError> {
        let kernels = self.kernels;
        let params = (0, &set.params);
        let bodies = (1, self.buffers.bodies.buffer());
        let groups = (2, set.groups.buffer());
        let contacts = (3, set.contacts.buffer());
        let starts = (4, set.side_starts.buffer());
        let changes = (5, self.buffers.changes.buffer());
        let follow = [params, bodies, groups, contacts, starts];
        let warm_start = [params, groups, contacts, changes];
        let solve = [params, bodies, groups, contacts, starts, changes];
        let apply = [
            params,
            bodies,
            (2, set.side_starts.buffer()),
            (3, set.sides.buffer()),
            (4, self.buffers.changes.buffer()),
            (5, self.buffers.impulses.buffer()),
        ];
        let count = set.group_count();
        Ok(IterationDispatch {
            follow_bodies: self.bind(&kernels.follow_bodies, &follow, count)?,
            apply_warm_start: self.bind(&kernels.apply_warm_start, &warm_start, count)?,
            solve_groups: self.bind(&kernels.solve_groups, &solve, count)?,
            apply_changes: self.bind(&kernels.apply_changes, &apply, self.bodies)?,
        })
    }
}
