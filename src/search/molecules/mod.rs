//! Contacts of rigid molecules: molecules first, then clusters of spheres, then spheres.
//!
//! [`MoleculeSearch`] finds the overlapping spheres of different molecules, as a
//! [`PairSearch`](super::PairSearch) does over the spheres of all molecules, without placing them
//! in the world. It remembers what is close:
//!
//! 1. *Neighbors.* A grid of boxes finds the molecules that may touch. The boxes are wider than
//!    needed by a *skin*, so the neighbors stay valid until a molecule has left its box.
//! 2. *Clusters.* The spheres of a molecule are grouped into clusters of 16 once
//!    ([`RigidSpheres`]). Two neighbors remember which of their clusters have spheres within reach
//!    plus a skin. The list stays valid until the two have moved and turned against each other by
//!    more than the skin; a pile that drifts or rotates as a whole does not invalidate it.
//! 3. *Spheres.* The spheres of the remembered clusters are compared in the frame of the first
//!    molecule, 16 at a time, with a margin for rounding. What is found is checked with the same
//!    expressions as in a grid over all spheres, so the result is the same bit for bit.
//!
//! Molecules that have not moved at all keep their result. Lists of clusters instead of spheres
//! are due to S. Páll and B. Hess, *A flexible algorithm for calculating pair interactions on SIMD
//! architectures*, 2013; that the clusters of rigid molecules never change is used here.
//!
//! # Skins
//!
//! A wide skin means more to compare, a narrow one more lists to renew. Both skins are a number of
//! substeps times the motion of the molecules in the last one, within limits. The result does not
//! depend on them.

mod cluster_compare;
mod pairs_by_molecules;
mod rigid_spheres;
mod wide;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use glam::{Mat3, Quat, Vec3};
use rayon::prelude::*;

use super::boxes::{BoxGrid, BoxSearch, BoxSet};
use super::uniform_grid::MAX_COMPARISONS;
use super::uniform_grid::simd::Instructions;
use super::{GridCell, MAX_REACH_NM, Pair, PairBuffer, SearchError, SearchTimes, check_margin};
use crate::pose::Pose;
use crate::spheres::SphereError;
use cluster_compare::{ClusterPair, Comparison, Frame, PlacedPair};
pub(crate) use pairs_by_molecules::PairsByMolecules;
pub use rigid_spheres::RigidSpheres;

/// Molecules per task: fixed, so that the order does not depend on the threads.
const MOLECULES_PER_TASK: usize = 16;

/// Bound on the rounding errors of a sphere's position, relative to the largest coordinate: two
/// transforms of five roundings each, and some for what follows.
const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// Skin of a list of clusters.
const CLUSTER_SKIN: Skin = Skin {
    substeps: 8.0,
    min: 0.02,
    max: 0.1,
};

/// Skin of the box of a molecule.
const NEIGHBOR_SKIN: Skin = Skin {
    substeps: 8.0,
    min: 0.05,
    max: 0.3,
};

/// How the width of a skin follows from motion.
struct Skin {
    /// Number of substeps that it should last.
    substeps: f32,
    /// Range of widths, nm.
    min: f32,
    max: f32,
}

impl Skin {
    /// The width for molecules that moved by `motion`, nm, in the last substep.
    fn width(&self, motion: f32) -> f32 {
        // A skin that lasts for less than two substeps only adds work.
        if 2.0 * motion > self.max {
            return 0.0;
        }
        (self.substeps * motion).clamp(self.min, self.max)
    }
}

/// Finds the overlapping spheres of rigid molecules, and remembers what is close. See the
/// [module page](self).
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::search::{AutoGrid, MoleculeSearch, PairSearch, RigidSpheres};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let spheres = Arc::new(RigidSpheres::atoms(&protein));
/// let poses = [Vec3::ZERO, Vec3::X * 2.5].map(Pose::from_translation);
/// let mut search = MoleculeSearch::new();
/// search.set_molecules([spheres.clone(), spheres])?;
/// let pairs = search.find_pairs(&poses, 0.0)?;
///
/// let atoms = SphereSet::from_molecules(poses.iter().map(|pose| (&protein, *pose)))?;
/// assert_eq!(pairs.len() as u64, AutoGrid::new().count_pairs(&atoms, 0.0)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct MoleculeSearch {
    molecules: Vec<Arc<RigidSpheres>>,
    /// First sphere of each molecule, and one entry more.
    first_sphere: Vec<u32>,
    placed: Vec<PlacedMolecule>,
    tasks: Vec<Task>,
    scratches: Scratches,
    /// Margin of the last search, nm; none if nothing is remembered.
    margin: Option<f32>,
    neighbors: Neighbors,
    instructions: Instructions,
    work: SearchWork,
}

