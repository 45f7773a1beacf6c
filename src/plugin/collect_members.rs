//! Which molecules take part in the contacts of a context.
//!
//! Only molecules that were added, removed or changed are collected. Removals are recorded by an
//! observer: Bevy drops the messages of `RemovedComponents` after two frames, and a tick of a
//! fixed schedule may come later.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    RapierContextColliders, RapierContextEntityLink, RapierContextJoints, RapierContextSimulation,
    RapierRigidBodyHandle, RapierRigidBodySet,
};
use bevy_rapier3d::rapier::dynamics::RigidBodyHandle;

use super::acceleration_bound::AccelerationBound;
use super::brownian_motion::BrownianMotion;
use super::components::MoleculeDetail;
use super::molecule_world::{Member, Members, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use crate::dynamics::{ContactMember, ContactSurface};

/// Molecules that have lost their body or file since they were last collected.
#[derive(Default, Resource)]
pub(super) struct RemovedMolecules(Vec<Entity>);

/// Records molecules that lose their body or file, or are despawned.
pub(super) fn record_removed(
    removed: On<Remove, (PreparedMolecule, RapierRigidBodyHandle)>,
    molecules: Query<(), With<PreparedMolecule>>,
    mut list: ResMut<RemovedMolecules>,
) {
    if molecules.contains(removed.entity) {
        list.0.push(removed.entity);
    }
}

/// Changes after which a molecule is collected again.
type MemberChange = Or<(
    Changed<PreparedMolecule>,
    Changed<MoleculeDetail>,
    Changed<RapierRigidBodyHandle>,
    Changed<RapierContextEntityLink>,
)>;

/// The parts of a molecule that make it a member.
type MemberParts<'a> = (
    &'a PreparedMolecule,
    &'a MoleculeDetail,
    &'a RapierRigidBodyHandle,
    &'a RapierContextEntityLink,
    Has<BrownianMotion>,
    Has<AccelerationBound>,
);

/// Whether the members of a context are up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemberState {
    /// All molecules are to be collected.
    #[default]
    Outdated,
    /// Only changes are to be collected.
    Collected,
    /// There are too many molecules. All are collected again after a change.
    Failed,
}

/// Collects the molecules of each context that were added, removed or changed.
pub(super) fn collect_members(
    mut worlds: Query<(Entity, &mut MoleculeWorld, &mut RapierRigidBodySet)>,
    molecules: Query<(Entity, MemberParts)>,
    changed: Query<Entity, (With<PreparedMolecule>, MemberChange)>,
    mut removed: ResMut<RemovedMolecules>,
) {
    let mut changes: Vec<Entity> = changed.iter().collect();
    if !removed.0.is_empty() {
        changes.append(&mut removed.0);
    }
    for (context, mut world, mut bodies) in &mut worlds {
        if world.member_state != MemberState::Outdated && changes.is_empty() {
            continue;
        }
        let mut candidates = match world.member_state {
            MemberState::Collected => changes.clone(),
            _ => {
                let known = world.molecules();
                known
                    .chain(molecules.iter().map(|(entity, _)| entity))
                    .collect()
            }
        };
        // The query order is not deterministic.
        candidates.sort_unstable();
        candidates.dedup();
        let found = collect_changes(context, &candidates, &world.members, &molecules);
        world.member_state = MemberState::Collected;
        if found.is_empty() {
            continue;
        }
        let world = &mut *world;
        world.diffusion.collected &= !(found.diffuses || world.diffusion.is_active());
        world.bounded.collected &= !(found.is_bounded || world.bounded.is_active());
        let is_unreported = !world.contacts.reports_touches() && !found.removed.is_empty();
        world.members.update(&found.removed, &found.added);
        if is_unreported {
            // Any of them may have lost its neighbor.
            for member in world.members.iter() {
                if let Some(body) = bodies.bodies.get_mut(member.body) {
                    body.wake_up(true);
                }
            }
        }
        let removed: Vec<u64> = found.removed.iter().map(|one| one.to_bits()).collect();
        if let Err(error) = world.contacts.update_members(&removed, found.contacts) {
            error!("molecules of context {context} do not collide with each other: {error}");
            world.members = Members::default();
            world.member_state = MemberState::Failed;
        }
    }
}

/// Changes of the members of a context, sorted by entity.
#[derive(Default)]
struct MemberChanges {
    /// Members that are gone.
    removed: Vec<Entity>,
    /// Members that are new or have changed.
    added: Vec<Member>,
    contacts: Vec<ContactMember>,
    /// Whether an added one diffuses.
    diffuses: bool,
    /// Whether an added one has an acceleration bound.
    is_bounded: bool,
}

impl MemberChanges {
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }
}

/// How the members of `context` have changed, of which the `candidates` may have.
fn collect_changes(
    context: Entity,
    candidates: &[Entity],
    members: &Members,
    molecules: &Query<(Entity, MemberParts)>,
) -> MemberChanges {
    let mut changes = MemberChanges::default();
    for &entity in candidates {
        let parts = molecules.get(entity).ok().map(|(_, parts)| parts);
        let Some((prepared, detail, handle, _, diffuses, is_bounded)) =
            parts.filter(|(.., link, _, _)| link.0 == context)
        else {
            if members.index_of(entity).is_some() {
                changes.removed.push(entity);
            }
            continue;
        };
        changes.contacts.push(ContactMember {
            id: entity.to_bits(),
            spheres: prepared.spheres(*detail),
            // Set before the first substep, with the other rules.
            surface: ContactSurface::default(),
        });
        changes.added.push(Member {
            entity,
            body: handle.0,
        });
        changes.diffuses |= diffuses;
        changes.is_bounded |= is_bounded;
    }
    changes
}

/// Bodies of despawned molecules that Rapier has missed.
#[derive(Default)]
pub(super) struct MissedBodies(Vec<RigidBodyHandle>);

/// Removes the bodies of despawned molecules that Rapier has missed, since it reads
/// `RemovedComponents`. They are disabled for a step, in which Rapier ends their contacts and
/// sends its events.
pub(super) fn remove_missed_bodies(
    mut contexts: Query<(
        &mut MoleculeWorld,
        &mut RapierContextSimulation,
        &mut RapierContextColliders,
        &mut RapierContextJoints,
        &mut RapierRigidBodySet,
    )>,
    with_body: Query<(), With<RapierRigidBodyHandle>>,
    removed: Res<RemovedMolecules>,
) {
    for (mut world, mut simulation, mut colliders, mut joints, mut set) in &mut contexts {
        if world.missed_bodies.0.is_empty() && removed.0.is_empty() {
            continue;
        }
        let joints = &mut *joints;
        for handle in world.missed_bodies.0.drain(..) {
            set.bodies.remove(
                handle,
                &mut simulation.islands,
                &mut colliders.colliders,
                &mut joints.impulse_joints,
                &mut joints.multibody_joints,
                true,
            );
        }
        for entity in removed
            .0
            .iter()
            .filter(|entity| !with_body.contains(**entity))
        {
            let Some(handle) = set.entity2body().get(entity).copied() else {
                continue;
            };
            if let Some(body) = set.bodies.get_mut(handle) {
                body.set_enabled(false);
                world.missed_bodies.0.push(handle);
            }
        }
    }
}
