//! Springs that pull molecules back into their compartment.

use std::sync::Arc;
use std::time::Instant;

use bevy::prelude::*;
use bevy_rapier3d::prelude::RapierRigidBodySet;

use super::compartment::{CompartmentSurface, InCompartment};
use super::molecule_world::MoleculeWorld;
use super::prepared_molecule::PreparedMolecule;
use super::rapier_body::moving_body;
use super::state_errors::ReportedEntities;
use crate::compartment::{Confinement, Excess};
use crate::dynamics::{Impulse, MovingBody};
use crate::force::{Body, SpringLaw, Velocity, precession_damping_impulse, spring_impulse};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// The validated confinement of a molecule, made from its [`InCompartment`].
#[derive(Clone, Debug, Component)]
pub(super) struct ValidConfinement {
    confinement: Confinement,
    /// The molecule that it was made for.
    template: Arc<MoleculeTemplate>,
    spring: SpringLaw,
}

impl ValidConfinement {
    fn new(
        in_compartment: &InCompartment,
        molecule: &PreparedMolecule,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let confinement = in_compartment.confinement(molecule.template()).checked()?;
        let spring = in_compartment.spring;
        spring.check()?;
        Ok(Self {
            confinement,
            template: Arc::clone(molecule.template()),
            spring,
        })
    }

    /// How far a molecule at `pose` is outside its region.
    pub fn excess(&self, surface: &CompartmentSurface, pose: &Pose) -> Excess {
        let surface = surface.surface();
        self.confinement.excess(surface, &self.template, pose)
    }

    /// Whether a molecule may make this move: it ends in its region, or no further outside
    /// than before.
    pub fn allows(&self, surface: &CompartmentSurface, from: &Pose, to: &Pose) -> bool {
        let after = self.excess(surface, to);
        if after.is_in_place() {
            return true;
        }
        let before = self.excess(surface, from);
        after.height.abs() <= before.height.abs() && after.tilt <= before.tilt
    }
}

/// Validates the confinement of molecules after a change.
pub(super) fn validate_confinements(
    mut commands: Commands,
    changed: Query<
        (Entity, &InCompartment, &PreparedMolecule),
        Or<(Changed<InCompartment>, Changed<PreparedMolecule>)>,
    >,
    mut removed: RemovedComponents<InCompartment>,
) {
    for (entity, in_compartment, molecule) in &changed {
        match ValidConfinement::new(in_compartment, molecule) {
            Ok(confinement) => {
                commands.entity(entity).try_insert(confinement);
            }
            Err(error) => {
                error!("molecule {entity} is not confined to its compartment: {error}");
                commands.entity(entity).try_remove::<ValidConfinement>();
            }
        }
    }
    for entity in removed.read() {
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<ValidConfinement>();
        }
    }
}

/// Computes the spring impulses of this substep.
pub(super) fn compute_springs(
    mut worlds: Query<(&mut MoleculeWorld, &RapierRigidBodySet)>,
    confined: Query<(&InCompartment, &ValidConfinement)>,
    surfaces: Query<&CompartmentSurface>,
    mut without_compartment: Local<ReportedEntities>,
) {
    if confined.is_empty() {
        return;
    }
    for (mut world, bodies) in &mut worlds {
        let Some(dt) = world.substep.filter(|dt| *dt > 0.0) else {
            continue;
        };
        let start = Instant::now();
        let world = &mut *world;
        for (index, member) in world.members.indexed() {
            let Ok((in_compartment, confinement)) = confined.get(member.entity) else {
                continue;
            };
            let surface = surfaces.get(in_compartment.compartment);
            if without_compartment.is_new(member.entity, surface.is_err()) {
                warn!(
                    "molecule {} is not confined: {} has no valid Compartment",
                    member.entity, in_compartment.compartment
                );
            }
            let body = bodies.bodies.get(member.body);
            let body = body.and_then(|body| moving_body(body, Vec3::ZERO, dt));
            if let (Ok(surface), Some(body)) = (surface, body)
                && let Some(impulse) = spring(confinement, surface, &body, dt)
            {
                world.springs.push((index, impulse));
            }
        }
        world.times.respond += start.elapsed();
    }
}

/// The spring impulse on a body, if any.
fn spring(
    confinement: &ValidConfinement,
    surface: &CompartmentSurface,
    moving: &MovingBody,
    dt: f32,
) -> Option<Impulse> {
    if !moving.is_valid() || !moving.is_movable() {
        return None;
    }
    let pose = Pose::new(moving.center, moving.pose.rotation);
    let excess = confinement.excess(surface, &pose);
    if moving.asleep && excess.is_in_place() {
        return None;
    }
    let body = Body {
        center: moving.center,
        inverse_mass: moving.inverse_mass.max_element(),
        inverse_inertia: moving.inverse_inertia,
    };
    let velocity = Velocity {
        linear: moving.velocity,
        angular: moving.angular_velocity,
    };
    let pull = spring_impulse(&confinement.spring, &body, &velocity, &excess, dt);
    let after = pull.apply(&body, &velocity);
    let damping = precession_damping_impulse(&confinement.spring, &body, &after, &excess, dt);
    let impulse = Impulse {
        linear: pull.linear + damping.linear,
        angular: pull.angular + damping.angular,
    };
    (!impulse.is_zero()).then_some(impulse)
}