/// A molecule at its pose.
#[derive(Clone, Copy, Debug)]
struct PlacedMolecule {
    pose: Pose,
    rotation: Mat3,
    /// Position (nm) and rotation when the neighbors were found. Not a `Pose`, which is aligned to 16
    /// bytes.
    reference: (Vec3, [f32; 4]),
    /// Motion of the fastest sphere since the last search, nm.
    motion: f32,
    /// Whether the pose is another one than in the last search.
    has_moved: bool,
    /// Width of the skin around its box, nm.
    skin: f32,
    /// Bound on the rounding error of its spheres, nm.
    rounding: f32,
}

/// Counted work of the last search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchWork {
    /// Pairs of molecules with overlapping boxes.
    pub molecule_pairs: u64,
    /// Pairs of molecules whose clusters were compared anew.
    pub renewed: u64,
    /// Pairs of clusters that are remembered.
    pub cluster_pairs: u64,
    /// Pairs of spheres that were compared.
    pub sphere_pairs: u64,
    /// Memory of what is remembered, bytes.
    pub bytes: u64,
}

/// Overlapping spheres of two molecules.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FoundPairs<'a> {
    /// The molecule with the smaller index.
    pub a: u32,
    /// The molecule with the larger index.
    pub b: u32,
    /// The pairs, in an order that depends on the clusters of the two molecules only.
    pub pairs: &'a [Pair],
    /// Their gaps, nm; negative where the spheres overlap.
    pub gaps: &'a [f32],
    /// The centers of both spheres in the world, nm; empty if not requested.
    pub centers: &'a [[Vec3; 2]],
}

/// Where a [`MoleculeSearch`] writes what it finds: a list of `S`, of which each receives the pairs
/// of some consecutive molecules.
pub struct FoundPairsSink<'a, S, C, R> {
    /// Resized to as many as needed.
    pub parts: &'a mut Vec<S>,
    /// Whether a part whose molecules and their neighbors have not moved since the last search may
    /// stay as it is. The other parts are cleared.
    pub keep_unmoved: bool,
    /// Whether the parts need the centers of the spheres.
    pub with_centers: bool,
    /// Removes what a part has received.
    pub clear: C,
    /// Adds the pairs of two molecules to a part. They come sorted by `a`, then `b`.
    pub receive: R,
}

/// Finds the overlapping spheres of two molecules from scratch.
#[derive(Default)]
pub(crate) struct MoleculePairSearch {
    comparison: Comparison,
    clusters: Vec<ClusterPair>,
    instructions: Instructions,
}

impl MoleculePairSearch {
    /// Finds all spheres of two molecules that are closer than their radii plus `margin`, nm. The
    /// second is at `relative` in the frame of the first, in which the centers are.
    pub(crate) fn find_between(
        &mut self,
        [a, b]: [&RigidSpheres; 2],
        relative: &Pose,
        margin: f32,
    ) -> FoundPairs<'_> {
        let second = PlacedMolecule::new(*relative, b);
        let relative = Frame {
            rotation: second.rotation,
            position: relative.position,
        };
        let first = Frame {
            rotation: Mat3::IDENTITY,
            position: Vec3::ZERO,
        };
        let pair = PlacedPair {
            a,
            b,
            relative,
            world: [first, relative],
            first_sphere: [0, 0],
            margin,
            rounding: second.rounding,
            with_centers: true,
        };
        self.clusters.clear();
        self.comparison
            .compare_all(self.instructions, &pair, 0.0, &mut self.clusters);
        FoundPairs {
            a: 0,
            b: 1,
            pairs: &self.comparison.pairs,
            gaps: &self.comparison.gaps,
            centers: &self.comparison.centers,
        }
    }
}

/// Some consecutive molecules, and their neighbors with larger indices.
#[derive(Default)]
struct Task {
    /// Sorted by molecules.
    pairs: Vec<NeighborPair>,
    /// Clusters that the pairs remember.
    clusters: Vec<ClusterPair>,
    /// Number of pairs whose clusters were compared anew.
    renewed: u64,
    /// Number of pairs of spheres that were compared.
    compared: u64,
    /// Whether the neighbors were replaced since the last search.
    has_new_neighbors: bool,
}

