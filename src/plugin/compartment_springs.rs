//! The springs of molecules that are out of their place.

use std::time::Instant;

use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{RapierContextEntityLink, RapierRigidBodySet};

use super::compartment::InCompartment;
use super::compartment_surface::CompartmentSurface;
use super::contact_systems::moving_body;
use super::molecule_world::MoleculeWorld;
use super::prepared_molecule::PreparedMolecule;
use crate::compartment::{Confinement, Excess};
use crate::dynamics::{Impulse, MovingBody};
use crate::force::{Body, SpringLaw, Velocity, precession_damping_impulse, spring_impulse};
use crate::pose::Pose;

/// Where a molecule belongs, checked; made by the plugin from [`InCompartment`].
#[derive(Clone, Copy, Debug, Component)]
pub(super) struct CheckedPlace {
    belonging: Confinement,
    law: SpringLaw,
}

impl CheckedPlace {
    /// By how much a molecule at `pose` is out of place.
    pub(super) fn excess(&self, surface: &CompartmentSurface, pose: &Pose) -> Excess {
        self.belonging.excess(surface.surface(), pose)
    }

    /// Whether a molecule may move like that: it is in place afterwards, or no further out
    /// of it than before.
    pub(super) fn allows(&self, surface: &CompartmentSurface, from: &Pose, to: &Pose) -> bool {
        let after = self.excess(surface, to);
        if after.is_in_place() {
            return true;
        }
        let before = self.excess(surface, from);
        after.height.abs() <= before.height.abs() && after.tilt <= before.tilt
    }
}

/// Checks where molecules belong when they are told so.
pub(super) fn check_places(
    mut commands: Commands,
    changed: Query<
        (Entity, &InCompartment, &PreparedMolecule),
        Or<(Changed<InCompartment>, Changed<PreparedMolecule>)>,
    >,
    mut removed: RemovedComponents<InCompartment>,
) {
    for (entity, place, prepared) in &changed {
        let law = place.spring;
        let checked = place
            .belonging(prepared)
            .checked()
            .map_err(|error| error.to_string())
            .and_then(|belonging| match law.check() {
                Ok(()) => Ok(CheckedPlace { belonging, law }),
                Err(error) => Err(error.to_string()),
            });
        match checked {
            Ok(place) => {
                commands.entity(entity).try_insert(place);
            }
            Err(error) => {
                error!("molecule {entity} is not held by its compartment: {error}");
                commands.entity(entity).try_remove::<CheckedPlace>();
            }
        }
    }
    for entity in removed.read() {
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<CheckedPlace>();
        }
    }
}

/// Computes what the springs of this substep do.
pub(super) fn pull_springs(
    mut worlds: Query<(&mut MoleculeWorld, &RapierRigidBodySet)>,
    held: Query<(
        Entity,
        &InCompartment,
        &CheckedPlace,
        &RapierContextEntityLink,
    )>,
    surfaces: Query<&CompartmentSurface>,
    mut orphans: Local<HashSet<Entity>>,
) {
    if held.is_empty() {
        return;
    }
    let begin = Instant::now();
    for (entity, place, checked, link) in &held {
        let Ok((mut world, bodies)) = worlds.get_mut(link.0) else {
            continue;
        };
        let Some(dt) = world.substep.filter(|dt| *dt > 0.0) else {
            continue;
        };
        let Ok(surface) = surfaces.get(place.compartment) else {
            if orphans.insert(entity) {
                warn!(
                    "molecule {entity} floats free: {} has no Compartment, or one that is not \
                     ready",
                    place.compartment
                );
            }
            continue;
        };
        orphans.remove(&entity);
        let members = &world.members;
        let Ok(at) = members.binary_search_by_key(&entity, |member| member.entity) else {
            continue;
        };
        let body = bodies.bodies.get(members[at].body);
        let Some(body) = body.and_then(|body| moving_body(body, Vec3::ZERO)) else {
            continue;
        };
        if !body.is_finite() || !body.is_movable() {
            continue;
        }
        let pose = Pose::new(body.center, body.pose.rotation);
        let excess = checked.excess(surface, &pose);
        if body.asleep && excess.is_in_place() {
            continue;
        }
        if let Some(impulse) = spring(checked, &body, &excess, dt) {
            world.springs.push((at as u32, impulse));
        }
    }
    let took = begin.elapsed();
    for (mut world, _) in &mut worlds {
        if world.substep.is_some() {
            world.times.respond += took;
            break;
        }
    }
}

/// What a spring gives a body that is out of its place.
fn spring(place: &CheckedPlace, moving: &MovingBody, excess: &Excess, dt: f32) -> Option<Impulse> {
    let body = Body {
        center: moving.center,
        inverse_mass: moving.inverse_mass.max_element(),
        inverse_inertia: moving.inverse_inertia,
    };
    let velocity = Velocity {
        linear: moving.velocity,
        angular: moving.angular_velocity,
    };
    let pull = spring_impulse(&place.law, &body, &velocity, excess, dt);
    let after = pull.apply(&body, &velocity);
    let steadied = precession_damping_impulse(&place.law, &body, &after, excess, dt);
    let impulse = Impulse {
        linear: pull.linear + steadied.linear,
        angular: pull.angular + steadied.angular,
    };
    (!impulse.is_zero()).then_some(impulse)
}
