//! Start and end of contacts between molecules: messages, entity events and state.

use std::sync::OnceLock;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    RapierColliderHandle, RapierContextColliders, RapierContextEntityLink, RapierContextSimulation,
};

use super::components::{Colliding, Molecule, MoleculeDetail};
use super::molecule_world::{ContactModel, Members, MoleculeWorld};
use super::rapier_contacts::rapier_contacts;
use crate::dynamics::{CrowdContacts, MemberIndex, TouchContact};

/// A contact between atoms of two molecules, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct MoleculeContact {
    /// The atom of each molecule, by its index in the template. `None` if a molecule does not
    /// collide by its atoms: see [`MoleculeDetail`].
    pub atoms: Option<[u32; 2]>,
    /// The middle between the surfaces of the atoms, nm.
    pub point: Vec3,
    /// Unit vector from the first to the second molecule.
    pub normal: Vec3,
    /// Overlap, nm; negative is a gap.
    pub depth: f32,
    /// Impulse along the normal in the last substep, Da·nm/s. Zero if the molecules do not push
    /// each other, and in start messages of contacts that a GPU solves.
    pub impulse: f32,
}

impl MoleculeContact {
    pub(super) fn new(contact: &TouchContact, by_atoms: bool) -> Self {
        Self {
            atoms: by_atoms.then_some(contact.spheres),
            point: contact.point,
            normal: contact.normal,
            depth: contact.depth,
            impulse: contact.impulse,
        }
    }

    /// The same contact with the molecules exchanged.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            atoms: self.atoms.map(|[first, second]| [second, first]),
            normal: -self.normal,
            ..self
        }
    }
}

/// Two molecules started to touch: atoms of theirs overlap or push each other.
///
/// Written once as a message, with the smaller entity as `molecule`, and triggered as an event on
/// those of the two that have [`MoleculeEventsEnabled`]. In each frame, messages are sorted by
/// substep and entities, the same from run to run.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn report(mut started: MessageReader<MoleculeContactStarted>) {
///     for MoleculeContactStarted { molecule, other, contact } in started.read() {
///         info!("{molecule} touches {other} at {}", contact.point);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeContactStarted {
    /// The molecule that the event is about.
    #[event_target]
    pub molecule: Entity,
    /// The molecule that it touches.
    pub other: Entity,
    /// Their deepest contact.
    pub contact: MoleculeContact,
}

/// Two molecules stopped touching, or one of them or their Rapier context was despawned. See
/// [`MoleculeContactStarted`].
#[derive(Clone, Copy, Debug, PartialEq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeContactStopped {
    /// The molecule that the event is about.
    #[event_target]
    pub molecule: Entity,
    /// The molecule that it touched.
    pub other: Entity,
    /// Their deepest contact in the last substep in which they touched; that of the first if the
    /// last one is not known: if a molecule was despawned, is a sensor, or on a GPU.
    pub contact: MoleculeContact,
}

/// Triggers [`MoleculeContactStarted`], [`MoleculeContactStopped`] and
/// [`MoleculeCollision`](super::MoleculeCollision) as entity events on a molecule. Messages are
/// written for all molecules.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let molecule = Molecule(assets.load("molecules/popc.pdb"));
///     commands.spawn((molecule, MoleculeEventsEnabled)).observe(
///         |started: On<MoleculeContactStarted>| info!("it touches {}", started.other),
///     );
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct MoleculeEventsEnabled;

/// Two molecules that touch.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TouchingPair {
    /// The smaller entity.
    pub a: Entity,
    /// The larger entity.
    pub b: Entity,
    /// Deepest overlap of two of their atoms, nm; negative is a gap, across which they push each
    /// other.
    pub penetration: f32,
    /// Whether they push each other. If not, one of them is a sensor, or their solver groups or a
    /// hook keep them from it.
    pub pushes: bool,
    /// Their deepest contact: in [`ContactModel::Crowd`](super::ContactModel::Crowd) that of the
    /// first substep in which they touched. [`TouchingMolecules::contacts_between`] has the
    /// current ones.
    pub contact: MoleculeContact,
    /// Whether Rapier's collision events were requested when the contact started.
    pub(super) sends_collision_events: bool,
}

