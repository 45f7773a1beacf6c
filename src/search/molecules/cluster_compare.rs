//! Comparison of the clusters of two molecules, in the frame of the first.

use glam::{Mat3, Vec3};

use super::keep_headroom;
use super::rigid_spheres::{BLOCK, CLUSTER, Cluster, ClusterBounds, RigidSpheres};
use crate::search::Pair;
use crate::search::uniform_grid::simd::Instructions;

/// Farthest gap between two molecules that is measured, nm.
const MAX_GAP_NM: f32 = 0.3;

/// A cluster of each of two molecules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClusterPair {
    pub a: u32,
    pub b: u32,
}

/// Rotation and position (nm) of a body frame in another frame.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub rotation: Mat3,
    pub position: Vec3,
}

/// Two molecules, and what to find.
#[derive(Clone, Copy)]
pub(super) struct PlacedPair<'a> {
    pub a: &'a RigidSpheres,
    pub b: &'a RigidSpheres,
    /// The second in the frame of the first.
    pub relative: Frame,
    /// Both in the world.
    pub world: [Frame; 2],
    /// Index of the first sphere of each.
    pub first_sphere: [u32; 2],
    /// Spheres closer than their radii plus this in the world are found, nm.
    pub margin: f32,
    /// Bound on the difference between distances in the world and in the frame of the first, nm.
    pub rounding: f32,
}

/// What comparing two molecules has found, and buffers.
#[derive(Default)]
pub(super) struct Comparison {
    /// The pairs of spheres within the margin, their gaps (nm) and their centers in the world.
    pub pairs: Vec<Pair>,
    pub gaps: Vec<f32>,
    pub centers: Vec<[Vec3; 2]>,
    /// Number of pairs of spheres that were compared.
    pub compared: u64,
    /// Clusters of each molecule near the other, in the frame of the first.
    near_a: NearClusters,
    near_b: NearClusters,
    /// Clusters of the first molecule in the world, and the comparison that placed them.
    placed_a: Vec<(u32, PlacedCenters)>,
    comparison: u32,
}

/// Some clusters, and their indices.
#[derive(Default)]
struct NearClusters {
    bounds: ClusterBounds,
    index: Vec<u32>,
}

impl NearClusters {
    fn clear(&mut self) {
        self.bounds.clear();
        self.index.clear();
    }

    fn push(&mut self, index: u32, center: Vec3, radius: f32) {
        self.bounds.push(center, radius);
        self.index.push(index);
    }
}

impl Comparison {
    /// Reserves headroom, so that a few more hits do not allocate.
    pub fn keep_headroom(&mut self) {
        keep_headroom(&mut self.pairs);
        keep_headroom(&mut self.gaps);
        keep_headroom(&mut self.centers);
    }

