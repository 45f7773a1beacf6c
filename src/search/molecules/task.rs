//! The search among some consecutive molecules and their neighbors.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::{Quat, Vec3};

use super::cluster_compare::{ClusterPair, Comparison, Frame, PlacedPair};
use super::images::Image;
use super::neighbors::Neighbors;
use super::placed_molecule::{PlacedMolecule, ROUNDING, Skin, motion};
use super::scratch::{Scratch, keep_headroom};
use super::{FoundPairs, RigidSpheres};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::search::uniform_grid::MAX_COMPARISONS;
use crate::search::uniform_grid::simd::Instructions;

/// Skin of a list of clusters.
const CLUSTER_SKIN: Skin = Skin {
    substeps: 8.0,
    min: 0.02,
    max: 0.1,
};

/// Some consecutive molecules, and their neighbors with larger indices.
#[derive(Default)]
pub(super) struct Task {
    /// The molecules.
    pub(super) molecules: Range<u32>,
    /// Sorted by molecules, then images.
    pub(super) pairs: Vec<NeighborPair>,
    /// Clusters that the pairs remember.
    pub(super) clusters: Vec<ClusterPair>,
    /// Number of pairs whose clusters were compared again.
    pub(super) renewed: u64,
    /// Number of pairs of spheres that were compared.
    pub(super) compared: u64,
    /// Whether the neighbors have changed since the last search.
    has_new_neighbors: bool,
    /// Whether its part has what was found between the pairs.
    has_result: bool,
}

/// What a task reports of two molecules.
pub(super) enum TaskEvent<'a> {
    /// They have not moved since they were compared. The answer is whether the result is known.
    Unmoved([u32; 2]),
    /// What was found. The answer is ignored.
    Found(&'a FoundPairs<'a>),
}

/// Two molecules whose boxes overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeighborPair {
    pub(super) a: u32,
    pub(super) b: u32,
    /// The image of `b` next to `a` at its pose.
    pub(super) image: Image,
    /// Range of its clusters in the list of the task.
    first: u32,
    len: u32,
    /// Position (nm) and rotation of `b` in the frame of `a` when its clusters were compared. Not
    /// a `Pose`, which is aligned to 16 bytes.
    position: Vec3,
    rotation: [f32; 4],
    /// How far the two may move against each other until the clusters are compared again, nm;
    /// negative if they have not been compared.
    slack: f32,
}

impl NeighborPair {
    pub(super) fn new(a: u32, b: u32, image: Image) -> Self {
        Self {
            a,
            b,
            image,
            first: 0,
            len: 0,
            position: Vec3::ZERO,
            rotation: [0.0; 4],
            slack: -1.0,
        }
    }

    /// What pairs are sorted by.
    fn key(&self) -> (u32, u32, Image) {
        (self.a, self.b, self.image)
    }

    /// Range of its clusters in the list of the task.
    fn clusters(&self) -> Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }

    /// Whether the list of close clusters is still complete. `b` is at `relative` now, and within
    /// `size` nm of its origin.
    fn is_valid(&self, relative: &Pose, size: f32) -> bool {
        let reference = Pose::new(self.position, Quat::from_array(self.rotation));
        motion(&reference, relative, size) <= self.slack
    }
}

/// What all tasks of a search read.
pub(super) struct Shared<'a> {
    pub(super) molecules: &'a [Arc<RigidSpheres>],
    pub(super) first_sphere: &'a [u32],
    pub(super) placed: &'a [PlacedMolecule],
    pub(super) periodic: Option<PeriodicBox>,
    pub(super) margin: f32,
    pub(super) with_centers: bool,
    pub(super) instructions: Instructions,
    /// Number of pairs of spheres that finished tasks have compared.
    pub(super) compared: AtomicU64,
}

impl Task {
    /// The task of some molecules without neighbors.
    pub(super) fn new(molecules: Range<u32>) -> Self {
        Self {
            molecules,
            has_new_neighbors: true,
            ..Self::default()
        }
    }

