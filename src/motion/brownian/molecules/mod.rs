//! Molecules with atoms that diffuse and never overlap.
//!
//! In a cell, molecules are closer to each other than their bounding spheres allow. So a
//! step of a crowd of molecules is made of moves that are taken back where they end in
//! someone else, as in simulations of crowded cytoplasm:
//!
//! 1. everyone is displaced and turned at random;
//! 2. bounding spheres tell who may be in the way of whom, wherever both end up;
//! 3. their proxies are compared, and the atoms of proxies that touch; both molecules of a
//!    pair that overlaps go back to where they were, and have collided;
//! 4. those who came back may be in the way of others: 3 again, for their pairs, until
//!    nobody overlaps. At the latest all are where they were.
//!
//! All pairs of a round are looked at before anyone goes back, so that the result does not
//! depend on their order, nor on who searched for them. Steps have to be short against the
//! molecules, so that nobody jumps over another: [`BrownianMolecules::advance`] splits
//! those that are not.
//!
//! What a collision does is up to [`MoveRules`]. Molecules that stick form a cluster, which
//! moves and turns as one rigid body (a cluster of prions): it diffuses as a sphere of the
//! volume of all, for D goes with 1 / r, and Dᵣ with 1 / r³, so that 1 / D³ and 1 / Dᵣ are
//! the sums of those of its members.

mod clusters;
mod step;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use glam::{DQuat, DVec3};

use super::super::{CollisionOutcome, MotionError};
use super::{BrownianParticle, Medium};
use crate::molecule::MoleculeTemplate;
use crate::motion::overlap_shape::OverlapShape;
use crate::motion::time_of_impact::Wall;
use crate::pose::Pose;
use crate::search::{AutoGrid, Pair, PairBuffer, PairSearch};
use crate::spheres::SphereSet;

/// Spread of a step along each axis, as a part of the thinnest molecule: two that face each
/// other would have to be drawn eleven times as far to jump through.
const SPREAD: f64 = 0.125;

/// A molecule that diffuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrownianMolecule {
    /// Index of its template in the crowd.
    pub template: u32,
    /// Where it is: its center of mass in the world, nm, and its rotation.
    pub pose: Pose,
    /// Diffusion coefficient, nm²/s.
    pub diffusion: f64,
    /// Rotational diffusion coefficient, rad²/s.
    pub rotational_diffusion: f64,
}

impl BrownianMolecule {
    /// A molecule that diffuses as a sphere of `radius` nm does in a medium.
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

/// What happened in a step of molecules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoleculeStepReport {
    /// Pairs whose bounding spheres may meet.
    pub candidates: u64,
    /// Pairs whose atoms were compared.
    pub confirmed: u64,
    /// Molecules that went back.
    pub back: u64,
    /// Rounds until nobody overlapped.
    pub rounds: u64,
    /// Pairs that stuck together.
    pub stuck: u64,
    /// Steps: more than one if it had to be split.
    pub steps: u64,
    /// Time that it took to find the candidates.
    pub searching: Duration,
}

impl MoleculeStepReport {
    fn add(&mut self, step: &Self) {
        self.candidates += step.candidates;
        self.confirmed += step.confirmed;
        self.back += step.back;
        self.rounds += step.rounds;
        self.stuck += step.stuck;
        self.steps += step.steps;
        self.searching += step.searching;
    }
}

/// What molecules do when they meet, and where they may go. A closure that answers
/// collisions is one: `|pair: Pair| CollisionOutcome::Stick`.
pub trait MoveRules: Sync {
    /// Two molecules have collided, for the first time in this step. They go back to where
    /// they were, unless they [pass](CollisionOutcome::Pass) through each other.
    fn meet(&mut self, _pair: Pair) -> CollisionOutcome {
        CollisionOutcome::Bounce
    }

    /// Whether a molecule may move like that; else it goes back. Asked from any thread.
    fn may_move(&self, _molecule: u32, _from: &Pose, _to: &Pose) -> bool {
        true
    }
}

impl<F: FnMut(Pair) -> CollisionOutcome + Sync> MoveRules for F {
    fn meet(&mut self, pair: Pair) -> CollisionOutcome {
        self(pair)
    }
}

