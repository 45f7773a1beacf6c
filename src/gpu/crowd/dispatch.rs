//! The kernels of the contact solver, and what each of them binds.

use super::buffers::{ContactSet, CrowdBuffers};
use crate::backend::DeviceError;
use crate::gpu::device::GpuDevice;
use crate::gpu::kernel::Kernel;
use crate::gpu::molecule_search::FoundOnDevice;
use crate::gpu::shader::{
    CROWD_BODIES, CROWD_BODY_SIDES, CROWD_COUNT_GROUPS, CROWD_FILTER_GROUPS, CROWD_PREPARE,
    CROWD_PREPARE_EXTERNALS, CROWD_SKIP_ISOLATED_EXTERNALS, CROWD_SOLVE, CROWD_WAKE,
    CROWD_WAKE_LOST_NEIGHBORS,
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

            /// Drops all bind groups, and the buffers that only they use.
            pub fn forget(&self) {
                $($(self.$entry.forget();)*)*
            }
        }
    };
}

kernels! {
    CROWD_COUNT_GROUPS: count_groups;
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

/// Dispatches whose size the device computes: one thread for each of these.
#[derive(Clone, Copy, Debug)]
pub(super) enum GroupDispatch {
    /// Groups between owners.
    Members,
    /// All groups.
    All,
    /// Groups between owners in the previous substep.
    PreviousMembers,
    /// All groups of the previous substep.
    PreviousAll,
    /// Close pairs of molecules.
    Pairs,
}

impl GroupDispatch {
    pub const COUNT: usize = 5;
}

/// Number of threads of a dispatch.
#[derive(Clone, Debug)]
pub(super) enum Threads {
    Host(u32),
    /// Sizes of dispatches, and which of them.
    Device(wgpu::Buffer, GroupDispatch),
}

/// A kernel with its bindings and number of threads.
pub(super) struct Dispatch<'a> {
    kernel: &'a Kernel,
    bindings: wgpu::BindGroup,
    threads: Threads,
}

