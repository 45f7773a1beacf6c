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
//! depend on their order. Steps have to be short against the molecules: on its way a
//! molecule may not jump over another.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use rayon::prelude::*;
use thiserror::Error;

use super::super::MotionError;
use super::noise::{generator, normal, turn};
use super::shape::Shape;
use super::{BrownianParticle, Medium};
use crate::molecule::MoleculeTemplate;
use crate::motion::swept::Wall;
use crate::pose::Pose;
use crate::proxy::ProxyError;
use crate::search::{AutoGrid, Pair, PairBuffer, PairSearch, SearchError};
use crate::spheres::{SphereError, SphereSet};

/// How far the squared length of a rotation may be from one.
const UNIT_TOLERANCE: f32 = 1.0e-3;

/// Pairs of molecules that a thread takes at once.
const PAIRS_AT_ONCE: usize = 16;

/// Why molecules cannot be moved.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MoleculesError {
    /// A number is not what it has to be.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// A bounding sphere cannot be searched.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// A molecule has no atoms, or too many.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A molecule has a template that does not exist.
    #[error("molecule {molecule} has template {template}, and there are {count}")]
    NoTemplate {
        /// Which molecule, counted from zero.
        molecule: u32,
        /// The template that it asks for.
        template: u32,
        /// How many templates there are.
        count: usize,
    },
}

/// A molecule that diffuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrownianMolecule {
    /// Which of the templates it has.
    pub template: u32,
    /// Where it is.
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
pub struct MoleculesReport {
    /// Pairs whose bounding spheres may meet.
    pub candidates: u64,
    /// Pairs whose atoms were compared.
    pub confirmed: u64,
    /// Molecules that went back.
    pub back: u64,
    /// Rounds until nobody overlapped.
    pub rounds: u64,
}

/// A crowd of molecules that diffuse.
#[derive(Clone, Debug)]
pub struct BrownianMolecules {
    templates: Vec<Shape>,
    molecules: Vec<BrownianMolecule>,
    walls: Vec<Wall>,
    seed: u64,
    steps: u64,
    /// Places and rotations in 64 bits: what is less than the last digit of a pose adds up.
    places: Vec<(DVec3, DQuat)>,
    collisions: Vec<Pair>,
    grid: AutoGrid,
    spheres: SphereSet,
    pairs: PairBuffer,
}

