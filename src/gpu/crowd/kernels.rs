//! The kernels that solve contacts, and what each of them binds.

use crate::backend::DeviceError;
use crate::gpu::device::GpuDevice;
use crate::gpu::kernel::Kernel;
use crate::gpu::shader::{
    CROWD_BODIES, CROWD_BODY_SIDES, CROWD_FILTER_GROUPS, CROWD_PACK, CROWD_PREPARE,
    CROWD_PREPARE_EXTERNALS, CROWD_SKIP_ISOLATED_EXTERNALS, CROWD_SOLVE, CROWD_WAKE,
    CROWD_WAKE_LOST_NEIGHBORS,
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
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        let kernel = |shader, entry| Kernel::new(device, shader, entry);
        Ok(Self {
            meet: kernel(&CROWD_FILTER_GROUPS, "meet_groups")?,
            wake_disturbed: kernel(&CROWD_WAKE, "wake_disturbed")?,
            mark_lasting: kernel(&CROWD_WAKE_LOST_NEIGHBORS, "mark_lasting")?,
            wake_bereaved: kernel(&CROWD_WAKE_LOST_NEIGHBORS, "wake_bereaved")?,
            begin: kernel(&CROWD_BODIES, "begin_bodies")?,
            predict: kernel(&CROWD_BODIES, "predict_bodies")?,
            add_up: kernel(&CROWD_BODIES, "add_up")?,
            prepare: kernel(&CROWD_PREPARE, "prepare_contacts")?,
            prepare_supports: kernel(&CROWD_PREPARE_EXTERNALS, "prepare_supports")?,
            mark_touching: kernel(&CROWD_SKIP_ISOLATED_EXTERNALS, "mark_touching")?,
            mark_leaning: kernel(&CROWD_SKIP_ISOLATED_EXTERNALS, "mark_leaning")?,
            leave_supports: kernel(&CROWD_SKIP_ISOLATED_EXTERNALS, "leave_supports")?,
            rename: kernel(&CROWD_BODY_SIDES, "rename_obstacles")?,
            list_sides: kernel(&CROWD_BODY_SIDES, "list_sides")?,
            find_sides: kernel(&CROWD_BODY_SIDES, "find_sides")?,
            split_masses: kernel(&CROWD_BODY_SIDES, "split_masses")?,
            follow: kernel(&CROWD_SOLVE, "follow_bodies")?,
            start_warm: kernel(&CROWD_SOLVE, "start_warm")?,
            solve: kernel(&CROWD_SOLVE, "solve_groups")?,
            count_carried: kernel(&CROWD_PACK, "count_carried")?,
            pack_carried: kernel(&CROWD_PACK, "pack_carried")?,
        })
    }
}