impl TouchingPair {
    /// The entities may be in any order.
    pub(super) fn new(one: Entity, other: Entity, penetration: f32) -> Self {
        Self {
            a: one.min(other),
            b: one.max(other),
            penetration,
            pushes: true,
            contact: MoleculeContact::default(),
            sends_collision_events: false,
        }
    }

    fn key(&self) -> (Entity, Entity) {
        (self.a, self.b)
    }
}

/// A contact has started or stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ContactChange {
    pub started: bool,
    pub pair: TouchingPair,
}

/// The touching pairs of a context, and their changes in this frame. The buffers are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchingPairs {
    /// Sorted by entities.
    current: Vec<TouchingPair>,
    next: Vec<TouchingPair>,
    /// Indices of the current pairs, sorted by the second entity; made on demand.
    by_second: OnceLock<Vec<u32>>,
    changes: Vec<ContactChange>,
    /// Number of changes before this substep.
    previous_changes: usize,
}

impl TouchingPairs {
    pub fn pairs(&self) -> &[TouchingPair] {
        &self.current
    }

    /// Replaces the pairs and records the changes. If `keep_contacts`, pairs that touched before
    /// keep their contact.
    pub fn update(&mut self, pairs: impl Iterator<Item = TouchingPair>, keep_contacts: bool) {
        self.previous_changes = self.changes.len();
        self.by_second.take();
        self.next.clear();
        self.next.extend(pairs);
        // Of equal pairs the first stays.
        self.next.sort_by_key(TouchingPair::key);
        self.next.dedup_by_key(|pair| pair.key());
        let mut old = self.current.iter().peekable();
        let mut new = self.next.iter_mut().peekable();
        loop {
            let keys = (
                old.peek().map(|pair| pair.key()),
                new.peek().map(|pair| pair.key()),
            );
            match keys {
                (None, None) => break,
                (Some(a), Some(b)) if a == b => {
                    if let (Some(old), Some(new)) = (old.next(), new.next()) {
                        new.sends_collision_events = old.sends_collision_events;
                        if keep_contacts {
                            new.contact = old.contact;
                        }
                    }
                }
                (Some(a), b) if b.is_none_or(|b| a < b) => {
                    self.changes.extend(old.next().map(|&pair| ContactChange {
                        started: false,
                        pair,
                    }));
                }
                _ => {
                    self.changes.extend(new.next().map(|pair| ContactChange {
                        started: true,
                        pair: *pair,
                    }));
                }
            }
        }
        std::mem::swap(&mut self.current, &mut self.next);
    }

    /// Replaces the pairs by previous ones. Contacts that differ start or stop in the next publication.
    pub fn restore(&mut self, previous: &Self) {
        self.update(previous.current.iter().copied(), false);
    }

    /// The changes of this substep.
    pub fn new_changes(&self) -> &[ContactChange] {
        &self.changes[self.previous_changes..]
    }

    /// Lets `describe` complete the changes of this substep.
    pub fn describe(&mut self, describe: impl Fn(&mut ContactChange)) {
        for change in &mut self.changes[self.previous_changes..] {
            describe(change);
            let key = change.pair.key();
            if change.started
                && let Ok(index) = self.current.binary_search_by_key(&key, TouchingPair::key)
            {
                self.current[index] = change.pair;
            }
        }
    }

