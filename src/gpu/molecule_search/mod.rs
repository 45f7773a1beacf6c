//! [`MoleculeSearchOnDevice`]: close spheres of rigid molecules, by molecules and clusters.
//!
//! The CPU references are [`MoleculeSearch`](crate::search::MoleculeSearch) and
//! `dynamics/contact_reduction.rs`.

mod levels;
mod templates;
mod types;

pub use types::{
    GpuKeptPair, GpuMoleculeEntry, GpuMoleculeLevel, GpuMoleculeParams, GpuMoleculesFound,
    GpuPairGroup,
};

use std::sync::Arc;

use glam::Vec3;

use templates::Templates;

use super::atom_spheres::GpuPose;
use super::counting_sort::{CountingSorter, GpuSortParams, SortInput, SortPlan, SortSize};
use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, Length, begin_pass, uniform, write_uniform};
use super::prefix_sum::{PrefixSum, PrefixSumPlan};
use super::shader::{
    COMPARE_MOLECULES, LOCATE_MOLECULES, NEIGHBOR_MOLECULES, NUMBER_GROUPS, RANK_MOLECULES,
};
use super::shader_constants::COMPARED_PAIRS_SLOT;
use super::sum_max::GpuSumMax;
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::pose::Pose;
use crate::search::{
    GridCell, MAX_REACH_NM, MIN_REACH_NM, ROUNDING, RigidSpheres, SearchError, check_margin,
};
use crate::spheres::SphereError;

/// Slots of the lengths of the sort of molecules by cell.
const MOLECULES_LENGTH: u32 = 0;
const CELLS_LENGTH: u32 = 1;

/// Close pairs per molecule for which there is memory at first.
const FIRST_PAIRS: u32 = 8;

/// Maximum number of groups for which there is memory at first: they are large.
const FIRST_GROUPS: u32 = 4096;

/// Factor by which memory grows beyond what is needed.
const GROWTH: f64 = 1.25;

/// Index of the dispatch of one workgroup per close pair, and of one thread per pair.
const PER_PAIR: u64 = 0;
const PER_PAIR_THREAD: u64 = 1;

/// Finds the close spheres of rigid molecules, grouped by pairs of molecules, and keeps the few
/// pairs of each group that the contact solver needs.
///
/// 1. sort the molecules into the cells of a grid for each of up to eight sizes;
/// 2. count the close pairs of each molecule, and a prefix sum over the counts;
/// 3. list the pairs, and sort those of each molecule;
/// 4. compare the clusters of the two molecules of each pair, then the spheres of close clusters,
///    and keep up to 16 pairs of spheres: one workgroup per pair;
/// 5. a prefix sum numbers the pairs that have close spheres.
///
/// Nothing is written for each sphere. All counts stay on the device, where they determine the
/// size of the following dispatches; nothing waits for the CPU. If there are more pairs or groups
/// than memory, or far too many molecules in one place, the counts say so and no pair is compared.
/// Groups lie in any order; their numbers, and everything in them, are the same in every run.
#[derive(Debug)]
pub(crate) struct MoleculeSearchOnDevice {
    kernels: Kernels,
    sorter: CountingSorter,
    scanner: PrefixSum,
    params: wgpu::Buffer,
    /// Parameters as they were sent.
    sent: GpuMoleculeParams,
    scene: Option<Scene>,
    capacity: Capacity,
    poses: Vec<GpuPose>,
}

#[derive(Debug)]
struct Kernels {
    locate: Kernel,
    count: Kernel,
    list: Kernel,
    plan: Kernel,
    rank: Kernel,
    compare: Kernel,
    mark: Kernel,
}

/// Number of pairs and groups for which there is memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Capacity {
    pub pairs: u32,
    pub groups: u32,
}

/// What depends on the molecules.
#[derive(Debug)]
struct Scene {
    templates: Templates,
    poses: GpuVec<GpuPose>,
    lengths: GpuVec<u32>,
    sort: SortPlan,
    max_cells: u32,
    starts: GpuVec<u32>,
    filled: GpuVec<u32>,
    found: GpuVec<u32>,
    dispatches: GpuVec<[u32; 4]>,
    scan_starts: PrefixSumPlan,
    locate: wgpu::BindGroup,
    count: wgpu::BindGroup,
    pairs: Option<PairBuffers>,
}

