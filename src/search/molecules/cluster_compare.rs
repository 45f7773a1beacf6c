//! Comparison of the clusters of two molecules, in the frame of the first.

use glam::{Mat3, Vec3};

use super::rigid_spheres::{BoundsBlock, Cluster, ClusterBounds, RigidSpheres};
use super::scratch::{keep_headroom, reserve_total};
#[cfg(target_arch = "x86_64")]
use super::wide::{Avx2, Avx512};
use super::wide::{LANES, Scalar, Wide, WidePoints};
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
    /// Whether the centers of what is found are listed.
    pub with_centers: bool,
}

/// What comparing two molecules has found, and buffers.
#[derive(Default)]
pub(super) struct Comparison {
    /// The pairs of spheres within the margin, their gaps (nm) and, if requested, their centers in
    /// the world.
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

/// Some clusters: their indices, and the spheres that enclose them.
#[derive(Default)]
struct NearClusters {
    bounds: ClusterBounds,
    index: Vec<u32>,
    len: usize,
}

impl NearClusters {
    /// Removes all, and makes space for `len`.
    #[inline(always)]
    fn begin(&mut self, len: usize) {
        if self.index.len() < len {
            self.bounds.resize(len);
            self.index.resize(len, 0);
        }
        self.len = 0;
    }

    #[inline(always)]
    fn push(&mut self, index: u32, center: Vec3, radius: f32) {
        self.bounds.set(self.len, center, radius);
        self.index[self.len] = index;
        self.len += 1;
    }

    /// Pads to full vectors.
    #[inline(always)]
    fn pad(&mut self) {
        for k in self.len..self.len.next_multiple_of(LANES) {
            self.bounds.set_unused(k);
        }
    }
}

impl Comparison {
    /// Reserves headroom, so that a few more hits do not allocate.
    pub fn keep_headroom(&mut self) {
        keep_headroom(&mut self.pairs);
        keep_headroom(&mut self.gaps);
        keep_headroom(&mut self.centers);
    }

    /// Capacity of each list.
    pub fn capacities(&self) -> [usize; 5] {
        [
            self.pairs.capacity(),
            self.gaps.capacity(),
            self.centers.capacity(),
            self.near_a.index.len(),
            self.near_b.index.len().max(self.placed_a.len()),
        ]
    }

    /// Makes sure that each list has at least this capacity.
    pub fn reserve(&mut self, [pairs, gaps, centers, near_a, near_b]: [usize; 5]) {
        reserve_total(&mut self.pairs, pairs);
        reserve_total(&mut self.gaps, gaps);
        reserve_total(&mut self.centers, centers);
        self.near_a.begin(near_a);
        self.near_b.begin(near_b);
        self.make_placed(near_b);
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
        self.make_placed(pair.a.clusters.len());
    }

