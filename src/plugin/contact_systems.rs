//! The systems of a substep: gather, detect, respond, apply.

use std::time::Instant;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    RapierConfiguration, RapierContextColliders, RapierContextEntityLink, RapierContextJoints,
    RapierContextSimulation, RapierRigidBodyHandle, RapierRigidBodySet,
};
use bevy_rapier3d::rapier::dynamics::{RigidBody, RigidBodySet};

use super::backend::{MoleculeBackend, MoleculeBackendFailed, accept_device_error};
use super::components::{MoleculeDetail, MoleculeMaterial};
use super::contact_events::Touching;
use super::joints::for_each_exempt;
use super::molecule_world::{ContactModel, Member, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use super::state_errors::{MoleculeStateError, StateErrorKind};
use crate::dynamics::{ContactMember, ContactSolverConfig, Exclusion, MemberIndex, MovingBody};
use crate::pose::Pose;

/// What makes the members of a context change.
type MemberChange = Or<(
    Changed<PreparedMolecule>,
    Changed<MoleculeDetail>,
    Changed<RapierRigidBodyHandle>,
    Changed<RapierContextEntityLink>,
)>;

/// Collects the molecules of each context when some have come, gone or changed.
pub(super) fn collect_members(
    mut worlds: Query<(Entity, &mut MoleculeWorld, &mut RapierRigidBodySet)>,
    molecules: Query<(
        Entity,
        &PreparedMolecule,
        &MoleculeDetail,
        &MoleculeMaterial,
        &RapierRigidBodyHandle,
        &RapierContextEntityLink,
    )>,
    changed: Query<(), (With<PreparedMolecule>, MemberChange)>,
    mut removed: RemovedComponents<PreparedMolecule>,
    mut freed: RemovedComponents<RapierRigidBodyHandle>,
) {
    let gone = removed.read().count() + freed.read().count();
    let outdated = !changed.is_empty() || gone > 0;
    for (context, mut world, mut bodies) in &mut worlds {
        if world.collected && !outdated {
            continue;
        }
        world.collected = true;
        world.diffusing.collected = false;
        world.watched.collected = false;
        let mut found: Vec<_> = molecules
            .iter()
            .filter(|(.., link)| link.0 == context)
            .collect();
        // A fixed order, however the entities lie in memory.
        found.sort_unstable_by_key(|(entity, ..)| *entity);
        let members: Vec<Member> = found
            .iter()
            .map(|(entity, .., handle, _)| Member {
                entity: *entity,
                body: handle.0,
            })
            .collect();
        wake_bereaved(&world, &members, &mut bodies.bodies);
        world.member_of = members.iter().map(|member| member.body).zip(0..).collect();
        world.members = members;
        let contacts = found
            .iter()
            .map(|(entity, prepared, detail, material, ..)| {
                let (material, groups) = material.surface();
                ContactMember {
                    id: entity.to_bits(),
                    spheres: prepared.0.spheres(**detail),
                    material,
                    groups,
                }
            });
        let contacts = contacts.collect();
        if let Err(error) = world.contacts.set_members(contacts) {
            error!("the molecules of context {context} cannot touch each other: {error}");
            world.members.clear();
            world.member_of.clear();
        }
    }
}

/// Wakes molecules that touched one that is gone, or all where nobody knows who did.
fn wake_bereaved(world: &MoleculeWorld, members: &[Member], bodies: &mut RigidBodySet) {
    let find = |entity| {
        let at = members.binary_search_by_key(&entity, |member| member.entity);
        at.ok().map(|at| members[at].body)
    };
    if !world.contacts.reports_touches() {
        if world.members.iter().any(|one| find(one.entity).is_none()) {
            for member in members {
                if let Some(body) = bodies.get_mut(member.body) {
                    body.wake_up(true);
                }
            }
        }
        return;
    }
    for pair in world.ledger.touching() {
        match (find(pair.a), find(pair.b)) {
            (Some(left), None) | (None, Some(left)) => {
                if let Some(body) = bodies.get_mut(left) {
                    body.wake_up(true);
                }
            }
            _ => {}
        }
    }
}

/// Passes changed surfaces on to the crowd.
pub(super) fn update_surfaces(
    mut worlds: Query<&mut MoleculeWorld>,
    changed: Query<
        (Entity, &MoleculeMaterial, &RapierContextEntityLink),
        (Changed<MoleculeMaterial>, With<PreparedMolecule>),
    >,
) {
    for (entity, material, link) in &changed {
        let Ok(mut world) = worlds.get_mut(link.0) else {
            continue;
        };
        let at = world
            .members
            .binary_search_by_key(&entity, |member| member.entity);
        if let Ok(at) = at {
            let (material, groups) = material.surface();
            let member = MemberIndex(at as u32);
            world.contacts.set_surface(member, material, groups);
        }
    }
}

/// The body of a molecule as the contact solver sees it; none if it is disabled.
pub(super) fn moving_body(body: &RigidBody, gravity: Vec3) -> Option<MovingBody> {
    if !body.is_enabled() {
        return None;
    }
    let position = body.position();
    let mass = body.mass_properties();
    let mut moving = MovingBody {
        pose: Pose::new(position.translation, position.rotation),
        center: mass.world_com,
        velocity: body.linvel(),
        angular_velocity: body.angvel(),
        asleep: body.is_sleeping(),
        ..MovingBody::default()
    };
    if body.is_dynamic() {
        let inertia = &mass.effective_world_inv_inertia;
        moving.inverse_mass = mass.effective_inv_mass;
        moving.inverse_inertia = Mat3::from_cols(
            Vec3::new(inertia.m11, inertia.m12, inertia.m13),
            Vec3::new(inertia.m12, inertia.m22, inertia.m23),
            Vec3::new(inertia.m13, inertia.m23, inertia.m33),
        );
        moving.acceleration =
            gravity * body.gravity_scale() + body.user_force() * mass.effective_inv_mass;
    }
    Some(moving)
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
    mut faults: MessageWriter<MoleculeStateError>,
) {
    for (context, mut world, bodies, joints, config) in &mut worlds {
        if world.substep.is_none() || *model != ContactModel::Crowd {
            continue;
        }
        let begin = Instant::now();
        let world = &mut *world;
        world.contacts.set_ignored_pairs(|ignored| {
            let passing = world.diffusing.passing.drain(..);
            ignored.extend(passing.map(|pair| pair.map(MemberIndex)));
            for_each_exempt(joints, |one, other| {
                let [one, other] = [one, other].map(|body| world.member_of.get(&body).copied());
                if let (Some(one), Some(other)) = (one, other) {
                    ignored.push([MemberIndex(one), MemberIndex(other)]);
                }
            });
        });
        let before = world.contacts.excluded().count();
        let (members, bodies) = (&world.members, &bodies.bodies);
        let gathered = world.contacts.gather(|member| {
            let body = bodies.get(members[member.index()].body)?;
            moving_body(body, config.gravity)
        });
        match gathered {
            Ok(true) if world.contacts.excluded().count() > before => {
                report_set_aside(world, &mut faults);
            }
            Ok(_) => {}
            Err(error) => error!("the molecules of context {context} cannot be gathered: {error}"),
        }
        world.times.gather += begin.elapsed();
    }
}

/// Says which molecules take no part in contacts, and why.
fn report_set_aside(world: &MoleculeWorld, faults: &mut MessageWriter<MoleculeStateError>) {
    for (member, reason) in world.contacts.excluded() {
        let reason = match reason {
            Exclusion::Absent => continue,
            Exclusion::NotFinite => StateErrorKind::NotFinite,
            Exclusion::Crowded => StateErrorKind::Crowded,
        };
        let molecule = world.members[member.index()].entity;
        error!("molecule {molecule} takes no part in contacts: {reason}");
        faults.write(MoleculeStateError { molecule, reason });
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
    mut faults: MessageWriter<MoleculeStateError>,
    mut backend_failures: MessageWriter<MoleculeBackendFailed>,
) {
    for (context, mut world, simulation, colliders) in &mut worlds {
        if world.substep.is_none() {
            continue;
        }
        let begin = Instant::now();
        let world = &mut *world;
        let touching = match *model {
            ContactModel::Crowd => {
                let before = world.contacts.excluded().count();
                match world.contacts.detect() {
                    Ok(_) => world.failing = false,
                    Err(error) if !world.failing => {
                        world.failing = true;
                        error!("the molecules of context {context} cannot touch: {error}");
                    }
                    Err(_) => {}
                }
                if world.contacts.excluded().count() > before {
                    report_set_aside(world, &mut faults);
                }
                if let Some(error) = world.contacts.take_device_error() {
                    accept_device_error(context, error, world, &mut backend, &mut backend_failures);
                }
                touching_in_crowd(world)
            }
            ContactModel::Rapier => {
                touching_in_solver(simulation, colliders, |entity| molecules.contains(entity))
            }
        };
        world.ledger.update(touching);
        world.times.detect += begin.elapsed();
    }
}

fn touching_in_crowd(world: &MoleculeWorld) -> Vec<Touching> {
    let touches = world.contacts.touches().iter();
    touches
        .filter(|touch| touch.overlaps > 0)
        .map(|touch| {
            let [a, b] = [touch.a, touch.b].map(|member| world.members[member.index()].entity);
            Touching::new(a, b, touch.penetration)
        })
        .collect()
}

fn touching_in_solver(
    simulation: &RapierContextSimulation,
    colliders: &RapierContextColliders,
    is_molecule: impl Fn(Entity) -> bool,
) -> Vec<Touching> {
    simulation
        .narrow_phase
        .contact_pairs()
        .filter_map(|pair| {
            let [a, b] = [pair.collider1, pair.collider2].map(|handle| {
                let entity = colliders.collider_entity(handle);
                entity.filter(|entity| is_molecule(*entity))
            });
            let (a, b) = (a?, b?);
            let gaps = pair
                .manifolds
                .iter()
                .flat_map(|manifold| manifold.points.iter().map(|point| point.dist));
            let gap = gaps.fold(f32::INFINITY, f32::min);
            (gap < 0.0).then(|| Touching::new(a, b, -gap))
        })
        .collect()
}

/// Solves the contacts.
pub(super) fn respond(
    model: Res<ContactModel>,
    mut worlds: Query<(Entity, &mut MoleculeWorld)>,
    mut backend: ResMut<MoleculeBackend>,
    mut backend_failures: MessageWriter<MoleculeBackendFailed>,
) {
    for (context, mut world) in &mut worlds {
        let Some(substep) = world.substep else {
            continue;
        };
        if *model == ContactModel::Crowd {
            let begin = Instant::now();
            if let Err(error) = world.contacts.config.check() {
                error!("contacts of context {context} are solved by the default: {error}");
                *world.contact_config_mut() = ContactSolverConfig::default();
            }
            world.contacts.respond(substep);
            if let Some(error) = world.contacts.take_device_error() {
                let world = &mut *world;
                accept_device_error(context, error, world, &mut backend, &mut backend_failures);
            }
            world.times.respond += begin.elapsed();
        }
    }
}

/// Gives the bodies their impulses.
pub(super) fn apply(
    model: Res<ContactModel>,
    mut worlds: Query<(&mut MoleculeWorld, &mut RapierRigidBodySet)>,
) {
    for (mut world, mut bodies) in &mut worlds {
        if world.substep.is_none() {
            continue;
        }
        let begin = Instant::now();
        let world = &mut *world;
        if *model == ContactModel::Crowd {
            for &member in world.contacts.to_wake() {
                let handle = world.members[member.index()].body;
                if bodies
                    .bodies
                    .get(handle)
                    .is_some_and(RigidBody::is_sleeping)
                    && let Some(body) = bodies.bodies.get_mut(handle)
                {
                    body.wake_up(true);
                }
            }
            let members = world.contacts.impulses();
            let members =
                members.map(|(member, impulse)| (world.members[member.index()].body, impulse));
            let obstacles = world
                .obstacles
                .iter()
                .zip(world.contacts.external_impulses());
            let obstacles = obstacles.filter_map(|(body, impulse)| Some(((*body)?, impulse)));
            for (handle, impulse) in members.chain(obstacles) {
                if !impulse.is_zero()
                    && let Some(body) = bodies.bodies.get_mut(handle)
                {
                    body.apply_impulse(impulse.linear, false);
                    body.apply_torque_impulse(impulse.angular, false);
                }
            }
        }
        for (member, impulse) in world.springs.drain(..) {
            if let Some(body) = bodies.bodies.get_mut(world.members[member as usize].body) {
                body.apply_impulse(impulse.linear, true);
                body.apply_torque_impulse(impulse.angular, true);
            }
        }
        world.times.apply += begin.elapsed();
    }
}
