//! Contacts of rigid molecules: molecules first, then clusters of spheres, then spheres.
//!
//! [`MoleculeSearch`] finds the overlapping spheres of different molecules, as a
//! [`PairSearch`](super::PairSearch) does over the spheres of all molecules, without placing them
//! in the world. It remembers what is close:
//!
//! 1. *Neighbors.* A grid of boxes finds the molecules that may touch. The boxes are wider than
//!    needed by a *skin*, so the neighbors stay valid until a molecule has left its box. A few that
//!    have left theirs are compared with all others; after more, the grid finds all neighbors again.
//! 2. *Clusters.* The spheres of a molecule are grouped into clusters of 16 once
//!    ([`RigidSpheres`]). Two neighbors remember which of their clusters have spheres within reach
//!    plus a skin. The list stays valid until the two have moved and turned against each other by
//!    more than the skin; a pile that drifts or rotates as a whole does not invalidate it.
//! 3. *Spheres.* The spheres of the remembered clusters are compared in the frame of the first
//!    molecule, 16 at a time, with a margin for rounding. What is found is checked with the same
//!    expressions as in a grid over all spheres, so the result is the same bit for bit.
//!
//! When molecules are added or removed, what is remembered of the others stays
//! ([`MoleculeSearch::update_molecules`]).
//!
//! Molecules that have not moved at all keep their result. Lists of clusters instead of spheres
//! are due to S. Páll and B. Hess, *A flexible algorithm for calculating pair interactions on SIMD
//! architectures*, 2013; that the clusters of rigid molecules never change is used here.
//!
//! # Periodic boxes
//!
//! In a [`PeriodicBox`], the neighbors of a molecule are images of others: each molecule and image
//! is a pair of its own, found by ghosts around the wrapped molecules. The spheres of a pair are
//! compared relative to its first molecule, so gaps are as accurate far outside of the box.
//!
//! # Skins
//!
//! A wide skin means more to compare, a narrow one more lists to renew. Both skins are a number of
//! substeps times the motion of the molecules in the last one, within limits. The result does not
//! depend on them.

mod cluster_compare;
mod images;
mod molecule_pair_search;
mod neighbors;
mod pairs_by_molecules;
mod placed_molecule;
mod renumbering;
mod rigid_spheres;
mod scratch;
mod task;
mod time_of_impact;
mod wide;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use glam::Vec3;
use rayon::prelude::*;

use super::uniform_grid::MAX_COMPARISONS;
use super::uniform_grid::simd::Instructions;
use super::{GridCell, Pair, SearchError, SearchTimes, check_margin};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::spheres::SphereError;
use images::Image;
pub(crate) use molecule_pair_search::MoleculePairSearch;
use neighbors::Neighbors;
pub(crate) use pairs_by_molecules::PairsByMolecules;
use placed_molecule::PlacedMolecule;
#[cfg(feature = "gpu")]
pub(crate) use placed_molecule::ROUNDING;
use renumbering::{Renumbering, ranges_of};
#[cfg(feature = "gpu")]
pub(crate) use rigid_spheres::CLUSTER;
pub use rigid_spheres::RigidSpheres;
use scratch::Scratches;
pub(crate) use scratch::keep_headroom;
use task::{NeighborPair, Shared, Task, TaskEvent};
pub(crate) use time_of_impact::min_closing_time;
pub use time_of_impact::{
    IMPACT_TOLERANCE_NM, Impact, MovingMolecule, first_impact, visit_impacts,
};

/// Largest number of new molecules whose boxes are compared with all others, eight at a time. A grid
/// finds the neighbors of more of them faster.
const MAX_COMPARED_WITH_ALL: usize = 128;

/// If more than one molecule of this many has left its box, a grid finds all neighbors.
const MOLECULES_PER_STRAY: usize = 16;

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
    periodic: Option<PeriodicBox>,
    placed: Vec<PlacedMolecule>,
    tasks: Vec<Task>,
    scratches: Scratches,
    /// Margin of the last search, nm; none if nothing is remembered.
    margin: Option<f32>,
    /// Molecules that are new since the last search, sorted.
    new: Vec<u32>,
    /// Number of molecules that left their boxes since all neighbors were found.
    strays: usize,
    /// Number of tasks of the last search.
    searched_tasks: usize,
    /// The task of the last search that each task was; none if the tasks have not changed.
    origins: Option<Vec<Option<u32>>>,
    /// Upper bound on the pairs of spheres that are nearly in the same place.
    coincident: u64,
    neighbors: Neighbors,
    instructions: Instructions,
    work: SearchWork,
}