/// Buffers of a thread.
#[derive(Default)]
struct Scratch {
    comparison: Comparison,
    /// Pairs and clusters that a task is about to remember instead of others.
    pairs: Vec<NeighborPair>,
    clusters: Vec<ClusterPair>,
}

impl Scratch {
    /// Capacity of each list.
    fn capacities(&self) -> [usize; 7] {
        let [pairs, gaps, centers, near_a, near_b] = self.comparison.capacities();
        let (own_pairs, clusters) = (self.pairs.capacity(), self.clusters.capacity());
        [own_pairs, clusters, pairs, gaps, centers, near_a, near_b]
    }

    /// Makes sure that each list has at least this capacity.
    fn reserve(&mut self, [own_pairs, clusters, rest @ ..]: [usize; 7]) {
        reserve_total(&mut self.pairs, own_pairs);
        reserve_total(&mut self.clusters, clusters);
        self.comparison.reserve(rest);
    }
}

/// Makes sure that a list has at least this capacity.
fn reserve_total<T>(list: &mut Vec<T>, capacity: usize) {
    list.reserve_exact(capacity.saturating_sub(list.len()));
}

/// The buffers of all threads, so that tasks need none of their own.
#[derive(Default)]
struct Scratches(Vec<Mutex<Scratch>>);

impl Scratches {
    /// Makes sure that each thread of the current pool has buffers, as large as those of the others:
    /// which thread does which task is random, and none should allocate later.
    fn reserve(&mut self) {
        let threads = rayon::current_num_threads();
        if self.0.len() < threads {
            self.0.resize_with(threads, Mutex::default);
        }
        let mut largest = [0; 7];
        for scratch in self.0.iter_mut().filter_map(|it| it.get_mut().ok()) {
            for (largest, capacity) in largest.iter_mut().zip(scratch.capacities()) {
                *largest = capacity.max(*largest);
            }
        }
        for scratch in self.0.iter_mut().filter_map(|it| it.get_mut().ok()) {
            if scratch.capacities() != largest {
                scratch.reserve(largest);
            }
        }
    }

    /// Calls `work` with the buffers of the current thread, or with new ones if they are in use
    /// further down the stack.
    fn with<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let thread = rayon::current_thread_index().unwrap_or(0);
        match self.0.get(thread).map(Mutex::try_lock) {
            Some(Ok(mut scratch)) => work(&mut scratch),
            _ => work(&mut Scratch::default()),
        }
    }

    fn bytes(&self) -> u64 {
        let bytes = |scratch: &Mutex<Scratch>| match scratch.try_lock() {
            Ok(scratch) => {
                scratch.pairs.capacity() * size_of::<NeighborPair>()
                    + scratch.clusters.capacity() * size_of::<ClusterPair>()
                    + scratch.comparison.bytes()
            }
            Err(_) => 0,
        };
        self.0.iter().map(bytes).sum::<usize>() as u64
    }
}

/// Two molecules whose boxes overlap.
#[derive(Clone, Copy, Debug)]
struct NeighborPair {
    a: u32,
    b: u32,
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
    fn new(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            first: 0,
            len: 0,
            position: Vec3::ZERO,
            rotation: [0.0; 4],
            slack: -1.0,
        }
    }

    /// Whether its clusters are still those that are close, `b` being at `relative` now and within
    /// `size` nm of its origin.
    fn is_valid(&self, relative: &Pose, size: f32) -> bool {
        let reference = Pose::new(self.position, Quat::from_array(self.rotation));
        motion(&reference, relative, size) <= self.slack
    }
}

/// The molecules with overlapping boxes.
struct Neighbors {
    boxes: BoxSet,
    grid: BoxGrid,
    pairs: PairBuffer,
    /// First neighbor of each molecule, and one entry more.
    first: Vec<u32>,
    /// Neighbors with a larger index of each molecule, sorted.
    others: Vec<u32>,
}

impl MoleculeSearch {
    /// Name for command lines and reports.
    pub const NAME: &str = "molecule-search";

    /// A search without molecules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A search that uses scalar code, the reference of the vector code.
    #[must_use]
    pub fn scalar() -> Self {
        Self {
            instructions: Instructions::Scalar,
            ..Self::default()
        }
    }

