//! Brownian motion of molecules.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{GravityScale, RapierContextEntityLink, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::RigidBodySet;
use bevy_rapier3d::rapier::math::Pose as RapierPose;

use super::collisions::{CollisionRule, MoleculeCollision};
use super::compartment::{CompartmentSurface, InCompartment};
use super::compartment_springs::ValidConfinement;
use super::components::Molecule;
use super::molecule_world::{Member, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use super::rapier_body::finite_body_pose;
use super::reactions::{MoleculeReactions, PendingReactions};
use super::state_errors::ReportedEntities;
use crate::dynamics::MemberIndex;
use crate::molecule::MoleculeTemplate;
use crate::motion::brownian::{
    BrownianMolecule, BrownianMolecules, BrownianState, BrownianSteps, Medium, MoveRules,
    hydrodynamic_radius,
};
use crate::motion::{CollisionOutcome, MotionError};
use crate::pose::Pose;
use crate::search::Pair;

/// A molecule that diffuses. Each substep it makes a random translation and rotation, unless an
/// atom would overlap another molecule or it would leave its [`Compartment`](super::Compartment).
/// Collisions are reported as [`MoleculeCollision`](super::MoleculeCollision).
///
/// In water a molecule loses its velocity within picoseconds. Its velocity is therefore
/// zeroed each substep: contacts, springs and forces move it only in the substep in which
/// they act. It does not fall unless it has its own [`GravityScale`].
///
/// [`BrownianMotionConfig`] sets the time scale. If a coefficient is negative or not finite,
/// the molecule does not diffuse and an error is logged.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let molecule = Molecule(assets.load("molecules/1ubq.cif"));
///     commands.spawn((molecule, BrownianMotion::default(), CollisionOutcome::Stick));
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(Molecule, GravityScale(0.0))]
pub struct BrownianMotion {
    /// Diffusion coefficient, nm²/s. Default: that of a sphere of `radius` (Stokes-Einstein).
    pub diffusion: Option<f64>,
    /// Rotational diffusion coefficient, rad²/s. Default: that of a sphere of `radius`.
    pub rotational_diffusion: Option<f64>,
    /// Hydrodynamic radius, nm. Default: that of a hydrated globular protein of the same mass.
    pub radius: Option<f64>,
}

impl BrownianMotion {
    /// Translational (nm²/s) and rotational (rad²/s) diffusion coefficients of a molecule of
    /// `mass` Da in a medium.
    #[must_use]
    pub fn coefficients(&self, mass: f64, medium: &Medium) -> [f64; 2] {
        let radius = self.radius.unwrap_or_else(|| hydrodynamic_radius(mass));
        let default = [medium.translational(radius), medium.rotational(radius)];
        [
            self.diffusion.unwrap_or(default[0]),
            self.rotational_diffusion.unwrap_or(default[1]),
        ]
    }
}

/// Medium and time scale of [`BrownianMotion`]. May change at any time.
#[derive(Clone, Copy, Debug, PartialEq, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct BrownianMotionConfig {
    /// Temperature and viscosity. Default: water at 298 K.
    pub medium: Medium,
    /// Diffusion time per second of physics time, s; zero pauses.
    /// Default: 1e-9, in which a small protein diffuses about 1 nm.
    pub pace: f64,
    /// Seed of the random steps. Default: 1.
    pub seed: u64,
    /// How molecules collide within a step. Default: [`BrownianSteps::Coarse`].
    pub steps: BrownianSteps,
    /// Maximum number of steps per substep. A long substep is split, because long moves are
    /// rejected more often; time beyond this limit is skipped and a warning is logged. Default: 64.
    pub max_steps: u32,
}

impl Default for BrownianMotionConfig {
    fn default() -> Self {
        Self {
            medium: Medium::default(),
            pace: 1.0e-9,
            seed: 1,
            steps: BrownianSteps::Coarse,
            max_steps: 64,
        }
    }
}

