//! k-means clustering: seeding by k-means++ (Arthur and Vassilvitskii, 2007), then Lloyd's
//! algorithm.
//!
//! 1. Choose the first seed at random, each further one with a probability proportional to its
//!    squared distance from the nearest seed.
//! 2. Assign every point to the nearest center.
//! 3. Assign the point farthest from its center to each empty cluster.
//! 4. Move the centers to the means of their points; repeat from 2 until they stop moving.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::cluster_engine::{ClusterEngine, ClusterSum, LatticePoint, SEED_BLOCK};

/// Maximum number of iterations. A protein needs about thirty; later ones hardly change.
const MAX_ITERATIONS: usize = 100;

/// The cluster of each point. `clusters` must be less than the number of points; no cluster is
/// empty.
pub(super) fn cluster<E: ClusterEngine>(
    points: &[LatticePoint],
    clusters: usize,
    seed: u64,
    engine: &mut E,
) -> Result<Vec<u32>, E::Error> {
    let mut centers = seeds(points, clusters, seed, engine)?;
    for _ in 0..MAX_ITERATIONS {
        let mut sums = engine.assign(&centers)?;
        if sums.iter().any(|sum| sum.count == 0) {
            let mut assignment = engine.assignment()?;
            fill_empty_clusters(points, &centers, &mut assignment, &mut sums);
        }
        let means = sums.iter().zip(&centers);
        let means: Vec<_> = means.map(|(sum, old)| sum.mean().unwrap_or(*old)).collect();
        if means == centers {
            break;
        }
        centers = means;
    }
    let mut sums = engine.assign(&centers)?;
    let mut assignment = engine.assignment()?;
    fill_empty_clusters(points, &centers, &mut assignment, &mut sums);
    Ok(assignment)
}

/// Step 1: k-means++.
fn seeds<E: ClusterEngine>(
    points: &[LatticePoint],
    clusters: usize,
    seed: u64,
    engine: &mut E,
) -> Result<Vec<LatticePoint>, E::Error> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut centers = Vec::with_capacity(clusters);
    let mut next = random.random_range(0..points.len());
    loop {
        centers.push(points[next]);
        if centers.len() == clusters {
            return Ok(centers);
        }
        let sums = engine.add_seed(points[next])?;
        let total: u64 = sums.iter().sum();
        next = if total == 0 {
            // Fewer distinct points than clusters: `fill_empty_clusters` corrects this.
            centers.len()
        } else {
            let mut drawn = random.random_range(0..total);
            let block = find(sums.iter().copied(), &mut drawn);
            let weights = engine.weights(block)?;
            let within = find(weights.iter().map(|&w| u64::from(w)), &mut drawn);
            block * SEED_BLOCK + within
        };
    }
}

/// The index of the weight that `drawn` falls into; reduces `drawn` by the weights before it.
fn find(weights: impl Iterator<Item = u64>, drawn: &mut u64) -> usize {
    let mut last = 0;
    for (index, weight) in weights.enumerate() {
        if *drawn < weight {
            return index;
        }
        *drawn -= weight;
        last = index;
    }
    last
}

/// Step 3: assigns to each empty cluster the point that is farthest from its center, the first of
/// equals, unless that would empty its cluster.
fn fill_empty_clusters(
    points: &[LatticePoint],
    centers: &[LatticePoint],
    assignment: &mut [u32],
    sums: &mut [ClusterSum],
) {
    let empty: Vec<usize> = (0..sums.len()).filter(|&k| sums[k].count == 0).collect();
    if empty.is_empty() {
        return;
    }
    let mut order: Vec<(u32, usize)> = (0..points.len())
        .map(|k| {
            let own = centers[assignment[k] as usize];
            (points[k].squared_distance(own), k)
        })
        .collect();
    order.sort_unstable_by_key(|&(squared, k)| (std::cmp::Reverse(squared), k));
    let mut far = order.into_iter().map(|(_, k)| k);
    for cluster in empty {
        let spare = far.find(|&k| sums[assignment[k] as usize].count > 1);
        // Always exists: there are more points than clusters.
        let Some(point) = spare else {
            return;
        };
        sums[assignment[point] as usize].remove(points[point]);
        sums[cluster].add(points[point]);
        assignment[point] = cluster as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::cluster_engine::CpuClusterEngine;

    fn clustered(points: &[LatticePoint], clusters: usize, seed: u64) -> Vec<u32> {
        let mut engine = CpuClusterEngine::new(points);
        let Ok(assignment) = cluster(points, clusters, seed, &mut engine);
        assignment
    }

    fn random_points(count: usize, seed: u64) -> Vec<LatticePoint> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut point = || LatticePoint([(); 3].map(|()| random.random_range(0..32_768)));
        (0..count).map(|_| point()).collect()
    }

    #[test]
    fn separate_clouds_become_separate_clusters() {
        let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2 & 1].map(|bit| 20_000 * bit as u16);
        let mut points = random_points(800, 3);
        for (k, point) in points.iter_mut().enumerate() {
            let [x, y, z] = point.0.map(|x| x % 1000);
            let [a, b, c] = corner(k % 8);
            *point = LatticePoint([a + x, b + y, c + z]);
        }
        for seed in 0..20 {
            let found = clustered(&points, 8, seed);
            for (k, cluster) in found.iter().enumerate() {
                assert_eq!(*cluster, found[k % 8], "seed {seed}");
            }
        }
    }

    #[test]
    fn no_cluster_is_empty_even_if_points_coincide() {
        let mut coincident = vec![LatticePoint([7, 8, 9]); 50];
        coincident.push(LatticePoint([9, 9, 9]));
        for (points, clusters) in [(coincident, 40), (random_points(300, 1), 299)] {
            for seed in 0..5 {
                let found = clustered(&points, clusters, seed);
                let mut counts = vec![0; clusters];
                for cluster in found {
                    counts[cluster as usize] += 1;
                }
                assert!(counts.iter().all(|&count| count > 0));
            }
        }
    }

    /// Lloyd's algorithm never increases the sum of squares.
    #[test]
    fn clusters_are_better_than_their_seeds() {
        let points = random_points(2000, 6);
        let cost = |centers: &[LatticePoint]| -> u64 {
            let nearest = |p: &LatticePoint| {
                let squares = centers.iter().map(|c| c.squared_distance(*p));
                u64::from(squares.min().unwrap())
            };
            points.iter().map(nearest).sum()
        };
        for seed in 0..10 {
            let mut engine = CpuClusterEngine::new(&points);
            let Ok(start) = seeds(&points, 12, seed, &mut engine);
            let mut sums = [ClusterSum::default(); 12];
            for (point, cluster) in points.iter().zip(clustered(&points, 12, seed)) {
                sums[cluster as usize].add(*point);
            }
            let end: Vec<_> = sums.iter().map(|sum| sum.mean().unwrap()).collect();
            assert!(cost(&end) < cost(&start));
        }
    }
}
