//! The contact systems: gather, detect, respond, apply.

use std::time::Instant;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    RapierConfiguration, RapierContextColliders, RapierContextJoints, RapierContextSimulation,
    RapierRigidBodySet,
};
use bevy_rapier3d::rapier::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};

use super::backend::{MoleculeBackend, MoleculeBackendFailed, report_device_error};
use super::components::MoleculeDetail;
use super::contact_events::{CrowdContactSource, TouchingPair};
use super::molecule_world::{ContactModel, MoleculeWorld};
use super::rapier_body::moving_body;
use super::rapier_contacts::rapier_touches;
use super::state_errors::{MoleculeStateError, StateErrorKind};
use crate::dynamics::{ContactSolverConfig, Exclusion, Impulse};

pub(super) fn wake_up(bodies: &mut RigidBodySet, handle: RigidBodyHandle) {
    if let Some(body) = bodies.get_mut(handle) {
        body.wake_up(true);
    }
}

/// Reads the bodies and moves the spheres with them.
pub(super) fn gather(
    model: Res<ContactModel>,
    mut worlds: Query<(
        Entity,
        &mut MoleculeWorld,
        &RapierRigidBodySet,
        &RapierContextJoints,
        &RapierConfiguration,
    )>,
    mut errors: MessageWriter<MoleculeStateError>,
) {
    for (context, mut world, bodies, joints, config) in &mut worlds {
        let Some(substep) = world.substep.filter(|_| *model == ContactModel::Crowd) else {
            continue;
        };
        let start = Instant::now();
        let world = &mut *world;
        world.contacts.set_ignored_pairs(|ignored| {
            ignored.append(&mut world.diffusion.passing);
            for_each_joint_without_contacts(joints, |bodies| {
                ignored.extend(world.members.pair_of_bodies(bodies));
            });
        });
        let excluded_before = world.contacts.excluded().count();
        let (members, disabled) = (&world.members, &world.disabled);
        let bodies = &bodies.bodies;
        let gathered = world.contacts.gather(|member| {
            if disabled.binary_search(&member).is_ok() {
                return None;
            }
            let body = bodies.get(members[member].body)?;
            moving_body(body, config.gravity, substep)
        });
        match gathered {
            Ok(true) => report_new_exclusions(world, excluded_before, &mut errors),
            Ok(false) => {}
            Err(error) => error!("failed to gather the molecules of context {context}: {error}"),
        }
        world.times.gather += start.elapsed();
    }
}

/// Visits every two bodies with a joint whose contacts are disabled, by the same rules as Rapier.
pub(super) fn for_each_joint_without_contacts(
    joints: &RapierContextJoints,
    mut visit: impl FnMut([RigidBodyHandle; 2]),
) {
    for (_, joint) in joints.impulse_joints.iter() {
        if !joint.data.contacts_enabled {
            visit([joint.body1(), joint.body2()]);
        }
    }
    for (_, _, multibody, link) in joints.multibody_joints.iter() {
        if !multibody.self_contacts_enabled() {
            for other in multibody.links() {
                visit([link.rigid_body_handle(), other.rigid_body_handle()]);
            }
        } else if !link.joint.data.contacts_enabled
            && let Some(parent) = link.parent_id().and_then(|parent| multibody.link(parent))
        {
            visit([parent.rigid_body_handle(), link.rigid_body_handle()]);
        }
    }
}

/// Reports the molecules excluded from contacts if there are more than `before`.
fn report_new_exclusions(
    world: &MoleculeWorld,
    before: usize,
    errors: &mut MessageWriter<MoleculeStateError>,
) {
    if world.contacts.excluded().count() <= before {
        return;
    }
    for (member, exclusion) in world.contacts.excluded() {
        let kind = match exclusion {
            Exclusion::Absent => continue,
            Exclusion::NotFinite => StateErrorKind::NotFinite,
            Exclusion::Crowded => StateErrorKind::Crowded,
        };
        let molecule = world.members[member].entity;
        error!("molecule {molecule} is excluded from contacts: {kind}");
        errors.write(MoleculeStateError { molecule, kind });
    }
}

/// Finds the pairs of molecules that touch or are close.
pub(super) fn detect(
    model: Res<ContactModel>,
    mut worlds: Query<(Entity, &mut MoleculeWorld)>,
    mut backend: ResMut<MoleculeBackend>,
    mut errors: MessageWriter<MoleculeStateError>,
    mut failures: MessageWriter<MoleculeBackendFailed>,
) {
    for (context, mut world) in &mut worlds {
        if world.substep.is_none() || *model != ContactModel::Crowd {
            continue;
        }
        let start = Instant::now();
        let world = &mut *world;
        let excluded_before = world.contacts.excluded().count();
        match world.contacts.detect() {
            Ok(_) => world.search_failed = false,
            Err(error) if !world.search_failed => {
                world.search_failed = true;
                error!("failed to find contacts in context {context}: {error}");
            }
            Err(_) => {}
        }
        report_new_exclusions(world, excluded_before, &mut errors);
        if let Some(error) = world.contacts.take_device_error() {
            report_device_error(context, error, world, &mut backend, &mut failures);
        }
        world.times.detect += start.elapsed();
    }
}

