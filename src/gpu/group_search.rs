//! Pairs grouped by molecules on the device, read back. CPU reference:
//! `dynamics/group_search.rs`.

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;

use super::device::GpuDevice;
use super::molecule_search::{
    GpuKeptPair, GpuMoleculesFound, GpuPairGroup, MoleculeSearchOnDevice,
};
use super::readback::Readback;
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{GroupSearch, MovingBody, OwnerIndex, PairGroup, PairGrouper, PairGroups};
use crate::search::{GridCell, Pair, RigidSpheres, SearchError, SearchTimes, UniformGrid};

/// Close spheres of rigid molecules, found on the device by molecules and clusters, and grouped
/// by pairs of molecules.
///
/// Only the kept pairs are read back: first their number, then the pairs. Groups and kept pairs
/// equal those of the CPU wherever square roots round to nearest.
#[derive(Debug)]
pub struct GpuGroupSearch {
    device: Arc<GpuDevice>,
    search: MoleculeSearchOnDevice,
    molecules: Vec<Arc<RigidSpheres>>,
    counts: Readback,
    groups: [Readback; 3],
}

impl GpuGroupSearch {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            search: MoleculeSearchOnDevice::new(&device)?,
            molecules: Vec::new(),
            counts: Readback::new(),
            groups: Default::default(),
            device,
        })
    }

    fn search(
        &mut self,
        bodies: &[MovingBody],
        margin: f32,
    ) -> Result<Option<GpuMoleculesFound>, SearchError> {
        let device = &*self.device;
        let poses = bodies.iter().map(|body| body.pose);
        if !self.search.prepare(device, poses, margin)? {
            return Ok(None);
        }
        loop {
            let mut encoder = device.encoder("molecules");
            self.search.record(&mut encoder);
            let Some(results) = self.search.results() else {
                return Ok(None);
            };
            let all = 0..results.found.len();
            self.counts
                .record(device, &mut encoder, results.found, all)?;
            device.submit(encoder)?;
            let found = self.counts.read(device, |words: &[u32]| {
                bytemuck::pod_read_unaligned::<GpuMoleculesFound>(bytemuck::cast_slice(words))
            })?;
            if found.crowded != 0 || !self.search.grow(device, &found)? {
                return Ok(Some(found));
            }
        }
    }

    fn read(
        &mut self,
        count: &GpuMoleculesFound,
        found: &mut PairGroups,
    ) -> Result<(), DeviceError> {
        let device = &*self.device;
        let Some(results) = self.search.results() else {
            return Ok(());
        };
        let [of_pairs, of_groups, of_kept] = &mut self.groups;
        let [pairs, groups] = [count.compared_pairs, count.groups].map(|count| count as usize);
        let mut encoder = device.encoder("read groups");
        of_pairs.record(device, &mut encoder, results.group_of, 0..pairs)?;
        of_groups.record(device, &mut encoder, results.groups, 0..groups)?;
        let kept = groups * MAX_CONTACTS_PER_PAIR;
        of_kept.record(device, &mut encoder, results.kept, 0..kept)?;
        device.submit(encoder)?;
        of_pairs.read(device, |group_of: &[u32]| {
            of_groups.read(device, |groups: &[GpuPairGroup]| {
                of_kept.read(device, |kept: &[GpuKeptPair]| {
                    collect(group_of, groups, kept, found);
                })
            })
        })??
    }

    /// Frees the memory after an error.
    fn failed(&mut self, error: SearchError) -> SearchError {
        if matches!(error, SearchError::Device(_)) {
            self.counts = Readback::new();
            self.groups = Default::default();
        }
        error
    }
}

/// Appends the groups with their kept pairs, in the order of the pairs of molecules.
fn collect(
    group_of: &[u32],
    groups: &[GpuPairGroup],
    kept: &[GpuKeptPair],
    found: &mut PairGroups,
) {
    for &index in group_of {
        let Some(group) = groups.get(index as usize) else {
            continue;
        };
        let places = &kept[index as usize * MAX_CONTACTS_PER_PAIR..][..MAX_CONTACTS_PER_PAIR];
        let pairs = &places[..places.len().min(group.kept as usize)];
        found.groups.push(PairGroup {
            a: OwnerIndex(group.a),
            b: OwnerIndex(group.b),
            first: found.kept.len() as u32,
            kept: pairs.len() as u32,
            overlaps: group.overlaps,
            penetration: group.max_penetration,
        });
        let pairs = pairs.iter().map(|pair| {
            let [a, b] = pair.spheres;
            Pair { a, b }
        });
        found.kept.extend(pairs);
    }
}

impl GroupSearch for GpuGroupSearch {
    fn name(&self) -> &'static str {
        "gpu-groups"
    }

    fn set_molecules(&mut self, molecules: &[Arc<RigidSpheres>]) -> Result<(), SearchError> {
        self.search.set_molecules(&self.device, molecules)?;
        self.molecules = molecules.to_vec();
        Ok(())
    }

    fn find_groups(
        &mut self,
        bodies: &[MovingBody],
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError> {
        found.clear();
        let start = Instant::now();
        let count = match self.search(bodies, margin) {
            Ok(Some(count)) => count,
            Ok(None) => return Ok(SearchTimes::default()),
            Err(error) => return Err(self.failed(error)),
        };
        let build = start.elapsed();
        if count.crowded != 0 {
            // Rare, and the CPU says which molecules are in the way.
            let mut on_cpu = PairGrouper::new(Box::new(UniformGrid::new()));
            on_cpu.set_molecules(&self.molecules)?;
            return on_cpu.find_groups(bodies, margin, found);
        }
        if let Err(error) = self.read(&count, found) {
            found.clear();
            return Err(self.failed(error.into()));
        }
        found.candidates = count.candidates() as usize;
        Ok(SearchTimes {
            build,
            walk: start.elapsed().saturating_sub(build),
        })
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }
}
