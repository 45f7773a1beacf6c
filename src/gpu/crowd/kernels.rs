//! The kernels that solve contacts, and what each of them binds.

use crate::gpu::device::GpuDevice;
use crate::gpu::error::GpuError;
use crate::gpu::kernel::Kernel;
use crate::gpu::shader::{
    CROWD_BEREAVED, CROWD_BODIES, CROWD_GROUPS, CROWD_LEAVE, CROWD_PACK, CROWD_PREPARE,
    CROWD_SIDES, CROWD_SOLVE, CROWD_SUPPORTS, CROWD_WAKE,
};

#[derive(Debug)]
pub(super) struct CrowdKernels {
    pub meet: Kernel,
    pub wake_disturbed: Kernel,
    pub mark_lasting: Kernel,
    pub wake_bereaved: Kernel,
    pub begin: Kernel,
    pub predict: Kernel,
    pub add_up: Kernel,
    pub prepare: Kernel,
    pub prepare_supports: Kernel,
    pub mark_touching: Kernel,
    pub mark_leaning: Kernel,
    pub leave_supports: Kernel,
    pub rename: Kernel,
    pub list_sides: Kernel,
    pub find_sides: Kernel,
    pub split_masses: Kernel,
    pub follow: Kernel,
    pub start_warm: Kernel,
    pub solve: Kernel,
    pub count_carried: Kernel,
    pub pack_carried: Kernel,
}

impl CrowdKernels {
    pub fn new(device: &GpuDevice) -> Result<Self, GpuError> {
        let kernel = |shader, entry| Kernel::new(device, shader, entry);
        Ok(Self {
            meet: kernel(&CROWD_GROUPS, "meet_groups")?,
            wake_disturbed: kernel(&CROWD_WAKE, "wake_disturbed")?,
            mark_lasting: kernel(&CROWD_BEREAVED, "mark_lasting")?,
            wake_bereaved: kernel(&CROWD_BEREAVED, "wake_bereaved")?,
            begin: kernel(&CROWD_BODIES, "begin_bodies")?,
            predict: kernel(&CROWD_BODIES, "predict_bodies")?,
            add_up: kernel(&CROWD_BODIES, "add_up")?,
            prepare: kernel(&CROWD_PREPARE, "prepare_contacts")?,
            prepare_supports: kernel(&CROWD_SUPPORTS, "prepare_supports")?,
            mark_touching: kernel(&CROWD_LEAVE, "mark_touching")?,
            mark_leaning: kernel(&CROWD_LEAVE, "mark_leaning")?,
            leave_supports: kernel(&CROWD_LEAVE, "leave_supports")?,
            rename: kernel(&CROWD_SIDES, "rename_obstacles")?,
            list_sides: kernel(&CROWD_SIDES, "list_sides")?,
            find_sides: kernel(&CROWD_SIDES, "find_sides")?,
            split_masses: kernel(&CROWD_SIDES, "split_masses")?,
            follow: kernel(&CROWD_SOLVE, "follow_bodies")?,
            start_warm: kernel(&CROWD_SOLVE, "start_warm")?,
            solve: kernel(&CROWD_SOLVE, "solve_groups")?,
            count_carried: kernel(&CROWD_PACK, "count_carried")?,
            pack_carried: kernel(&CROWD_PACK, "pack_carried")?,
        })
    }
}
