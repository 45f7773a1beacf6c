//! Contacts between molecules that Rapier has found, in [`ContactModel::Solver`].

use bevy::prelude::*;
use bevy_rapier3d::parry::shape::{FeatureId, PackedFeatureId};
use bevy_rapier3d::prelude::{RapierContextColliders, RapierContextSimulation};
use bevy_rapier3d::rapier::geometry::{
    Collider, ColliderHandle, ContactManifold, ContactPair, SolverFlags,
};

#[cfg(doc)]
use super::ContactModel;
use super::contact_events::{MoleculeContact, TouchingPair};
use crate::dynamics::overlapping_spheres;
use crate::pose::Pose;
use crate::rapier::MoleculeShape;

/// The pairs of molecules that touch, sensors included.
pub(super) fn rapier_touches(
    simulation: &RapierContextSimulation,
    colliders: &RapierContextColliders,
    is_molecule: impl Fn(Entity) -> bool,
) -> Vec<TouchingPair> {
    let entities = |handles: [ColliderHandle; 2]| {
        let [a, b] = handles.map(|handle| {
            let entity = colliders.collider_entity(handle);
            entity.filter(|entity| is_molecule(*entity))
        });
        Some((a?, b?))
    };
    let mut touching = Vec::new();
    for pair in simulation.narrow_phase.contact_pairs() {
        if let Some((a, b)) = entities([pair.collider1, pair.collider2])
            && let Some(collider) = colliders.colliders.get(pair.collider1)
        {
            let pushes = pair.manifolds.iter().any(|manifold| {
                let flags = manifold.data.solver_flags;
                flags.contains(SolverFlags::COMPUTE_IMPULSES)
            });
            let contact = deepest(contacts_of(pair, collider));
            touching.extend(contact.and_then(|contact| touch([a, b], contact, pushes)));
        }
    }
    for (one, other, intersect) in simulation.narrow_phase.intersection_pairs() {
        let handles = [one, other];
        if intersect && let Some((a, b)) = entities(handles) {
            let contact = deepest(measured_contacts(colliders, handles));
            touching.extend(contact.and_then(|contact| touch([a, b], contact, false)));
        }
    }
    touching
}

/// The contacts of two colliders of molecules, from the first to the second.
pub(super) fn rapier_contacts(
    simulation: &RapierContextSimulation,
    colliders: &RapierContextColliders,
    one: ColliderHandle,
    other: ColliderHandle,
) -> Vec<MoleculeContact> {
    let Some(pair) = simulation.narrow_phase.contact_pair(one, other) else {
        return measured_contacts(colliders, [one, other]).collect();
    };
    let Some(collider) = colliders.colliders.get(pair.collider1) else {
        return Vec::new();
    };
    let contacts = contacts_of(pair, collider);
    if pair.collider1 == one {
        contacts.collect()
    } else {
        contacts.map(MoleculeContact::reversed).collect()
    }
}

fn deepest(contacts: impl Iterator<Item = MoleculeContact>) -> Option<MoleculeContact> {
    contacts.max_by(|a, b| a.depth.total_cmp(&b.depth))
}

/// The pair if its molecules overlap or push each other. The contact is that of the entities in this order.
fn touch([a, b]: [Entity; 2], contact: MoleculeContact, pushes: bool) -> Option<TouchingPair> {
    let contact = if a <= b { contact } else { contact.reversed() };
    (contact.depth > 0.0 || contact.impulse > 0.0).then(|| TouchingPair {
        pushes,
        contact,
        ..TouchingPair::new(a, b, contact.depth)
    })
}

/// The contacts of a pair; `collider` is its first.
fn contacts_of<'a>(
    pair: &'a ContactPair,
    collider: &'a Collider,
) -> impl Iterator<Item = MoleculeContact> + 'a {
    let contact = move |manifold: &'a ContactManifold| {
        let normal = collider.rotation() * manifold.local_n1;
        let points = manifold.points.iter();
        points.map(move |point| MoleculeContact {
            atoms: atoms([point.fid1, point.fid2]),
            point: *collider.position() * point.local_p1 + normal * (0.5 * point.dist),
            normal,
            depth: -point.dist,
            impulse: point.data.impulse,
        })
    };
    pair.manifolds.iter().flat_map(contact)
}

/// The features of molecules are their atoms.
fn atoms(features: [PackedFeatureId; 2]) -> Option<[u32; 2]> {
    let [first, second] = features.map(|feature| match feature.unpack() {
        FeatureId::Face(atom) => Some(atom),
        _ => None,
    });
    Some([first?, second?])
}

/// The overlapping atoms of two molecules, which need not push each other.
fn measured_contacts(
    colliders: &RapierContextColliders,
    handles: [ColliderHandle; 2],
) -> impl Iterator<Item = MoleculeContact> {
    let found = handles.map(|handle| {
        let collider = colliders.colliders.get(handle)?;
        let position = collider.position();
        let pose = Pose::new(position.translation, position.rotation);
        let shape = collider.shape().as_shape::<MoleculeShape>()?;
        Some((pose, shape.spheres()))
    });
    let contacts = match found {
        [Some((pose_a, a)), Some((pose_b, b))] => overlapping_spheres([a, b], [pose_a, pose_b]),
        _ => Vec::new(),
    };
    contacts
        .into_iter()
        .map(|contact| MoleculeContact::new(&contact, true))
}