/// A crowd of molecules that diffuse.
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
/// // Two of them, close together, in a room of 10 nm.
/// let molecules = [-1.5, 1.5].map(|x| {
///     let pose = Pose::from_translation(Vec3::X * x);
///     BrownianMolecule::in_medium(0, pose, radius, &Medium::default())
/// });
/// let walls = Wall::box_faces(DVec3::splat(-5.0), DVec3::splat(5.0)).to_vec();
/// let mut crowd = BrownianMolecules::new(&[lipid.clone()], &molecules, walls, 7)?;
/// let shape = DockingMolecule::new(lipid);
/// let mut collided = 0;
/// for _ in 0..50 {
///     // A tenth of a nanosecond; it is split where molecules could jump.
///     crowd.advance(1.0e-10, &mut |_: Pair| {
///         collided += 1;
///         CollisionOutcome::Bounce
///     })?;
///     let [one, other] = [0, 1].map(|index| crowd.molecules()[index].pose);
///     assert!(is_free(&shape, &one, &shape, &other), "they overlap");
/// }
/// assert_ne!(crowd.molecules()[0].pose, molecules[0].pose);
/// # Ok(())
/// # }
/// ```
pub struct BrownianMolecules {
    templates: Vec<OverlapShape>,
    molecules: Vec<BrownianMolecule>,
    walls: Vec<Wall>,
    seed: u64,
    steps: u64,
    /// Places and rotations in 64 bits: what is less than the last digit of a pose adds up.
    places: Vec<(DVec3, DQuat)>,
    bodies: Vec<clusters::Body>,
    /// The body of each molecule.
    body_of: Vec<u32>,
    collisions: Vec<Pair>,
    search: Box<dyn PairSearch>,
    spheres: SphereSet,
    pairs: PairBuffer,
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
    /// Molecules with these templates, held by `walls` (by their bounding spheres).
    ///
    /// # Errors
    /// [`MotionError`] if a number is not what it has to be.
    pub fn new(
        templates: &[Arc<MoleculeTemplate>],
        molecules: &[BrownianMolecule],
        walls: Vec<Wall>,
        seed: u64,
    ) -> Result<Self, MotionError> {
        for (wall, index) in walls.iter().zip(0..) {
            wall.check(index)?;
        }
        let mut crowd = Self {
            templates: Vec::new(),
            molecules: Vec::new(),
            walls,
            seed,
            steps: 0,
            places: Vec::new(),
            bodies: Vec::new(),
            body_of: Vec::new(),
            collisions: Vec::new(),
            search: Box::new(AutoGrid::new()),
            spheres: SphereSet::new(),
            pairs: PairBuffer::new(),
        };
        for template in templates {
            crowd.add_template(template.clone())?;
        }
        crowd.set_molecules(molecules)?;
        Ok(crowd)
    }

    /// One more template; its number.
    ///
    /// # Errors
    /// [`MotionError::Proxy`] if it has no atoms, or too many.
    pub fn add_template(&mut self, template: Arc<MoleculeTemplate>) -> Result<u32, MotionError> {
        self.templates.push(OverlapShape::new(template)?);
        Ok(self.templates.len() as u32 - 1)
    }

    /// Other molecules in place of all that were. None sticks to another.
    ///
    /// # Errors
    /// [`MotionError`] if a number is not what it has to be; nothing has changed then.
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
        self.places.clear();
        self.places
            .extend(molecules.iter().map(|one| place(&one.pose)));
        self.collisions.clear();
        self.part_all();
        Ok(())
    }

    /// Moves a molecule, for a reason of the caller's. A pose that it has already is left
    /// as it is, in 64 bits.
    ///
    /// # Errors
    /// [`MotionError`] if there is no such molecule, or the pose is none.
    pub fn set_pose(&mut self, molecule: u32, pose: Pose) -> Result<(), MotionError> {
        let count = self.molecules.len() as u32;
        let Some(one) = self.molecules.get_mut(molecule as usize) else {
            let sphere = molecule;
            return Err(MotionError::IndexOutOfRange { sphere, count });
        };
        if one.pose != pose {
            check_pose(molecule, &pose)?;
            one.pose = pose;
            self.places[molecule as usize] = place(&pose);
        }
        Ok(())
    }

    /// Another seed for the steps to come.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Who finds the molecules that may be in each other's way: one that works on a GPU,
    /// say. The result of a step is the same to the last bit. Default: [`AutoGrid`].
    pub fn set_search(&mut self, search: Box<dyn PairSearch>) {
        self.search = search;
    }

    /// The molecules as they are now.
    #[must_use]
    pub fn molecules(&self) -> &[BrownianMolecule] {
        &self.molecules
    }

    /// Pairs of molecules that collided in the last step, sorted.
    #[must_use]
    pub fn collisions(&self) -> &[Pair] {
        &self.collisions
    }

    /// The longest step in which nobody jumps through another, s; infinite if nobody moves.
    /// Along each axis molecules then move by an eighth of the thinnest one.
    #[must_use]
    pub fn longest_step(&self) -> f64 {
        let shapes = self.molecules.iter().map(|one| self.shape(one));
        let thinnest = shapes
            .map(OverlapShape::thickness)
            .fold(f32::INFINITY, f32::min);
        let spread = SPREAD * f64::from(thinnest);
        let longest = |body: &clusters::Body| {
            let center = self.center(body);
            let reach = |&member: &u32| {
                let radius = self
                    .shape(&self.molecules[member as usize])
                    .bounding_radius();
                self.places[member as usize].0.distance(center) + f64::from(radius)
            };
            let arm = body.members.iter().map(reach).fold(0.0, f64::max);
            let fastest = body.diffusion.max(body.rotational_diffusion * arm * arm);
            0.5 * spread * spread / fastest
        };
        self.bodies
            .iter()
            .filter(|body| !body.members.is_empty())
            .map(longest)
            .fold(f64::INFINITY, f64::min)
    }

    /// How many steps `time` s have to be split into.
    #[must_use]
    pub fn steps_for(&self, time: f64) -> u64 {
        ((time / self.longest_step()).ceil() as u64).max(1)
    }

    fn shape(&self, molecule: &BrownianMolecule) -> &OverlapShape {
        &self.templates[molecule.template as usize]
    }
}

fn place(pose: &Pose) -> (DVec3, DQuat) {
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