/// Counted work of the last search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchWork {
    /// Pairs of molecules with overlapping boxes.
    pub molecule_pairs: u64,
    /// Pairs of molecules whose clusters were compared again.
    pub renewed: u64,
    /// Pairs of clusters that are remembered.
    pub cluster_pairs: u64,
    /// Pairs of spheres that were compared.
    pub sphere_pairs: u64,
    /// Memory of what is remembered, bytes.
    pub bytes: u64,
    /// Memory of the remembered pairs of clusters among it, bytes: it grows with the contacts.
    pub cluster_bytes: u64,
}

/// Overlapping spheres of two molecules. In a periodic box, of the first with an image of the
/// second.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FoundPairs<'a> {
    /// The molecule with the smaller index.
    pub a: u32,
    /// The molecule with the larger index.
    pub b: u32,
    /// Translation of the second to its image next to the first, nm; zero without a periodic box.
    pub shift: Vec3,
    /// The pairs, in an order that depends on the clusters of the two molecules only.
    pub pairs: &'a [Pair],
    /// Their gaps, nm; negative where the spheres overlap.
    pub gaps: &'a [f32],
    /// The centers of both spheres in the world, nm; empty if not requested. Those of the second
    /// molecule are in its image next to the first.
    pub centers: &'a [[Vec3; 2]],
}