    /// Replaces the molecules. Nothing is remembered then.
    ///
    /// # Errors
    /// [`SphereError::TooMany`] if the spheres exceed a 32-bit index; there are no molecules then.
    pub fn set_molecules(
        &mut self,
        molecules: impl IntoIterator<Item = Arc<RigidSpheres>>,
    ) -> Result<(), SphereError> {
        self.forget();
        self.molecules.clear();
        self.molecules.extend(molecules);
        self.first_sphere.clear();
        self.first_sphere.push(0);
        let mut count = 0;
        for molecule in &self.molecules {
            count += molecule.len();
            self.first_sphere.push(count as u32);
        }
        if count >= u32::MAX as usize {
            self.molecules.clear();
            self.first_sphere.clear();
            return Err(SphereError::TooMany { count });
        }
        Ok(())
    }

    /// The molecules.
    #[must_use]
    pub fn molecules(&self) -> &[Arc<RigidSpheres>] {
        &self.molecules
    }

    /// The cell around `point` (nm) of the grid that the neighbors were found with, for drawing;
    /// `None` if there is none.
    #[must_use]
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.neighbors.grid.cell_around(point)
    }

    /// Counted work of the last search.
    #[must_use]
    pub fn work(&self) -> SearchWork {
        self.work
    }

    /// Forgets everything, for instance to measure a search from scratch.
    pub fn forget(&mut self) {
        self.margin = None;
        for task in &mut self.tasks {
            task.pairs.clear();
            task.clusters.clear();
        }
    }

    /// All pairs of spheres of different molecules closer than their radii plus `margin` (nm),
    /// sorted. Indices count the spheres molecule by molecule.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_pairs(&mut self, poses: &[Pose], margin: f32) -> Result<Vec<Pair>, SearchError> {
        let mut lists: Vec<Vec<Pair>> = Vec::new();
        let sink = FoundPairsSink {
            parts: &mut lists,
            keep_unmoved: false,
            with_centers: false,
            clear: Vec::clear,
            receive: |list: &mut Vec<Pair>, found: &FoundPairs<'_>| {
                list.extend_from_slice(found.pairs);
            },
        };
        self.find(|molecule| poses[molecule], margin, sink)?;
        let mut pairs = lists.concat();
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// Finds all pairs of spheres of different molecules closer than their radii plus `margin`,
    /// nm. `pose` returns the pose of a molecule.
    ///
    /// # Errors
    /// [`SearchError`] if a pose is not finite, the margin is invalid, or too many spheres lie in
    /// one place; [`TooCrowded`](SearchError::TooCrowded) has the index of a molecule. The parts of
    /// the sink are undefined then.
    pub fn find<S: Default + Send>(
        &mut self,
        pose: impl Fn(usize) -> Pose + Sync,
        margin: f32,
        sink: FoundPairsSink<
            '_,
            S,
            impl Fn(&mut S) + Sync,
            impl Fn(&mut S, &FoundPairs<'_>) + Sync,
        >,
    ) -> Result<SearchTimes, SearchError> {
        let start = Instant::now();
        check_margin(margin)?;
        let found = self.update(pose, margin, sink, start);
        if found.is_err() {
            self.forget();
        }
        found
    }

    fn update<S: Default + Send>(
        &mut self,
        pose: impl Fn(usize) -> Pose + Sync,
        margin: f32,
        sink: FoundPairsSink<
            '_,
            S,
            impl Fn(&mut S) + Sync,
            impl Fn(&mut S, &FoundPairs<'_>) + Sync,
        >,
        start: Instant,
    ) -> Result<SearchTimes, SearchError> {
        let FoundPairsSink {
            parts,
            keep_unmoved,
            with_centers,
            clear,
            receive,
        } = sink;
        let tasks = self.molecules.len().div_ceil(MOLECULES_PER_TASK);
        let same_margin = self.margin == Some(margin);
        let keep = keep_unmoved && same_margin && parts.len() == tasks;
        if self.place(pose)? || !same_margin {
            self.find_neighbors(margin)?;
        }
        self.margin = Some(margin);
        let built = Instant::now();
        parts.resize_with(tasks, S::default);
        self.scratches.reserve();
        let scratches = &self.scratches;
        let shared = Shared {
            molecules: &self.molecules,
            first_sphere: &self.first_sphere,
            placed: &self.placed,
            margin,
            with_centers,
            instructions: self.instructions,
            compared: AtomicU64::new(0),
        };
        self.tasks
            .par_iter_mut()
            .zip(parts)
            .for_each(|(task, part)| {
                if task.begin(&shared) || !keep {
                    clear(part);
                    scratches.with(|scratch| {
                        task.run(&shared, scratch, |found| receive(part, found));
                    });
                }
            });
        self.work = SearchWork::default();
        for task in &self.tasks {
            self.work.molecule_pairs += task.pairs.len() as u64;
            self.work.renewed += task.renewed;
            self.work.cluster_pairs += task.clusters.len() as u64;
            self.work.sphere_pairs += task.compared;
            self.work.bytes += task.bytes();
        }
        self.work.bytes += self.scratches.bytes();
        self.work.bytes += (self.placed.capacity() * size_of::<PlacedMolecule>()) as u64;
        if shared.compared.into_inner() > MAX_COMPARISONS {
            return Err(self.crowding_error());
        }
        Ok(SearchTimes::of(start, built))
    }

    /// Places the molecules; returns whether one has left its box.
    fn place(&mut self, pose: impl Fn(usize) -> Pose + Sync) -> Result<bool, SearchError> {
        let anew = self.margin.is_none() || self.placed.len() != self.molecules.len();
        if anew {
            self.placed.clear();
            let molecules = self.molecules.iter().enumerate();
            self.placed.extend(
                molecules.map(|(index, molecule)| PlacedMolecule::new(pose(index), molecule)),
            );
            self.check_placed()?;
            return Ok(true);
        }
        let (left, valid) = self
            .placed
            .par_iter_mut()
            .zip(&self.molecules)
            .enumerate()
            .with_min_len(1024)
            .map(|(index, (placed, molecule))| {
                placed.move_to(pose(index), molecule);
                (placed.has_left(molecule), placed.is_valid())
            })
            .reduce(
                || (false, true),
                |one, other| (one.0 || other.0, one.1 && other.1),
            );
        if !valid {
            self.check_placed()?;
        }
        Ok(left)
    }

    fn check_placed(&self) -> Result<(), SearchError> {
        match self.placed.iter().position(|placed| !placed.is_valid()) {
            None => Ok(()),
            Some(molecule) => Err(SearchError::BadPose {
                molecule,
                pose: self.placed[molecule].pose,
            }),
        }
    }

    /// Finds the neighbors, and keeps what those that stay remember.
    fn find_neighbors(&mut self, margin: f32) -> Result<(), SearchError> {
        for (placed, molecule) in self.placed.iter_mut().zip(&self.molecules) {
            placed.reference = (placed.pose.position, placed.pose.rotation.to_array());
            placed.skin = NEIGHBOR_SKIN.width(placed.motion);
            let reach = 2.0 * molecule.bounding_radius() + margin;
            if reach > MAX_REACH_NM {
                return Err(SearchError::ReachTooLong { reach });
            }
        }
        self.neighbors.find(&self.placed, &self.molecules, margin)?;
        let keep = self.margin == Some(margin);
        let tasks = self.molecules.len().div_ceil(MOLECULES_PER_TASK);
        self.tasks.resize_with(tasks, Task::default);
        self.scratches.reserve();
        let scratches = &self.scratches;
        let (neighbors, molecules, placed) = (&self.neighbors, &self.molecules, &self.placed);
        let tasks = self.tasks.par_iter_mut().enumerate();
        let coincident: u64 = tasks
            .map(|(k, task)| {
                let first = k * MOLECULES_PER_TASK;
                let range = first..(first + MOLECULES_PER_TASK).min(molecules.len());
                scratches.with(|scratch| {
                    task.set_neighbors(range, neighbors, keep, &mut scratch.pairs);
                });
                let pairs = task.pairs.iter();
                pairs
                    .map(|pair| coincident_spheres(pair, molecules, placed))
                    .sum::<u64>()
            })
            .sum();
        if coincident > MAX_COMPARISONS {
            return Err(self.crowding_error());
        }
        Ok(())
    }

    /// The molecule that overlaps the most spheres.
    fn crowding_error(&self) -> SearchError {
        let mut overlapping = vec![0_u64; self.molecules.len()];
        for pair in self.tasks.iter().flat_map(|task| &task.pairs) {
            let [a, b] = [pair.a as usize, pair.b as usize];
            overlapping[a] += self.molecules[b].len() as u64;
            overlapping[b] += self.molecules[a].len() as u64;
        }
        let fullest = overlapping
            .iter()
            .zip(0..)
            .max_by_key(|(spheres, _)| **spheres);
        let (spheres, molecule) =
            fullest.map_or((0, 0), |(spheres, molecule)| (*spheres, molecule));
        let size = self.molecules.get(molecule as usize);
        SearchError::TooCrowded {
            sphere: molecule,
            spheres: u32::try_from(spheres).unwrap_or(u32::MAX),
            reach: size.map_or(0.0, |molecule| 2.0 * molecule.bounding_radius()),
        }
    }
}

impl PlacedMolecule {
    fn new(pose: Pose, molecule: &RigidSpheres) -> Self {
        let mut placed = Self {
            pose,
            rotation: Mat3::IDENTITY,
            reference: (pose.position, pose.rotation.to_array()),
            motion: 0.0,
            has_moved: true,
            skin: 0.0,
            rounding: 0.0,
        };
        placed.move_to(pose, molecule);
        placed
    }

    fn move_to(&mut self, pose: Pose, molecule: &RigidSpheres) {
        let size = molecule.bounding_radius();
        self.motion = motion(&self.pose, &pose, size);
        self.has_moved = self.pose != pose;
        self.pose = pose;
        self.rotation = Mat3::from_quat(pose.rotation);
        let farthest = pose.position.abs().max_element();
        // A quaternion that is not quite a rotation stretches the molecule.
        let stretch = (pose.rotation.length_squared() - 1.0).abs();
        self.rounding = ROUNDING * (farthest + size) + 4.0 * stretch * size;
    }

    /// Whether a sphere may have left the box.
    fn has_left(&self, molecule: &RigidSpheres) -> bool {
        let (position, rotation) = self.reference;
        let reference = Pose::new(position, Quat::from_array(rotation));
        // False for NaN.
        let inside = motion(&reference, &self.pose, molecule.bounding_radius()) <= self.skin;
        !inside
    }

    fn is_valid(&self) -> bool {
        self.pose.is_rigid() && self.rounding.is_finite()
    }
}

/// Number of pairs of spheres of two molecules that are nearly in the same place, else zero. Such
/// pairs are not counted one by one.
fn coincident_spheres(
    pair: &NeighborPair,
    molecules: &[Arc<RigidSpheres>],
    placed: &[PlacedMolecule],
) -> u64 {
    let [a, b] = [pair.a, pair.b].map(|index| &molecules[index as usize]);
    let [one, other] = [pair.a, pair.b].map(|index| placed[index as usize].pose.position);
    let near = 0.25 * a.bounding_radius().min(b.bounding_radius());
    if one.distance_squared(other) > near * near {
        return 0;
    }
    a.len() as u64 * b.len() as u64
}

/// Reserves headroom, so that a few more entries do not allocate.
pub(crate) fn keep_headroom<T>(list: &mut Vec<T>) {
    let headroom = list.len() / 4 + 4;
    if list.capacity() - list.len() < headroom {
        list.reserve_exact(2 * headroom);
    }
}

/// Bound on the motion of any point within `radius` (nm) of the origin of a body frame, nm.
#[inline]
fn motion(from: &Pose, to: &Pose, radius: f32) -> f32 {
    // Rotations by θ differ by 2 sin(θ/2) in the position of a point at distance 1, quaternions
    // by 2 sin(θ/4).
    let turn = chord(from.rotation, to.rotation);
    from.position.distance(to.position) + 2.0 * turn * radius
}

/// Distance of two quaternions; both signs mean the same rotation.
#[inline]
fn chord(one: Quat, other: Quat) -> f32 {
    let distance = (one - other).length_squared();
    distance.min((one + other).length_squared()).sqrt()
}

impl Default for Neighbors {
    fn default() -> Self {
        Self {
            boxes: BoxSet::new(),
            // The boxes have skins already.
            grid: BoxGrid::forgetful(),
            pairs: PairBuffer::new(),
            first: Vec::new(),
            others: Vec::new(),
        }
    }
}

impl Neighbors {
    fn find(
        &mut self,
        placed: &[PlacedMolecule],
        molecules: &[Arc<RigidSpheres>],
        margin: f32,
    ) -> Result<(), SearchError> {
        self.boxes.set_each(placed.len(), |index| {
            let placed = &placed[index];
            let (low, high) = molecules[index].rotated_box(&placed.rotation);
            let wider = 0.5 * margin + placed.skin + placed.rounding;
            let center = placed.pose.position;
            (center + low - wider, center + high + wider)
        })?;
        self.grid.find_box_pairs(&self.boxes, &mut self.pairs)?;
        // Boxes overlap at their corners, where molecules are rarely.
        self.pairs.retain(|pair| {
            let [a, b] = [pair.a, pair.b].map(|index| index as usize);
            let reach = |index: usize| {
                let placed: &PlacedMolecule = &placed[index];
                molecules[index].bounding_radius() + placed.skin + placed.rounding
            };
            let [from, to] = [a, b].map(|index| placed[index].pose.position);
            let limit = reach(a) + reach(b) + margin;
            // Rounding must not exclude a pair.
            from.distance_squared(to) <= limit * limit * (1.0 + 8.0 * f32::EPSILON)
        });
        // Counting sort by the first molecule.
        self.first.clear();
        self.first.resize(placed.len() + 1, 0);
        for pair in self.pairs.iter() {
            self.first[pair.a as usize + 1] += 1;
        }
        for k in 1..self.first.len() {
            self.first[k] += self.first[k - 1];
        }
        let total = self.first.last().map_or(0, |total| *total as usize);
        self.others.resize(total, 0);
        keep_headroom(&mut self.others);
        // Each entry moves from the first to the last neighbor of its molecule, ...
        for pair in self.pairs.iter() {
            let next = &mut self.first[pair.a as usize];
            self.others[*next as usize] = pair.b;
            *next += 1;
        }
        // ... which is where those of the next one begin.
        self.first.rotate_right(1);
        if let Some(first) = self.first.first_mut() {
            *first = 0;
        }
        Ok(())
    }
}

/// What all tasks of a search read.
struct Shared<'a> {
    molecules: &'a [Arc<RigidSpheres>],
    first_sphere: &'a [u32],
    placed: &'a [PlacedMolecule],
    margin: f32,
    with_centers: bool,
    instructions: Instructions,
    /// Number of pairs of spheres that finished tasks have compared.
    compared: AtomicU64,
}