    /// Makes space for the placed clusters of a molecule with that many.
    fn make_placed(&mut self, clusters: usize) {
        if self.placed_a.len() < clusters {
            let unplaced = (0, PlacedCenters([[0.0; LANES]; 3]));
            self.placed_a.resize(clusters, unplaced);
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
            Instructions::Avx512 => unsafe { self.compare_avx512(pair, clusters) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { self.compare_avx2(pair, clusters) },
            Instructions::Scalar => self.compare_with::<Scalar>(pair, clusters),
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
            Instructions::Avx512 => unsafe { self.compare_all_avx512(pair, skin, clusters) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { self.compare_all_avx2(pair, skin, clusters) },
            Instructions::Scalar => self.compare_all_with::<Scalar>(pair, skin, clusters),
        }
    }

    /// # Safety
    /// The CPU has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn compare_avx2(&mut self, pair: &PlacedPair<'_>, clusters: &[ClusterPair]) {
        self.compare_with::<Avx2>(pair, clusters);
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
        self.compare_all_with::<Avx2>(pair, skin, clusters)
    }

    /// # Safety
    /// The CPU has AVX-512F, AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,bmi1,popcnt")]
    unsafe fn compare_avx512(&mut self, pair: &PlacedPair<'_>, clusters: &[ClusterPair]) {
        self.compare_with::<Avx512>(pair, clusters);
    }

    /// # Safety
    /// The CPU has AVX-512F, AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,bmi1,popcnt")]
    unsafe fn compare_all_avx512(
        &mut self,
        pair: &PlacedPair<'_>,
        skin: f32,
        clusters: &mut Vec<ClusterPair>,
    ) -> Option<f32> {
        self.compare_all_with::<Avx512>(pair, skin, clusters)
    }

    #[inline(always)]
    fn compare_with<W: Wide>(&mut self, pair: &PlacedPair<'_>, clusters: &[ClusterPair]) {
        let reach = pair.margin + pair.rounding;
        for same_b in clusters.chunk_by(|one, other| one.b == other.b) {
            let other = PlacedCluster::new::<W>(pair, same_b[0].b);
            for &ClusterPair { a, .. } in same_b {
                self.compare_clusters::<W>(pair, a, &other, reach);
            }
        }
    }

    #[inline(always)]
    fn compare_all_with<W: Wide>(
        &mut self,
        pair: &PlacedPair<'_>,
        skin: f32,
        clusters: &mut Vec<ClusterPair>,
    ) -> Option<f32> {
        let reach = pair.margin + pair.rounding + skin;
        self.list_near::<W>(pair, reach + MAX_GAP_NM);
        let near_a = std::mem::take(&mut self.near_a);
        let near_b = std::mem::take(&mut self.near_b);
        // Smallest excess of a squared distance over the squared reach of two clusters, nm².
        let mut smallest = W::splat(f32::INFINITY);
        let blocks = &near_a.bounds.blocks[..near_a.len.div_ceil(LANES)];
        for (k, &b) in near_b.index[..near_b.len].iter().enumerate() {
            let (center, radius) = near_b.bounds.get(k);
            let limit = W::splat(radius + reach);
            let mut placed: Option<PlacedCluster<'_>> = None;
            for (block, first) in blocks.iter().zip((0..).step_by(LANES)) {
                let (centers, radii) = block.load::<W>();
                let limit = radii.add(limit);
                let squared = centers.squared_distances(center.to_array());
                let limit = limit.mul(limit);
                smallest = smallest.min(squared.sub(limit));
                let mut near = squared.below(limit);
                while near != 0 {
                    let a = near_a.index[first + near.trailing_zeros() as usize];
                    near &= near - 1;
                    let other = placed.get_or_insert_with(|| PlacedCluster::new::<W>(pair, b));
                    if self.compare_clusters::<W>(pair, a, other, reach) {
                        clusters.push(ClusterPair { a, b });
                    }
                }
            }
        }
        (self.near_a, self.near_b) = (near_a, near_b);
        let mut lanes = [0.0; LANES];
        smallest.store(&mut lanes);
        let smallest = lanes.into_iter().fold(f32::INFINITY, f32::min);
        // √(L² + e) − L decreases with L, so the largest reach bounds the gap from below.
        let longest = pair.a.bounds.largest_radius + pair.b.bounds.largest_radius + reach;
        let gap = (longest * longest + smallest).sqrt() - longest;
        (smallest >= 0.0).then(|| gap.clamp(0.0, MAX_GAP_NM))
    }

    /// Lists the clusters of both molecules within `horizon`, nm, of the other molecule.
    #[inline(always)]
    fn list_near<W: Wide>(&mut self, pair: &PlacedPair<'_>, horizon: f32) {
        let PlacedPair { a, b, relative, .. } = pair;
        self.near_a.begin(a.clusters.len());
        let limit = W::splat(b.bounding_radius() + horizon);
        for (block, first) in a.bounds.blocks.iter().zip((0..).step_by(LANES)) {
            let (centers, radii) = block.load::<W>();
            let limit = radii.add(limit);
            let squared = centers.squared_distances(relative.position.to_array());
            let mut near = squared.below(limit.mul(limit));
            while near != 0 {
                let k = near.trailing_zeros() as usize;
                near &= near - 1;
                self.near_a
                    .push((first + k) as u32, block.center(k), block.radius[k]);
            }
        }
        self.near_a.pad();
        self.near_b.begin(b.clusters.len());
        let limit = W::splat(a.bounding_radius() + horizon);
        for (block, first) in b.bounds.blocks.iter().zip((0..).step_by(LANES)) {
            let (centers, radii) = block.load::<W>();
            let centers = relative.transform(centers);
            let limit = radii.add(limit);
            let squared = centers.squared_distances([0.0; 3]);
            let mut near = squared.below(limit.mul(limit));
            if near == 0 {
                continue;
            }
            let [x, y, z] = centers.store();
            while near != 0 {
                let k = near.trailing_zeros() as usize;
                near &= near - 1;
                let center = Vec3::new(x[k], y[k], z[k]);
                self.near_b
                    .push((first + k) as u32, center, block.radius[k]);
            }
        }
    }

    /// Compares cluster `own` of the first molecule with one of the second; returns whether any of
    /// their spheres are within `reach`, nm, in the frame of the first.
    #[inline(always)]
    fn compare_clusters<W: Wide>(
        &mut self,
        pair: &PlacedPair<'_>,
        own: u32,
        other: &PlacedCluster<'_>,
        reach: f32,
    ) -> bool {
        let at = own as usize;
        let cluster = &pair.a.clusters[at];
        let [x, y, z] = &other.centers.0;
        // Spheres of the other cluster near the sphere around this one.
        let limit = W::load(&other.cluster.radius).add(W::splat(reach));
        let (center, radius) = pair.a.bounds.get(at);
        let limit = limit.add(W::splat(radius));
        let squared = WidePoints::<W>::load([x, y, z]).squared_distances(center.to_array());
        let mut near = squared.below(limit.mul(limit));
        self.compared += u64::from(near.count_ones() * cluster.len);
        let centers = cluster.centers::<W>();
        let radii = W::load(&cluster.radius).add(W::splat(reach));
        let mut any = false;
        while near != 0 {
            let lane = near.trailing_zeros() as usize;
            near &= near - 1;
            let limit = radii.add(W::splat(other.cluster.radius[lane]));
            let squared = centers.squared_distances([x[lane], y[lane], z[lane]]);
            if squared.below(limit.mul(limit)) != 0 {
                any = true;
                self.find_exactly::<W>(pair, own, other, lane);
            }
        }
        any
    }

    /// Finds the spheres of a cluster of the first molecule within the margin of one sphere of the
    /// other: by the same expressions as a grid over all spheres in the world.
    #[inline(always)]
    fn find_exactly<W: Wide>(
        &mut self,
        pair: &PlacedPair<'_>,
        own: u32,
        other: &PlacedCluster<'_>,
        lane: usize,
    ) {
        let cluster = &pair.a.clusters[own as usize];
        let placed = &mut self.placed_a[own as usize];
        if placed.0 != self.comparison {
            let centers = pair.world[0].transform(cluster.centers::<W>());
            *placed = (self.comparison, PlacedCenters(centers.store()));
        }
        let [x, y, z] = &placed.1.0;
        let center = pair.world[1].transform_point(other.cluster, lane);
        let squared = WidePoints::<W>::load([x, y, z]).squared_distances(center.to_array());
        let radii = W::load(&cluster.radius).add(W::splat(other.cluster.radius[lane]));
        let reach = radii.add(W::splat(pair.margin));
        let mut hit = squared.below(reach.mul(reach));
        if hit == 0 {
            return;
        }
        let spheres = [
            pair.first_sphere[0],
            pair.first_sphere[1] + other.cluster.index[lane],
        ];
        let gaps = squared.sqrt().sub(radii);
        gaps.append_pairs(
            hit,
            spheres,
            &cluster.index,
            &mut self.pairs,
            &mut self.gaps,
        );
        while pair.with_centers && hit != 0 {
            let k = hit.trailing_zeros() as usize;
            hit &= hit - 1;
            self.centers.push([Vec3::new(x[k], y[k], z[k]), center]);
        }
    }
}

/// Centers of the spheres of a cluster, by axis. Aligned, since vectors that cross cache lines are
/// slow.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct PlacedCenters([[f32; LANES]; 3]);

/// A cluster of the second molecule in the frame of the first.
struct PlacedCluster<'a> {
    cluster: &'a Cluster,
    centers: PlacedCenters,
}

impl<'a> PlacedCluster<'a> {
    #[inline(always)]
    fn new<W: Wide>(pair: &PlacedPair<'a>, index: u32) -> Self {
        let cluster = &pair.b.clusters[index as usize];
        let centers = pair.relative.transform(cluster.centers::<W>());
        Self {
            cluster,
            centers: PlacedCenters(centers.store()),
        }
    }
}

impl Frame {
    /// Points: the same expressions as a product with the matrix, plus the position.
    #[inline(always)]
    fn transform<W: Wide>(&self, points: WidePoints<W>) -> WidePoints<W> {
        let Mat3 {
            x_axis: i,
            y_axis: j,
            z_axis: k,
        } = self.rotation;
        let row = |[x, y, z]: [f32; 3], shift: f32| {
            let sum = W::splat(x).mul(points.x).add(W::splat(y).mul(points.y));
            sum.add(W::splat(z).mul(points.z)).add(W::splat(shift))
        };
        WidePoints {
            x: row([i.x, j.x, k.x], self.position.x),
            y: row([i.y, j.y, k.y], self.position.y),
            z: row([i.z, j.z, k.z], self.position.z),
        }
    }

    /// One sphere of a cluster.
    #[inline(always)]
    fn transform_point(&self, cluster: &Cluster, lane: usize) -> Vec3 {
        let local = Vec3::new(cluster.x[lane], cluster.y[lane], cluster.z[lane]);
        self.rotation * local + self.position
    }
}

impl Cluster {
    #[inline(always)]
    fn centers<W: Wide>(&self) -> WidePoints<W> {
        WidePoints::load([&self.x, &self.y, &self.z])
    }
}

impl BoundsBlock {
    /// Centers and radii.
    #[inline(always)]
    fn load<W: Wide>(&self) -> (WidePoints<W>, W) {
        let centers = WidePoints::load([&self.x, &self.y, &self.z]);
        (centers, W::load(&self.radius))
    }
}