    /// Memory of the buffers, bytes.
    pub fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<Pair>()
            + self.gaps.capacity() * size_of::<f32>()
            + self.centers.capacity() * size_of::<[Vec3; 2]>()
            + self.placed_a.capacity() * size_of::<(u32, PlacedCenters)>()
    }

    fn begin(&mut self, pair: &PlacedPair<'_>) {
        self.pairs.clear();
        self.gaps.clear();
        self.centers.clear();
        self.comparison = self.comparison.wrapping_add(1);
        if self.comparison == 0 {
            self.placed_a.clear();
            self.comparison = 1;
        }
        if self.placed_a.len() < pair.a.clusters.len() {
            let unplaced = (0, [[0.0; CLUSTER]; 3]);
            self.placed_a.resize(pair.a.clusters.len(), unplaced);
        }
    }

    /// Finds the spheres within the margin among those of some pairs of clusters.
    pub fn compare(
        &mut self,
        instructions: Instructions,
        pair: &PlacedPair<'_>,
        clusters: &[ClusterPair],
    ) {
        self.begin(pair);
        match instructions {
            // SAFETY: these instructions are only selected where they were detected.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 | Instructions::Avx512 => unsafe {
                self.compare_avx2(pair, clusters);
            },
            Instructions::Scalar => self.compare_with(pair, clusters),
        }
    }

    /// As [`compare`](Self::compare), among all spheres. Appends the pairs of clusters with spheres
    /// within the margin plus `skin`, nm, to `clusters`.
    ///
    /// If no clusters are that close, returns a lower bound on the distance by which they are not,
    /// nm.
    pub fn compare_all(
        &mut self,
        instructions: Instructions,
        pair: &PlacedPair<'_>,
        skin: f32,
        clusters: &mut Vec<ClusterPair>,
    ) -> Option<f32> {
        self.begin(pair);
        match instructions {
            // SAFETY: these instructions are only selected where they were detected.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 | Instructions::Avx512 => unsafe {
                self.compare_all_avx2(pair, skin, clusters)
            },
            Instructions::Scalar => self.compare_all_with(pair, skin, clusters),
        }
    }

    /// # Safety
    /// The CPU has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn compare_avx2(&mut self, pair: &PlacedPair<'_>, clusters: &[ClusterPair]) {
        self.compare_with(pair, clusters);
    }

    /// # Safety
    /// The CPU has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn compare_all_avx2(
        &mut self,
        pair: &PlacedPair<'_>,
        skin: f32,
        clusters: &mut Vec<ClusterPair>,
    ) -> Option<f32> {
        self.compare_all_with(pair, skin, clusters)
    }

    #[inline(always)]
    fn compare_with(&mut self, pair: &PlacedPair<'_>, clusters: &[ClusterPair]) {
        let reach = pair.margin + pair.rounding;
        let mut placed: Option<PlacedCluster<'_>> = None;
        for &ClusterPair { a, b } in clusters {
            let other = match placed {
                Some(placed) if placed.index == b => placed,
                _ => PlacedCluster::new(pair, b),
            };
            self.compare_clusters(pair, a, &other, reach);
            placed = Some(other);
        }
    }

    #[inline(always)]
    fn compare_all_with(
        &mut self,
        pair: &PlacedPair<'_>,
        skin: f32,
        clusters: &mut Vec<ClusterPair>,
    ) -> Option<f32> {
        let reach = pair.margin + pair.rounding + skin;
        self.list_near(pair, reach + MAX_GAP_NM);
        let near_a = std::mem::take(&mut self.near_a);
        let near_b = std::mem::take(&mut self.near_b);
        // Smallest excess of a squared distance over the squared reach of two clusters, nm².
        let mut smallest = f32::INFINITY;
        for (k, &b) in near_b.index.iter().enumerate() {
            let center = near_b.bounds.center(k);
            let limit = near_b.bounds.radius[k] + reach;
            let mut placed: Option<PlacedCluster<'_>> = None;
            for first in (0..near_a.bounds.x.len()).step_by(BLOCK) {
                let excess = excess_to(&near_a.bounds, first, center, limit);
                let mut mask = negative(&excess);
                smallest = smallest.min(minimum(&excess));
                while mask != 0 {
                    let a = near_a.index[first + mask.trailing_zeros() as usize];
                    mask &= mask - 1;
                    let other = match placed {
                        Some(placed) => placed,
                        None => PlacedCluster::new(pair, b),
                    };
                    if self.compare_clusters(pair, a, &other, reach) {
                        clusters.push(ClusterPair { a, b });
                    }
                    placed = Some(other);
                }
            }
        }
        (self.near_a, self.near_b) = (near_a, near_b);
        // √(L² + e) − L decreases with L, so the largest reach bounds the gap from below.
        let longest = pair.a.bounds.largest_radius + pair.b.bounds.largest_radius + reach;
        let gap = (longest * longest + smallest).sqrt() - longest;
        (smallest >= 0.0).then(|| gap.clamp(0.0, MAX_GAP_NM))
    }

    /// Lists the clusters of both molecules within `horizon`, nm, of the other molecule.
    #[inline(always)]
    fn list_near(&mut self, pair: &PlacedPair<'_>, horizon: f32) {
        let PlacedPair { a, b, relative, .. } = pair;
        self.near_a.clear();
        let limit = b.bounding_radius() + horizon;
        for first in (0..a.bounds.x.len()).step_by(BLOCK) {
            let mut near = negative(&excess_to(&a.bounds, first, relative.position, limit));
            while near != 0 {
                let at = first + near.trailing_zeros() as usize;
                near &= near - 1;
                self.near_a
                    .push(at as u32, a.bounds.center(at), a.bounds.radius[at]);
            }
        }
        self.near_a.bounds.pad();
        self.near_b.clear();
        let limit = a.bounding_radius() + horizon;
        for first in (0..b.bounds.x.len()).step_by(BLOCK) {
            let block = |values: &[f32]| -> [f32; BLOCK] {
                let mut block = [0.0; BLOCK];
                block.copy_from_slice(&values[first..first + BLOCK]);
                block
            };
            let centers = [block(&b.bounds.x), block(&b.bounds.y), block(&b.bounds.z)];
            let [x, y, z] = relative.transform(&centers);
            let radius = block(&b.bounds.radius);
            let mut excess = [0.0_f32; BLOCK];
            for (k, excess) in excess.iter_mut().enumerate() {
                let limit = radius[k] + limit;
                *excess = x[k] * x[k] + y[k] * y[k] + z[k] * z[k] - limit * limit;
            }
            let mut near = negative(&excess);
            while near != 0 {
                let k = near.trailing_zeros() as usize;
                near &= near - 1;
                let center = Vec3::new(x[k], y[k], z[k]);
                self.near_b.push((first + k) as u32, center, radius[k]);
            }
        }
    }

    /// Compares cluster `own` of the first molecule with one of the second; returns whether any of
    /// their spheres are within `reach`, nm, in the frame of the first.
    #[inline(always)]
    fn compare_clusters(
        &mut self,
        pair: &PlacedPair<'_>,
        own: u32,
        other: &PlacedCluster<'_>,
        reach: f32,
    ) -> bool {
        let at = own as usize;
        let cluster = &pair.a.clusters[at];
        let [x, y, z] = &other.centers;
        // Spheres of the other cluster near the sphere around this one.
        let (center, radius) = (pair.a.bounds.center(at), pair.a.bounds.radius[at]);
        let mut excess = [0.0_f32; CLUSTER];
        for (k, excess) in excess.iter_mut().enumerate() {
            let (dx, dy, dz) = (x[k] - center.x, y[k] - center.y, z[k] - center.z);
            let limit = radius + (other.cluster.radius[k] + reach);
            *excess = dx * dx + dy * dy + dz * dz - limit * limit;
        }
        let mut near = negative(&excess);
        self.compared += u64::from(near.count_ones() * cluster.len);
        let mut any = false;
        while near != 0 {
            let lane = near.trailing_zeros() as usize;
            near &= near - 1;
            let (x, y, z) = (x[lane], y[lane], z[lane]);
            let radius = other.cluster.radius[lane] + reach;
            let mut excess = [0.0_f32; CLUSTER];
            for (k, excess) in excess.iter_mut().enumerate() {
                let (dx, dy, dz) = (cluster.x[k] - x, cluster.y[k] - y, cluster.z[k] - z);
                let limit = cluster.radius[k] + radius;
                *excess = dx * dx + dy * dy + dz * dz - limit * limit;
            }
            if negative(&excess) != 0 {
                any = true;
                self.find_exactly(pair, own, other, lane);
            }
        }
        any
    }

    /// Finds the spheres of a cluster of the first molecule within the margin of one sphere of the
    /// other: by the same expressions as a grid over all spheres in the world.
    #[inline(always)]
    fn find_exactly(
        &mut self,
        pair: &PlacedPair<'_>,
        own: u32,
        other: &PlacedCluster<'_>,
        lane: usize,
    ) {
        let cluster = &pair.a.clusters[own as usize];
        let placed = &mut self.placed_a[own as usize];
        if placed.0 != self.comparison {
            let centers = [cluster.x, cluster.y, cluster.z];
            *placed = (self.comparison, pair.world[0].transform(&centers));
        }
        let [x, y, z] = &placed.1;
        let center = pair.world[1].transform_point(other.cluster, lane);
        let radius = other.cluster.radius[lane];
        let mut excess = [0.0_f32; CLUSTER];
        let mut gaps = [0.0_f32; CLUSTER];
        for k in 0..CLUSTER {
            let (dx, dy, dz) = (x[k] - center.x, y[k] - center.y, z[k] - center.z);
            let squared = dx * dx + dy * dy + dz * dz;
            let radii = cluster.radius[k] + radius;
            let reach = radii + pair.margin;
            excess[k] = squared - reach * reach;
            gaps[k] = squared.sqrt() - radii;
        }
        let mut hit = negative(&excess);
        let b = pair.first_sphere[1] + other.cluster.index[lane];
        while hit != 0 {
            let k = hit.trailing_zeros() as usize;
            hit &= hit - 1;
            let a = pair.first_sphere[0] + cluster.index[k];
            self.pairs.push(Pair { a, b });
            self.gaps.push(gaps[k]);
            self.centers.push([Vec3::new(x[k], y[k], z[k]), center]);
        }
    }
}