impl Task {
    /// Replaces the neighbors. With `keep`, those that stay keep what they remember.
    fn set_neighbors(
        &mut self,
        molecules: std::ops::Range<usize>,
        neighbors: &Neighbors,
        keep: bool,
        previous: &mut Vec<NeighborPair>,
    ) {
        self.has_new_neighbors = true;
        previous.clear();
        previous.append(&mut self.pairs);
        let mut previous = previous.iter().peekable();
        for a in molecules {
            let start = self.pairs.len();
            let range = neighbors.first[a] as usize..neighbors.first[a + 1] as usize;
            let others = &neighbors.others[range];
            self.pairs
                .extend(others.iter().map(|&b| NeighborPair::new(a as u32, b)));
            self.pairs[start..].sort_unstable_by_key(|pair| pair.b);
            if !keep {
                continue;
            }
            for pair in &mut self.pairs[start..] {
                let key = (pair.a, pair.b);
                while previous.next_if(|old| (old.a, old.b) < key).is_some() {}
                if let Some(old) = previous.next_if(|old| (old.a, old.b) == key) {
                    *pair = *old;
                }
            }
        }
        keep_headroom(&mut self.pairs);
    }

    /// Begins a search; returns whether neighbors have moved.
    fn begin(&mut self, shared: &Shared<'_>) -> bool {
        (self.renewed, self.compared) = (0, 0);
        let has_moved = |molecule: u32| shared.placed[molecule as usize].has_moved;
        let changed = std::mem::take(&mut self.has_new_neighbors);
        changed
            || self
                .pairs
                .iter()
                .any(|pair| has_moved(pair.a) || has_moved(pair.b))
    }

