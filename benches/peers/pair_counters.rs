//! The compared searches, each used as its documentation recommends, on all threads.

use bevy_rapier_molecules::search::{BruteForce, PairSearch, UniformGrid};
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use rayon::prelude::*;
use zelll::CellGrid;

use super::TOLERANCE_NM;
use super::scene::Scene;

/// Largest scene for brute force, atoms.
const BRUTE_FORCE_LIMIT: usize = 20_000;

/// Largest scene for the kd-tree, atoms.
const KIDDO_LIMIT: usize = 1_000_100;

/// kd-tree queries per task.
const QUERIES_PER_TASK: usize = 1024;

/// Counts pairs, reusing its memory between counts where possible.
pub trait PairCounter {
    /// Name for reports.
    fn name(&self) -> &'static str;

    /// Number of atom pairs of different molecules closer than the tolerance.
    fn count(&mut self, scene: &Scene) -> u64;
}

/// Counters that handle `atoms` atoms in reasonable time; this crate's grid is the first.
pub fn pair_counters(atoms: usize) -> Vec<Box<dyn PairCounter>> {
    let mut all: Vec<Box<dyn PairCounter>> = vec![
        Box::new(Own(UniformGrid::new())),
        Box::new(Zelll(CellGrid::default())),
    ];
    if atoms <= KIDDO_LIMIT {
        all.push(Box::new(Kiddo));
    }
    if atoms <= BRUTE_FORCE_LIMIT {
        all.push(Box::new(Own(BruteForce)));
    }
    all
}

struct Own<S>(S);

impl<S: PairSearch> PairCounter for Own<S> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn count(&mut self, scene: &Scene) -> u64 {
        self.0
            .count_pairs(&scene.spheres, 0.0)
            .expect("a vesicle is finite")
    }
}

fn squared_distance(p: &[f32; 3], q: &[f32; 3]) -> f32 {
    let [x, y, z] = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    x * x + y * y + z * z
}

/// Cell lists in a hash map, built sequentially, iterated in parallel.
struct Zelll(CellGrid<(u32, [f32; 3]), 3, f32>);

impl PairCounter for Zelll {
    fn name(&self) -> &'static str {
        "zelll"
    }

    fn count(&mut self, scene: &Scene) -> u64 {
        let squared = TOLERANCE_NM * TOLERANCE_NM;
        self.0
            .rebuild_mut(scene.particles.iter().copied(), Some(TOLERANCE_NM));
        // By cell: the documentation advises against filtering the parallel iterator over
        // pairs. Both are equally fast.
        self.0
            .par_iter()
            .map(|cell| {
                cell.particle_pairs()
                    .filter(|((a, p), (b, q))| a != b && squared_distance(p, q) < squared)
                    .count() as u64
            })
            .sum()
    }
}

/// Immutable kd-tree, one query per atom.
struct Kiddo;

impl PairCounter for Kiddo {
    fn name(&self) -> &'static str {
        "kiddo"
    }

    fn count(&mut self, scene: &Scene) -> u64 {
        let tree: ImmutableKdTree<f32, 3> =
            ImmutableKdTree::new_from_slice(&scene.points).expect("fewer than 2³² atoms");
        let squared = TOLERANCE_NM * TOLERANCE_NM;
        scene
            .points
            .par_iter()
            .zip(&scene.owners)
            .enumerate()
            .with_min_len(QUERIES_PER_TASK)
            .map(|(index, (point, owner))| {
                let mut count = 0;
                tree.query(point)
                    .within::<SquaredEuclidean<f32>>(squared)
                    .unsorted()
                    .exclusive_boundaries()
                    .visit(|found| {
                        let other = found.item as usize;
                        count += u64::from(other > index && scene.owners[other] != *owner);
                    });
                count
            })
            .sum()
    }
}