    /// Molecules that touch `molecule`, sorted.
    pub fn partners(&self, molecule: Entity) -> impl Iterator<Item = Entity> + '_ {
        let by_second = self.by_second.get_or_init(|| {
            let mut indices: Vec<u32> = (0..self.current.len() as u32).collect();
            // The pairs are sorted by the first entity, and a stable sort keeps that.
            indices.sort_by_key(|index| self.current[*index as usize].b);
            indices
        });
        let second = |index: &u32| self.current[*index as usize].b;
        let smaller = range_of(by_second, molecule, second).iter();
        let smaller = smaller.map(|index| self.current[*index as usize].a);
        let larger = range_of(&self.current, molecule, |pair| pair.a);
        smaller.chain(larger.iter().map(|pair| pair.b))
    }

    /// Whether two molecules touch.
    pub fn contains(&self, one: Entity, other: Entity) -> bool {
        let key = (one.min(other), one.max(other));
        let found = self.current.binary_search_by_key(&key, TouchingPair::key);
        found.is_ok()
    }
}

/// The range of a sorted slice with this key.
fn range_of<T, K: Ord>(sorted: &[T], key: K, key_of: impl Fn(&T) -> K) -> &[T] {
    let start = sorted.partition_point(|item| key_of(item) < key);
    let rest = &sorted[start..];
    &rest[..rest.partition_point(|item| key_of(item) == key)]
}

/// What is known of the contacts of a context in [`ContactModel::Crowd`](super::ContactModel).
pub(super) struct CrowdContactSource<'a, 'w, 's> {
    pub contacts: &'a CrowdContacts,
    pub members: &'a Members,
    pub details: &'a Query<'w, 's, &'static MoleculeDetail>,
}

impl CrowdContactSource<'_, '_, '_> {
    fn pair(&self, pair: &TouchingPair) -> Option<[MemberIndex; 2]> {
        let [a, b] = [pair.a, pair.b].map(|entity| self.members.index_of(entity));
        Some([a?, b?])
    }

    fn by_atoms(&self, pair: &TouchingPair) -> bool {
        let mut details = [pair.a, pair.b]
            .into_iter()
            .map(|entity| self.details.get(entity));
        details.all(|detail| detail.is_ok_and(|detail| *detail == MoleculeDetail::Atoms))
    }

    /// Sets the contact of a pair to its deepest one, if `contacts` has any.
    fn set_deepest(&self, pair: &mut TouchingPair, contacts: &[TouchContact]) {
        let deepest = contacts.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
        if let Some(deepest) = deepest {
            pair.contact = MoleculeContact::new(deepest, self.by_atoms(pair));
        }
    }

    /// Completes a change with the deepest contact, after contacts were solved.
    pub fn describe(&self, change: &mut ContactChange) {
        let Some(members) = self.pair(&change.pair) else {
            return;
        };
        let contacts = match (change.started, self.contacts.uses_device()) {
            (true, false) => self.contacts.contacts_between(members[0], members[1]),
            (true, true) => self.contacts.measured_between(members),
            (false, false) => self.contacts.previous_contacts_between(members),
            (false, true) => return,
        };
        if let (true, Some(impact)) = (contacts.is_empty(), self.impact(members)) {
            self.set_deepest(&mut change.pair, &[impact]);
        }
        self.set_deepest(&mut change.pair, &contacts);
    }

    /// The impact of a fast molecule.
    fn impact(&self, [a, b]: [MemberIndex; 2]) -> Option<TouchContact> {
        let mut impacts = self.contacts.impacts_of_fast_members().iter();
        let met = impacts.find(|met| [met.a, met.b] == [a.min(b), a.max(b)])?;
        let impact = &met.impact;
        let contact = TouchContact {
            spheres: [impact.a, impact.b],
            point: impact.point,
            normal: impact.normal,
            depth: 0.0,
            impulse: 0.0,
        };
        Some(if a < b { contact } else { contact.reversed() })
    }
}

/// Which molecules touch each other, as of the last substep.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn report(touching: TouchingMolecules, molecules: Query<Entity, With<Molecule>>) {
///     for molecule in &molecules {
///         for other in touching.partners(molecule) {
///             info!("{molecule} touches {other}");
///         }
///     }
/// }
/// ```
#[derive(SystemParam)]
pub struct TouchingMolecules<'w, 's> {
    worlds: Query<
        'w,
        's,
        (
            &'static MoleculeWorld,
            &'static RapierContextSimulation,
            &'static RapierContextColliders,
        ),
    >,
    links: Query<'w, 's, &'static RapierContextEntityLink, With<Molecule>>,
    colliders: Query<'w, 's, &'static RapierColliderHandle>,
    details: Query<'w, 's, &'static MoleculeDetail>,
    model: Res<'w, ContactModel>,
}

