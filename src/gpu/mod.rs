//! Searches, contacts and relaxation on the GPU: compute shaders behind the same contracts as
//! the CPU code.
//!
//! What is promised here:
//!
//! - **Same answers.** Every kernel has a CPU twin. A [`GpuGrid`] lists the pairs of a
//!   [`UniformGrid`](crate::search::UniformGrid) in the same order, index for index; the
//!   arithmetic that decides is the same, operation by operation.
//! - **Same from run to run.** Nothing depends on the order in which threads happen to
//!   run. Atomics only count; places are decided by prefix sums and by index.
//! - **Any vendor.** Plain WGSL of WebGPU: 256 threads a group, no float atomics, no
//!   subgroups, no waiting of one group for another.
//! - **Failure is ordinary.** No adapter, too little memory, a lost device: each is a
//!   [`GpuError`], never a panic, and the CPU code can go on from the same input.
//! - **No hidden waits.** Building blocks are *recorded* into a command encoder and run
//!   when it is submitted; only what is named `read` waits for the device.
//!
//! No ECS here: a [`GpuDevice`] is made headless or around a device that a renderer lends.
//!
//! | file | what it does |
//! |---|---|
//! | `choose` | the device for a [`Backend`](crate::backend::Backend) |
//! | `adapter` | which adapter, and whether it can do what is needed |
//! | `device` | device and queue, and how errors are caught |
//! | `buffer` | arrays on the device that grow |
//! | `memory` | how much they take together |
//! | `readback` | arrays on their way back |
//! | `kernel` | a compute shader, bound and dispatched |
//! | `shader` | sources |
//! | `constants` | numbers that Rust and WGSL share |
//! | `timer` | how long the passes took |
//! | `scan` | prefix sum |
//! | `measure` | sums of 64 bits |
//! | `sort` | stable counting sort |
//! | `radix` | stable sort of keys and values |
//! | `atoms` | templates and poses there, spheres out |
//! | `search` | spheres on their way there, pairs on their way back |
//! | `searched` | where the spheres of a grid come from |
//! | `grid` | FFRNN |
//! | `hierarchy` | grids of several widths |
//! | `groups` | pairs by molecules, of which only a few come back |
//! | `crowd` | contacts of crowds, solved |
//! | `brute_force` | every sphere against every other |
//! | `clusters` | k-means, for proxies |
//! | `relax` | whole iterations of the relaxer |

mod adapter;
mod atoms;
mod brute_force;
mod buffer;
mod choose;
mod clusters;
mod constants;
mod crowd;
mod device;
mod error;
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
mod timer;

pub use adapter::{AdapterSummary, GpuOptions};
pub use atoms::{GpuAtomRange, GpuAtoms, GpuPose, GpuTransformParams};
pub use brute_force::GpuBruteForce;
pub use buffer::GpuVec;
pub use clusters::{GpuClusterParams, GpuClusters};
pub use crowd::{
    GpuContacts, GpuCrowdBody, GpuCrowdCarried, GpuCrowdChange, GpuCrowdContact, GpuCrowdGroup,
    GpuCrowdImpulse, GpuCrowdParams, GpuCrowdSupport, GpuCrowdSurface, GpuCrowdTouch,
};
pub use device::GpuDevice;
pub use error::GpuError;
pub use grid::GpuGrid;
pub use groups::{GpuGroupParams, GpuGroups, GpuPairGroup};
pub use hierarchy::{GpuHierarchicalGrid, GpuHierarchyParams, GpuLevel};
pub use kernel::{Kernel, Length, begin_pass};
pub use measure::{GpuMeasure, GpuMeasureParams, MeasurePlan, Measured, Measurer};
pub use radix::{GpuRadixParams, RadixPlan, RadixSorter};
pub use readback::Readback;
pub use relax::{
    DevicePoses, GpuBody, GpuLawParams, GpuMolecule, GpuPlacement, GpuPush, GpuRelaxCounters,
    GpuRelaxEngine,
};
pub use scan::{GpuScanParams, ScanPlan, Scanner, scan_on_cpu};
pub use search::{GpuSearchBatch, GpuSearchParams};
pub use shader::{SHADERS, Shader};
pub use sort::{GpuSortParams, SortInput, SortPlan, SortSize, Sorter};
pub use timer::{PassTime, PassTimer};