    /// Replaces the neighbors. With `keep`, pairs that are still neighbors keep their clusters.
    pub(super) fn set_neighbors(
        &mut self,
        neighbors: &Neighbors,
        keep: bool,
        previous: &mut Vec<NeighborPair>,
    ) {
        previous.clear();
        previous.append(&mut self.pairs);
        let (before, mut kept) = (previous.len(), 0);
        let mut previous = previous.iter().peekable();
        for a in self.molecules.clone() {
            let start = self.pairs.len();
            let others = neighbors.of(a);
            self.pairs
                .extend(others.map(|(b, image)| NeighborPair::new(a, b, image)));
            self.pairs[start..].sort_unstable_by_key(|pair| (pair.b, pair.image));
            if !keep {
                continue;
            }
            for pair in &mut self.pairs[start..] {
                let key = pair.key();
                while previous.next_if(|old| old.key() < key).is_some() {}
                if let Some(old) = previous.next_if(|old| old.key() == key) {
                    *pair = *old;
                    kept += 1;
                }
            }
        }
        self.has_new_neighbors |= !keep || kept != before || kept != self.pairs.len();
        keep_headroom(&mut self.pairs);
    }

    /// Adds two neighbors in open space, unless it has them.
    pub(super) fn add_neighbors(&mut self, a: u32, b: u32) {
        let pair = NeighborPair::new(a, b, Image::default());
        let place = self
            .pairs
            .binary_search_by_key(&pair.key(), NeighborPair::key);
        if let Err(place) = place {
            self.pairs.insert(place, pair);
            self.has_new_neighbors = true;
        }
    }

    /// Renames the molecules to what `current` returns, which are among `molecules` and have the
    /// same order. Forgets those that are gone.
    pub(super) fn rename(&mut self, molecules: Range<u32>, current: impl Fn(u32) -> Option<u32>) {
        self.molecules = molecules;
        let before = self.pairs.len();
        self.pairs.retain_mut(|pair| {
            let (Some(a), Some(b)) = (current(pair.a), current(pair.b)) else {
                return false;
            };
            (pair.a, pair.b) = (a, b);
            true
        });
        self.has_new_neighbors |= self.pairs.len() != before;
    }

    /// A task of some of the molecules.
    pub(super) fn part(&self, molecules: Range<u32>) -> Self {
        let before = |end: u32| self.pairs.partition_point(|pair| pair.a < end);
        let pairs = before(molecules.start)..before(molecules.end);
        let mut part = Self::new(molecules);
        part.copy_pairs(&self.pairs[pairs], &self.clusters);
        part
    }

    /// Adds the molecules of the next task.
    pub(super) fn append(&mut self, next: &Self) {
        self.molecules.end = next.molecules.end;
        self.copy_pairs(&next.pairs, &next.clusters);
    }

    /// Copies pairs with their clusters.
    fn copy_pairs(&mut self, pairs: &[NeighborPair], clusters: &[ClusterPair]) {
        (self.has_new_neighbors, self.has_result) = (true, false);
        for pair in pairs {
            let first = self.clusters.len() as u32;
            self.clusters.extend_from_slice(&clusters[pair.clusters()]);
            self.pairs.push(NeighborPair { first, ..*pair });
        }
    }

    /// Begins a search; returns whether neighbors have moved.
    pub(super) fn begin(&mut self, shared: &Shared<'_>) -> bool {
        (self.renewed, self.compared) = (0, 0);
        let has_moved = |molecule: u32| shared.placed[molecule as usize].has_moved;
        let changed = std::mem::take(&mut self.has_new_neighbors);
        changed
            || self
                .pairs
                .iter()
                .any(|pair| has_moved(pair.a) || has_moved(pair.b))
    }

