//! From bounding spheres to atoms.
//!
//! 1. bounding spheres of all molecules, searched by a grid: pairs of molecules;
//! 2. proxies and leaves move to where their molecules are;
//! 3. for each pair of molecules: proxies against proxies, where they touch leaves against
//!    leaves, and where these touch atoms against atoms.
//!
//! Atoms are moved and compared by the expressions of [`SphereSet`] and of the grids, so
//! that the pairs are the same to the last bit. Spheres around them are moved by themselves,
//! which rounds otherwise: they reach a little further than they need to.

use std::time::Instant;

use glam::{Mat3, Vec3};
use rayon::prelude::*;

use super::hierarchy::{ProxyHierarchy, Tier};
use super::search::PlacedMolecule;
use crate::search::blocks::{BlockPair, Blocks};
use crate::search::{
    AutoGrid, Pair, PairBuffer, PairSearch, SearchError, SearchTimes, check_margin,
};
use crate::spheres::SphereSet;

/// Pairs of molecules that one task looks at: fixed, so that nothing depends on threads.
const PAIRS_PER_TASK: usize = 32;

/// How much rounding may part an atom from the sphere around it, relative to the largest
/// coordinate: two transforms of five roundings each, and some for what follows.
const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// Finds pairs of atoms by way of the spheres around them.
pub(super) struct Refiner {
    trees: Vec<ProxyHierarchy>,
    grid: AutoGrid,
    bounds: SphereSet,
    near: PairBuffer,
    /// Pairs of molecules, in order.
    pairs: Vec<Pair>,
    /// Templates of the molecules that the tiers are laid out for.
    laid_out: Vec<u32>,
    proxies: Moved,
    leaves: Moved,
}

/// Spheres of one tier of all molecules, in the world.
#[derive(Default)]
struct Moved {
    /// First sphere of each molecule, and one entry more.
    first: Vec<u32>,
    spheres: SphereSet,
}

/// A sphere in the world, nm.
#[derive(Clone, Copy)]
struct Sphere {
    center: Vec3,
    radius: f32,
}

impl Sphere {
    #[inline]
    fn touches(&self, other: &Self, margin: f32) -> bool {
        let reach = self.radius + other.radius + margin;
        self.center.distance_squared(other.center) <= reach * reach
    }
}

impl Moved {
    /// Moves one tier of all molecules to where they are; `relaid` if they are others than
    /// last time.
    fn update<'a>(
        &mut self,
        molecules: &[PlacedMolecule],
        relaid: bool,
        tier: impl Fn(u32) -> &'a Tier + Sync,
    ) -> Result<(), SearchError> {
        if relaid {
            let tiers = molecules.iter().map(|molecule| tier(molecule.template));
            self.spheres
                .lay_out(tiers.clone().map(|tier| &tier.radii[..]))?;
            self.first.clear();
            self.first.push(0);
            let mut sum = 0;
            for tier in tiers {
                sum += tier.radii.len() as u32;
                self.first.push(sum);
            }
        }
        self.spheres.place(&self.first, |k| {
            let PlacedMolecule { template, pose } = molecules[k];
            (&tier(template).centers[..], pose)
        });
        Ok(())
    }

    #[inline]
    fn sphere(&self, molecule: u32, index: usize) -> Sphere {
        let at = self.first[molecule as usize] as usize + index;
        Sphere {
            center: self.spheres.center(at),
            radius: self.spheres.radius(at),
        }
    }
}

impl Refiner {
    pub(super) fn new(trees: Vec<ProxyHierarchy>) -> Self {
        Self {
            trees,
            grid: AutoGrid::new(),
            bounds: SphereSet::new(),
            near: PairBuffer::new(),
            pairs: Vec::new(),
            laid_out: Vec::new(),
            proxies: Moved::default(),
            leaves: Moved::default(),
        }
    }