    /// Finds the pairs of spheres of all neighbors.
    fn run(
        &mut self,
        shared: &Shared<'_>,
        scratch: &mut Scratch,
        mut receive: impl FnMut(&FoundPairs<'_>),
    ) {
        scratch.clusters.clear();
        scratch.comparison.compared = 0;
        // Counted by task: an atomic that all threads change is slow.
        let before = shared.compared.load(Ordering::Relaxed);
        for at in 0..self.pairs.len() {
            let mut pair = self.pairs[at];
            let compared = self.find_between(&mut pair, shared, scratch);
            self.pairs[at] = pair;
            let Comparison {
                pairs,
                gaps,
                centers,
                ..
            } = &scratch.comparison;
            if compared && !pairs.is_empty() {
                receive(&FoundPairs {
                    a: pair.a,
                    b: pair.b,
                    pairs,
                    gaps,
                    centers,
                });
            }
            if before + scratch.comparison.compared > MAX_COMPARISONS {
                break;
            }
        }
        self.clusters.clear();
        self.clusters.extend_from_slice(&scratch.clusters);
        keep_headroom(&mut self.clusters);
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
        let relative = Pose::new(
            inverse * (other.pose.position - one.pose.position),
            inverse * other.pose.rotation,
        );
        let valid = pair.is_valid(&relative, shared.molecules[b].bounding_radius());
        let first = kept.len() as u32;
        if valid {
            let range = pair.first as usize..(pair.first + pair.len) as usize;
            pair.first = first;
            if range.is_empty() {
                return false;
            }
            kept.extend_from_slice(&self.clusters[range]);
        }
        let placed = PlacedPair {
            a: &shared.molecules[a],
            b: &shared.molecules[b],
            relative: Frame {
                rotation: one.rotation.transpose() * other.rotation,
                position: relative.position,
            },
            world: [one, other].map(|placed| Frame {
                rotation: placed.rotation,
                position: placed.pose.position,
            }),
            first_sphere: [a, b].map(|index| shared.first_sphere[index]),
            margin: shared.margin,
            rounding: one.rounding + other.rounding,
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

    fn bytes(&self) -> u64 {
        let pairs = self.pairs.capacity() * size_of::<NeighborPair>();
        let clusters = self.clusters.capacity() * size_of::<ClusterPair>();
        (pairs + clusters + size_of::<Self>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// What is found with some instructions: pairs in order, and the bits of gaps and centers.
    fn found(
        instructions: Instructions,
        molecules: &[Arc<RigidSpheres>],
        poses: &[Pose],
    ) -> Vec<Vec<(Pair, u32, [[u32; 3]; 2])>> {
        let mut search = MoleculeSearch {
            instructions,
            ..MoleculeSearch::default()
        };
        search.set_molecules(molecules.iter().cloned()).unwrap();
        let mut parts = Vec::new();
        // The first search compares all clusters, the second those that are remembered.
        for _ in 0..2 {
            let sink = FoundPairsSink {
                parts: &mut parts,
                keep_unmoved: false,
                with_centers: true,
                clear: Vec::clear,
                receive: |part: &mut Vec<_>, found: &FoundPairs<'_>| {
                    let gaps = found.gaps.iter().zip(found.centers);
                    part.extend(found.pairs.iter().zip(gaps).map(|(pair, (gap, centers))| {
                        let bits = centers.map(|center| center.to_array().map(f32::to_bits));
                        (*pair, gap.to_bits(), bits)
                    }));
                },
            };
            search.find(|molecule| poses[molecule], 0.02, sink).unwrap();
        }
        parts
    }

    #[test]
    fn all_instructions_find_the_same_bits_in_the_same_order() {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        // Less than a cluster, one, several, and more than a vector of clusters.
        let molecules = [1, 5, 16, 17, 90, 400].map(|spheres: usize| {
            let size = 0.25 * (spheres as f32).cbrt();
            let spheres = (0..spheres).map(|_| {
                let center = [(); 3].map(|()| size * (random.random::<f32>() - 0.5));
                (
                    Vec3::from_array(center),
                    0.05 + 0.1 * random.random::<f32>(),
                )
            });
            Arc::new(RigidSpheres::new(spheres.collect::<Vec<_>>()).unwrap())
        });
        let molecules: Vec<_> = (0..60).map(|k| molecules[k % 6].clone()).collect();
        let poses: Vec<Pose> = molecules
            .iter()
            .map(|_| {
                let [x, y, z, a, b, c] = [(); 6].map(|()| random.random::<f32>());
                let turn = Quat::from_scaled_axis(6.0 * Vec3::new(a, b, c));
                Pose::new(Vec3::new(x, y, z) * 4.0, turn)
            })
            .collect();
        let expected = found(Instructions::Scalar, &molecules, &poses);
        assert!(expected.iter().flatten().count() > 1000);
        for instructions in Instructions::available() {
            let same = found(instructions, &molecules, &poses) == expected;
            assert!(same, "{instructions:?}");
        }
    }
}