/// Updates which molecules touch, after their contacts were solved.
pub(super) fn update_touching(
    model: Res<ContactModel>,
    mut worlds: Query<(
        &mut MoleculeWorld,
        &RapierContextSimulation,
        &RapierContextColliders,
    )>,
    details: Query<&'static MoleculeDetail>,
) {
    for (mut world, simulation, colliders) in &mut worlds {
        if world.substep.is_none() {
            continue;
        }
        let start = Instant::now();
        let world = &mut *world;
        match *model {
            ContactModel::Crowd => {
                let touches = world.contacts.touches().iter();
                let touching = touches.filter(|touch| touch.is_touching()).map(|touch| {
                    let [a, b] = [touch.a, touch.b].map(|member| world.members[member].entity);
                    TouchingPair {
                        pushes: touch.pushes,
                        ..TouchingPair::new(a, b, touch.penetration)
                    }
                });
                // Fast molecules may have passed others between two substeps.
                let impacts = world.contacts.impacts_of_fast_members().iter();
                let met = impacts.map(|met| {
                    let [a, b] = [met.a, met.b].map(|member| world.members[member].entity);
                    TouchingPair::new(a, b, 0.0)
                });
                world.touching.update(touching.chain(met), true);
                let source = CrowdContactSource {
                    contacts: &world.contacts,
                    members: &world.members,
                    details: &details,
                };
                world.touching.describe(|change| source.describe(change));
            }
            ContactModel::Solver => {
                let is_molecule = |entity| details.contains(entity);
                let touching = rapier_touches(simulation, colliders, is_molecule);
                world.touching.update(touching.into_iter(), false);
            }
        }
        world.times.respond += start.elapsed();
    }
}

/// Solves the contacts.
pub(super) fn respond(
    model: Res<ContactModel>,
    mut worlds: Query<(Entity, &mut MoleculeWorld)>,
    mut backend: ResMut<MoleculeBackend>,
    mut errors: MessageWriter<MoleculeStateError>,
    mut failures: MessageWriter<MoleculeBackendFailed>,
) {
    for (context, mut world) in &mut worlds {
        let Some(substep) = world.substep else {
            continue;
        };
        if *model != ContactModel::Crowd {
            continue;
        }
        let start = Instant::now();
        if let Err(error) = world.contacts.config.check() {
            error!("context {context} uses the default contact solver configuration: {error}");
            *world.contact_config_mut() = ContactSolverConfig::default();
        }
        let world = &mut *world;
        let excluded_before = world.contacts.excluded().count();
        world.contacts.respond(substep);
        // A device solver detects contacts only now.
        report_new_exclusions(world, excluded_before, &mut errors);
        if let Some(error) = world.contacts.take_device_error() {
            report_device_error(context, error, world, &mut backend, &mut failures);
        }
        world.times.respond += start.elapsed();
    }
}

/// Applies the impulses of contacts and springs to the bodies.
pub(super) fn apply(
    model: Res<ContactModel>,
    mut worlds: Query<(&mut MoleculeWorld, &mut RapierRigidBodySet)>,
) {
    for (mut world, mut bodies) in &mut worlds {
        if world.substep.is_none() {
            continue;
        }
        let start = Instant::now();
        let world = &mut *world;
        let bodies = &mut bodies.bodies;
        if *model == ContactModel::Crowd {
            for &member in world.contacts.to_wake() {
                let handle = world.members[member].body;
                if bodies.get(handle).is_some_and(RigidBody::is_sleeping) {
                    wake_up(bodies, handle);
                }
            }
            let impulses = world.contacts.impulses();
            let impulses = impulses.map(|(member, impulse)| (world.members[member].body, impulse));
            let external = world.contacts.external_impulses();
            let external = world.external_contacts.handles.iter().zip(external);
            let external = external.filter_map(|(body, impulse)| Some(((*body)?, impulse)));
            for (handle, impulse) in impulses.chain(external) {
                if !impulse.is_zero() {
                    apply_impulse(bodies, handle, &impulse, false);
                }
            }
        }
        for (member, impulse) in world.springs.drain(..) {
            let handle = world.members[member].body;
            apply_impulse(bodies, handle, &impulse, true);
        }
        world.times.apply += start.elapsed();
    }
}

fn apply_impulse(
    bodies: &mut RigidBodySet,
    handle: RigidBodyHandle,
    impulse: &Impulse,
    wake_up: bool,
) {
    if let Some(body) = bodies.get_mut(handle) {
        body.apply_impulse(impulse.linear, wake_up);
        body.apply_torque_impulse(impulse.angular, wake_up);
    }
}