impl TouchingMolecules<'_, '_> {
    /// All pairs that touch, sorted within each Rapier context.
    pub fn iter(&self) -> impl Iterator<Item = &TouchingPair> {
        let worlds = self.worlds.iter();
        worlds.flat_map(|(world, ..)| world.touching.pairs())
    }

    /// Molecules that touch `molecule`, sorted by entity.
    pub fn partners(&self, molecule: Entity) -> impl Iterator<Item = Entity> + '_ {
        let world = self.world_of(molecule);
        world
            .into_iter()
            .flat_map(move |(world, ..)| world.touching.partners(molecule))
    }

    /// Whether two molecules touch.
    #[must_use]
    pub fn contains(&self, one: Entity, other: Entity) -> bool {
        let world = self.world_of(one);
        world.is_some_and(|(world, ..)| world.touching.contains(one, other))
    }

    /// The contacts of two molecules in the last substep, or those of Rapier in
    /// [`ContactModel::Solver`]. Empty if the two do not touch. Contacts that a GPU solves are read
    /// back, which is slow.
    #[must_use]
    pub fn contacts_between(&self, one: Entity, other: Entity) -> Vec<MoleculeContact> {
        let Some((world, simulation, colliders)) = self.world_of(one) else {
            return Vec::new();
        };
        if !world.touching.contains(one, other) {
            return Vec::new();
        }
        match *self.model {
            ContactModel::Crowd => {
                let [Some(a), Some(b)] = [one, other].map(|entity| world.members.index_of(entity))
                else {
                    return Vec::new();
                };
                let source = CrowdContactSource {
                    contacts: &world.contacts,
                    members: &world.members,
                    details: &self.details,
                };
                let by_atoms = source.by_atoms(&TouchingPair::new(one, other, 0.0));
                let contacts = world.contacts.contacts_between(a, b);
                let contacts = contacts.iter();
                contacts
                    .map(|contact| MoleculeContact::new(contact, by_atoms))
                    .collect()
            }
            ContactModel::Solver => {
                let [Ok(a), Ok(b)] = [one, other].map(|entity| self.colliders.get(entity)) else {
                    return Vec::new();
                };
                rapier_contacts(simulation, colliders, a.0, b.0)
            }
        }
    }

    fn world_of(
        &self,
        molecule: Entity,
    ) -> Option<(
        &MoleculeWorld,
        &RapierContextSimulation,
        &RapierContextColliders,
    )> {
        let link = self.links.get(molecule).ok()?;
        self.worlds.get(link.0).ok()
    }
}

