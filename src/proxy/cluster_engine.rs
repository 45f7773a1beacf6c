//! Backends of k-means: the CPU engine here, the GPU engine in `gpu`.
//!
//! Clusters must not depend on the backend. Sums of floats depend on their order and on fused
//! multiply-add; integers do not. With 15 bits per axis a squared distance fits into 32 bits, which
//! every GPU supports. The lattice only determines which atoms form a cluster: a step is 1/32767 of
//! the size of the molecule, and the spheres are computed from the atoms themselves.

use std::convert::Infallible;

use glam::{U64Vec3, Vec3};
use rayon::prelude::*;

/// Steps of the lattice along an axis; 3 (2¹⁵ − 1)² < 2³².
pub const LATTICE_STEPS: u32 = (1 << 15) - 1;

/// A lattice point with coordinates of at most [`LATTICE_STEPS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatticePoint(pub [u16; 3]);

impl LatticePoint {
    /// Squared distance, in squared steps.
    #[inline]
    #[must_use]
    pub fn squared_distance(self, other: Self) -> u32 {
        let square = |k: usize| {
            let apart = u32::from(self.0[k].abs_diff(other.0[k]));
            apart * apart
        };
        square(0) + square(1) + square(2)
    }
}

/// Rounds finite `positions` to a lattice over their bounding cube.
pub(super) fn on_lattice(positions: &[Vec3]) -> Vec<LatticePoint> {
    let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = positions
        .iter()
        .copied()
        .fold(Vec3::NEG_INFINITY, Vec3::max);
    let size = (high.as_dvec3() - low.as_dvec3()).max_element();
    let scale = if size > 0.0 {
        f64::from(LATTICE_STEPS) / size
    } else {
        0.0
    };
    let point = |position: &Vec3| {
        let steps = (position.as_dvec3() - low.as_dvec3()) * scale;
        LatticePoint(steps.to_array().map(|x| x.round() as u16))
    };
    positions.iter().map(point).collect()
}

/// Number of points whose weights are summed together.
pub const SEED_BLOCK: usize = 1024;

/// Sum of the points of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterSum {
    /// Sum of the coordinates.
    pub sum: U64Vec3,
    /// Number of points.
    pub count: u64,
}

impl ClusterSum {
    pub(super) fn add(&mut self, point: LatticePoint) {
        self.sum += U64Vec3::from_array(point.0.map(u64::from));
        self.count += 1;
    }

    pub(super) fn remove(&mut self, point: LatticePoint) {
        self.sum -= U64Vec3::from_array(point.0.map(u64::from));
        self.count -= 1;
    }

    fn merge(self, other: &Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }

    /// The rounded mean; `None` without points.
    pub(super) fn mean(&self) -> Option<LatticePoint> {
        let mean = |sum: U64Vec3| (sum + self.count / 2) / self.count;
        (self.count > 0).then(|| LatticePoint(mean(self.sum).as_u16vec3().to_array()))
    }
}

/// Compares a fixed set of points with cluster centers. All methods fail only if the backend does.
pub trait ClusterEngine {
    /// Error of the backend.
    type Error;

    /// Adds a seed and returns the sum of the weights of each [`SEED_BLOCK`] of points. The
    /// *weight* of a point is its squared distance from the nearest seed.
    fn add_seed(&mut self, seed: LatticePoint) -> Result<Vec<u64>, Self::Error>;

    /// Weights of the points of a block.
    fn weights(&mut self, block: usize) -> Result<Vec<u32>, Self::Error>;

    /// Assigns each point to the nearest of `centers`, the first of equals, and returns the sums
    /// of the clusters. There is at least one center.
    fn assign(&mut self, centers: &[LatticePoint]) -> Result<Vec<ClusterSum>, Self::Error>;

    /// Index of the center that each point was last assigned to.
    fn assignment(&mut self) -> Result<Vec<u32>, Self::Error>;
}

/// The CPU backend.
#[derive(Clone, Debug)]
pub struct CpuClusterEngine {
    points: Vec<LatticePoint>,
    weights: Vec<u32>,
    nearest: Vec<u32>,
}

impl CpuClusterEngine {
    /// An engine for `points`.
    #[must_use]
    pub fn new(points: &[LatticePoint]) -> Self {
        Self {
            points: points.to_vec(),
            weights: vec![u32::MAX; points.len()],
            nearest: vec![0; points.len()],
        }
    }
}

impl ClusterEngine for CpuClusterEngine {
    type Error = Infallible;

    fn add_seed(&mut self, seed: LatticePoint) -> Result<Vec<u64>, Infallible> {
        let blocks = self.weights.par_chunks_mut(SEED_BLOCK);
        let sums = blocks
            .zip(self.points.par_chunks(SEED_BLOCK))
            .map(|(weights, points)| {
                let mut sum = 0;
                for (weight, point) in weights.iter_mut().zip(points) {
                    *weight = point.squared_distance(seed).min(*weight);
                    sum += u64::from(*weight);
                }
                sum
            });
        Ok(sums.collect())
    }

    fn weights(&mut self, block: usize) -> Result<Vec<u32>, Infallible> {
        let end = ((block + 1) * SEED_BLOCK).min(self.weights.len());
        Ok(self.weights[(block * SEED_BLOCK).min(end)..end].to_vec())
    }

    fn assign(&mut self, centers: &[LatticePoint]) -> Result<Vec<ClusterSum>, Infallible> {
        let none = || vec![ClusterSum::default(); centers.len()];
        let sums = self
            .nearest
            .par_chunks_mut(SEED_BLOCK)
            .zip(self.points.par_chunks(SEED_BLOCK))
            .fold(none, |mut sums, (nearest, points)| {
                for (nearest, &point) in nearest.iter_mut().zip(points) {
                    *nearest = nearest_of(centers, point);
                    sums[*nearest as usize].add(point);
                }
                sums
            })
            // Integer sums do not depend on the order.
            .reduce(none, |a, b| {
                a.into_iter().zip(&b).map(|(a, b)| a.merge(b)).collect()
            });
        Ok(sums)
    }

    fn assignment(&mut self) -> Result<Vec<u32>, Infallible> {
        Ok(self.nearest.clone())
    }
}

/// Index of the first of the nearest centers.
fn nearest_of(centers: &[LatticePoint], point: LatticePoint) -> u32 {
    let (mut best, mut nearest) = (u32::MAX, 0);
    for (index, center) in centers.iter().enumerate() {
        let squared = point.squared_distance(*center);
        if squared < best {
            best = squared;
            nearest = index;
        }
    }
    nearest as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounding_cube_maps_to_the_corners_of_the_lattice() {
        let points = on_lattice(&[Vec3::new(-3.0, 1.0, 7.0), Vec3::new(1.0, 5.0, 11.0)]);
        let max = LATTICE_STEPS as u16;
        assert_eq!(points, [LatticePoint([0; 3]), LatticePoint([max; 3])]);
        let exact = 3 * u64::from(LATTICE_STEPS) * u64::from(LATTICE_STEPS);
        assert_eq!(u64::from(points[0].squared_distance(points[1])), exact);
    }

    #[test]
    fn coincident_positions_map_to_one_point() {
        let points = on_lattice(&[Vec3::splat(1.0e5); 4]);
        assert_eq!(points, [LatticePoint::default(); 4]);
        assert!(on_lattice(&[]).is_empty());
    }
}
