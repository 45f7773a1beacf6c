//! Pairs grouped by molecules on the device. CPU reference: `dynamics/group_search.rs`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, Length, begin_pass, uniform, write_uniform};
use super::prefix_sum::{PrefixSum, PrefixSumPlan};
use super::radix_sort::{RadixPlan, RadixSorter};
use super::readback::Readback;
use super::search_buffers::SphereSource;
use super::shader::GROUP_PAIRS;
use super::uniform_grid::GpuUniformGrid;
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{GroupSearch, OwnerIndex, PairGroup, PairGroups};
use crate::search::uniform_grid::ReachPlan;
use crate::search::{GridCell, Pair, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Parameters of the group kernels; `GroupParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuGroupParams {
    /// Number of pairs of spheres.
    pub pairs: u32,
    /// Number of pairs of molecules.
    pub groups: u32,
}

/// The pairs between two molecules; `PairGroup` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuPairGroup {
    /// The first molecule.
    pub a: u32,
    /// The second molecule.
    pub b: u32,
    /// Number of pairs that are kept.
    pub kept: u32,
    /// Number of pairs that overlap.
    pub overlaps: u32,
    /// Maximum penetration, nm; negative for a gap.
    pub max_penetration: f32,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupCount {
    /// Pairs of molecules.
    pub groups: u32,
    /// Pairs of spheres.
    pub pairs: u64,
}

/// A [`GpuUniformGrid`] whose pairs are grouped by molecules on the device.
///
/// 1. the grid writes all pairs of spheres;
/// 2. two stable sorts order them by their molecules;
/// 3. a prefix sum over the heads of the groups numbers them; their number is read back;
/// 4. each group keeps the few pairs that the contact solver needs, by the rule of the CPU.
///
/// Only the kept pairs are read back. The pairs are in the order of the CPU, and among equally
/// deep pairs the first is kept, so that groups and kept pairs equal those of the CPU wherever
/// square roots round to nearest.
#[derive(Debug)]
pub struct GpuGroupSearch {
    device: Arc<GpuDevice>,
    grid: GpuUniformGrid,
    kernels: GroupKernels,
    sorter: RadixSorter,
    scanner: PrefixSum,
    params: wgpu::Buffer,
    buffers: GroupBuffers,
    /// Valid until a buffer of the pairs grows.
    plan: Option<GroupPlan>,
    counter: Readback,
    readback: [Readback; 2],
}

#[derive(Debug)]
struct GroupKernels {
    key_by_second: Kernel,
    key_by_first: Kernel,
    mark_heads: Kernel,
    list_starts: Kernel,
    reduce: Kernel,
}

#[derive(Debug)]
struct GroupBuffers {
    /// Number of pairs.
    lengths: GpuVec<u32>,
    keys: GpuVec<u32>,
    order: GpuVec<u32>,
    heads: GpuVec<u32>,
    starts: GpuVec<u32>,
    groups: GpuVec<GpuPairGroup>,
    kept: GpuVec<[u32; 2]>,
}

#[derive(Debug)]
struct GroupPlan {
    /// Number of key bits to sort by.
    bits: u32,
    sort: RadixPlan,
    scan: PrefixSumPlan,
}

impl GroupBuffers {
    fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            lengths: GpuVec::new(device, "pair count", 1)?,
            keys: GpuVec::new(device, "sort keys", 0)?,
            order: GpuVec::new(device, "pair order", 0)?,
            heads: GpuVec::new(device, "group heads", 0)?,
            starts: GpuVec::new(device, "group starts", 0)?,
            groups: GpuVec::new(device, "groups", 0)?,
            kept: GpuVec::new(device, "kept pairs", 0)?,
        })
    }

    /// Allocates the pairs of spheres; returns whether a buffer grew.
    fn allocate_pairs(&mut self, device: &GpuDevice, pairs: usize) -> Result<bool, DeviceError> {
        let mut grown = self.keys.resize(device, pairs)?;
        grown |= self.order.resize(device, pairs)?;
        grown |= self.heads.resize(device, pairs)?;
        self.lengths.upload(device, &[pairs as u32])?;
        Ok(grown)
    }

    /// Allocates the pairs of molecules.
    fn allocate_groups(&mut self, device: &GpuDevice, groups: usize) -> Result<(), DeviceError> {
        self.starts.resize(device, groups + 1)?;
        self.groups.resize(device, groups)?;
        self.kept.resize(device, groups * MAX_CONTACTS_PER_PAIR)?;
        Ok(())
    }
}

impl GpuGroupSearch {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        let kernel = |entry| Kernel::new(&device, &GROUP_PAIRS, entry);
        Ok(Self {
            kernels: GroupKernels {
                key_by_second: kernel("key_by_second")?,
                key_by_first: kernel("key_by_first")?,
                mark_heads: kernel("mark_heads")?,
                list_starts: kernel("list_starts")?,
                reduce: kernel("reduce_groups")?,
            },
            sorter: RadixSorter::new(&device)?,
            scanner: PrefixSum::new(&device)?,
            params: uniform(&device, "groups", &GpuGroupParams::default())?,
            buffers: GroupBuffers::new(&device)?,
            plan: None,
            counter: Readback::new(),
            readback: [Readback::new(), Readback::new()],
            grid: GpuUniformGrid::new(Arc::clone(&device))?,
            device,
        })
    }

    /// Steps 1 to 3; returns the number of groups.
    fn sort(&mut self, pairs: u32, max_owner: u32) -> Result<u32, DeviceError> {
        let device = Arc::clone(&self.device);
        // The largest buffer first, so that an error reports how many fit.
        self.grid.allocate_pairs(pairs)?;
        let grown = self.buffers.allocate_pairs(&device, pairs as usize)?;
        let bits = u32::BITS - max_owner.leading_zeros();
        let is_valid = |plan: &GroupPlan| !grown && plan.bits == bits;
        let plan = match self.plan.take().filter(is_valid) {
            Some(plan) => plan,
            None => self.plan(bits)?,
        };
        let params = GpuGroupParams { pairs, groups: 0 };
        write_uniform(&device, &self.params, &params)?;
        let mut encoder = device.encoder("group pairs");
        self.grid.record_pairs(&mut encoder, pairs)?;
        let [_, params, found, _, owners] = self.inputs();
        let buffers = &self.buffers;
        let order = (6, buffers.order.buffer());
        let keyed = [params, found, owners, (5, buffers.keys.buffer()), order];
        let marked = [params, found, owners, order, (7, buffers.heads.buffer())];
        let by_second = self.kernels.key_by_second.bind(&device, &keyed)?;
        let by_first = self.kernels.key_by_first.bind(&device, &keyed)?;
        let heads = self.kernels.mark_heads.bind(&device, &marked)?;
        {
            let pass = &mut begin_pass(&mut encoder, "group pairs");
            let kernels = &self.kernels;
            kernels
                .key_by_second
                .record_threads(pass, &by_second, pairs);
            self.sorter.record(pass, &plan.sort);
            kernels.key_by_first.record_threads(pass, &by_first, pairs);
            self.sorter.record(pass, &plan.sort);
            kernels.mark_heads.record_threads(pass, &heads, pairs);
            self.scanner.record_up_to(pass, &plan.scan, pairs);
        }
        self.counter
            .record(&device, &mut encoder, plan.scan.total(), 0..1)?;
        device.submit(encoder)?;
        self.plan = Some(plan);
        self.counter
            .read(&device, |total: &[u32]| total.first().copied().unwrap_or(0))
    }

    fn plan(&self, bits: u32) -> Result<GroupPlan, DeviceError> {
        let (device, buffers) = (&*self.device, &self.buffers);
        let length = Length::Device {
            counts: &buffers.lengths,
            slot: 0,
            max: buffers.keys.capacity().min(u32::MAX as usize) as u32,
        };
        let (keys, order) = (&buffers.keys, &buffers.order);
        Ok(GroupPlan {
            bits,
            sort: self.sorter.plan(device, keys, order, length, bits)?,
            scan: self.scanner.plan(device, &buffers.heads, length)?,
        })
    }

    /// Bindings of the grid and of this search: both parameters, pairs, spheres and owners.
    fn inputs(&self) -> [(u32, &wgpu::Buffer); 5] {
        let search = self.grid.buffers();
        [
            (0, &search.params),
            (1, &self.params),
            (2, search.pairs.buffer()),
            (3, search.spheres.buffer()),
            (4, search.owners.buffer()),
        ]
    }

    /// Step 4.
    fn reduce(&mut self, pairs: u32, groups: u32) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        self.buffers.allocate_groups(&device, groups as usize)?;
        write_uniform(&device, &self.params, &GpuGroupParams { pairs, groups })?;
        let [search, params, all, spheres, owners] = self.inputs();
        let buffers = &self.buffers;
        let order = (6, buffers.order.buffer());
        let starts = (8, buffers.starts.buffer());
        let heads = (7, buffers.heads.buffer());
        let listed = [params, all, owners, order, heads, starts];
        let listed = self.kernels.list_starts.bind(&device, &listed)?;
        let kept = [(9, buffers.groups.buffer()), (10, buffers.kept.buffer())];
        let reduced = [
            &[search, params, all, spheres, owners, order, starts],
            &kept[..],
        ]
        .concat();
        let reduced = self.kernels.reduce.bind(&device, &reduced)?;
        let mut encoder = device.encoder("reduce groups");
        {
            let pass = &mut begin_pass(&mut encoder, "reduce groups");
            let kernels = &self.kernels;
            kernels.list_starts.record_threads(pass, &listed, pairs);
            kernels.reduce.record_threads(pass, &reduced, groups);
        }
        device.submit(encoder)
    }

    /// Reads the groups and the pairs that they keep.
    fn read(&mut self, groups: u32, found: &mut PairGroups) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let buffers = &self.buffers;
        let [of_groups, of_kept] = &mut self.readback;
        let max = groups as usize * MAX_CONTACTS_PER_PAIR;
        let mut encoder = device.encoder("read groups");
        of_groups.record(&device, &mut encoder, &buffers.groups, 0..groups as usize)?;
        of_kept.record(&device, &mut encoder, &buffers.kept, 0..max)?;
        device.submit(encoder)?;
        of_groups.read(&device, |groups: &[GpuPairGroup]| {
            of_kept.read(&device, |kept: &[[u32; 2]]| collect(groups, kept, found))
        })?
    }

    /// Finds, groups and reduces pairs, which stay on the device. Also returns the time that
    /// the grid took.
    ///
    /// # Errors
    /// As [`find_groups`](GroupSearch::find_groups).
    pub(super) fn find_on_device(
        &mut self,
        source: SphereSource<'_>,
        plan: &ReachPlan,
    ) -> Result<(GroupCount, Duration), SearchError> {
        let start = Instant::now();
        let pairs = self.grid.count_on_device(source, plan)?;
        let built = start.elapsed();
        if pairs == 0 {
            return Ok((GroupCount::default(), built));
        }
        let max_owner = source.max_owner();
        let grouped = u32::try_from(pairs)
            .map_err(|_| DeviceError::TooManyPairs { pairs })
            .and_then(|pairs| {
                let groups = self.sort(pairs, max_owner)?;
                self.reduce(pairs, groups)?;
                Ok(groups)
            });
        match grouped {
            Ok(groups) => Ok((GroupCount { groups, pairs }, built)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// The groups of the last search.
    pub(super) fn groups(&self) -> &GpuVec<GpuPairGroup> {
        &self.buffers.groups
    }

    /// The kept pairs, [`MAX_CONTACTS_PER_PAIR`] entries per group.
    pub(super) fn kept(&self) -> &GpuVec<[u32; 2]> {
        &self.buffers.kept
    }

    /// Center and radius of each sphere of the last search, nm.
    pub(super) fn spheres(&self) -> &GpuVec<[f32; 4]> {
        &self.grid.buffers().spheres
    }

    /// Frees all buffers after an error.
    fn failed(&mut self, error: DeviceError) -> SearchError {
        self.plan = None;
        self.counter = Readback::new();
        self.readback = [Readback::new(), Readback::new()];
        if let Ok(empty) = GroupBuffers::new(&self.device) {
            self.buffers = empty;
        }
        self.grid.release();
        error.into()
    }
}

/// Appends the groups with their kept pairs.
fn collect(groups: &[GpuPairGroup], kept: &[[u32; 2]], found: &mut PairGroups) {
    for (group, places) in groups.iter().zip(kept.chunks(MAX_CONTACTS_PER_PAIR)) {
        let pairs = &places[..places.len().min(group.kept as usize)];
        found.groups.push(PairGroup {
            a: OwnerIndex(group.a),
            b: OwnerIndex(group.b),
            first: found.kept.len() as u32,
            kept: pairs.len() as u32,
            overlaps: group.overlaps,
            penetration: group.max_penetration,
        });
        let pairs = pairs.iter().map(|&[a, b]| Pair { a, b });
        found.kept.extend(pairs);
    }
}

impl GroupSearch for GpuGroupSearch {
    fn name(&self) -> &'static str {
        "gpu-groups"
    }

    fn find_groups(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError> {
        found.clear();
        let start = Instant::now();
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(SearchTimes::default());
        };
        let (count, build) = self.find_on_device(SphereSource::Cpu(spheres), &plan)?;
        if let Err(error) = self.read(count.groups, found) {
            found.clear();
            return Err(self.failed(error));
        }
        found.candidates = count.pairs as usize;
        Ok(SearchTimes {
            build,
            walk: start.elapsed().saturating_sub(build),
        })
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.grid.cell_around(point)
    }
}
