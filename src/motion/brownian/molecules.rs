//! Diffusing molecules whose atoms never overlap.
//!
//! In a cell, molecules are closer to each other than their bounding spheres allow. So a
//! [coarse](BrownianSteps::Coarse) step consists of moves that are rejected where they end in an
//! overlap, as in simulations of crowded cytoplasm:
//!
//! 1. Displace and rotate every molecule at random.
//! 2. Find candidate pairs by bounding spheres that cover both the old and the new pose.
//! 3. Test the candidates atom by atom, at the new poses and on the way to them
//!    ([`first_impact`]). Both molecules of a pair that touches have collided and return to their
//!    old pose.
//! 4. Returned molecules may be in the way of others: repeat 3 for their pairs until no molecules
//!    touch. In the worst case all molecules are back at their old poses.
//!
//! Each round tests all pairs before any molecule returns, so the result does not depend on
//! the order of pairs or on the broad phase.
//!
//! [Fine](BrownianSteps::Fine) steps follow the molecules from collision to collision instead
//! (`fine_steps.rs`).
//!
//! Molecules do not jump through each other in a step of any length. But longer moves are
//! rejected more often, which slows diffusion down; [`BrownianMolecules::advance`] splits long
//! steps. Two molecules that overlap at the start of a step, such as those that have
//! [passed](CollisionOutcome::Pass) into each other, are compared at their new poses only, so that
//! they can separate.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "plugin")]
use bevy::prelude::ReflectDefault;
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;

use super::fine_steps::{BodyStart, FineStep, StepStart, to_pose};
use super::noise::{generator, normal, rotate};
use super::{BrownianParticle, Medium};
use crate::molecule::MoleculeTemplate;
use crate::motion::error::check_positive;
use crate::motion::overlap_shape::OverlapShape;
use crate::motion::time_of_impact::Wall;
use crate::motion::{CollisionOutcome, MotionError};
use crate::pose::{Pose, RigidMotion};
use crate::search::{AutoGrid, MovingMolecule, Pair, PairBuffer, PairSearch, first_impact};
use crate::spheres::SphereSet;

/// Standard deviation of the longest step along each axis, relative to the thickness of the
/// thinnest molecule: most moves between neighbors that do not touch are accepted.
const MAX_SPREAD: f64 = 0.125;

/// Candidate pairs per parallel task.
const PAIRS_PER_TASK: usize = 16;

/// A molecule that diffuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrownianMolecule {
    /// Index of its template.
    pub template: u32,
    /// Center of mass in the world, nm, and rotation.
    pub pose: Pose,
    /// Diffusion coefficient, nm²/s.
    pub diffusion: f64,
    /// Rotational diffusion coefficient, rad²/s.
    pub rotational_diffusion: f64,
}

impl BrownianMolecule {
    /// A molecule with the diffusion coefficients of a sphere of `radius` nm in a medium.
    #[must_use]
    pub fn in_medium(template: u32, pose: Pose, radius: f64, medium: &Medium) -> Self {
        Self {
            template,
            pose,
            diffusion: medium.translational(radius),
            rotational_diffusion: medium.rotational(radius),
        }
    }
}

/// How molecules collide within a step. Their atoms never overlap in either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "plugin",
    derive(bevy::prelude::Reflect),
    reflect(Clone, Debug, Default, PartialEq, Hash)
)]
pub enum BrownianSteps {
    /// A move that ends in an overlap, or passes through another molecule, is rejected. Default.
    #[default]
    Coarse,
    /// Fine-grained: molecules move to the earliest collision, bounce, and move on until the end of
    /// the step, so that collisions that follow from others in the same step are not missed. Takes
    /// longer; see the [module](crate::motion::brownian).
    Fine,
}

/// Statistics of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoleculeStepReport {
    /// Candidate pairs of the broad phase.
    pub candidates: u64,
    /// Pairs whose atoms were tested.
    pub tested: u64,
    /// Molecules that returned to their old pose.
    pub rejected: u64,
    /// Rounds until no molecules overlapped.
    pub rounds: u64,
    /// Collisions of two molecules.
    pub collisions: u64,
    /// Molecules that rested for the remainder of a [fine](BrownianSteps::Fine) step after too many
    /// collisions.
    pub rested: u64,
    /// Pairs that stuck together.
    pub stuck: u64,
    /// Number of steps; more than one if the time was split.
    pub steps: u64,
    /// Duration of the broad phase.
    pub broad_phase: Duration,
}

