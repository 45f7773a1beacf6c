//! Rapier's own events for contacts between molecules, in
//! [`ContactModel::Crowd`](super::ContactModel::Crowd).

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    ActiveEvents, CollisionEvent, ContactForceEvent, ContactForceEventThreshold, Sensor,
};
use bevy_rapier3d::rapier::geometry::CollisionEventFlags;

use super::contact_events::TouchingPair;
use super::molecule_world::{ContactModel, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;

/// The components that request events.
type Listeners<'w, 's> = Query<
    'w,
    's,
    (
        &'static ActiveEvents,
        Option<&'static ContactForceEventThreshold>,
    ),
    With<PreparedMolecule>,
>;

/// Sends a [`CollisionEvent`] for each contact that has started or stopped, and a
/// [`ContactForceEvent`] for each that is strong enough, if one of the molecules requests it: by the
/// same rules as Rapier for its colliders.
pub(super) fn send_rapier_events(
    model: Res<ContactModel>,
    mut worlds: Query<&mut MoleculeWorld>,
    listeners: Listeners,
    sensors: Query<(), With<Sensor>>,
    mut collisions: MessageWriter<CollisionEvent>,
    mut forces: MessageWriter<ContactForceEvent>,
) {
    if *model != ContactModel::Crowd {
        return;
    }
    for mut world in &mut worlds {
        let Some(substep) = world.substep else {
            continue;
        };
        let world = &mut *world;
        let is_requested = |pair: &TouchingPair| {
            [pair.a, pair.b].iter().any(|molecule| {
                let events = listeners.get(*molecule);
                events.is_ok_and(|(events, _)| events.contains(ActiveEvents::COLLISION_EVENTS))
            })
        };
        world.touching.describe(|change| {
            change.pair.sends_collision_events |= is_requested(&change.pair);
        });
        for change in world.touching.new_changes() {
            let pair = &change.pair;
            // A molecule that was despawned no longer has its components, but had them at the start.
            if !pair.sends_collision_events {
                continue;
            }
            let mut flags = CollisionEventFlags::empty();
            let molecules = [pair.a, pair.b];
            if molecules.iter().any(|molecule| sensors.contains(*molecule)) {
                flags |= CollisionEventFlags::SENSOR;
            }
            let is_member = |molecule: &Entity| world.members.index_of(*molecule).is_some();
            if !molecules.iter().all(is_member) {
                flags |= CollisionEventFlags::REMOVED;
            }
            collisions.write(if change.started {
                CollisionEvent::Started(pair.a, pair.b, flags)
            } else {
                CollisionEvent::Stopped(pair.a, pair.b, flags)
            });
        }
        if !listeners.is_empty() {
            forces.write_batch(force_events(world, &listeners, substep));
        }
    }
}

/// The force events of a substep of `dt` s.
fn force_events(
    world: &MoleculeWorld,
    listeners: &Listeners,
    dt: f32,
) -> impl Iterator<Item = ContactForceEvent> {
    let threshold = |molecule: Entity| match listeners.get(molecule) {
        Ok((events, threshold)) if events.contains(ActiveEvents::CONTACT_FORCE_EVENTS) => {
            threshold.map_or(0.0, |threshold| threshold.0)
        }
        _ => f32::MAX,
    };
    let pairs = world.touching.pairs().iter().filter(|pair| pair.pushes);
    pairs.filter_map(move |pair| {
        let threshold = threshold(pair.a).min(threshold(pair.b));
        if threshold == f32::MAX {
            return None;
        }
        let [a, b] = [pair.a, pair.b].map(|molecule| world.members.index_of(molecule));
        let mut event = ContactForceEvent {
            collider1: pair.a,
            collider2: pair.b,
            total_force: Vec3::ZERO,
            total_force_magnitude: 0.0,
            max_force_direction: Vec3::ZERO,
            max_force_magnitude: 0.0,
        };
        for contact in world.contacts.solved_between([a?, b?]) {
            let force = contact.impulse / dt;
            event.total_force += contact.normal * force;
            event.total_force_magnitude += force;
            if force > event.max_force_magnitude {
                event.max_force_magnitude = force;
                event.max_force_direction = contact.normal;
            }
        }
        (event.total_force_magnitude > threshold).then_some(event)
    })
}