impl BrownianMolecules {
    /// Molecules with these templates, held by `walls` (by their bounding spheres).
    ///
    /// # Errors
    /// [`MoleculesError`] if a number is not what it has to be.
    pub fn new(
        templates: &[Arc<MoleculeTemplate>],
        molecules: &[BrownianMolecule],
        walls: Vec<Wall>,
        seed: u64,
    ) -> Result<Self, MoleculesError> {
        let count = molecules.len();
        u32::try_from(count).map_err(|_| MotionError::TooMany { count })?;
        for (wall, index) in walls.iter().zip(0..) {
            wall.check(index)?;
        }
        for (molecule, index) in molecules.iter().zip(0..) {
            if molecule.template as usize >= templates.len() {
                return Err(MoleculesError::NoTemplate {
                    molecule: index,
                    template: molecule.template,
                    count: templates.len(),
                });
            }
            BrownianParticle {
                radius: 0.0,
                diffusion: molecule.diffusion,
                rotational_diffusion: molecule.rotational_diffusion,
            }
            .check(index)?;
            let turn = (molecule.pose.rotation.length_squared() - 1.0).abs();
            if !(molecule.pose.is_finite() && turn < UNIT_TOLERANCE) {
                let (sphere, what, time) = (index, "pose", 0.0);
                return Err(MotionError::NotFinite { sphere, what, time }.into());
            }
        }
        let place = |molecule: &BrownianMolecule| {
            let Pose { position, rotation } = molecule.pose;
            (position.as_dvec3(), rotation.as_dquat().normalize())
        };
        Ok(Self {
            templates: templates
                .iter()
                .cloned()
                .map(Shape::new)
                .collect::<Result<_, _>>()?,
            places: molecules.iter().map(place).collect(),
            molecules: molecules.to_vec(),
            walls,
            seed,
            steps: 0,
            collisions: Vec::new(),
            grid: AutoGrid::new(),
            spheres: SphereSet::new(),
            pairs: PairBuffer::new(),
        })
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

    /// A step of `dt` s.
    ///
    /// # Errors
    /// [`MoleculesError`] if the step is not positive, or a molecule is too far away to be
    /// searched. Nobody has moved then.
    pub fn step(&mut self, dt: f64) -> Result<MoleculesReport, MoleculesError> {
        if !(dt.is_finite() && dt > 0.0) {
            let what = "step";
            return Err(MotionError::BadSetting { what, value: dt }.into());
        }
        let moved: Vec<Move> = (0..self.molecules.len())
            .into_par_iter()
            .map(|index| self.draw(index, dt))
            .collect();
        self.find_candidates(&moved)?;
        let mut report = MoleculesReport {
            candidates: self.pairs.len() as u64,
            ..MoleculesReport::default()
        };
        let mut is_back: Vec<bool> = (0..moved.len())
            .into_par_iter()
            .map(|index| self.is_in_a_wall(index, &moved[index]))
            .collect();
        // Pairs that have to be looked at, and whether they have to be again.
        let mut open: Vec<Pair> = self.pairs.iter().collect();
        self.collisions.clear();
        while !open.is_empty() {
            report.rounds += 1;
            let pose = |index: u32| {
                let index = index as usize;
                if is_back[index] {
                    self.molecules[index].pose
                } else {
                    moved[index].pose
                }
            };
            let body = |index: u32| {
                let template = self.molecules[index as usize].template;
                &self.templates[template as usize]
            };
            let both_back = |pair: &Pair| is_back[pair.a as usize] && is_back[pair.b as usize];
            open.retain(|pair| !both_back(pair));
            report.confirmed += open.len() as u64;
            let overlapping: Vec<bool> = open
                .par_iter()
                .with_min_len(PAIRS_AT_ONCE)
                .map(|&Pair { a, b }| {
                    let [one, two] = [a, b].map(|index| (body(index), pose(index)));
                    let reach = one.0.bounding_radius() + two.0.bounding_radius();
                    let apart = one.1.position.distance_squared(two.1.position);
                    apart <= reach * reach && one.0.overlaps(&one.1, two.0, &two.1)
                })
                .collect();
            let mut newly_back = vec![false; moved.len()];
            for (pair, _) in open
                .iter()
                .zip(&overlapping)
                .filter(|(_, overlaps)| **overlaps)
            {
                self.collisions.push(*pair);
                for index in [pair.a, pair.b] {
                    newly_back[index as usize] = !is_back[index as usize];
                }
            }
            for (back, new) in is_back.iter_mut().zip(&newly_back) {
                *back |= new;
            }
            let changed = |pair: &Pair| newly_back[pair.a as usize] || newly_back[pair.b as usize];
            let all = self.pairs.iter();
            open = all.filter(|pair| changed(pair)).collect();
        }
        self.collisions.sort_unstable();
        self.collisions.dedup();
        for (index, moved) in moved.iter().enumerate() {
            if is_back[index] {
                report.back += 1;
            } else {
                self.places[index] = moved.place;
                self.molecules[index].pose = moved.pose;
            }
        }
        self.steps += 1;
        Ok(report)
    }

    /// Where a molecule would go.
    fn draw(&self, index: usize, dt: f64) -> Move {
        let molecule = &self.molecules[index];
        let mut random = generator(self.seed, self.steps, index as u32);
        let by = normal(&mut random, (2.0 * molecule.diffusion * dt).sqrt());
        let angle = normal(
            &mut random,
            (2.0 * molecule.rotational_diffusion * dt).sqrt(),
        );
        let (place, rotation) = self.places[index];
        let place = (place + by, turn(rotation, angle));
        Move {
            way: by.length() as f32,
            pose: Pose::new(place.0.as_vec3(), place.1.as_quat().normalize()),
            place,
        }
    }

    /// All pairs that may overlap, whether either moves or not.
    fn find_candidates(&mut self, moved: &[Move]) -> Result<(), MoleculesError> {
        self.spheres.clear();
        for ((molecule, moved), owner) in self.molecules.iter().zip(moved).zip(0..) {
            let shape = &self.templates[molecule.template as usize];
            let reach = shape.bounding_radius() + moved.way;
            self.spheres.push(molecule.pose.position, reach, owner)?;
        }
        self.grid.find_pairs(&self.spheres, 0.0, &mut self.pairs)?;
        Ok(())
    }

    fn is_in_a_wall(&self, index: usize, moved: &Move) -> bool {
        let shape = &self.templates[self.molecules[index].template as usize];
        let radius = f64::from(shape.bounding_radius());
        self.walls.iter().any(|wall| {
            let [before, after] =
                [self.places[index].0, moved.place.0].map(|place| wall.from(place).distance);
            // Whoever is in it already may come out.
            after < radius && after < before
        })
    }
}

/// A move that may be taken back.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// Length of the way, nm.
    way: f32,
    pose: Pose,
    place: (DVec3, DQuat),
}