/// Decides outcomes of collisions and vetoes moves. Closures implement it for collisions:
/// `|pair: Pair| CollisionOutcome::Stick`.
pub trait MoveRules: Sync {
    /// The outcome of a collision of two molecules: of the first in a coarse step, of each in a
    /// fine one. In coarse steps they return to their old poses, unless they
    /// [pass](CollisionOutcome::Pass) through each other. In fine ones, molecules that
    /// [stick](CollisionOutcome::Stick) rest for the remainder of the step.
    fn collide(&mut self, _pair: Pair) -> CollisionOutcome {
        CollisionOutcome::Bounce
    }

    /// Whether a molecule may make a move. Called from any thread.
    fn may_move(&self, _molecule: u32, _from: &Pose, _to: &Pose) -> bool {
        true
    }
}

impl<F: FnMut(Pair) -> CollisionOutcome + Sync> MoveRules for F {
    fn collide(&mut self, pair: Pair) -> CollisionOutcome {
        self(pair)
    }
}

/// Molecules that move as one.
#[derive(Clone, Debug)]
struct Cluster {
    /// Sorted indices of its molecules; empty after merging into another cluster.
    members: Vec<u32>,
    /// Diffusion coefficient, nm²/s.
    diffusion: f64,
    /// Rotational diffusion coefficient, rad²/s.
    rotational_diffusion: f64,
}

impl Cluster {
    fn is_mobile(&self) -> bool {
        self.diffusion > 0.0 || self.rotational_diffusion > 0.0
    }
}

/// A proposed move of a molecule.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// Upper bound on the length of the path of its center, nm.
    length: f32,
    pose: Pose,
    precise_pose: (DVec3, DQuat),
    /// Motion about `center`, nm.
    motion: RigidMotion,
    center: Vec3,
}

/// Displacement, nm, rotation vector, radian, and center of rotation, nm, of a cluster.
type ClusterMove = [DVec3; 3];

/// Which clusters were rejected, all collisions, and the pairs that stick.
type StepOutcome = (Vec<bool>, Vec<Pair>, Vec<Pair>);

/// The moves of a fine-grained step before collisions.
struct FineMoves {
    turns: Vec<Option<ClusterMove>>,
    /// Clusters that do not move in this step.
    is_vetoed: Vec<bool>,
    /// Distance that collisions may add to a move before candidates are searched again, nm.
    margin: f64,
}

/// Diffusing molecules.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
/// use bevy_rapier_molecules::motion::CollisionOutcome;
/// use bevy_rapier_molecules::motion::brownian::{
///     BrownianMolecule, BrownianMolecules, Medium, hydrodynamic_radius,
/// };
/// use bevy_rapier_molecules::motion::time_of_impact::Wall;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::search::Pair;
/// use glam::{DVec3, Vec3};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lipid = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
/// let radius = hydrodynamic_radius(f64::from(lipid.mass()));
/// // Two lipids close together, in a box of 10 nm.
/// let molecules = [-1.5, 1.5].map(|x| {
///     let pose = Pose::from_translation(Vec3::X * x);
///     BrownianMolecule::in_medium(0, pose, radius, &Medium::default())
/// });
/// let walls = Wall::box_faces(DVec3::splat(-5.0), DVec3::splat(5.0)).to_vec();
/// let mut brownian = BrownianMolecules::new(&[lipid.clone()], &molecules, walls, 7)?;
/// let shape = DockingMolecule::new(lipid);
/// for _ in 0..50 {
///     // 0.1 ns, split into shorter steps if necessary.
///     brownian.advance(1.0e-10, &mut |_: Pair| CollisionOutcome::Bounce)?;
///     let [one, other] = [0, 1].map(|index| brownian.molecules()[index].pose);
///     assert!(is_free(&shape, &one, &shape, &other));
/// }
/// assert_ne!(brownian.molecules()[0].pose, molecules[0].pose);
/// # Ok(())
/// # }
/// ```
pub struct BrownianMolecules {
    templates: Vec<OverlapShape>,
    molecules: Vec<BrownianMolecule>,
    walls: Vec<Wall>,
    seed: u64,
    kind: BrownianSteps,
    steps: u64,
    /// Poses in `f64`, so that displacements below the precision of `f32` add up.
    precise_poses: Vec<(DVec3, DQuat)>,
    clusters: Vec<Cluster>,
    /// Cluster of each molecule.
    cluster_of: Vec<u32>,
    collisions: Vec<Pair>,
    search: Box<dyn PairSearch>,
    spheres: SphereSet,
    pairs: PairBuffer,
}