/// The Brownian motion of a context.
#[derive(Default)]
pub(super) struct Diffusion {
    /// Whether `crowd` and `members` are up to date.
    pub collected: bool,
    /// All members, since molecules at rest are obstacles. `None` if no molecule diffuses.
    crowd: Option<BrownianMolecules>,
    /// The members in the order of the crowd, and whether they diffuse.
    members: Vec<(Member, bool)>,
    /// Members that pass through each other in this substep.
    pub passing: Vec<[MemberIndex; 2]>,
    templates: Vec<Arc<MoleculeTemplate>>,
    invalid_coefficients: ReportedEntities,
    time_limit_logged: bool,
    step_error_logged: bool,
}

impl Diffusion {
    /// Rebuilds the crowd from the members of the context. Clusters persist.
    fn rebuild(
        &mut self,
        members: &[Member],
        bodies: &RigidBodySet,
        molecules: &Query<(&PreparedMolecule, Option<&BrownianMotion>)>,
        config: &BrownianMotionConfig,
    ) -> Result<(), MotionError> {
        let clusters = self.clusters();
        let previous = self.crowd.take();
        self.members.clear();
        if !members.iter().any(|member| {
            let found = molecules.get(member.entity);
            found.is_ok_and(|(_, brownian)| brownian.is_some())
        }) {
            return Ok(());
        }
        let mut crowd = match previous {
            Some(crowd) => crowd,
            None => {
                self.templates.clear();
                BrownianMolecules::new(&[], &[], Vec::new(), config.seed)?
            }
        };
        crowd.set_seed(config.seed);
        crowd.set_steps(config.steps);
        let mut list = Vec::new();
        for member in members {
            let Ok((prepared, brownian)) = molecules.get(member.entity) else {
                continue;
            };
            let template = prepared.template();
            let mut known = self.templates.iter();
            let template_index = match known.position(|known| Arc::ptr_eq(known, template)) {
                Some(index) => index as u32,
                None => {
                    self.templates.push(template.clone());
                    crowd.add_template(template.clone())?
                }
            };
            let mass = f64::from(template.mass());
            let mut coefficients = brownian.map_or([0.0; 2], |brownian| {
                brownian.coefficients(mass, &config.medium)
            });
            let is_valid = |value: &f64| value.is_finite() && *value >= 0.0;
            let invalid = !coefficients.iter().all(is_valid);
            if self.invalid_coefficients.is_new(member.entity, invalid) {
                error!(
                    "molecule {} does not diffuse: its diffusion coefficients {coefficients:?} (nm²/s \
                     and rad²/s) must be finite and not negative",
                    member.entity
                );
            }
            if invalid {
                coefficients = [0.0; 2];
            }
            let [diffusion, rotational_diffusion] = coefficients;
            list.push(BrownianMolecule {
                template: template_index,
                pose: finite_body_pose(bodies.get(member.body)).unwrap_or_default(),
                diffusion,
                rotational_diffusion,
            });
            self.members.push((*member, brownian.is_some()));
        }
        crowd.set_molecules(&list)?;
        let find = |entity: &Entity| {
            let key = |(member, _): &(Member, bool)| member.entity;
            let index = self.members.binary_search_by_key(entity, key).ok()?;
            // A molecule that no longer diffuses leaves its cluster.
            self.members[index].1.then_some(index as u32)
        };
        for cluster in &clusters {
            let mut remaining = cluster.iter().filter_map(find);
            if let Some(first) = remaining.next() {
                remaining.try_for_each(|other| crowd.join(first, other))?;
            }
        }
        self.crowd = Some(crowd);
        Ok(())
    }

    /// Whether molecules diffuse, or should.
    pub fn is_active(&self) -> bool {
        !self.members.is_empty()
    }

    /// The state, if any molecule diffuses.
    pub fn state(&self) -> Option<BrownianState> {
        self.crowd.as_ref().map(BrownianMolecules::state)
    }

    /// Continues from a previous state. Returns whether that is one of the same molecules.
    pub fn restore(&mut self, state: Option<&BrownianState>) -> bool {
        self.passing.clear();
        match (&mut self.crowd, state) {
            (Some(crowd), Some(state)) => crowd.restore(state),
            (None, None) => true,
            _ => false,
        }
    }