/// Centers of the spheres of a cluster, by axis.
type PlacedCenters = [[f32; CLUSTER]; 3];

/// A cluster of the second molecule in the frame of the first.
#[derive(Clone, Copy)]
struct PlacedCluster<'a> {
    index: u32,
    cluster: &'a Cluster,
    centers: PlacedCenters,
}

impl<'a> PlacedCluster<'a> {
    #[inline(always)]
    fn new(pair: &PlacedPair<'a>, index: u32) -> Self {
        let cluster = &pair.b.clusters[index as usize];
        let centers = [cluster.x, cluster.y, cluster.z];
        Self {
            index,
            cluster,
            centers: pair.relative.transform(&centers),
        }
    }
}

impl Frame {
    /// Points, by axis: the same expressions as a product with the matrix, plus the position.
    #[inline(always)]
    fn transform<const N: usize>(&self, [x, y, z]: &[[f32; N]; 3]) -> [[f32; N]; 3] {
        let Mat3 {
            x_axis: i,
            y_axis: j,
            z_axis: k,
        } = self.rotation;
        let mut placed = [[0.0; N]; 3];
        let rows = [(i.x, j.x, k.x), (i.y, j.y, k.y), (i.z, j.z, k.z)];
        for ((target, row), shift) in placed.iter_mut().zip(rows).zip(self.position.to_array()) {
            for (at, target) in target.iter_mut().enumerate() {
                *target = row.0 * x[at] + row.1 * y[at] + row.2 * z[at] + shift;
            }
        }
        placed
    }