/// The state of [`BrownianMolecules`], without their templates and walls.
#[derive(Clone, Debug)]
pub struct BrownianState {
    molecules: Vec<BrownianMolecule>,
    steps: u64,
    precise_poses: Vec<(DVec3, DQuat)>,
    clusters: Vec<Cluster>,
    cluster_of: Vec<u32>,
}

impl fmt::Debug for BrownianMolecules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrownianMolecules")
            .field("molecules", &self.molecules.len())
            .field("templates", &self.templates.len())
            .field("search", &self.search.name())
            .field("seed", &self.seed)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl BrownianMolecules {
    /// The current state, to [continue](Self::restore) from it later.
    #[must_use]
    pub fn state(&self) -> BrownianState {
        BrownianState {
            molecules: self.molecules.clone(),
            steps: self.steps,
            precise_poses: self.precise_poses.clone(),
            clusters: self.clusters.clone(),
            cluster_of: self.cluster_of.clone(),
        }
    }

    /// Continues from a previous state of the same molecules: the next steps are the same bit for
    /// bit. Returns false, and changes nothing, if their number or templates differ.
    pub fn restore(&mut self, state: &BrownianState) -> bool {
        let templates = |molecules: &[BrownianMolecule]| -> Vec<u32> {
            molecules.iter().map(|molecule| molecule.template).collect()
        };
        if templates(&state.molecules) != templates(&self.molecules) {
            return false;
        }
        self.molecules.clone_from(&state.molecules);
        self.steps = state.steps;
        self.precise_poses.clone_from(&state.precise_poses);
        self.clusters.clone_from(&state.clusters);
        self.cluster_of.clone_from(&state.cluster_of);
        self.collisions.clear();
        true
    }

    /// Molecules with these templates. `walls` stop their bounding spheres.
    ///
    /// # Errors
    /// [`MotionError`] if a template, a molecule or a wall is invalid.
    pub fn new(
        templates: &[Arc<MoleculeTemplate>],
        molecules: &[BrownianMolecule],
        walls: Vec<Wall>,
        seed: u64,
    ) -> Result<Self, MotionError> {
        Wall::check_all(&walls)?;
        let mut brownian = Self {
            templates: Vec::new(),
            molecules: Vec::new(),
            walls,
            seed,
            kind: BrownianSteps::default(),
            steps: 0,
            precise_poses: Vec::new(),
            clusters: Vec::new(),
            cluster_of: Vec::new(),
            collisions: Vec::new(),
            search: Box::new(AutoGrid::new()),
            spheres: SphereSet::new(),
            pairs: PairBuffer::new(),
        };
        for template in templates {
            brownian.add_template(template.clone())?;
        }
        brownian.set_molecules(molecules)?;
        Ok(brownian)
    }

    /// Adds a template and returns its index.
    ///
    /// # Errors
    /// [`MotionError::Proxy`] if it has no atoms, or too many.
    pub fn add_template(&mut self, template: Arc<MoleculeTemplate>) -> Result<u32, MotionError> {
        self.templates.push(OverlapShape::new(template)?);
        Ok(self.templates.len() as u32 - 1)
    }

    /// Replaces all molecules, and dissolves all clusters.
    ///
    /// # Errors
    /// [`MotionError`] if a molecule is invalid. Then nothing has changed.
    pub fn set_molecules(&mut self, molecules: &[BrownianMolecule]) -> Result<(), MotionError> {
        let count = molecules.len();
        u32::try_from(count).map_err(|_| MotionError::TooMany { count })?;
        for (molecule, index) in molecules.iter().zip(0..) {
            if molecule.template as usize >= self.templates.len() {
                return Err(MotionError::NoSuchTemplate {
                    molecule: index,
                    template: molecule.template,
                    count: self.templates.len(),
                });
            }
            BrownianParticle {
                radius: 0.0,
                diffusion: molecule.diffusion,
                rotational_diffusion: molecule.rotational_diffusion,
            }
            .check(index)?;
            check_pose(index, &molecule.pose)?;
        }
        self.molecules.clear();
        self.molecules.extend_from_slice(molecules);
        self.precise_poses.clear();
        self.precise_poses
            .extend(molecules.iter().map(|one| to_precise(&one.pose)));
        self.collisions.clear();
        let single = |(molecule, index): (&BrownianMolecule, u32)| Cluster {
            members: vec![index],
            diffusion: molecule.diffusion,
            rotational_diffusion: molecule.rotational_diffusion,
        };
        self.clusters = self.molecules.iter().zip(0..).map(single).collect();
        self.cluster_of = (0..count as u32).collect();
        Ok(())
    }

    /// Sets the pose of a molecule. A pose equal to the current one keeps its `f64` precision.
    ///
    /// # Errors
    /// [`MotionError`] if there is no such molecule, or the pose is invalid.
    pub fn set_pose(&mut self, molecule: u32, pose: Pose) -> Result<(), MotionError> {
        self.check_index(molecule)?;
        let index = molecule as usize;
        if self.molecules[index].pose != pose {
            check_pose(molecule, &pose)?;
            self.molecules[index].pose = pose;
            self.precise_poses[index] = to_precise(&pose);
        }
        Ok(())
    }

    /// Sets the random seed of the following steps.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Sets how molecules collide in the following steps.
    pub fn set_steps(&mut self, steps: BrownianSteps) {
        self.kind = steps;
    }

    /// Sets the broad phase, for example one on a GPU. Results do not depend on it. Default:
    /// [`AutoGrid`].
    pub fn set_search(&mut self, search: Box<dyn PairSearch>) {
        self.search = search;
    }

    /// The molecules.
    #[must_use]
    pub fn molecules(&self) -> &[BrownianMolecule] {
        &self.molecules
    }

    /// Pairs of molecules that collided in the last call of [`advance`](Self::advance),
    /// [`step`](Self::step) or [`step_with`](Self::step_with), sorted.
    #[must_use]
    pub fn collisions(&self) -> &[Pair] {
        &self.collisions
    }

    /// The cluster of a molecule: all molecules that stick to it, and itself.
    #[must_use]
    pub fn cluster(&self, molecule: u32) -> Option<&[u32]> {
        let cluster = *self.cluster_of.get(molecule as usize)?;
        Some(&self.clusters[cluster as usize].members)
    }

    /// All clusters, including single molecules, ordered by their first member.
    pub fn clusters(&self) -> impl Iterator<Item = &[u32]> + '_ {
        let members = self.clusters.iter().map(|one| one.members.as_slice());
        members.filter(|members| !members.is_empty())
    }

    /// Merges the clusters of two molecules at their current poses.
    ///
    /// # Errors
    /// [`MotionError::IndexOutOfRange`] if there is no such molecule.
    pub fn join(&mut self, one: u32, other: u32) -> Result<(), MotionError> {
        self.check_index(one)?;
        self.check_index(other)?;
        let [one, other] = [one, other].map(|index| self.cluster_of[index as usize]);
        if one == other {
            return Ok(());
        }
        let (kept, removed) = (one.min(other), one.max(other));
        let removed = &mut self.clusters[removed as usize];
        let members = std::mem::take(&mut removed.members);
        let (diffusion, rotational) = (removed.diffusion, removed.rotational_diffusion);
        for &member in &members {
            self.cluster_of[member as usize] = kept;
        }
        let kept = &mut self.clusters[kept as usize];
        kept.members.extend(members);
        kept.members.sort_unstable();
        kept.diffusion = (kept.diffusion.powi(-3) + diffusion.powi(-3)).powf(-1.0 / 3.0);
        kept.rotational_diffusion =
            (kept.rotational_diffusion.recip() + rotational.recip()).recip();
        Ok(())
    }

    fn check_index(&self, index: u32) -> Result<(), MotionError> {
        let count = self.molecules.len() as u32;
        if index < count {
            return Ok(());
        }
        Err(MotionError::IndexOutOfRange { index, count })
    }

    /// Center of rotation of a cluster, nm: the centroid of its members, weighted by their
    /// volume ~ 1 / D³, or unweighted if a member does not translate.
    fn center(&self, cluster: &Cluster) -> DVec3 {
        let volume = |member: u32| self.molecules[member as usize].diffusion.powi(-3);
        let has_volumes = cluster.members.iter().all(|&one| volume(one).is_finite());
        let weight = |member: u32| if has_volumes { volume(member) } else { 1.0 };
        let position = |member: u32| self.precise_poses[member as usize].0;
        match cluster.members[..] {
            [] => DVec3::ZERO,
            [single] => position(single),
            [first, ..] => {
                // Relative to the first member, for precision far from the origin.
                let mut sum = (0.0, DVec3::ZERO);
                for &member in &cluster.members {
                    sum.0 += weight(member);
                    sum.1 += weight(member) * (position(member) - position(first));
                }
                position(first) + sum.1 / sum.0
            }
        }
    }

    /// The longest step of [`advance`](Self::advance), s; infinite if no molecule moves. Its
    /// displacement along each axis is an eighth of the thinnest molecule.
    #[must_use]
    pub fn longest_step(&self) -> f64 {
        let shapes = self.molecules.iter().map(|one| self.shape(one));
        let thinnest = shapes
            .map(OverlapShape::thickness)
            .fold(f32::INFINITY, f32::min);
        let spread = MAX_SPREAD * f64::from(thinnest);
        let longest = |cluster: &Cluster| {
            let center = self.center(cluster);
            let reach = |&member: &u32| {
                let shape = self.shape(&self.molecules[member as usize]);
                self.precise_poses[member as usize].0.distance(center)
                    + f64::from(shape.bounding_radius())
            };
            let arm = cluster.members.iter().map(reach).fold(0.0, f64::max);
            let fastest = cluster
                .diffusion
                .max(cluster.rotational_diffusion * arm * arm);
            0.5 * spread * spread / fastest
        };
        self.clusters
            .iter()
            .filter(|cluster| !cluster.members.is_empty())
            .map(longest)
            .fold(f64::INFINITY, f64::min)
    }

    /// Number of steps that [`advance`](Self::advance) splits `time` s into.
    #[must_use]
    pub fn steps_for(&self, time: f64) -> u64 {
        ((time / self.longest_step()).ceil() as u64).max(1)
    }

    fn shape(&self, molecule: &BrownianMolecule) -> &OverlapShape {
        &self.templates[molecule.template as usize]
    }

    /// Simulates `time` s in equal steps that are short compared to the molecules, so that few
    /// moves are rejected only because they are long.
    ///
    /// # Errors
    /// As [`Self::step_with`]. Steps before the error remain.
    pub fn advance(
        &mut self,
        time: f64,
        rules: &mut dyn MoveRules,
    ) -> Result<MoleculeStepReport, MotionError> {
        let steps = self.steps_for(time);
        let mut total = MoleculeStepReport::default();
        let mut collisions = Vec::new();
        for _ in 0..steps {
            self.add_step(time / steps as f64, rules, &mut total)?;
            collisions.append(&mut self.collisions);
        }
        collisions.sort_unstable();
        collisions.dedup();
        self.collisions = collisions;
        Ok(total)
    }

    /// Simulates one step of `dt` s in which colliding molecules bounce.
    ///
    /// # Errors
    /// As [`Self::step_with`].
    pub fn step(&mut self, dt: f64) -> Result<MoleculeStepReport, MotionError> {
        self.step_with(dt, &mut |_: Pair| CollisionOutcome::Bounce)
    }

    /// Simulates one step of `dt` s.
    ///
    /// # Errors
    /// [`MotionError`] if the step is not positive, a molecule is too far away for the broad
    /// phase, or the broad phase fails. Then no molecule has moved.
    pub fn step_with(
        &mut self,
        dt: f64,
        rules: &mut dyn MoveRules,
    ) -> Result<MoleculeStepReport, MotionError> {
        let mut report = MoleculeStepReport::default();
        self.add_step(dt, rules, &mut report)?;
        Ok(report)
    }

    fn add_step(
        &mut self,
        dt: f64,
        rules: &mut dyn MoveRules,
        report: &mut MoleculeStepReport,
    ) -> Result<(), MotionError> {
        check_positive("step", dt)?;
        let turns = self.propose_turns(dt);
        let mut moves = self.propose_moves(&turns);
        let margin = match self.kind {
            BrownianSteps::Coarse => 0.0,
            BrownianSteps::Fine => mean_length(&moves),
        };
        let begin = Instant::now();
        self.find_candidates(&moves, margin)?;
        report.broad_phase += begin.elapsed();
        report.candidates += self.pairs.len() as u64;
        report.steps += 1;
        let is_vetoed = self.vetoed_clusters(&moves, rules);
        let (is_rejected, collisions, stuck) = match self.kind {
            BrownianSteps::Coarse => self.reject_overlaps(&moves, is_vetoed, rules, report),
            BrownianSteps::Fine => {
                let step = FineMoves {
                    turns,
                    is_vetoed,
                    margin,
                };
                self.follow_collisions(&mut moves, &step, rules, report)
            }
        };
        report.collisions += collisions.len() as u64;
        self.collisions = collisions;
        self.collisions.sort_unstable();
        self.collisions.dedup();
        for (index, proposed) in moves.iter().enumerate() {
            if !is_rejected[self.cluster_of[index] as usize] {
                self.precise_poses[index] = proposed.precise_pose;
                self.molecules[index].pose = proposed.pose;
            } else if proposed.length > 0.0 {
                report.rejected += 1;
            }
        }
        for pair in stuck {
            report.stuck += 1;
            self.join(pair.a, pair.b)?;
        }
        self.steps += 1;
        Ok(())
    }

    /// Rejects moves until no molecules touch.
    fn reject_overlaps(
        &self,
        moves: &[Move],
        mut is_rejected: Vec<bool>,
        rules: &mut dyn MoveRules,
        report: &mut MoleculeStepReport,
    ) -> StepOutcome {
        let (mut collisions, mut stuck) = (Vec::new(), Vec::new());
        let mut passing: Vec<Pair> = Vec::new();
        let cluster = |index: u32| self.cluster_of[index as usize] as usize;
        let mut open: Vec<Pair> = self.pairs.iter().collect();
        while !open.is_empty() {
            report.rounds += 1;
            open.retain(|pair| {
                let [a, b] = [cluster(pair.a), cluster(pair.b)];
                a != b
                    && !(is_rejected[a] && is_rejected[b])
                    && passing.binary_search(pair).is_err()
            });
            report.tested += open.len() as u64;
            let mut touching = self.touching_pairs(&open, moves, &is_rejected);
            // Independent of the order that the broad phase found the pairs in.
            touching.sort_unstable();
            let mut newly_rejected = vec![false; self.clusters.len()];
            for &pair in &touching {
                collisions.push(pair);
                match rules.collide(pair) {
                    CollisionOutcome::Pass => {
                        passing.push(pair);
                        continue;
                    }
                    CollisionOutcome::Stick => stuck.push(pair),
                    CollisionOutcome::Bounce | CollisionOutcome::React => {}
                }
                for index in [pair.a, pair.b] {
                    newly_rejected[cluster(index)] = !is_rejected[cluster(index)];
                }
            }
            passing.sort_unstable();
            for (rejected, new) in is_rejected.iter_mut().zip(&newly_rejected) {
                *rejected |= new;
            }
            let has_changed =
                |pair: &Pair| newly_rejected[cluster(pair.a)] || newly_rejected[cluster(pair.b)];
            open.clear();
            open.extend(self.pairs.iter().filter(has_changed));
        }
        (is_rejected, collisions, stuck)
    }

    /// Follows the molecules from collision to collision. Sets the moves to where they end.
    fn follow_collisions(
        &self,
        moves: &mut [Move],
        step: &FineMoves,
        rules: &mut dyn MoveRules,
        report: &mut MoleculeStepReport,
    ) -> StepOutcome {
        let bodies = self.clusters.iter().zip(&step.turns).zip(&step.is_vetoed);
        let bodies: Vec<BodyStart> = bodies
            .map(|((cluster, turn), is_vetoed)| {
                let turn = turn.filter(|_| !is_vetoed);
                let [displacement, turn, center] = turn.unwrap_or_default();
                let mobility = f64::from(u8::from(!is_vetoed));
                BodyStart {
                    members: &cluster.members,
                    diffusion: mobility * cluster.diffusion,
                    rotational_diffusion: mobility * cluster.rotational_diffusion,
                    center,
                    displacement,
                    turn,
                }
            })
            .collect();
        let molecules = self.molecules.iter();
        let shapes: Vec<&OverlapShape> = molecules.map(|one| self.shape(one)).collect();
        let ranges = moves
            .iter()
            .map(|proposed| f64::from(proposed.length) + step.margin);
        let ranges: Vec<f64> = ranges.collect();
        let start = StepStart {
            shapes: &shapes,
            poses: &self.precise_poses,
            body_of: &self.cluster_of,
            ranges: &ranges,
        };
        let mut pairs: Vec<Pair> = self.pairs.iter().collect();
        // Independent of the order that the broad phase found the pairs in.
        pairs.sort_unstable();
        let mut fine = FineStep::new(start, &bodies, &pairs);
        fine.run(&mut |pair| rules.collide(pair));
        let rules = &*rules;
        let is_vetoed = |molecule: u32, precise: (DVec3, DQuat)| {
            let pose = to_pose(precise);
            self.enters_wall(molecule as usize, precise.0)
                || !rules.may_move(molecule, &self.molecules[molecule as usize].pose, &pose)
        };
        let (ends, mut is_rejected, found) = fine.finish(&is_vetoed);
        for (proposed, end) in moves.iter_mut().zip(ends) {
            (proposed.precise_pose, proposed.pose) = (end, to_pose(end));
        }
        for (rejected, is_vetoed) in is_rejected.iter_mut().zip(&step.is_vetoed) {
            *rejected |= is_vetoed;
        }
        report.rounds += found.rounds;
        report.tested += found.tested;
        report.rested += found.rested;
        (is_rejected, found.collisions, found.stuck)
    }

    /// Draws a random displacement and rotation for each cluster that moves.
    fn propose_turns(&self, dt: f64) -> Vec<Option<ClusterMove>> {
        let moves = self.clusters.par_iter().map(|cluster| {
            let (&first, true) = (cluster.members.first()?, cluster.is_mobile()) else {
                return None;
            };
            let mut random = generator(self.seed, self.steps, first);
            let [displacement, turn] = [cluster.diffusion, cluster.rotational_diffusion]
                .map(|diffusion| normal(&mut random, (2.0 * diffusion * dt).sqrt()));
            Some([displacement, turn, self.center(cluster)])
        });
        moves.collect()
    }

    /// The moves of the molecules without collisions.
    fn propose_moves(&self, moves: &[Option<ClusterMove>]) -> Vec<Move> {
        let move_of = |index: usize| {
            let (position, rotation) = self.precise_poses[index];
            let Some([displacement, turn, center]) = moves[self.cluster_of[index] as usize] else {
                return Move {
                    length: 0.0,
                    pose: self.molecules[index].pose,
                    precise_pose: (position, rotation),
                    motion: RigidMotion::default(),
                    center: position.as_vec3(),
                };
            };
            let motion = RigidMotion {
                translation: displacement.as_vec3(),
                rotation: turn.as_vec3(),
            };
            let arm = position - center;
            let swing = if arm == DVec3::ZERO {
                DVec3::ZERO
            } else {
                DQuat::from_scaled_axis(turn) * arm - arm
            };
            let length = displacement.length() + turn.length() * arm.length();
            let displacement = displacement + swing;
            let (position, rotation) = (position + displacement, rotate(rotation, turn));
            Move {
                length: length as f32,
                pose: to_pose((position, rotation)),
                precise_pose: (position, rotation),
                motion,
                center: center.as_vec3(),
            }
        };
        let indices = (0..self.molecules.len()).into_par_iter();
        indices.map(move_of).collect()
    }

    /// Finds all pairs that may overlap, whether their moves are rejected or not.
    /// Moves may be longer by `margin` nm.
    fn find_candidates(&mut self, moves: &[Move], margin: f64) -> Result<(), MotionError> {
        self.spheres.clear();
        for ((molecule, proposed), owner) in self.molecules.iter().zip(moves).zip(0..) {
            let shape = &self.templates[molecule.template as usize];
            let reach = shape.bounding_radius() + proposed.length + margin as f32;
            self.spheres.push(molecule.pose.position, reach, owner)?;
        }
        self.search
            .find_pairs(&self.spheres, 0.0, &mut self.pairs)?;
        Ok(())
    }

    /// For each cluster, whether it stays because it is immobile, or because a wall or a rule
    /// vetoes its move.
    fn vetoed_clusters(&self, moves: &[Move], rules: &dyn MoveRules) -> Vec<bool> {
        let is_vetoed = |index: usize| {
            let pose = &self.molecules[index].pose;
            self.enters_wall(index, moves[index].precise_pose.0)
                || !rules.may_move(index as u32, pose, &moves[index].pose)
        };
        let vetoed = self.clusters.par_iter().map(|cluster| {
            let mut members = cluster.members.iter();
            !cluster.is_mobile() || members.any(|&member| is_vetoed(member as usize))
        });
        vetoed.collect()
    }

    /// The pairs that touch on the way to their new poses, or overlap there, with rejected
    /// clusters at their old poses.
    fn touching_pairs(&self, pairs: &[Pair], moves: &[Move], is_rejected: &[bool]) -> Vec<Pair> {
        let placed = |index: u32| {
            let (molecule, proposed) = (&self.molecules[index as usize], &moves[index as usize]);
            let shape = self.shape(molecule);
            let mut moving = MovingMolecule::new(shape.spheres(), molecule.pose, proposed.motion);
            moving.center = proposed.center;
            if is_rejected[self.cluster_of[index as usize] as usize] {
                moving.motion = RigidMotion::default();
                (shape, molecule.pose, moving)
            } else {
                (shape, proposed.pose, moving)
            }
        };
        let touch = |&&Pair { a, b }: &&Pair| {
            let [(one, pose, moving), (two, other_pose, other)] = [a, b].map(placed);
            let reach = one.bounding_radius() + two.bounding_radius();
            let squared_distance = pose.position.distance_squared(other_pose.position);
            let overlaps =
                squared_distance <= reach * reach && one.is_within(0.0, &pose, two, &other_pose);
            overlaps
                || first_impact(&moving, &other, 0.0)
                    .is_some_and(|impact| impact.fraction > 0.0 || impact.gap >= 0.0)
        };
        let pairs = pairs.par_iter().with_min_len(PAIRS_PER_TASK);
        pairs.filter(touch).copied().collect()
    }

    /// Whether a move leads into a wall, or deeper into it.
    fn enters_wall(&self, index: usize, position: DVec3) -> bool {
        let radius = f64::from(self.shape(&self.molecules[index]).bounding_radius());
        self.walls.iter().any(|wall| {
            let [old, new] = [self.precise_poses[index].0, position]
                .map(|position| wall.signed_distance(position).distance);
            new < radius && new < old
        })
    }
}

/// Root mean square of the lengths of moves, nm.
fn mean_length(moves: &[Move]) -> f64 {
    let squares = moves.iter().map(|one| f64::from(one.length).powi(2));
    (squares.sum::<f64>() / moves.len().max(1) as f64).sqrt()
}

fn to_precise(pose: &Pose) -> (DVec3, DQuat) {
    let Pose { position, rotation } = *pose;
    (position.as_dvec3(), rotation.as_dquat().normalize())
}

fn check_pose(molecule: u32, pose: &Pose) -> Result<(), MotionError> {
    if pose.is_rigid() {
        return Ok(());
    }
    let pose = *pose;
    Err(MotionError::BadPose { molecule, pose })
}
