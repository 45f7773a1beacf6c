//! The contact systems: gather, detect, respond, apply.

use std::time::Instant;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    RapierConfiguration, RapierContextColliders, RapierContextEntityLink, RapierContextJoints,
    RapierContextSimulation, RapierRigidBodySet,
};
use bevy_rapier3d::rapier::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};

use super::backend::{MoleculeBackend, MoleculeBackendFailed, report_device_error};
use super::components::MoleculeMaterial;
use super::contact_events::TouchingPair;
use super::molecule_world::{ContactModel, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use super::rapier_body::moving_body;
use super::state_errors::{MoleculeStateError, StateErrorKind};
use crate::dynamics::{ContactSolverConfig, Exclusion, Impulse};

fn wake_up(bodies: &mut RigidBodySet, handle: RigidBodyHandle) {
    if let Some(body) = bodies.get_mut(handle) {
        body.wake_up(true);
    }
}

/// Applies changed materials to the contact solver.
pub(super) fn update_contact_materials(
    mut worlds: Query<&mut MoleculeWorld>,
    changed: Query<
        (Entity, &MoleculeMaterial, &RapierContextEntityLink),
        (Changed<MoleculeMaterial>, With<PreparedMolecule>),
    >,
) {
    for (entity, material, link) in &changed {
        if let Ok(mut world) = worlds.get_mut(link.0)
            && let Some(index) = world.members.index_of(entity)
        {
            let (material, groups) = material.surface();
            world.contacts.set_surface(index, material, groups);
        }
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
        if world.substep.is_none() || *model != ContactModel::Crowd {
            continue;
        }
        let start = Instant::now();
        let world = &mut *world;
        world.contacts.set_ignored_pairs(|ignored| {
            ignored.append(&mut world.diffusion.passing);
            for_each_joint_without_contacts(joints, |bodies| {
                ignored.extend(world.members.pair_of_bodies(bodies));
            });
        });
        let excluded_before = world.contacts.excluded().count();
        let (members, bodies) = (&world.members, &bodies.bodies);
        let gathered = world.contacts.gather(|member| {
            let body = bodies.get(members[member].body)?;
            moving_body(body, config.gravity)
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

/// Finds the molecules that touch.
pub(super) fn detect(
    model: Res<ContactModel>,
    mut worlds: Query<(
        Entity,
        &mut MoleculeWorld,
        &RapierContextSimulation,
        &RapierContextColliders,
    )>,
    molecules: Query<(), With<PreparedMolecule>>,
    mut backend: ResMut<MoleculeBackend>,
    mut errors: MessageWriter<MoleculeStateError>,
    mut failures: MessageWriter<MoleculeBackendFailed>,
) {
    for (context, mut world, simulation, colliders) in &mut worlds {
        if world.substep.is_none() {
            continue;
        }
        let start = Instant::now();
        let world = &mut *world;
        match *model {
            ContactModel::Crowd => {
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
                let touches = world.contacts.touches().iter();
                let touching = touches.filter(|touch| touch.overlaps > 0).map(|touch| {
                    let [a, b] = [touch.a, touch.b].map(|member| world.members[member].entity);
                    TouchingPair::new(a, b, touch.penetration)
                });
                world.touching.update(touching);
            }
            ContactModel::Solver => {
                let is_molecule = |entity| molecules.contains(entity);
                let touching = rapier_touches(simulation, colliders, is_molecule);
                world.touching.update(touching);
            }
        }
        world.times.detect += start.elapsed();
    }
}

fn rapier_touches(
    simulation: &RapierContextSimulation,
    colliders: &RapierContextColliders,
    is_molecule: impl Fn(Entity) -> bool,
) -> impl Iterator<Item = TouchingPair> {
    simulation
        .narrow_phase
        .contact_pairs()
        .filter_map(move |pair| {
            let [a, b] = [pair.collider1, pair.collider2].map(|handle| {
                let entity = colliders.collider_entity(handle);
                entity.filter(|entity| is_molecule(*entity))
            });
            let (a, b) = (a?, b?);
            let points = pair.manifolds.iter().flat_map(|manifold| &manifold.points);
            let gap = points.map(|point| point.dist).fold(f32::INFINITY, f32::min);
            (gap < 0.0).then(|| TouchingPair::new(a, b, -gap))
        })
}

/// Solves the contacts.
pub(super) fn respond(
    model: Res<ContactModel>,
    mut worlds: Query<(Entity, &mut MoleculeWorld)>,
    mut backend: ResMut<MoleculeBackend>,
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
        world.contacts.respond(substep);
        if let Some(error) = world.contacts.take_device_error() {
            report_device_error(context, error, &mut world, &mut backend, &mut failures);
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
