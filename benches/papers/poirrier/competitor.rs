//! The broad phases of the paper and ours, with what they find.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet};
use bevy_rapier_molecules::search::{
    BruteForce, LinearKdTree, Pair, PairBuffer, PairSearch, SweepAndPrune, UniformGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;

/// Overlaps below this depth do not count, nm: rounding decides whether a search finds them.
const ROUNDING_NM: f32 = 1.0e-4;

/// What a broad phase finds in a step.
#[derive(Clone, Copy, Default)]
pub struct Found {
    /// Pairs that the paper counts as candidates.
    pub candidates: u64,
    /// Overlapping spheres; those of the paper's kd-tree-1 count up to eight times.
    pub overlaps: u64,
    /// Swaps of end points.
    pub swaps: u64,
    /// Bytes of spheres, boxes, tree and pairs.
    pub bytes: usize,
}

/// A broad phase from spheres to overlapping spheres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All pairs.
    Quadratic,
    /// Insertion sort only, as in the paper.
    SweepAndPrune,
    /// Ours: sorts from scratch after 4,096 swaps per box.
    LimitedSweepAndPrune,
    /// As in the paper: the spheres of every selected pair are compared, up to eight times.
    KdTree1,
    /// Ours: vectors compare boxes, and duplicate pairs are removed by sorting.
    SortedKdTree1,
    /// Ours: a pair is found once.
    KdTree2,
    UniformGrid,
}

impl Kind {
    pub const ALL: [Self; 7] = [
        Self::Quadratic,
        Self::SweepAndPrune,
        Self::LimitedSweepAndPrune,
        Self::KdTree1,
        Self::SortedKdTree1,
        Self::KdTree2,
        Self::UniformGrid,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Quadratic => "quadratic",
            Self::SweepAndPrune => "sweep and prune",
            Self::LimitedSweepAndPrune => "sweep and prune, ours",
            Self::KdTree1 => "kd-tree-1",
            Self::SortedKdTree1 => "kd-tree-1, ours",
            Self::KdTree2 => "kd-tree-2",
            Self::UniformGrid => "uniform grid",
        }
    }
}

/// A broad phase with its buffers.
pub struct Competitor {
    pub kind: Kind,
    boxes: BoxSet,
    pairs: PairBuffer,
    sweep: SweepAndPrune,
    tree: LinearKdTree,
    grid: UniformGrid,
}

impl Competitor {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            boxes: BoxSet::new(),
            pairs: PairBuffer::new(),
            sweep: match kind {
                Kind::SweepAndPrune => SweepAndPrune::new().without_rebuilds(),
                _ => SweepAndPrune::new(),
            },
            tree: match kind {
                Kind::SortedKdTree1 => LinearKdTree::with_duplicates(),
                _ => LinearKdTree::new(),
            },
            grid: UniformGrid::new(),
        }
    }

    /// Finds the overlapping spheres.
    pub fn search(&mut self, spheres: &SphereSet) -> Result<Found, Box<dyn Error>> {
        let count = spheres.len();
        let mut found = Found::default();
        match self.kind {
            Kind::Quadratic => {
                BruteForce.find_pairs(spheres, 0.0, &mut self.pairs)?;
                found.overlaps = self.compare(spheres);
                found.candidates = (count * count.saturating_sub(1) / 2) as u64;
            }
            Kind::UniformGrid => {
                self.grid.find_pairs(spheres, 0.0, &mut self.pairs)?;
                found.overlaps = self.compare(spheres);
                found.candidates = found.overlaps;
            }
            Kind::KdTree1 => {
                self.boxes.set_around_spheres(spheres, 0.0)?;
                let overlaps = AtomicU64::new(0);
                let selection = self.tree.select(&self.boxes, |pair| {
                    if overlap(pair, spheres) {
                        overlaps.fetch_add(1, Ordering::Relaxed);
                    }
                })?;
                found.overlaps = overlaps.into_inner();
                found.candidates = selection.pairs;
            }
            Kind::SweepAndPrune | Kind::LimitedSweepAndPrune => {
                self.boxes.set_around_spheres(spheres, 0.0)?;
                self.sweep.find_box_pairs(&self.boxes, &mut self.pairs)?;
                found.overlaps = self.compare(spheres);
                found.candidates = self.pairs.len() as u64;
                found.swaps = self.sweep.swaps();
            }
            Kind::SortedKdTree1 | Kind::KdTree2 => {
                self.boxes.set_around_spheres(spheres, 0.0)?;
                self.tree.find_box_pairs(&self.boxes, &mut self.pairs)?;
                found.overlaps = self.compare(spheres);
                found.candidates = match self.kind {
                    Kind::KdTree2 => found.overlaps,
                    _ => self.pairs.len() as u64,
                };
            }
        }
        let pair_bytes: usize = self
            .pairs
            .lists()
            .iter()
            .map(|list| size_of_val(&**list))
            .sum();
        // Five numbers of a sphere, and seven of a box.
        found.bytes = 20 * count + 28 * self.boxes.len() + self.tree.memory_bytes() + pair_bytes;
        Ok(found)
    }

    /// Number of pairs of boxes whose spheres overlap.
    fn compare(&self, spheres: &SphereSet) -> u64 {
        let overlapping = self.pairs.iter().filter(|&pair| overlap(pair, spheres));
        overlapping.count() as u64
    }
}

/// Whether spheres overlap beyond rounding.
pub fn overlap(pair: Pair, spheres: &SphereSet) -> bool {
    pair.gap(spheres) < -ROUNDING_NM
}