/// Where a [`MoleculeSearch`] writes what it finds: a list of `S`, of which each receives the pairs
/// of some consecutive molecules.
pub struct FoundPairsSink<'a, S, U, C, K, R> {
    /// Resized to as many as needed.
    pub parts: &'a mut Vec<S>,
    /// Whether a part may stay as it is if its molecules and their neighbors have not moved since
    /// the last search. The other parts are cleared.
    pub keep_unmoved: U,
    /// Whether the parts need the centers of the spheres.
    pub with_centers: bool,
    /// Removes what a part has received.
    pub clear: C,
    /// Adds what a part had received of two molecules before it was cleared, and returns true, or
    /// returns false if it does not know. Called instead of `receive` for molecules that have not
    /// moved since the last search, except in a periodic box.
    pub repeat: K,
    /// Adds the pairs of two molecules to a part. They come sorted by `a`, then `b`, then by image.
    pub receive: R,
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
        self.count_spheres()
    }

    /// Replaces the molecules, some of which stay: `molecules` has each with its previous index
    /// if it stays. What is remembered of those that stay in the same order with the same spheres
    /// is kept, so that the next search compares only new molecules from scratch.
    ///
    /// The indices of molecules and spheres in the parts of a [`FoundPairsSink`] are previous ones.
    /// If it keeps unmoved parts or repeats pairs, the caller replaces them before the next search.
    ///
    /// # Errors
    /// As [`set_molecules`](Self::set_molecules).
    pub fn update_molecules<'a>(
        &mut self,
        molecules: impl IntoIterator<Item = (&'a Arc<RigidSpheres>, Option<u32>)>,
    ) -> Result<(), SphereError> {
        let renumbering = Renumbering::replace(&mut self.molecules, molecules);
        if self.margin.is_some() {
            let (tasks, molecules) = (&mut self.tasks, &self.molecules);
            let is_periodic = self.periodic.is_some();
            let origins = renumbering.apply_to_tasks(tasks);
            let previous = self.origins.take();
            self.origins = Some(match previous {
                None => origins,
                Some(previous) => {
                    let before = |task: u32| previous[task as usize];
                    origins.iter().map(|task| task.and_then(before)).collect()
                }
            });
            renumbering.apply(&mut self.placed, |index| {
                PlacedMolecule::new(Pose::IDENTITY, &molecules[index], is_periodic)
            });
            self.neighbors.renumber(&renumbering);
            self.new = renumbering.new_molecules(&self.new);
        }
        self.count_spheres()
    }

    /// Sets the box that repeats in space; `None` for open space. Nothing is remembered after a
    /// change. Poses may be anywhere; they are not wrapped.
    pub fn set_periodic_box(&mut self, periodic_box: Option<PeriodicBox>) {
        if self.periodic != periodic_box {
            self.periodic = periodic_box;
            self.forget();
        }
    }

    /// The box that repeats in space.
    #[must_use]
    pub fn periodic_box(&self) -> Option<PeriodicBox> {
        self.periodic
    }

    /// Counts the spheres; removes all molecules if there are too many.
    fn count_spheres(&mut self) -> Result<(), SphereError> {
        self.first_sphere.clear();
        self.first_sphere.push(0);
        let mut count = 0;
        for molecule in &self.molecules {
            count += molecule.len();
            self.first_sphere.push(count as u32);
        }
        if count >= u32::MAX as usize {
            self.forget();
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
    /// `None` if there is none. In a periodic box, that around the wrapped point.
    #[must_use]
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        let point = self.periodic.map_or(point, |periodic| periodic.wrap(point));
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
        self.new.clear();
        self.origins = None;
        for task in &mut self.tasks {
            task.pairs.clear();
            task.clusters.clear();
        }
    }

    /// All pairs of spheres of different molecules closer than their radii plus `margin` (nm),
    /// sorted. Indices count the spheres molecule by molecule. In a periodic box, a pair is listed
    /// once for each image in which it is that close.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_pairs(&mut self, poses: &[Pose], margin: f32) -> Result<Vec<Pair>, SearchError> {
        let mut lists: Vec<Vec<Pair>> = Vec::new();
        let sink = FoundPairsSink {
            parts: &mut lists,
            keep_unmoved: |_: &Vec<Pair>| false,
            with_centers: false,
            clear: Vec::clear,
            repeat: |_: &mut Vec<Pair>, _| false,
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
    /// nm. `pose` returns the pose of a molecule. A molecule does not meet its own images.
    ///
    /// # Errors
    /// [`SearchError`] if a pose is not finite, the margin is invalid, a molecule is larger than the
    /// periodic box or too far away from it, or too many spheres lie in one place; [`TooCrowded`](SearchError::TooCrowded) has the index of a molecule. The parts of
    /// the sink are undefined then.
    pub fn find<S: Default + Send>(
        &mut self,
        pose: impl Fn(usize) -> Pose + Sync,
        margin: f32,
        sink: FoundPairsSink<
            '_,
            S,
            impl Fn(&S) -> bool + Sync,
            impl Fn(&mut S) + Sync,
            impl Fn(&mut S, [u32; 2]) -> bool + Sync,
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
            impl Fn(&S) -> bool + Sync,
            impl Fn(&mut S) + Sync,
            impl Fn(&mut S, [u32; 2]) -> bool + Sync,
            impl Fn(&mut S, &FoundPairs<'_>) + Sync,
        >,
        start: Instant,
    ) -> Result<SearchTimes, SearchError> {
        let FoundPairsSink {
            parts,
            keep_unmoved,
            with_centers,
            clear,
            repeat,
            receive,
        } = sink;
        let same_margin = self.margin == Some(margin);
        let max_new = match self.periodic {
            None => MAX_COMPARED_WITH_ALL,
            // There may be ghosts of the others.
            Some(_) => 0,
        };
        let has_left = self.place(pose)?;
        let is_known = same_margin && self.new.len() <= max_new;
        if is_known && (!has_left || self.add_strays(max_new)) {
            self.find_new_neighbors(margin)?;
        } else {
            self.find_neighbors(margin)?;
        }
        self.new.clear();
        self.margin = Some(margin);
        let built = Instant::now();
        let keep = same_margin && parts.len() == self.searched_tasks;
        if let Some(origins) = self.origins.take() {
            let mut previous = std::mem::take(parts);
            parts.extend(origins.iter().map(|origin| {
                let part = origin.and_then(|task| previous.get_mut(task as usize));
                part.map(std::mem::take).unwrap_or_default()
            }));
        }
        self.searched_tasks = self.tasks.len();
        parts.resize_with(self.searched_tasks, S::default);
        self.scratches.reserve();
        let scratches = &self.scratches;
        let shared = Shared {
            molecules: &self.molecules,
            first_sphere: &self.first_sphere,
            placed: &self.placed,
            periodic: self.periodic,
            margin,
            with_centers,
            instructions: self.instructions,
            compared: AtomicU64::new(0),
        };
        self.tasks
            .par_iter_mut()
            .zip(parts)
            .for_each(|(task, part)| {
                if task.begin(&shared) || !keep || !keep_unmoved(part) {
                    clear(part);
                    scratches.with(|scratch| {
                        task.run(&shared, scratch, keep, |event| match event {
                            TaskEvent::Unmoved(molecules) => repeat(part, molecules),
                            TaskEvent::Found(found) => {
                                receive(part, found);
                                true
                            }
                        });
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
            self.work.cluster_bytes += task.cluster_bytes();
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
        let is_periodic = self.periodic.is_some();
        let is_first = self.margin.is_none() || self.placed.len() != self.molecules.len();
        if is_first {
            let tasks = ranges_of(0..self.molecules.len() as u32);
            self.tasks.truncate(tasks.size_hint().0);
            self.tasks.resize_with(tasks.size_hint().0, Task::default);
            for (task, molecules) in self.tasks.iter_mut().zip(tasks) {
                task.molecules = molecules;
            }
            self.placed.clear();
            let molecules = self.molecules.iter().enumerate();
            self.placed.extend(
                molecules.map(|(index, molecule)| {
                    PlacedMolecule::new(pose(index), molecule, is_periodic)
                }),
            );
            self.check_placed()?;
            return Ok(true);
        }
        for &index in &self.new {
            let index = index as usize;
            let molecule = &self.molecules[index];
            self.placed[index] = PlacedMolecule::new(pose(index), molecule, is_periodic);
        }
        let (left, valid) = self
            .placed
            .par_iter_mut()
            .zip(&self.molecules)
            .enumerate()
            .with_min_len(1024)
            .map(|(index, (placed, molecule))| {
                placed.move_to(pose(index), molecule, is_periodic);
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

    /// Counts molecules that have left their boxes as new. Returns false if they are too many, or
    /// if so many were counted that what is remembered of them would grow.
    fn add_strays(&mut self, max_new: usize) -> bool {
        let placed = self.placed.iter().zip(&self.molecules).zip(0..);
        let strays = placed.filter(|((placed, molecule), _)| placed.has_left(molecule));
        let before = self.new.len();
        self.new.extend(strays.map(|(_, index)| index));
        self.strays += self.new.len() - before;
        self.new.sort_unstable();
        self.new.dedup();
        let max_new = max_new.min(self.molecules.len() / MOLECULES_PER_STRAY);
        self.new.len() <= max_new && self.strays <= self.molecules.len()
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

    /// Finds the neighbors. Pairs that are still neighbors keep their clusters.
    fn find_neighbors(&mut self, margin: f32) -> Result<(), SearchError> {
        self.strays = 0;
        let periodic = self.periodic;
        for (placed, molecule) in self.placed.iter_mut().zip(&self.molecules) {
            placed.renew_skin(molecule, margin, periodic)?;
        }
        if let Some(periodic) = periodic {
            check_sizes(&self.molecules, margin, periodic)?;
        }
        self.neighbors
            .find(&self.placed, &self.molecules, margin, periodic)?;
        let keep = self.margin == Some(margin);
        self.scratches.reserve();
        let scratches = &self.scratches;
        let (neighbors, molecules, placed) = (&self.neighbors, &self.molecules, &self.placed);
        self.coincident = self
            .tasks
            .par_iter_mut()
            .map(|task| {
                scratches.with(|scratch| {
                    task.set_neighbors(neighbors, keep, &mut scratch.pairs);
                });
                let pairs = task.pairs.iter();
                pairs
                    .map(|pair| coincident_spheres(pair, molecules, placed, periodic))
                    .sum::<u64>()
            })
            .sum();
        if self.coincident > MAX_COMPARISONS {
            return Err(self.crowding_error());
        }
        Ok(())
    }

    /// Finds the neighbors of new molecules in open space.
    fn find_new_neighbors(&mut self, margin: f32) -> Result<(), SearchError> {
        if self.new.is_empty() {
            return Ok(());
        }
        let (molecules, placed) = (&self.molecules, &mut self.placed);
        for &index in &self.new {
            let index = index as usize;
            placed[index].renew_skin(&molecules[index], margin, None)?;
        }
        let found = self
            .neighbors
            .find_new(&self.new, placed, molecules, margin)?;
        for Pair { a, b } in found {
            let task = self.tasks.partition_point(|task| task.molecules.end <= a);
            self.tasks[task].add_neighbors(a, b);
            let pair = NeighborPair::new(a, b, Image::default());
            self.coincident += coincident_spheres(&pair, molecules, placed, None);
        }
        if self.coincident > MAX_COMPARISONS {
            // Some of them may be gone by now.
            return self.find_neighbors(margin);
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

/// Checks that no molecule is close enough to its own images to touch them.
fn check_sizes(
    molecules: &[Arc<RigidSpheres>],
    margin: f32,
    periodic: PeriodicBox,
) -> Result<(), SearchError> {
    let edge = periodic.size().min_element();
    let sizes = molecules.iter().enumerate();
    for (molecule, spheres) in sizes {
        let diameter = 2.0 * spheres.bounding_radius() + margin;
        if diameter > edge {
            return Err(SearchError::LargerThanBox {
                molecule,
                diameter,
                edge,
            });
        }
    }
    Ok(())
}

/// Number of pairs of spheres of two molecules that are nearly in the same place, else zero. Such
/// pairs are not counted one by one.
fn coincident_spheres(
    pair: &NeighborPair,
    molecules: &[Arc<RigidSpheres>],
    placed: &[PlacedMolecule],
    periodic: Option<PeriodicBox>,
) -> u64 {
    let [a, b] = [pair.a, pair.b].map(|index| &molecules[index as usize]);
    let [one, other] = [pair.a, pair.b].map(|index| &placed[index as usize]);
    let near = 0.25 * a.bounding_radius().min(b.bounding_radius());
    let offset = one.offset_to(other, pair.image, periodic);
    if offset.length_squared() > near * near {
        return 0;
    }
    a.len() as u64 * b.len() as u64
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use glam::Quat;

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
        // The first search compares all clusters, the second only remembered ones.
        for _ in 0..2 {
            let sink = FoundPairsSink {
                parts: &mut parts,
                keep_unmoved: |_: &Vec<_>| false,
                with_centers: true,
                clear: Vec::clear,
                repeat: |_: &mut Vec<_>, _| false,
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
