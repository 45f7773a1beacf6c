//! k-means clustering on the device, for the proxies of very large molecules.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::U64Vec3;

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, begin_pass, uniform, write_uniform};
use super::readback::Readback;
use super::shader::KMEANS;
use super::shader_constants::{CLUSTER_WORDS, MAX_LOOP_ITERATIONS};
use crate::backend::DeviceError;
use crate::molecule::BodySpheres;
use crate::proxy::{ClusterEngine, ClusterSum, LatticePoint, SEED_BLOCK};
use crate::proxy::{MAX_CLUSTERED_ATOMS, ProxyError, ProxySet};

// Sums of the lower and of the upper bytes of a coordinate fit 32 bits.
const _: () = assert!(MAX_CLUSTERED_ATOMS as u64 * 255 <= u32::MAX as u64);

/// Parameters of the k-means kernels; `KMeansParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuKMeansParams {
    /// Number of points.
    pub points: u32,
    /// Number of centers.
    pub centers: u32,
    /// The seed to add, packed like the points.
    pub seed: [u32; 2],
}

/// Assigns the points of one molecule to the nearest centers on a GPU.
///
/// Integer arithmetic makes the result equal to that of the CPU bit for bit, on any device.
#[derive(Debug)]
pub struct GpuKMeans {
    device: Arc<GpuDevice>,
    weigh: Kernel,
    assign: Kernel,
    params: wgpu::Buffer,
    points: GpuVec<[u32; 2]>,
    weights: GpuVec<u32>,
    block_sums: GpuVec<[u32; 2]>,
    centers: GpuVec<[u32; 2]>,
    nearest: GpuVec<u32>,
    sums: GpuVec<u32>,
}

/// Packs a point into two words.
fn packed(LatticePoint([x, y, z]): LatticePoint) -> [u32; 2] {
    [u32::from(x) | u32::from(y) << 16, u32::from(z)]
}

impl GpuKMeans {
    /// Uploads `points`.
    ///
    /// # Errors
    /// [`DeviceError`] if they do not fit, or the device fails.
    pub fn new(device: Arc<GpuDevice>, points: &[LatticePoint]) -> Result<Self, DeviceError> {
        let packed: Vec<[u32; 2]> = points.iter().map(|&point| packed(point)).collect();
        let far = vec![u32::MAX; points.len()];
        let blocks = points.len().div_ceil(SEED_BLOCK);
        Ok(Self {
            weigh: Kernel::new(&device, &KMEANS, "weigh_points")?,
            assign: Kernel::new(&device, &KMEANS, "assign_points")?,
            params: uniform(&device, "clusters", &GpuKMeansParams::default())?,
            points: GpuVec::from_slice(&device, "points", &packed)?,
            weights: GpuVec::from_slice(&device, "weights", &far)?,
            block_sums: GpuVec::zeroed(&device, "block sums", blocks)?,
            centers: GpuVec::new(&device, "centers", 0)?,
            nearest: GpuVec::zeroed(&device, "nearest centers", points.len())?,
            sums: GpuVec::new(&device, "cluster sums", 0)?,
            device,
        })
    }

    fn set_params(&self, centers: u32, seed: LatticePoint) -> Result<(), DeviceError> {
        let params = GpuKMeansParams {
            points: self.points.len() as u32,
            centers,
            seed: packed(seed),
        };
        write_uniform(&self.device, &self.params, &params)
    }
}

impl ClusterEngine for GpuKMeans {
    type Error = DeviceError;

    fn add_seed(&mut self, seed: LatticePoint) -> Result<Vec<u64>, DeviceError> {
        let device = &*self.device;
        self.set_params(0, seed)?;
        let bindings = self.weigh.bind(
            device,
            &[
                (0, &self.params),
                (1, self.points.buffer()),
                (2, self.weights.buffer()),
                (3, self.block_sums.buffer()),
            ],
        )?;
        let blocks = self.block_sums.len() as u32;
        device.run("weigh points", |pass| {
            self.weigh.record(pass, &bindings, blocks);
        })?;
        let sums = self.block_sums.read(device)?;
        let sum = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
        Ok(sums.into_iter().map(sum).collect())
    }

    fn weights(&mut self, block: usize) -> Result<Vec<u32>, DeviceError> {
        let device = &*self.device;
        let end = ((block + 1) * SEED_BLOCK).min(self.weights.len());
        let range = (block * SEED_BLOCK).min(end)..end;
        let mut readback = Readback::new();
        let mut encoder = device.encoder("weights");
        readback.record(device, &mut encoder, &self.weights, range)?;
        device.submit(encoder)?;
        readback.read(device, <[u32]>::to_vec)
    }

    fn assign(&mut self, centers: &[LatticePoint]) -> Result<Vec<ClusterSum>, DeviceError> {
        let device = Arc::clone(&self.device);
        if centers.len() > MAX_LOOP_ITERATIONS as usize {
            return Err(DeviceError::Unsupported {
                feature: "k-means with more than 65,535 clusters",
            });
        }
        let packed: Vec<[u32; 2]> = centers.iter().map(|&center| packed(center)).collect();
        self.centers.upload(&device, &packed)?;
        self.sums
            .resize(&device, centers.len() * CLUSTER_WORDS as usize)?;
        self.set_params(centers.len() as u32, LatticePoint::default())?;
        let bindings = self.assign.bind(
            &device,
            &[
                (0, &self.params),
                (1, self.points.buffer()),
                (4, self.centers.buffer()),
                (5, self.nearest.buffer()),
                (6, self.sums.buffer()),
            ],
        )?;
        let mut encoder = device.encoder("assign points");
        self.sums.record_clear(&mut encoder);
        let mut pass = begin_pass(&mut encoder, "assign points");
        let points = self.points.len() as u32;
        self.assign.record_threads(&mut pass, &bindings, points);
        drop(pass);
        device.submit(encoder)?;
        let words = self.sums.read(&device)?;
        let sums = words.chunks_exact(CLUSTER_WORDS as usize).map(|words| {
            let axis = |k: usize| u64::from(words[k]) + (u64::from(words[k + 3]) << 8);
            ClusterSum {
                sum: U64Vec3::new(axis(0), axis(1), axis(2)),
                count: u64::from(words[6]),
            }
        });
        Ok(sums.collect())
    }

    fn assignment(&mut self) -> Result<Vec<u32>, DeviceError> {
        self.nearest.read(&self.device)
    }
}

impl GpuDevice {
    /// As [`ProxySet::from_atoms`], clustered on this device: the same set bit for bit. Faster
    /// for molecules of a hundred thousand atoms and more.
    ///
    /// # Errors
    /// The outer error if the device fails, the inner one if the atoms have no proxies.
    pub fn proxies<'a>(
        self: &Arc<Self>,
        atoms: impl Into<BodySpheres<'a>>,
        count: usize,
        seed: u64,
    ) -> Result<Result<ProxySet, ProxyError>, DeviceError> {
        ProxySet::with_engine(atoms, count, seed, |points| {
            GpuKMeans::new(Arc::clone(self), points)
        })
    }
}