    /// Finds the pairs of spheres of all neighbors. With `keep`, the result of those that have not
    /// moved may be known.
    pub(super) fn run(
        &mut self,
        shared: &Shared<'_>,
        scratch: &mut Scratch,
        keep: bool,
        mut report: impl FnMut(TaskEvent<'_>) -> bool,
    ) {
        // What is known of two molecules would not tell their images apart.
        let keep = keep && self.has_result && shared.periodic.is_none();
        let has_moved = |molecule: u32| shared.placed[molecule as usize].has_moved;
        scratch.clusters.clear();
        scratch.comparison.compared = 0;
        // Counted by task: an atomic that all threads change is slow.
        let before = shared.compared.load(Ordering::Relaxed);
        for at in 0..self.pairs.len() {
            let mut pair = self.pairs[at];
            if keep
                && pair.slack >= 0.0
                && !(has_moved(pair.a) || has_moved(pair.b))
                && report(TaskEvent::Unmoved([pair.a, pair.b]))
            {
                let first = scratch.clusters.len() as u32;
                scratch
                    .clusters
                    .extend_from_slice(&self.clusters[pair.clusters()]);
                self.pairs[at].first = first;
                continue;
            }
            let compared = self.find_between(&mut pair, shared, scratch);
            self.pairs[at] = pair;
            let Comparison {
                pairs,
                gaps,
                centers,
                ..
            } = &mut scratch.comparison;
            if compared && !pairs.is_empty() {
                let mut shift = Vec3::ZERO;
                if let Some(periodic) = shared.periodic {
                    shift = periodic.shift(pair.image.map(i32::from));
                    // They were compared relative to the position of the first.
                    let origin = shared.placed[pair.a as usize].pose.position;
                    for center in centers.as_flattened_mut() {
                        *center += origin;
                    }
                }
                report(TaskEvent::Found(&FoundPairs {
                    a: pair.a,
                    b: pair.b,
                    shift,
                    pairs,
                    gaps,
                    centers,
                }));
            }
            if before + scratch.comparison.compared > MAX_COMPARISONS {
                break;
            }
        }
        self.clusters.clear();
        self.clusters.extend_from_slice(&scratch.clusters);
        keep_headroom(&mut self.clusters);
        self.has_result = true;
        self.compared = scratch.comparison.compared;
        shared.compared.fetch_add(self.compared, Ordering::Relaxed);
        scratch.comparison.keep_headroom();
    }

    /// Finds the pairs of spheres of two neighbors; false if they are too far apart to have any.
    fn find_between(
        &mut self,
        pair: &mut NeighborPair,
        shared: &Shared<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let Scratch {
            comparison,
            clusters: kept,
            ..
        } = scratch;
        let [a, b] = [pair.a as usize, pair.b as usize];
        let [one, other] = [a, b].map(|index| &shared.placed[index]);
        let inverse = one.pose.rotation.conjugate();
        let offset = one.offset_to(other, pair.image, shared.periodic);
        let relative = Pose::new(inverse * offset, inverse * other.pose.rotation);
        let valid = pair.is_valid(&relative, shared.molecules[b].bounding_radius());
        let first = kept.len() as u32;
        if valid {
            let range = pair.clusters();
            pair.first = first;
            if range.is_empty() {
                return false;
            }
            kept.extend_from_slice(&self.clusters[range]);
        }
        let (positions, rounding) = match shared.periodic {
            None => ([one.pose.position, other.pose.position], 0.0),
            // Relative to the first: positions may be many edges outside of the box.
            Some(_) => ([Vec3::ZERO, offset], ROUNDING * offset.abs().max_element()),
        };
        let frame = |placed: &PlacedMolecule, position| Frame {
            rotation: placed.rotation,
            position,
        };
        let placed = PlacedPair {
            a: &shared.molecules[a],
            b: &shared.molecules[b],
            relative: Frame {
                rotation: one.rotation.transpose() * other.rotation,
                position: relative.position,
            },
            world: [frame(one, positions[0]), frame(other, positions[1])],
            first_sphere: [a, b].map(|index| shared.first_sphere[index]),
            margin: shared.margin,
            rounding: one.rounding + other.rounding + rounding,
            with_centers: shared.with_centers,
        };
        if valid {
            let clusters = &kept[first as usize..];
            comparison.compare(shared.instructions, &placed, clusters);
            return true;
        }
        let skin = CLUSTER_SKIN.width(one.motion + other.motion);
        let apart = comparison.compare_all(shared.instructions, &placed, skin, kept);
        (pair.position, pair.rotation) = (relative.position, relative.rotation.to_array());
        pair.first = first;
        pair.len = kept.len() as u32 - first;
        pair.slack = skin + apart.unwrap_or(0.0);
        self.renewed += 1;
        true
    }

    /// Memory of the remembered clusters, bytes.
    pub(super) fn cluster_bytes(&self) -> u64 {
        (self.clusters.capacity() * size_of::<ClusterPair>()) as u64
    }

    /// Memory of all, bytes.
    pub(super) fn bytes(&self) -> u64 {
        let pairs = self.pairs.capacity() * size_of::<NeighborPair>();
        (pairs + size_of::<Self>()) as u64 + self.cluster_bytes()
    }
}
