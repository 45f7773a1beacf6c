//! Pairs that never come back: grouped by molecules, and digested, on the device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::buffer::GpuVec;
use super::device::GpuDevice;
use super::grid::GpuGrid;
use super::kernel::{Kernel, Length, begin_pass, uniform};
use super::radix::{RadixPlan, RadixSorter};
use super::readback::Readback;
use super::scan::{ScanPlan, Scanner};
use super::search::write;
use super::searched::{CountedSearch, Searched};
use super::shader::GROUPS;
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{GroupSearch, OwnerIndex, PairGroup, PairGroups};
use crate::search::uniform_grid::ReachPlan;
use crate::search::{GridCell, Pair, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// How much there is to group; `GroupParams` in WGSL.
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
    /// How many of the pairs are kept.
    pub kept: u32,
    /// How many of the pairs overlap.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub deepest: f32,
}

/// How much was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupCount {
    /// Pairs of molecules.
    pub groups: u32,
    /// Pairs of spheres.
    pub pairs: u64,
}

/// A [`GpuGrid`] whose pairs are grouped by molecules on the device.
///
/// 1. the grid writes all pairs of spheres;
/// 2. two stable sorts bring them into the order of their molecules;
/// 3. a prefix sum over the places where molecules change numbers the groups, whose count
///    comes back;
/// 4. each group keeps the few pairs that the solver needs, by the rule of the processor,
///    and only these come back.
///
/// Of equally deep pairs the first stays, and the order of the pairs is that of the
/// processor: so groups and kept pairs are those of the processor, wherever square roots are
/// rounded to nearest.
#[derive(Debug)]
pub struct GpuGroups {
    device: Arc<GpuDevice>,
    grid: GpuGrid,
    kernels: GroupKernels,
    sorter: RadixSorter,
    scanner: Scanner,
    params: wgpu::Buffer,
    arrays: GroupArrays,
    /// What depends on where the arrays of the pairs are.
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
    digest: Kernel,
}

#[derive(Debug)]
struct GroupArrays {
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
    /// Bits of the keys that are sorted by.
    bits: u32,
    sort: RadixPlan,
    scan: ScanPlan,
}

impl GroupArrays {
    fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            lengths: GpuVec::new(device, "number of pairs", 1)?,
            keys: GpuVec::new(device, "molecules of pairs", 0)?,
            order: GpuVec::new(device, "order of pairs", 0)?,
            heads: GpuVec::new(device, "heads of groups", 0)?,
            starts: GpuVec::new(device, "starts of groups", 0)?,
            groups: GpuVec::new(device, "groups", 0)?,
            kept: GpuVec::new(device, "kept pairs", 0)?,
        })
    }

    /// Room for the pairs of spheres; returns whether arrays grew.
    fn hold_pairs(&mut self, device: &GpuDevice, pairs: usize) -> Result<bool, DeviceError> {
        let mut grown = self.keys.resize(device, pairs)?;
        grown |= self.order.resize(device, pairs)?;
        grown |= self.heads.resize(device, pairs)?;
        self.lengths.upload(device, &[pairs as u32])?;
        Ok(grown)
    }

    /// Room for the pairs of molecules.
    fn hold_groups(&mut self, device: &GpuDevice, groups: usize) -> Result<(), DeviceError> {
        self.starts.resize(device, groups + 1)?;
        self.groups.resize(device, groups)?;
        self.kept.resize(device, groups * MAX_CONTACTS_PER_PAIR)?;
        Ok(())
    }
}