/// What depends on the number of pairs and groups.
#[derive(Debug)]
struct PairBuffers {
    group_of: GpuVec<u32>,
    numbers: GpuVec<u32>,
    groups: GpuVec<GpuPairGroup>,
    kept: GpuVec<GpuKeptPair>,
    scan_numbers: PrefixSumPlan,
    list: wgpu::BindGroup,
    plan: wgpu::BindGroup,
    rank: wgpu::BindGroup,
    compare: wgpu::BindGroup,
    mark: wgpu::BindGroup,
}

impl MoleculeSearchOnDevice {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        let mut search = Self {
            kernels: Kernels {
                locate: Kernel::new(device, &LOCATE_MOLECULES, "locate_molecules")?,
                count: Kernel::new(device, &NEIGHBOR_MOLECULES, "count_neighbors")?,
                list: Kernel::new(device, &NEIGHBOR_MOLECULES, "list_neighbors")?,
                plan: Kernel::new(device, &RANK_MOLECULES, "plan_pairs")?,
                rank: Kernel::new(device, &RANK_MOLECULES, "rank_pairs")?,
                compare: Kernel::new(device, &COMPARE_MOLECULES, "compare_pairs")?,
                mark: Kernel::new(device, &NUMBER_GROUPS, "mark_groups")?,
            },
            sorter: CountingSorter::new(device)?,
            scanner: PrefixSum::new(device)?,
            params: uniform(device, "molecules", &GpuMoleculeParams::default())?,
            sent: GpuMoleculeParams::default(),
            scene: None,
            capacity: Capacity::default(),
            poses: Vec::new(),
        };
        search.set_molecules(device, &[])?;
        Ok(search)
    }

    /// Sets the spheres of each molecule.
    ///
    /// # Errors
    /// [`DeviceError`] if they do not fit; there are no molecules then.
    pub fn set_molecules(
        &mut self,
        device: &GpuDevice,
        molecules: &[Arc<RigidSpheres>],
    ) -> Result<(), DeviceError> {
        // Frees the memory of the previous ones first.
        self.scene = None;
        let count = molecules.len() as u32;
        self.capacity = Capacity {
            pairs: self.capacity.pairs.max(count.saturating_mul(FIRST_PAIRS)),
            groups: self.capacity.groups.max(count.min(FIRST_GROUPS)),
        };
        match self.new_scene(device, molecules) {
            Ok(scene) => self.scene = Some(scene),
            Err(error) => {
                self.capacity = Capacity::default();
                return Err(error);
            }
        }
        Ok(())
    }

    fn new_scene(
        &self,
        device: &GpuDevice,
        molecules: &[Arc<RigidSpheres>],
    ) -> Result<Scene, DeviceError> {
        let count = molecules.len();
        let templates = Templates::new(device, molecules)?;
        let max_cells = templates.sizes.max_cells();
        let poses = GpuVec::zeroed(device, "poses", count)?;
        let cells = GpuVec::zeroed(device, "cells of molecules", count)?;
        let lengths = GpuVec::from_slice(device, "lengths", &[count as u32, max_cells + 1])?;
        let occupancy = GpuVec::<GpuSumMax>::zeroed(device, "occupancy", 1)?;
        let starts = GpuVec::zeroed(device, "first pairs", count + 1)?;
        let filled = GpuVec::zeroed(device, "listed pairs", count)?;
        let words = size_of::<GpuMoleculesFound>() / size_of::<u32>();
        let found = GpuVec::zeroed(device, "found molecules", words)?;
        let sort = self.sorter.plan(
            device,
            SortInput {
                keys: &cells,
                lengths: &lengths,
                slots: GpuSortParams {
                    item_slot: MOLECULES_LENGTH,
                    bin_slot: CELLS_LENGTH,
                },
                max: SortSize {
                    items: count as u32,
                    bins: max_cells,
                },
                occupancy: &occupancy,
            },
        )?;
        let scan_starts = self
            .scanner
            .plan(device, &starts, Length::Host(count as u32 + 1))?;
        let params = (0, &self.params);
        let entries = (1, templates.molecules.buffer());
        let placed = (2, poses.buffer());
        let locate = [params, entries, placed, (3, cells.buffer())];
        let counted = [
            params,
            entries,
            placed,
            (3, sort.starts().buffer()),
            (4, sort.scattered().buffer()),
            (5, starts.buffer()),
            (6, found.buffer()),
        ];
        let dispatches = GpuVec::indirect(device, "dispatches per pair", 2)?;
        let locate = self.kernels.locate.bind(device, &locate)?;
        let counted = self.kernels.count.bind(device, &counted)?;
        let input = PairInput {
            templates: &templates,
            poses: &poses,
            sort: &sort,
            starts: &starts,
            filled: &filled,
            found: &found,
            dispatches: &dispatches,
        };
        let pairs = self.new_pair_buffers(device, input)?;
        Ok(Scene {
            pairs: Some(pairs),
            templates,
            poses,
            lengths,
            sort,
            max_cells,
            starts,
            filled,
            found,
            dispatches,
            scan_starts,
            locate,
            count: counted,
        })
    }

    fn new_pair_buffers(
        &self,
        device: &GpuDevice,
        input: PairInput<'_>,
    ) -> Result<PairBuffers, DeviceError> {
        let pairs = self.capacity.pairs as usize;
        let groups = self.capacity.groups as usize;
        let listed = GpuVec::<[u32; 2]>::zeroed(device, "listed pairs of molecules", pairs)?;
        let sorted = GpuVec::<[u32; 2]>::zeroed(device, "pairs of molecules", pairs)?;
        let group_of = GpuVec::zeroed(device, "groups of pairs", pairs)?;
        let numbers = GpuVec::zeroed(device, "numbers of groups", pairs)?;
        let kept_count = groups.saturating_mul(MAX_CONTACTS_PER_PAIR);
        let kept = GpuVec::zeroed(device, "kept pairs", kept_count)?;
        let groups = GpuVec::zeroed(device, "groups", groups)?;
        let kernels = &self.kernels;
        let params = (0, &self.params);
        let list = [
            params,
            (1, input.templates.molecules.buffer()),
            (2, input.poses.buffer()),
            (3, input.sort.starts().buffer()),
            (4, input.sort.scattered().buffer()),
            (5, input.filled.buffer()),
            (6, input.found.buffer()),
            (7, input.starts.buffer()),
            (8, listed.buffer()),
        ];
        let plan = [
            params,
            (1, input.starts.buffer()),
            (4, input.found.buffer()),
            (5, input.dispatches.buffer()),
        ];
        let rank = [
            params,
            (1, input.starts.buffer()),
            (2, listed.buffer()),
            (3, sorted.buffer()),
        ];
        let compare = [
            params,
            (1, input.templates.molecules.buffer()),
            (2, input.templates.words.buffer()),
            (3, input.poses.buffer()),
            (4, sorted.buffer()),
            (5, input.found.buffer()),
            (6, group_of.buffer()),
            (7, groups.buffer()),
            (8, kept.buffer()),
        ];
        let mark = [
            (1, input.found.buffer()),
            (2, group_of.buffer()),
            (3, numbers.buffer()),
        ];
        let length = Length::Device {
            counts: input.found,
            slot: COMPARED_PAIRS_SLOT,
            max: self.capacity.pairs,
        };
        Ok(PairBuffers {
            scan_numbers: self.scanner.plan(device, &numbers, length)?,
            list: kernels.list.bind(device, &list)?,
            plan: kernels.plan.bind(device, &plan)?,
            rank: kernels.rank.bind(device, &rank)?,
            compare: kernels.compare.bind(device, &compare)?,
            mark: kernels.mark.bind(device, &mark)?,
            group_of,
            numbers,
            groups,
            kept,
        })
    }

    /// Sends the poses of all molecules, and plans a search for spheres closer than their radii
    /// plus `margin`, nm. False if no pair is possible: the search finds none then.
    ///
    /// # Errors
    /// [`SearchError`] if a pose is not finite or the margin is invalid.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        poses: impl ExactSizeIterator<Item = Pose>,
        margin: f32,
    ) -> Result<bool, SearchError> {
        check_margin(margin)?;
        self.sent = GpuMoleculeParams {
            max_dispatch: device.limits().max_compute_workgroups_per_dimension,
            ..GpuMoleculeParams::default()
        };
        write_uniform(device, &self.params, &self.sent)?;
        let Some(scene) = &mut self.scene else {
            return Ok(false);
        };
        if poses.len() != scene.templates.radii.len() {
            return Err(DeviceError::PoseCountMismatch {
                molecules: scene.templates.radii.len(),
                poses: poses.len(),
            }
            .into());
        }
        self.poses.clear();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (mut rounding, mut largest) = (0.0_f32, 0.0_f32);
        for (index, (pose, &radius)) in poses.zip(&scene.templates.radii).enumerate() {
            let position = pose.position;
            if !(position.is_finite() && pose.rotation.is_finite()) {
                let center = position;
                return Err(SphereError::BadCenter { index, center }.into());
            }
            low = low.min(position);
            high = high.max(position);
            // A quaternion that is not quite a rotation stretches the molecule.
            let stretch = (pose.rotation.length_squared() - 1.0).abs();
            let farthest = position.abs().max_element();
            rounding = rounding.max(ROUNDING * (farthest + radius) + 4.0 * stretch * radius);
            largest = largest.max(radius);
            self.poses.push(GpuPose::from(pose));
        }
        let reach = 2.0 * largest + margin;
        if self.poses.len() < 2 || reach == 0.0 {
            return Ok(false);
        }
        if reach < MIN_REACH_NM {
            return Err(SearchError::ReachTooShort { reach });
        }
        let extra = margin + 2.0 * rounding;
        let reach = 2.0 * largest + extra;
        if reach.is_nan() || reach > MAX_REACH_NM {
            return Err(SearchError::ReachTooLong { reach });
        }
        let (level, cells) = scene.templates.sizes.grids(high - low, extra);
        let params = GpuMoleculeParams {
            molecules: self.poses.len() as u32,
            levels: scene.templates.sizes.count() as u32,
            max_pairs: self.capacity.pairs,
            max_groups: self.capacity.groups,
            margin,
            rounding: 2.0 * rounding,
            max_dispatch: device.limits().max_compute_workgroups_per_dimension,
            zero: 0,
            level,
        };
        scene.poses.upload(device, &self.poses)?;
        scene
            .lengths
            .upload(device, &[self.poses.len() as u32, cells + 1])?;
        write_uniform(device, &self.params, &params)?;
        self.sent = params;
        Ok(true)
    }

    /// Records the search that was [prepared](Self::prepare).
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let Some((scene, pairs)) = self.bound() else {
            return;
        };
        let kernels = &self.kernels;
        let count = self.sent.molecules;
        scene.starts.record_clear(encoder);
        scene.filled.record_clear(encoder);
        scene.found.record_clear(encoder);
        let size = SortSize {
            items: count,
            bins: scene.max_cells,
        };
        {
            let pass = &mut begin_pass(encoder, "neighbors");
            if count > 0 {
                kernels.locate.record_threads(pass, &scene.locate, count);
                self.sorter.record(pass, &scene.sort, size);
                kernels.count.record_threads(pass, &scene.count, count);
                self.scanner.record(pass, &scene.scan_starts);
                kernels.list.record_threads(pass, &pairs.list, count);
            }
            // One workgroup of one thread.
            kernels.plan.record(pass, &pairs.plan, 1);
        }
        let dispatches = scene.dispatches.buffer();
        let at = |index: u64| (dispatches, index * size_of::<[u32; 4]>() as u64);
        let pass = &mut begin_pass(encoder, "compare molecules");
        kernels
            .rank
            .record_indirect(pass, &pairs.rank, at(PER_PAIR_THREAD));
        kernels
            .compare
            .record_indirect(pass, &pairs.compare, at(PER_PAIR));
        kernels
            .mark
            .record_indirect(pass, &pairs.mark, at(PER_PAIR_THREAD));
        self.scanner.record(pass, &pairs.scan_numbers);
    }

    /// Whether a search has found more than there is memory for.
    pub fn needs_to_grow(&self, found: &GpuMoleculesFound) -> bool {
        found.pairs > self.capacity.pairs || found.groups > self.capacity.groups
    }

    /// Makes space for what a search has found. Returns whether it was too little, so that the
    /// search has to be repeated.
    ///
    /// # Errors
    /// [`DeviceError`] if there is not enough memory; there are no molecules then.
    pub fn grow(
        &mut self,
        device: &GpuDevice,
        found: &GpuMoleculesFound,
    ) -> Result<bool, DeviceError> {
        if !self.needs_to_grow(found) {
            return Ok(false);
        }
        let Capacity { pairs, groups } = self.capacity;
        let larger = |old: u32, needed: u32| {
            if needed > old {
                // Saturates.
                (f64::from(needed) * GROWTH) as u32
            } else {
                old
            }
        };
        let capacity = Capacity {
            pairs: larger(pairs, found.pairs),
            groups: larger(groups, found.groups),
        };
        let Some(mut scene) = self.scene.take() else {
            return Ok(false);
        };
        self.capacity = capacity;
        // Frees memory first.
        scene.pairs = None;
        let input = PairInput {
            templates: &scene.templates,
            poses: &scene.poses,
            sort: &scene.sort,
            starts: &scene.starts,
            filled: &scene.filled,
            found: &scene.found,
            dispatches: &scene.dispatches,
        };
        match self.new_pair_buffers(device, input) {
            Ok(pairs) => scene.pairs = Some(pairs),
            Err(error) => {
                self.capacity = Capacity::default();
                return Err(error);
            }
        }
        self.scene = Some(scene);
        self.sent.max_pairs = capacity.pairs;
        self.sent.max_groups = capacity.groups;
        write_uniform(device, &self.params, &self.sent)?;
        Ok(true)
    }

    fn bound(&self) -> Option<(&Scene, &PairBuffers)> {
        let scene = self.scene.as_ref()?;
        Some((scene, scene.pairs.as_ref()?))
    }

    /// Number of close pairs of molecules, and of groups, for which there is memory.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// What the last search has found.
    pub fn results(&self) -> Option<FoundOnDevice<'_>> {
        self.bound().map(|(scene, pairs)| FoundOnDevice {
            found: &scene.found,
            group_of: &pairs.group_of,
            numbers: &pairs.numbers,
            groups: &pairs.groups,
            kept: &pairs.kept,
        })
    }

    /// The grid cell around `point`, nm, of the largest molecules.
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        let level = self.sent.level.first().filter(|level| level.per_nm > 0.0)?;
        let width = 1.0 / level.per_nm;
        let number = (point / width).floor();
        Some(GridCell {
            number: number.as_ivec3(),
            low: number * width,
            width,
        })
    }
}

/// Buffers that those of pairs are bound together with.
#[derive(Clone, Copy)]
struct PairInput<'a> {
    templates: &'a Templates,
    poses: &'a GpuVec<GpuPose>,
    sort: &'a SortPlan,
    starts: &'a GpuVec<u32>,
    filled: &'a GpuVec<u32>,
    found: &'a GpuVec<u32>,
    dispatches: &'a GpuVec<[u32; 4]>,
}

/// What a search has found. Valid until it grows.
#[derive(Clone, Copy)]
pub(crate) struct FoundOnDevice<'a> {
    /// Counts: a [`GpuMoleculesFound`].
    pub found: &'a GpuVec<u32>,
    /// Index of the group of each pair of molecules in `groups`, or [`u32::MAX`].
    pub group_of: &'a GpuVec<u32>,
    /// Number of the group of each pair, in the order of pairs.
    pub numbers: &'a GpuVec<u32>,
    /// The groups.
    pub groups: &'a GpuVec<GpuPairGroup>,
    /// Kept pairs of spheres, [`MAX_CONTACTS_PER_PAIR`] entries per group.
    pub kept: &'a GpuVec<GpuKeptPair>,
}