impl<'a> Dispatch<'a> {
    pub fn new(
        device: &GpuDevice,
        kernel: &'a Kernel,
        buffers: &[(u32, &wgpu::Buffer)],
        threads: Threads,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            kernel,
            bindings: kernel.bind_kept(device, buffers)?,
            threads,
        })
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let (kernel, bindings) = (self.kernel, &self.bindings);
        match &self.threads {
            Threads::Host(count) => kernel.record_threads(pass, bindings, *count),
            Threads::Device(sizes, which) => {
                let offset = *which as u64 * size_of::<[u32; 4]>() as u64;
                kernel.record_indirect(pass, bindings, (sizes, offset));
            }
        }
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
    pub found: FoundOnDevice<'a>,
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
        threads: Threads,
    ) -> Result<Dispatch<'a>, DeviceError> {
        Dispatch::new(self.device, kernel, buffers, threads)
    }

    fn per(&self, which: GroupDispatch) -> Threads {
        self.buffers.threads(which)
    }

    /// Counts the groups.
    pub fn count(&self) -> Result<Dispatch<'a>, DeviceError> {
        let buffers = [
            (0, &self.buffers.limits),
            (1, self.found.found.buffer()),
            (2, self.current.counts.buffer()),
            (3, self.previous.counts.buffer()),
            (4, self.buffers.parameters.buffer()),
            (5, self.buffers.dispatches.buffer()),
        ];
        // One workgroup of one thread.
        self.bind(&self.kernels.count_groups, &buffers, Threads::Host(1))
    }

    /// Sorts the groups and applies the collision filter.
    pub fn filter(&self) -> Result<Dispatch<'a>, DeviceError> {
        let current = self.current;
        let buffers = [
            (0, &current.params),
            (1, self.found.groups.buffer()),
            (2, self.buffers.surfaces.buffer()),
            (3, self.buffers.ignored.buffer()),
            (4, current.groups.buffer()),
            (5, self.buffers.touches.buffer()),
            (6, self.found.group_of.buffer()),
            (7, self.found.numbers.buffer()),
            (8, self.found.found.buffer()),
        ];
        let threads = self.per(GroupDispatch::Pairs);
        self.bind(&self.kernels.filter_groups, &buffers, threads)
    }

    /// Wakes bodies and resets their results.
    pub fn wake(&self) -> Result<[Dispatch<'a>; 4], DeviceError> {
        let (kernels, current, previous) = (self.kernels, self.current, self.previous);
        let params = (0, &current.params);
        let bodies = (1, self.buffers.bodies.buffer());
        let groups = (2, current.groups.buffer());
        let kept = (3, self.found.kept.buffer());
        let persistent = (3, self.buffers.persistent.buffer());
        let woken = (5, self.buffers.woken.buffer());
        let impulses = (5, self.buffers.impulses.buffer());
        let read_woken = (6, self.buffers.woken.buffer());
        let previous_groups = (7, previous.groups.buffer());
        let disturbed = [params, bodies, groups, kept, woken];
        let marked = [params, groups, persistent, previous_groups];
        let lost = [params, persistent, woken, previous_groups];
        let begin = [params, bodies, impulses, read_woken];
        let per_group = self.per(GroupDispatch::Members);
        let per_previous = self.per(GroupDispatch::PreviousMembers);
        Ok([
            self.bind(&kernels.wake_disturbed, &disturbed, per_group.clone())?,
            self.bind(&kernels.mark_persistent, &marked, per_group)?,
            self.bind(&kernels.wake_lost_neighbors, &lost, per_previous)?,
            self.bind(&kernels.begin_bodies, &begin, Threads::Host(self.bodies))?,
        ])
    }

    /// Predicts velocities and makes contacts.
    pub fn prepare(&self) -> Result<[Dispatch<'a>; 3], DeviceError> {
        let (kernels, current, previous) = (self.kernels, self.current, self.previous);
        let params = (0, &current.params);
        let bodies = (1, self.buffers.bodies.buffer());
        let groups = (2, current.groups.buffer());
        let kept = (3, self.found.kept.buffer());
        let externals = (3, self.buffers.externals.buffer());
        let external_groups = (4, self.buffers.external_groups.buffer());
        let surfaces = (5, self.buffers.surfaces.buffer());
        let contacts = (6, current.contacts.buffer());
        let previous_groups = (7, previous.groups.buffer());
        let previous_contacts = (8, previous.contacts.buffer());
        let from_pairs = [
            params,
            bodies,
            groups,
            kept,
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
            external_groups,
            contacts,
            previous_contacts,
        ];
        let per_body = Threads::Host(self.bodies);
        let per_group = self.per(GroupDispatch::Members);
        let per_external = Threads::Host(current.external_groups);
        Ok([
            self.bind(&kernels.predict_velocities, &[params, bodies], per_body)?,
            self.bind(&kernels.prepare_contacts, &from_pairs, per_group)?,
            self.bind(&kernels.prepare_externals, &from_externals, per_external)?,
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
        let per_group = self.per(GroupDispatch::Members);
        let per_external = Threads::Host(current.external_groups);
        Ok([
            self.bind(&kernels.mark_touching, &mark, per_group)?,
            // One workgroup of one thread.
            self.bind(&kernels.mark_supporting, &mark, Threads::Host(1))?,
            self.bind(&kernels.skip_isolated_externals, &skip, per_external)?,
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
        self.bind(kernel, &buffers, Threads::Host(previous.external_groups))
    }

    /// Iterates on the contacts of `set`, one thread for each of `groups`.
    pub fn iteration(
        &self,
        set: &ContactSet,
        groups: GroupDispatch,
    ) -> Result<IterationDispatch<'a>, DeviceError> {
        let kernels = self.kernels;
        let per_group = self.per(groups);
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
        let per_body = Threads::Host(self.bodies);
        Ok(IterationDispatch {
            follow_bodies: self.bind(&kernels.follow_bodies, &follow, per_group.clone())?,
            apply_warm_start: self.bind(
                &kernels.apply_warm_start,
                &warm_start,
                per_group.clone(),
            )?,
            solve_groups: self.bind(&kernels.solve_groups, &solve, per_group)?,
            apply_changes: self.bind(&kernels.apply_changes, &apply, per_body)?,
        })
    }
}