impl GpuGroups {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        let kernel = |entry| Kernel::new(&device, &GROUPS, entry);
        Ok(Self {
            kernels: GroupKernels {
                key_by_second: kernel("key_by_second")?,
                key_by_first: kernel("key_by_first")?,
                mark_heads: kernel("mark_heads")?,
                list_starts: kernel("list_starts")?,
                digest: kernel("digest_groups")?,
            },
            sorter: RadixSorter::new(&device)?,
            scanner: Scanner::new(&device)?,
            params: uniform(&device, "groups", &GpuGroupParams::default())?,
            arrays: GroupArrays::new(&device)?,
            plan: None,
            counter: Readback::new(),
            readback: [Readback::new(), Readback::new()],
            grid: GpuGrid::new(Arc::clone(&device))?,
            device,
        })
    }

    /// Steps 1 to 3; returns the number of groups. `last_owner` is the largest number of
    /// a molecule.
    fn sort(&mut self, pairs: u32, last_owner: u32) -> Result<u32, DeviceError> {
        let device = Arc::clone(&self.device);
        // First what takes most room, so that an error tells how many fit.
        self.grid.hold_pairs(pairs)?;
        let grown = self.arrays.hold_pairs(&device, pairs as usize)?;
        let bits = u32::BITS - last_owner.leading_zeros();
        let still_good = |plan: &GroupPlan| !grown && plan.bits == bits;
        let plan = match self.plan.take().filter(still_good) {
            Some(plan) => plan,
            None => self.plan(bits)?,
        };
        let params = GpuGroupParams { pairs, groups: 0 };
        write(&device, &self.params, &params)?;
        let mut encoder = device.encoder("group pairs");
        self.grid.record_pairs(&mut encoder, pairs)?;
        // Only the digest looks at spheres.
        let [_, params, found, _, owners] = self.inputs();
        let arrays = &self.arrays;
        let order = (6, arrays.order.buffer());
        let keyed = [params, found, owners, (5, arrays.keys.buffer()), order];
        let marked = [params, found, owners, order, (7, arrays.heads.buffer())];
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
        let (device, arrays) = (&*self.device, &self.arrays);
        let length = Length::Device {
            counts: &arrays.lengths,
            slot: 0,
            at_most: arrays.keys.capacity().min(u32::MAX as usize) as u32,
        };
        let (keys, order) = (&arrays.keys, &arrays.order);
        Ok(GroupPlan {
            bits,
            sort: self.sorter.plan(device, keys, order, length, bits)?,
            scan: self.scanner.plan(device, &arrays.heads, length)?,
        })
    }

    /// What was searched and found: parameters of the search, our own, pairs, spheres and
    /// owners.
    fn inputs(&self) -> [(u32, &wgpu::Buffer); 5] {
        let search = self.grid.arrays();
        [
            (0, &search.params),
            (1, &self.params),
            (2, search.pairs.buffer()),
            (3, search.spheres.buffer()),
            (4, search.owners.buffer()),
        ]
    }

    /// Step 4.
    fn digest(&mut self, pairs: u32, groups: u32) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        self.arrays.hold_groups(&device, groups as usize)?;
        write(&device, &self.params, &GpuGroupParams { pairs, groups })?;
        let [search, params, all, spheres, owners] = self.inputs();
        let arrays = &self.arrays;
        let order = (6, arrays.order.buffer());
        let starts = (8, arrays.starts.buffer());
        let heads = (7, arrays.heads.buffer());
        let listed = [params, all, owners, order, heads, starts];
        let listed = self.kernels.list_starts.bind(&device, &listed)?;
        let kept = [(9, arrays.groups.buffer()), (10, arrays.kept.buffer())];
        let digested = [
            &[search, params, all, spheres, owners, order, starts],
            &kept[..],
        ]
        .concat();
        let digested = self.kernels.digest.bind(&device, &digested)?;
        let mut encoder = device.encoder("digest groups");
        {
            let pass = &mut begin_pass(&mut encoder, "digest groups");
            let kernels = &self.kernels;
            kernels.list_starts.record_threads(pass, &listed, pairs);
            kernels.digest.record_threads(pass, &digested, groups);
        }
        device.submit(encoder)
    }

    /// Reads the groups and the pairs that they keep.
    fn read(&mut self, groups: u32, found: &mut PairGroups) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let arrays = &self.arrays;
        let [of_groups, of_kept] = &mut self.readback;
        let most = groups as usize * MAX_CONTACTS_PER_PAIR;
        let mut encoder = device.encoder("read groups");
        of_groups.record(&device, &mut encoder, &arrays.groups, 0..groups as usize)?;
        of_kept.record(&device, &mut encoder, &arrays.kept, 0..most)?;
        device.submit(encoder)?;
        of_groups.read(&device, |groups: &[GpuPairGroup]| {
            of_kept.read(&device, |kept: &[[u32; 2]]| collect(groups, kept, found))
        })?
    }

    /// Finds, groups and digests the pairs that a plan is for, all of which stays on the
    /// device. Also tells how long the grid took.
    ///
    /// # Errors
    /// As [`find_groups`](GroupSearch::find_groups).
    pub(super) fn find_on_device(
        &mut self,
        searched: Searched<'_>,
        plan: &ReachPlan,
    ) -> Result<(GroupCount, Duration), SearchError> {
        let start = Instant::now();
        let pairs = self.grid.begin_with(searched, plan)?;
        let built = start.elapsed();
        if pairs == 0 {
            return Ok((GroupCount::default(), built));
        }
        let last_owner = searched.last_owner();
        let grouped = u32::try_from(pairs)
            .map_err(|_| DeviceError::TooManyPairs { pairs })
            .and_then(|pairs| {
                let groups = self.sort(pairs, last_owner)?;
                self.digest(pairs, groups)?;
                Ok(groups)
            });
        match grouped {
            Ok(groups) => Ok((GroupCount { groups, pairs }, built)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// The groups that were found.
    pub(super) fn groups(&self) -> &GpuVec<GpuPairGroup> {
        &self.arrays.groups
    }

    /// The pairs that they keep, as many places for each as there can be.
    pub(super) fn kept(&self) -> &GpuVec<[u32; 2]> {
        &self.arrays.kept
    }

    /// Center and radius of each sphere that was searched, nm.
    pub(super) fn spheres(&self) -> &GpuVec<[f32; 4]> {
        &self.grid.arrays().spheres
    }

    /// After an error nobody knows which arrays have grown.
    fn failed(&mut self, error: DeviceError) -> SearchError {
        self.plan = None;
        self.counter = Readback::new();
        self.readback = [Readback::new(), Readback::new()];
        if let Ok(empty) = GroupArrays::new(&self.device) {
            self.arrays = empty;
        }
        self.grid.failed(error)
    }
}

/// Appends the groups with the pairs that they keep.
fn collect(groups: &[GpuPairGroup], kept: &[[u32; 2]], found: &mut PairGroups) {
    for (group, places) in groups.iter().zip(kept.chunks(MAX_CONTACTS_PER_PAIR)) {
        let pairs = &places[..places.len().min(group.kept as usize)];
        found.groups.push(PairGroup {
            a: OwnerIndex(group.a),
            b: OwnerIndex(group.b),
            first: found.kept.len() as u32,
            kept: pairs.len() as u32,
            overlaps: group.overlaps,
            penetration: group.deepest,
        });
        let pairs = pairs.iter().map(|&[a, b]| Pair { a, b });
        found.kept.extend(pairs);
    }
}

impl GroupSearch for GpuGroups {
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
        let (count, build) = self.find_on_device(Searched::Sent(spheres), &plan)?;
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
