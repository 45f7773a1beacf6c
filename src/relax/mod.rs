//! Relaxation: molecules push each other apart and spring back to their placements until
//! nothing overlaps.
//!
//! A [`Relaxer`] takes a [`Crowd`](crate::crowd::Crowd) and a [`RelaxConfig`], moves the
//! molecules, and returns a [`RelaxReport`]. Lengths are nm in the world frame.
//!
//! One iteration (J. Pauschenwein 2022, section 3.2 and figure 4.1):
//!
//! 1. gather: atom positions from templates and poses;
//! 2. grid and search: overlapping pairs of atoms of different molecules;
//! 3. respond: per molecule, the sum over its contacts and its springs;
//! 4. apply: move and rotate the molecules.
//!
//! The laws are those of [`force`](crate::force). Unlike the thesis, [`CoarseStart`] runs the
//! first iterations with proxies (proposed in its section 6.1), [`capacity`] warns about
//! crowds that cannot fit, and a stall ends the iteration.
//!
//! # Terms
//!
//! An *overlap* is a pair of spheres of different molecules that share space; its depth is
//! the *penetration*. A pair is *unresolved* until the gap between its spheres is at least the
//! clearance of the config. [`RelaxStatus::spheres`] says whether atoms or proxies were
//! counted.
//!
//! # Joints
//!
//! [Joints](crate::crowd::CrowdJoint) are satisfied together with the contacts: each requests the
//! smallest motions of its two members that bring it back to its limits, and these count as contacts
//! in the average of the projection law. With the thesis's law, a joint is a spring that removes the
//! fraction [`spring_torque`](crate::force::ThesisSteps::spring_torque) of its excess. Connected
//! molecules collide with each other like any others. The CPU runs the iterations, without a coarse
//! start: proxies would push connected molecules apart.
//!
//! # Periodic boxes
//!
//! If the crowd has a [periodic box](crate::crowd::Crowd::set_periodic_box), overlaps with images
//! count and push like any others. Poses are not wrapped. A molecule that is larger than the box
//! is an error, since it could touch itself. The CPU runs the iterations, with the default search.
//!
//! # Backends and determinism
//!
//! On the CPU, the same crowd and config give the same bits on any number of threads. A GPU
//! gives the same bits from run to run. If the GPU fails, the CPU continues from the last poses
//! read back, and [`RelaxReport::device_error`] says why.
//!
//! # Checkpoints
//!
//! A [`RelaxCheckpoint`] is the state between two iterations. A relaxer that
//! [resumes](Relaxer::resume) from it gives the same bits as one that was never interrupted.

pub mod capacity;
mod checkpoint;
mod coarse_start;
mod config;
mod contact_sums;
mod cpu_iteration;
mod crowd_edit;
mod device_relaxer;
mod device_session;
mod error;
#[cfg(feature = "gpu")]
mod gpu_relaxer;
mod joint_sums;
mod local_motion;
mod morton_order;
mod relaxer;
mod report;
mod response;
mod stall_detector;

pub use checkpoint::{CheckpointError, RelaxCheckpoint};
pub use coarse_start::CoarseStart;
pub use config::{ReactionLaw, RelaxConfig};
pub use crowd_edit::CrowdEdit;
pub use device_relaxer::{
    CenterWeights, DeviceRelaxer, DeviceScene, DeviceSearch, DeviceStep, Motion,
};
pub use error::RelaxError;
#[cfg(feature = "gpu")]
pub use gpu_relaxer::GpuRelaxer;
pub use relaxer::Relaxer;
pub use report::{CountedSpheres, RelaxReport, RelaxStatus, StageTimes, StopReason};

/// Structs that Rust and WGSL share, for tests of their layout.
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub mod shader_types {
    pub use super::gpu_relaxer::{
        GpuBody, GpuContactBatch, GpuLawParams, GpuMolecule, GpuPlacement, GpuPush,
        GpuRelaxCounters,
    };
}