/// Everything that a contact change is published to.
#[derive(SystemParam)]
pub(super) struct ContactPublisher<'w, 's> {
    commands: Commands<'w, 's>,
    started: MessageWriter<'w, MoleculeContactStarted>,
    stopped: MessageWriter<'w, MoleculeContactStopped>,
    molecules: Query<'w, 's, (&'static mut Colliding, Has<MoleculeEventsEnabled>)>,
}

impl ContactPublisher<'_, '_> {
    /// Publishes the changes of a context and clears them.
    fn publish(&mut self, touching: &mut TouchingPairs) {
        for ContactChange { started, pair } in touching.changes.drain(..) {
            let sides = [
                (pair.a, pair.b, pair.contact),
                (pair.b, pair.a, pair.contact.reversed()),
            ];
            for (molecule, other, contact) in sides {
                let Ok((mut state, enabled)) = self.molecules.get_mut(molecule) else {
                    continue;
                };
                let count = state.molecules;
                state.molecules = if started {
                    count + 1
                } else {
                    count.saturating_sub(1)
                };
                if !enabled {
                    continue;
                }
                if started {
                    self.commands.trigger(MoleculeContactStarted {
                        molecule,
                        other,
                        contact,
                    });
                } else {
                    self.commands.trigger(MoleculeContactStopped {
                        molecule,
                        other,
                        contact,
                    });
                }
            }
            let (molecule, other, contact) = sides[0];
            if started {
                self.started.write(MoleculeContactStarted {
                    molecule,
                    other,
                    contact,
                });
            } else {
                self.stopped.write(MoleculeContactStopped {
                    molecule,
                    other,
                    contact,
                });
            }
        }
        touching.previous_changes = 0;
    }
}

/// Publishes the contact changes of this frame.
pub(super) fn publish_contacts(
    mut worlds: Query<&mut MoleculeWorld>,
    mut publisher: ContactPublisher,
) {
    for mut world in &mut worlds {
        publisher.publish(&mut world.touching);
    }
}

/// Ends the contacts of a removed Rapier context, whose molecules may persist.
pub(super) fn end_contacts(
    removed: On<Remove, MoleculeWorld>,
    mut worlds: Query<&mut MoleculeWorld>,
    mut publisher: ContactPublisher,
) {
    if let Ok(mut world) = worlds.get_mut(removed.entity) {
        world.touching.update(std::iter::empty(), true);
        publisher.publish(&mut world.touching);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_changes_are_recorded_in_order() {
        let [a, b, c] = [3, 2, 1].map(|index| Entity::from_raw_u32(index).unwrap());
        let pair = |one, other| TouchingPair::new(one, other, 0.01);
        let mut touching = TouchingPairs::default();
        let mut changes = |pairs: &[TouchingPair]| {
            touching.update(pairs.iter().copied(), true);
            let changes = touching.new_changes().iter();
            let changes = changes.map(|change| (change.started, change.pair.key()));
            let changes: Vec<_> = changes.collect();
            (changes, touching.partners(c).collect::<Vec<_>>())
        };
        let (first, _) = changes(&[pair(c, a), pair(a, b)]);
        assert_eq!(first, [(true, (a, b)), (true, (a, c))]);
        let (second, partners) = changes(&[pair(b, c), pair(a, c)]);
        assert_eq!(second, [(false, (a, b)), (true, (b, c))]);
        assert_eq!(partners, [a, b]);
        let (third, _) = changes(&[]);
        assert_eq!(third, [(false, (a, c)), (false, (b, c))]);
    }

    #[test]
    fn partners_are_those_of_a_scan_of_all_pairs() {
        let entity = |index| Entity::from_raw_u32(index).unwrap();
        let mut touching = TouchingPairs::default();
        for round in 0..4_u32 {
            let pairs = (0..200_u32).map(|k| ((k * 7 + round) % 23, 23 + k * 5 % 11));
            let pairs: std::collections::BTreeSet<_> = pairs.collect();
            let pair = |(a, b): &(u32, u32)| TouchingPair::new(entity(*b), entity(*a), 0.0);
            touching.update(pairs.iter().map(pair), true);
            for molecule in (0..40).map(entity) {
                let scanned = touching.pairs().iter().filter_map(|pair| {
                    let other = if pair.a == molecule { pair.b } else { pair.a };
                    (pair.a == molecule || pair.b == molecule).then_some(other)
                });
                let scanned: Vec<_> = scanned.collect();
                let partners: Vec<_> = touching.partners(molecule).collect();
                assert_eq!(partners, scanned);
                for other in scanned {
                    assert!(touching.contains(molecule, other));
                }
            }
        }
    }

    #[test]
    fn updates_reuse_their_buffers() {
        let [a, b] = [1, 2].map(|index| Entity::from_raw_u32(index).unwrap());
        let mut touching = TouchingPairs::default();
        let mut buffer = || {
            touching.update([TouchingPair::new(a, b, 0.01)].into_iter(), true);
            touching.pairs().as_ptr()
        };
        let (first, second) = (buffer(), buffer());
        assert_eq!([buffer(), buffer()], [first, second]);
    }
}
