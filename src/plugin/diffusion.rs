//! A substep of the molecules that diffuse.

use std::collections::BTreeMap;
use std::time::Instant;

use bevy::prelude::*;
use bevy_rapier3d::prelude::RapierRigidBodySet;
use bevy_rapier3d::rapier::math::Pose as RapierPose;

use super::brownian_motion::{BrownianMotionConfig, pose};
use super::collisions::{CollisionOutcome, CollisionRule, MoleculeCollision};
use super::compartment::InCompartment;
use super::compartment_springs::CheckedPlace;
use super::compartment_surface::CompartmentSurface;
use super::molecule_world::MoleculeWorld;
use crate::motion::brownian::MoveRules;
use crate::pose::Pose;
use crate::search::Pair;

/// Where a molecule belongs.
type Fence<'a> = (&'a CheckedPlace, &'a CompartmentSurface);

/// A molecule of a step.
struct Walker<'a> {
    entity: Entity,
    /// Whether it moves at all.
    diffuses: bool,
    fence: Option<Fence<'a>>,
    answer: CollisionOutcome,
}

/// What molecules may do in a step, and have done.
struct Rules<'a> {
    walkers: Vec<Walker<'a>>,
    rule: &'a CollisionRule,
    time: f64,
    /// Who met in this substep: however many steps it has, that is one meeting.
    met: BTreeMap<[u32; 2], MoleculeCollision>,
}

impl MoveRules for Rules<'_> {
    fn collide(&mut self, pair: Pair) -> CollisionOutcome {
        let Self {
            walkers,
            rule,
            time,
            met,
        } = self;
        let meeting = met.entry([pair.a, pair.b]).or_insert_with(|| {
            let [one, other] = [pair.a, pair.b].map(|index| &walkers[index as usize]);
            let mut meeting = rule.decide(MoleculeCollision {
                molecule: one.entity,
                other: other.entity,
                time: *time,
                outcome: one.answer.of_both(other.answer),
            });
            if meeting.outcome == CollisionOutcome::Stick && !(one.diffuses && other.diffuses) {
                meeting.outcome = CollisionOutcome::Bounce;
            }
            meeting
        });
        meeting.outcome
    }

    fn may_move(&self, molecule: u32, from: &Pose, to: &Pose) -> bool {
        let walker = &self.walkers[molecule as usize];
        walker.diffuses
            && walker
                .fence
                .is_none_or(|(place, surface)| place.allows(surface, from, to))
    }
}

/// Moves the molecules that diffuse.
pub(super) fn diffuse(
    config: Res<BrownianMotionConfig>,
    rule: Res<CollisionRule>,
    mut worlds: Query<(Entity, &mut MoleculeWorld, &mut RapierRigidBodySet)>,
    places: Query<(&InCompartment, &CheckedPlace)>,
    surfaces: Query<&CompartmentSurface>,
    answers: Query<&CollisionOutcome>,
) {
    for (context, mut world, mut bodies) in &mut worlds {
        let world = &mut *world;
        let (Some(dt), Some(crowd)) = (world.substep, &mut world.diffusing.crowd) else {
            continue;
        };
        let begin = Instant::now();
        let mut walkers = Vec::new();
        for (&(member, diffuses), index) in world.diffusing.members.iter().zip(0..) {
            let entity = member.entity;
            let body = bodies.bodies.get(member.body);
            let here = pose(body).is_some_and(|pose| crowd.set_pose(index, pose).is_ok());
            let moves = body.is_some_and(|body| body.is_dynamic() && body.is_enabled());
            let fence = places.get(entity).ok().and_then(|(place, checked)| {
                let surface = surfaces.get(place.compartment).ok()?;
                Some((checked, surface))
            });
            walkers.push(Walker {
                entity,
                diffuses: diffuses && here && moves,
                fence,
                answer: answers.get(entity).copied().unwrap_or_default(),
            });
        }
        let mut time = f64::from(dt) * config.pace;
        let most = f64::from(config.max_steps.max(1)) * crowd.longest_step();
        if time > most {
            time = most;
            let said = std::mem::replace(&mut world.diffusing.said[0], true);
            if !said {
                warn!(
                    "molecules of context {context} diffuse more slowly than asked for: a \
                     substep of {dt} s would need more than {} steps. Lower the pace of \
                     BrownianMotionConfig, or raise its max_steps",
                    config.max_steps
                );
            }
        }
        // A pace of nothing is a pause.
        if time > 0.0 {
            let mut rules = Rules {
                walkers,
                rule: &rule,
                time: world.clock,
                met: BTreeMap::new(),
            };
            match crowd.advance(time, &mut rules) {
                Ok(_) => world.diffusing.said[1] = false,
                Err(error) => {
                    let said = std::mem::replace(&mut world.diffusing.said[1], true);
                    if !said {
                        error!("the molecules of context {context} do not diffuse now: {error}");
                    }
                }
            }
            walkers = rules.walkers;
            let number = |index: u32| {
                let (member, _) = world.diffusing.members.get(index as usize)?;
                world.member_of.get(&member.body).copied()
            };
            let passed = rules.met.iter();
            let passed = passed.filter(|(_, met)| met.outcome == CollisionOutcome::Pass);
            world.diffusing.passing = passed
                .filter_map(|(&[a, b], _)| Some([number(a)?, number(b)?]))
                .collect();
            world.meetings.extend(rules.met.into_values());
        }
        let members = world.diffusing.members.iter();
        for ((walker, one), (member, _)) in walkers.iter().zip(crowd.molecules()).zip(members) {
            if !walker.diffuses {
                continue;
            }
            if let Some(body) = bodies.bodies.get_mut(member.body) {
                let Pose { position, rotation } = one.pose;
                body.set_linvel(Vec3::ZERO, false);
                body.set_angvel(Vec3::ZERO, false);
                body.set_position(RapierPose::from_parts(position, rotation), true);
            }
        }
        world.times.diffuse += begin.elapsed();
    }
}