    /// Writes the pairs of atoms; `first_atom` is that of each molecule.
    pub(super) fn find_pairs(
        &mut self,
        molecules: &[PlacedMolecule],
        first_atom: &[u32],
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        check_margin(margin)?;
        let start = Instant::now();
        let slack = self.slack(molecules);
        self.find_near(molecules, margin + slack)?;
        let templates = molecules.iter().map(|molecule| molecule.template);
        let relaid = !self.laid_out.iter().copied().eq(templates.clone());
        if relaid {
            self.laid_out.clear();
        }
        let trees = &self.trees;
        self.proxies
            .update(molecules, relaid, |k| &trees[k as usize].proxies)?;
        self.leaves
            .update(molecules, relaid, |k| &trees[k as usize].leaves)?;
        if relaid {
            self.laid_out.extend(templates);
        }
        let built = Instant::now();
        let tasks = self.pairs.par_chunks(PAIRS_PER_TASK);
        let lists = pairs.start(tasks.len()).par_iter_mut();
        lists
            .zip(tasks)
            .for_each_init(Scratch::default, |scratch, (list, near)| {
                for &pair in near {
                    let meeting = Meeting {
                        refiner: self,
                        molecules: [pair.a, pair.b],
                        placed: [pair.a, pair.b].map(|k| &molecules[k as usize]),
                        first_atom: [pair.a, pair.b].map(|k| first_atom[k as usize]),
                        slack,
                        margin,
                    };
                    meeting.find(scratch, list);
                }
            });
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }

    /// How much further spheres around atoms have to reach than in exact numbers, nm.
    fn slack(&self, molecules: &[PlacedMolecule]) -> f32 {
        let size =
            |molecule: &PlacedMolecule| self.trees[molecule.template as usize].bounding_radius;
        let largest = molecules.iter().map(size).fold(0.0, f32::max);
        let poses = molecules.iter().map(|molecule| molecule.pose);
        let farthest = poses.clone().map(|pose| pose.position.abs().max_element());
        let farthest = farthest.fold(0.0, f32::max);
        // A quaternion that is not quite a rotation stretches the molecule.
        let stretch = poses.map(|pose| (pose.rotation.length_squared() - 1.0).abs());
        let stretch = stretch.fold(0.0, f32::max);
        ROUNDING * (farthest + largest) + 4.0 * stretch * largest
    }

    /// Step 1.
    fn find_near(&mut self, molecules: &[PlacedMolecule], margin: f32) -> Result<(), SearchError> {
        self.bounds.clear();
        for (owner, molecule) in molecules.iter().enumerate() {
            let radius = self.trees[molecule.template as usize].bounding_radius;
            self.bounds
                .push(molecule.pose.position, radius, owner as u32)?;
        }
        self.grid.find_pairs(&self.bounds, margin, &mut self.near)?;
        self.pairs.clear();
        self.pairs.extend(self.near.iter());
        // Neighbors in memory, and an order that the grid does not decide.
        self.pairs.par_sort_unstable();
        Ok(())
    }
}

/// Memory of a task.
#[derive(Default)]
struct Scratch {
    /// Atoms of the leaves that touch.
    blocks: Blocks,
    touching: Vec<BlockPair>,
    /// Proxies of both molecules that may touch the other, with their numbers.
    near: [Vec<(Sphere, usize)>; 2],
    /// Leaves of two proxies that may touch the other, with their numbers.
    close: [Vec<(Sphere, usize)>; 2],
    /// Where the atoms of each leaf of both molecules are, if they are there.
    places: [Vec<(u32, u32)>; 2],
    /// Leaves whose place is to be forgotten.
    used: [Vec<u32>; 2],
}

/// A place that a leaf does not have.
const NOWHERE: (u32, u32) = (u32::MAX, u32::MAX);

/// Two molecules whose bounding spheres touch.
struct Meeting<'a> {
    refiner: &'a Refiner,
    molecules: [u32; 2],
    placed: [&'a PlacedMolecule; 2],
    first_atom: [u32; 2],
    slack: f32,
    margin: f32,
}

