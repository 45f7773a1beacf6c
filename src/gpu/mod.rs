//! Searches, contacts and relaxation on the GPU: compute shaders behind the same contracts as
//! the code of the processor.
//!
//! # Contract
//!
//! - **Same answers.** Every kernel has a twin on the processor. A [`GpuGrid`] lists the
//!   pairs of a [`UniformGrid`](crate::search::UniformGrid) in the same order, index for
//!   index; the arithmetic that decides is the same, operation by operation.
//! - **Same from run to run.** Nothing depends on the order in which threads happen to
//!   run. Atomics only count; places are decided by prefix sums and by index.
//! - **Same units.** Lengths are nm, masses dalton, times seconds, angles radian.
//! - **Any vendor.** Plain WGSL of WebGPU: 256 threads a group, no float atomics, no
//!   subgroups, no waiting of one group for another.
//! - **Failure is ordinary.** No adapter, too little memory, a lost device: each is a
//!   [`DeviceError`], never a panic, and the processor can go on from the same input.
//! - **No hidden waits.** Building blocks are *recorded* into a command encoder and run
//!   when it is submitted; only what is named `read` waits for the device.
//!
//! No ECS here: a [`GpuDevice`] is made headless or around a device that a renderer lends.
//! The grid is that of Pauschenwein (2022, chapters 3 and 4), after Hoetzlein (2014), whose
//! FFRNN was made for GPUs.
//!
//! # Files
//!
//! What users take is at the top, what it is made of further down.
//!
//! | file | what it does | main type |
//! |---|---|---|
//! | `choose` | the device for a [`Backend`](crate::backend::Backend) | |
//! | `device` | device and queue, and how errors are caught | [`GpuDevice`] |
//! | `adapter` | which adapter, and whether it can do what is needed | [`GpuOptions`], [`AdapterSummary`] |
//! | `error` | what can go wrong | [`DeviceError`] |
//! | `grid` | FFRNN | [`GpuGrid`] |
//! | `hierarchy` | grids of several widths | [`GpuHierarchicalGrid`] |
//! | `brute_force` | every sphere against every other | [`GpuBruteForce`] |
//! | `groups` | pairs by molecules, of which only a few come back | [`GpuGroups`] |
//! | `crowd` | contacts of crowds, solved | [`GpuContactSolver`] |
//! | `relax` | whole iterations of the relaxer | [`GpuRelaxEngine`] |
//! | `clusters` | k-means, for proxies | [`GpuClusters`] |
//! | `atoms` | templates and poses there, spheres out | [`GpuAtoms`] |
//! | `search` | spheres on their way there, pairs on their way back | |
//! | `searched` | where the spheres of a search come from; how counts and pairs make a search | |
//! | `sorted` | spheres in the order of their cells | |
//! | `sort` | stable counting sort | [`Sorter`] |
//! | `radix` | stable sort of keys and values | [`RadixSorter`] |
//! | `scan` | prefix sum | [`Scanner`] |
//! | `measure` | sums of 64 bits | |
//! | `timer` | how long the passes took | [`PassTimer`] |
//! | `buffer` | arrays on the device that grow | [`GpuVec`] |
//! | `memory` | how much they take together | |
//! | `readback` | arrays on their way back | |
//! | `kernel` | a compute shader, bound and dispatched | |
//! | `shader` | sources | [`Shader`] |
//! | `constants` | numbers that Rust and WGSL share | |
//!
#![doc = include_str!("../../shaders/README.md")]

mod adapter;
mod atoms;
mod brute_force;
mod buffer;
mod choose;
mod clusters;
mod constants;
mod crowd;
mod device;
mod grid;
mod groups;
mod hierarchy;
mod kernel;
mod measure;
mod memory;
mod radix;
mod readback;
mod relax;
mod scan;
mod search;
mod searched;
mod shader;
mod sort;
mod sorted;
mod timer;

pub use adapter::{AdapterSummary, GpuOptions};
pub use atoms::{GpuAtoms, GpuPose};
pub use brute_force::GpuBruteForce;
pub use buffer::GpuVec;
pub use clusters::GpuClusters;
pub use crowd::GpuContactSolver;
pub use device::GpuDevice;
pub use grid::GpuGrid;
pub use groups::GpuGroups;
pub use hierarchy::GpuHierarchicalGrid;
pub use kernel::{Length, begin_pass};
pub use measure::GpuMeasure;
pub use radix::{RadixPlan, RadixSorter};
pub use relax::{DevicePoses, GpuRelaxEngine};
pub use scan::{ScanPlan, Scanner, scan_on_cpu};
pub use shader::{SHADERS, Shader};
pub use sort::{SortInput, SortPlan, SortSize, Sorter};
pub use timer::{PassTime, PassTimer};

/// Structs that Rust and WGSL share, with the same members at the same offsets: what kernels
/// are told, and what they leave in memory. For tests of the layout, and for whoever reads a
/// capture of a device; nobody else needs them.
#[doc(hidden)]
pub mod tables {
    pub use super::atoms::{GpuAtomRange, GpuTransformParams};
    pub use super::clusters::GpuClusterParams;
    pub use super::crowd::{
        GpuCrowdBody, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdImpulse,
        GpuCrowdImpulseChange, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch,
    };
    pub use super::groups::{GpuGroupParams, GpuPairGroup};
    pub use super::hierarchy::{GpuHierarchyParams, GpuLevel};
    pub use super::measure::GpuMeasureParams;
    pub use super::radix::GpuRadixParams;
    pub use super::relax::{
        GpuBody, GpuLawParams, GpuMolecule, GpuPlacement, GpuPush, GpuRelaxCounters,
    };
    pub use super::scan::GpuScanParams;
    pub use super::search::{GpuSearchBatch, GpuSearchParams};
    pub use super::sort::GpuSortParams;
}