    /// One sphere of a cluster.
    #[inline(always)]
    fn transform_point(&self, cluster: &Cluster, lane: usize) -> Vec3 {
        let local = Vec3::new(cluster.x[lane], cluster.y[lane], cluster.z[lane]);
        self.rotation * local + self.position
    }
}

/// Squared distances of `center` from the spheres from `first` on, minus the squares of their radii
/// plus `limit`, nm²: negative if closer than that.
#[inline(always)]
fn excess_to(spheres: &ClusterBounds, first: usize, center: Vec3, limit: f32) -> [f32; BLOCK] {
    let end = first + BLOCK;
    let (x, y, z) = (
        &spheres.x[first..end],
        &spheres.y[first..end],
        &spheres.z[first..end],
    );
    let radius = &spheres.radius[first..end];
    let mut excess = [0.0_f32; BLOCK];
    for (k, excess) in excess.iter_mut().enumerate() {
        let (dx, dy, dz) = (x[k] - center.x, y[k] - center.y, z[k] - center.z);
        let limit = radius[k] + limit;
        *excess = dx * dx + dy * dy + dz * dz - limit * limit;
    }
    excess
}

#[inline(always)]
fn minimum<const N: usize>(values: &[f32; N]) -> f32 {
    let mut least = *values;
    let mut len = N;
    while len > 1 {
        len /= 2;
        for k in 0..len {
            let (one, other) = (least[k], least[k + len]);
            least[k] = if one < other { one } else { other };
        }
    }
    least[0]
}

/// The lanes with a negative number, as bits.
#[inline(always)]
fn negative<const N: usize>(values: &[f32; N]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_ps, _mm_movemask_ps};
        const { assert!(N.is_multiple_of(4) && N <= 32) };
        let mut mask = 0;
        for first in (0..N).step_by(4) {
            // SAFETY: every x86-64 CPU has SSE, and four numbers follow.
            let lanes = unsafe { _mm_movemask_ps(_mm_loadu_ps(values.as_ptr().add(first))) };
            mask |= (lanes as u32) << first;
        }
        mask
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let lanes = values.iter().zip(0..);
        lanes.fold(0, |mask, (value, lane)| {
            mask | u32::from(value.is_sign_negative()) << lane
        })
    }
}