    /// Clusters of two or more molecules.
    pub fn clusters(&self) -> Vec<Vec<Entity>> {
        let clusters = self.crowd.iter().flat_map(BrownianMolecules::clusters);
        clusters
            .filter(|cluster| cluster.len() > 1)
            .map(|cluster| {
                let entity = |index: &u32| self.members[*index as usize].0.entity;
                cluster.iter().map(entity).collect()
            })
            .collect()
    }
}

/// Updates the diffusing molecules of each context after a change.
pub(super) fn collect_diffusing(
    config: Res<BrownianMotionConfig>,
    mut worlds: Query<(Entity, &mut MoleculeWorld, &RapierRigidBodySet)>,
    molecules: Query<(&PreparedMolecule, Option<&BrownianMotion>)>,
    changed: Query<(), (With<PreparedMolecule>, Changed<BrownianMotion>)>,
) {
    let outdated = !changed.is_empty() || config.is_changed();
    if config.is_changed() && (config.pace.is_nan() || config.pace < 0.0) {
        error!(
            "no molecule diffuses: the pace of BrownianMotionConfig is {}, but must not be \
             negative",
            config.pace
        );
    }
    for (context, mut world, bodies) in &mut worlds {
        if world.diffusion.collected && !outdated {
            continue;
        }
        let MoleculeWorld {
            diffusion, members, ..
        } = &mut *world;
        diffusion.collected = true;
        diffusion.time_limit_logged = false;
        diffusion.step_error_logged = false;
        if let Err(error) = diffusion.rebuild(members, &bodies.bodies, &molecules, &config) {
            error!("molecules of context {context} do not diffuse: {error}");
            diffusion.crowd = None;
        }
    }
}

/// Marks the diffusing molecules of a context as outdated when one stops to diffuse.
pub(super) fn release_diffusing(
    removed: On<Remove, BrownianMotion>,
    links: Query<&RapierContextEntityLink>,
    mut worlds: Query<&mut MoleculeWorld>,
) {
    if let Ok(link) = links.get(removed.entity)
        && let Ok(mut world) = worlds.get_mut(link.0)
    {
        world.diffusion.collected = false;
    }
}

/// A molecule in a Brownian step.
struct StepMolecule<'a> {
    entity: Entity,
    /// Whether it moves.
    diffuses: bool,
    confinement: Option<(&'a ValidConfinement, &'a CompartmentSurface)>,
    outcome: CollisionOutcome,
    kind: Option<&'a Molecule>,
}

/// The rules of a Brownian step, and the collisions so far.
struct StepRules<'a> {
    molecules: Vec<StepMolecule<'a>>,
    rule: &'a CollisionRule,
    reactions: &'a MoleculeReactions,
    pending: &'a mut PendingReactions,
    time: f64,
    /// One collision per pair and substep, regardless of the number of steps.
    collisions: BTreeMap<[u32; 2], MoleculeCollision>,
}

impl MoveRules for StepRules<'_> {
    fn collide(&mut self, pair: Pair) -> CollisionOutcome {
        let collision = self.collisions.entry([pair.a, pair.b]).or_insert_with(|| {
            let [one, other] = [pair.a, pair.b].map(|index| &self.molecules[index as usize]);
            let mut collision = self.rule.decide(MoleculeCollision {
                molecule: one.entity,
                other: other.entity,
                time: self.time,
                outcome: one.outcome.of_both(other.outcome),
            });
            if collision.outcome == CollisionOutcome::Stick && !(one.diffuses && other.diffuses) {
                collision.outcome = CollisionOutcome::Bounce;
            }
            let kinds = [one, other].map(|molecule| (molecule.entity, molecule.kind));
            if collision.outcome == CollisionOutcome::React
                && !self.pending.draw(self.reactions, kinds, self.time)
            {
                collision.outcome = CollisionOutcome::Bounce;
            }
            collision
        });
        collision.outcome
    }

    fn may_move(&self, molecule: u32, from: &Pose, to: &Pose) -> bool {
        let molecule = &self.molecules[molecule as usize];
        let allowed = |(confinement, surface): (&ValidConfinement, &CompartmentSurface)| {
            confinement.allows(surface, from, to)
        };
        molecule.diffuses && molecule.confinement.is_none_or(allowed)
    }
}

