//! Compute shaders behind the same interfaces as the CPU code (feature `gpu`).
//!
//! # What runs on the device
//!
//! | work | type | CPU reference |
//! |---|---|---|
//! | search for pairs of spheres | [`GpuUniformGrid`], [`GpuBruteForce`] | [`search`](crate::search) |
//! | close spheres of rigid molecules, by molecules | [`GpuGroupSearch`] | [`GroupSearch`](crate::dynamics::GroupSearch) |
//! | contacts of a crowd, solved | [`GpuContactSolver`] | [`CrowdContacts`](crate::dynamics::CrowdContacts) |
//! | k-means, for proxies | [`GpuKMeans`] | [`ProxySet`](crate::proxy::ProxySet) |
//!
//! The GPU relaxer lives with the relaxer, in [`relax`](crate::relax). All share
//! [`GpuAtomSpheres`] (atoms of templates at poses), [`PrefixSum`], [`CountingSorter`] and
//! [`RadixSorter`]. The grid is that of Pauschenwein (2022, chapters 3 and 4), after Hoetzlein
//! (2014).
//!
//! A [`GpuDevice`] is created headless, or around a device that a renderer owns. Passes are
//! *recorded* into a command encoder and run when it is submitted; only methods named `read`
//! wait for the device.
//!
//! # Buffers
//!
//! [`GpuVec`] is a typed storage buffer that grows to powers of two, so that a scene of constant
//! size allocates nothing. Templates, poses, contacts and pairs stay on the device; counters,
//! impulses and requested results are read back. Structs shared with WGSL are named `Gpu…`, have
//! the same fields in both languages, and are compared by tests. Units are nm, dalton, seconds
//! and radian, as on the CPU.
//!
//! # Determinism
//!
//! Results are the same from run to run on one device: atomics only count, find minima and place
//! groups whose order does not matter; all other positions in buffers follow from prefix sums and
//! indices. Searches return the pairs of their CPU reference
//! in the same order. Solver and relaxer sum in another order than the CPU and differ by
//! rounding.
//!
//! # Limits
//!
//! Plain WGSL: 256 threads per workgroup, no float atomics, no subgroups, no workgroup waits for
//! another. Buffers are bounded by the largest storage binding of the adapter, indices by 32
//! bits. The relaxer supports spherical compartments only. wgpu's bounds checks stay enabled.
//!
//! # Errors and fallback
//!
//! Every failure is a [`DeviceError`](crate::backend::DeviceError), never a panic: no adapter,
//! too little memory, a lost device, an unsupported scene. Relaxer and crowd then continue on
//! the CPU from the last state read back, and record the error for reports.
//!
#![doc = include_str!("../../shaders/README.md")]

mod adapter;
mod atom_spheres;
mod brute_force;
mod counting_sort;
mod crowd;
mod device;
mod device_poses;
mod gpu_vec;
mod group_search;
pub(crate) mod kernel;
mod kmeans;
mod memory_budget;
mod molecule_search;
mod pass_timer;
mod prefix_sum;
mod radix_sort;
pub(crate) mod readback;
mod search_buffers;
pub(crate) mod shader;
pub(crate) mod shader_constants;
mod sum_max;
mod uniform_grid;

pub use adapter::{AdapterSummary, GpuOptions};
pub use atom_spheres::{GpuAtomSpheres, GpuPose};
pub use brute_force::GpuBruteForce;
pub use counting_sort::{CountingSorter, SortInput, SortPlan, SortSize};
pub use crowd::GpuContactSolver;
pub use device::{DeviceWork, GpuDevice};
pub use device_poses::DevicePoses;
pub use gpu_vec::GpuVec;
pub use group_search::GpuGroupSearch;
pub use kernel::{Length, begin_pass};
pub use kmeans::GpuKMeans;
pub use pass_timer::{PassTime, PassTimer};
pub use prefix_sum::{PrefixSum, PrefixSumPlan};
pub use radix_sort::{RadixPlan, RadixSorter};
pub use shader::{SHADERS, Shader};
pub use sum_max::GpuSumMax;
pub use uniform_grid::GpuUniformGrid;

/// Structs that Rust and WGSL share, for tests of their layout and for reading captures of a
/// device.
#[doc(hidden)]
pub mod shader_types {
    pub use super::atom_spheres::{GpuAtomRange, GpuTransformParams};
    pub use super::counting_sort::GpuSortParams;
    pub use super::crowd::{
        GpuCrowdBody, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdImpulse,
        GpuCrowdImpulseChange, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch, GpuGroupLimits,
    };
    pub use super::kmeans::GpuKMeansParams;
    pub use super::molecule_search::{
        GpuKeptPair, GpuMoleculeEntry, GpuMoleculeLevel, GpuMoleculeParams, GpuMoleculesFound,
        GpuPairGroup,
    };
    pub use super::prefix_sum::GpuPrefixSumParams;
    pub use super::radix_sort::GpuRadixParams;
    pub use super::search_buffers::{GpuSearchBatch, GpuSearchParams};
    pub use super::sum_max::GpuSumMaxParams;
}