impl Meeting<'_> {
    fn tree(&self, side: usize) -> &ProxyHierarchy {
        &self.refiner.trees[self.placed[side].template as usize]
    }

    fn bound(&self, side: usize) -> Sphere {
        Sphere {
            center: self.placed[side].pose.position,
            radius: self.tree(side).bounding_radius,
        }
    }

    /// Step 3: appends the pairs of atoms to `list`.
    fn find(&self, scratch: &mut Scratch, list: &mut Vec<Pair>) {
        let reach = self.margin + self.slack;
        scratch.clear();
        // Proxies of each that touch the other's bounding sphere.
        let mut near = std::mem::take(&mut scratch.near);
        for (side, near) in near.iter_mut().enumerate() {
            let bound = self.bound(1 - side);
            let all = (0..self.tree(side).proxies.centers.len())
                .map(|k| (self.refiner.proxies.sphere(self.molecules[side], k), k));
            near.clear();
            near.extend(all.filter(|(sphere, _)| sphere.touches(&bound, reach)));
        }
        let [own, other] = &near;
        for &(a, k) in own {
            for &(b, l) in other {
                if a.touches(&b, reach) {
                    self.descend(scratch, [(a, k), (b, l)], reach);
                }
            }
        }
        scratch.near = near;
        scratch.blocks.compare(&scratch.touching, self.margin, list);
    }

    /// Leaves of two proxies that touch.
    fn descend(&self, scratch: &mut Scratch, proxies: [(Sphere, usize); 2], reach: f32) {
        let mut close = std::mem::take(&mut scratch.close);
        for (side, close) in close.iter_mut().enumerate() {
            let (partner, _) = proxies[1 - side];
            let leaves = self.tree(side).proxies.children(proxies[side].1);
            let moved = leaves.map(|k| (self.refiner.leaves.sphere(self.molecules[side], k), k));
            close.clear();
            close.extend(moved.filter(|(sphere, _)| sphere.touches(&partner, reach)));
        }
        let [own, other] = &close;
        for (sphere, one) in own {
            for (partner, two) in other {
                if sphere.touches(partner, reach) {
                    self.meet(scratch, [*one, *two], *partner, reach);
                }
            }
        }
        scratch.close = close;
    }

    /// Notes that two leaves touch, and fetches their atoms.
    fn meet(&self, scratch: &mut Scratch, leaves: [usize; 2], partner: Sphere, reach: f32) {
        let [a, b] = [0, 1].map(|side| {
            let leaf = leaves[side];
            let places = &mut scratch.places[side];
            if places.len() <= leaf {
                places.resize(leaf + 1, NOWHERE);
            }
            if places[leaf] == NOWHERE {
                let tree = self.tree(side);
                let atoms = &tree.atoms[tree.leaves.children(leaf)];
                let pose = self.placed[side].pose;
                // The expression that atoms are placed with everywhere.
                let rotation = Mat3::from_quat(pose.rotation);
                let start = scratch.blocks.len() as u32;
                for atom in atoms {
                    let world = rotation * atom.center + pose.position;
                    let index = self.first_atom[side] + atom.index;
                    scratch.blocks.push(world, atom.radius, side as u32, index);
                }
                places[leaf] = (start, scratch.blocks.len() as u32);
                scratch.used[side].push(leaf as u32);
            }
            let (start, end) = places[leaf];
            start..end
        });
        scratch.touching.push(BlockPair {
            a,
            b,
            center: partner.center,
            reach: partner.radius + reach,
        });
    }
}

impl Scratch {
    fn clear(&mut self) {
        self.blocks.clear();
        self.touching.clear();
        for (places, used) in self.places.iter_mut().zip(&mut self.used) {
            for leaf in used.drain(..) {
                places[leaf as usize] = NOWHERE;
            }
        }
    }
}