/// Moves the diffusing molecules.
pub(super) fn diffuse(
    config: Res<BrownianMotionConfig>,
    (rule, reactions): (Res<CollisionRule>, Res<MoleculeReactions>),
    mut worlds: Query<(Entity, &mut MoleculeWorld, &mut RapierRigidBodySet)>,
    confinements: Query<(&InCompartment, &ValidConfinement)>,
    surfaces: Query<&CompartmentSurface>,
    outcomes: Query<(&Molecule, Option<&CollisionOutcome>)>,
) {
    for (context, mut world, mut bodies) in &mut worlds {
        let world = &mut *world;
        let (Some(dt), Some(crowd)) = (world.substep, &mut world.diffusion.crowd) else {
            continue;
        };
        let start = Instant::now();
        let mut molecules = Vec::new();
        for (&(member, diffuses), index) in world.diffusion.members.iter().zip(0..) {
            let entity = member.entity;
            let body = bodies.bodies.get(member.body);
            let has_pose =
                finite_body_pose(body).is_some_and(|pose| crowd.set_pose(index, pose).is_ok());
            let is_movable = body.is_some_and(|body| body.is_dynamic() && body.is_enabled());
            let confinement = confinements
                .get(entity)
                .ok()
                .and_then(|(held, confinement)| {
                    let surface = surfaces.get(held.compartment).ok()?;
                    Some((confinement, surface))
                });
            let (kind, outcome) = outcomes.get(entity).ok().unzip();
            molecules.push(StepMolecule {
                entity,
                diffuses: diffuses && has_pose && is_movable,
                confinement,
                outcome: outcome.flatten().copied().unwrap_or_default(),
                kind,
            });
        }
        let mut time = f64::from(dt) * config.pace;
        let max_time = f64::from(config.max_steps.max(1)) * crowd.longest_step();
        if time > max_time {
            time = max_time;
            if !mem::replace(&mut world.diffusion.time_limit_logged, true) {
                warn!(
                    "molecules of context {context} diffuse slower than requested: a substep \
                     of {dt} s needs more than {} steps; lower the pace of \
                     BrownianMotionConfig or raise its max_steps",
                    config.max_steps
                );
            }
        }
        if time > 0.0 {
            let mut rules = StepRules {
                molecules,
                rule: &rule,
                reactions: &reactions,
                pending: &mut world.reactions,
                time: world.clock,
                collisions: BTreeMap::new(),
            };
            match crowd.advance(time, &mut rules) {
                Ok(_) => world.diffusion.step_error_logged = false,
                Err(error) if !mem::replace(&mut world.diffusion.step_error_logged, true) => {
                    error!("molecules of context {context} do not diffuse: {error}");
                }
                Err(_) => {}
            }
            molecules = rules.molecules;
            let passing = rules.collisions.iter().filter_map(|(pair, collision)| {
                let bodies = pair.map(|index| world.diffusion.members[index as usize].0.body);
                let passes = collision.outcome == CollisionOutcome::Pass;
                world.members.pair_of_bodies(bodies).filter(|_| passes)
            });
            world.diffusion.passing = passing.collect();
            world.collisions.extend(rules.collisions.into_values());
        }
        let members = world.diffusion.members.iter();
        for ((molecule, moved), (member, _)) in molecules.iter().zip(crowd.molecules()).zip(members)
        {
            if !molecule.diffuses {
                continue;
            }
            if let Some(body) = bodies.bodies.get_mut(member.body) {
                let Pose { position, rotation } = moved.pose;
                body.set_linvel(Vec3::ZERO, false);
                body.set_angvel(Vec3::ZERO, false);
                body.set_position(RapierPose::from_parts(position, rotation), true);
            }
        }
        world.times.diffuse += start.elapsed();
    }
}
