//! Start and end of contacts between molecules: messages, entity events and state.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_rapier3d::prelude::RapierContextEntityLink;

use super::components::{Colliding, Molecule};
use super::molecule_world::MoleculeWorld;

/// Two molecules started to touch: atoms of theirs overlap.
///
/// Written once as a message, with the smaller entity as `molecule`, and triggered as an
/// event on both entities. In each frame, messages are sorted by substep and entities, the
/// same from run to run.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn report(mut started: MessageReader<MoleculeContactStarted>) {
///     for MoleculeContactStarted { molecule, other } in started.read() {
///         info!("{molecule} touches {other}");
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeContactStarted {
    /// The molecule that the event is about.
    #[event_target]
    pub molecule: Entity,
    /// The molecule that it touches.
    pub other: Entity,
}

/// Two molecules stopped touching, or one of them or their Rapier context was despawned. See
/// [`MoleculeContactStarted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeContactStopped {
    /// The molecule that the event is about.
    #[event_target]
    pub molecule: Entity,
    /// The molecule that it touched.
    pub other: Entity,
}

/// Two molecules that touch.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct TouchingPair {
    /// The smaller entity.
    pub a: Entity,
    /// The larger entity.
    pub b: Entity,
    /// Deepest overlap of two of their atoms, nm.
    pub penetration: f32,
}

impl TouchingPair {
    pub(super) fn new(one: Entity, other: Entity, penetration: f32) -> Self {
        Self {
            a: one.min(other),
            b: one.max(other),
            penetration,
        }
    }

    fn key(&self) -> (Entity, Entity) {
        (self.a, self.b)
    }
}

/// The touching pairs of a context, and their changes in this frame. The buffers are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchingPairs {
    /// Sorted by entities.
    current: Vec<TouchingPair>,
    next: Vec<TouchingPair>,
    /// Whether a contact started (or stopped), and its pair.
    changes: Vec<(bool, (Entity, Entity))>,
}

impl TouchingPairs {
    pub fn pairs(&self) -> &[TouchingPair] {
        &self.current
    }

    /// Replaces the pairs and records the changes.
    pub fn update(&mut self, pairs: impl Iterator<Item = TouchingPair>) {
        self.next.clear();
        self.next.extend(pairs);
        self.next.sort_by_key(TouchingPair::key);
        let mut old = self.current.iter().peekable();
        let mut new = self.next.iter().peekable();
        loop {
            let keys = (
                old.peek().map(|pair| pair.key()),
                new.peek().map(|pair| pair.key()),
            );
            match keys {
                (None, None) => break,
                (Some(a), Some(b)) if a == b => {
                    old.next();
                    new.next();
                }
                (Some(a), b) if b.is_none_or(|b| a < b) => {
                    self.changes.push((false, a));
                    old.next();
                }
                (_, b) => {
                    self.changes.extend(b.map(|b| (true, b)));
                    new.next();
                }
            }
        }
        std::mem::swap(&mut self.current, &mut self.next);
    }

    /// Molecules that touch `molecule`.
    pub fn partners(&self, molecule: Entity) -> impl Iterator<Item = Entity> + '_ {
        self.current
            .iter()
            .filter_map(move |pair| match pair.key() {
                (a, b) if a == molecule => Some(b),
                (a, b) if b == molecule => Some(a),
                _ => None,
            })
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
    worlds: Query<'w, 's, &'static MoleculeWorld>,
    links: Query<'w, 's, &'static RapierContextEntityLink, With<Molecule>>,
}

impl TouchingMolecules<'_, '_> {
    /// All pairs that touch, sorted within each Rapier context.
    pub fn iter(&self) -> impl Iterator<Item = &TouchingPair> {
        self.worlds.iter().flat_map(|world| world.touching.pairs())
    }

    /// Molecules that touch `molecule`, sorted by entity.
    pub fn partners(&self, molecule: Entity) -> impl Iterator<Item = Entity> + '_ {
        let link = self.links.get(molecule).ok();
        let world = link.and_then(|link| self.worlds.get(link.0).ok());
        world
            .into_iter()
            .flat_map(move |world| world.touching.partners(molecule))
    }

    /// Whether two molecules touch.
    #[must_use]
    pub fn contains(&self, one: Entity, other: Entity) -> bool {
        self.partners(one).any(|partner| partner == other)
    }
}

/// Everything that a contact change is published to.
#[derive(SystemParam)]
pub(super) struct ContactPublisher<'w, 's> {
    commands: Commands<'w, 's>,
    started: MessageWriter<'w, MoleculeContactStarted>,
    stopped: MessageWriter<'w, MoleculeContactStopped>,
    colliding: Query<'w, 's, &'static mut Colliding>,
}

impl ContactPublisher<'_, '_> {
    /// Publishes the changes of a context and clears them.
    fn publish(&mut self, touching: &mut TouchingPairs) {
        for (has_started, (a, b)) in touching.changes.drain(..) {
            let started = |molecule, other| MoleculeContactStarted { molecule, other };
            let stopped = |molecule, other| MoleculeContactStopped { molecule, other };
            for (molecule, other) in [(a, b), (b, a)] {
                let Ok(mut state) = self.colliding.get_mut(molecule) else {
                    continue;
                };
                if has_started {
                    state.molecules += 1;
                    self.commands.trigger(started(molecule, other));
                } else {
                    state.molecules = state.molecules.saturating_sub(1);
                    self.commands.trigger(stopped(molecule, other));
                }
            }
            if has_started {
                self.started.write(started(a, b));
            } else {
                self.stopped.write(stopped(a, b));
            }
        }
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
        world.touching.update(std::iter::empty());
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
            touching.update(pairs.iter().copied());
            let changes = std::mem::take(&mut touching.changes);
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
    fn updates_reuse_their_buffers() {
        let [a, b] = [1, 2].map(|index| Entity::from_raw_u32(index).unwrap());
        let mut touching = TouchingPairs::default();
        let mut buffer = || {
            touching.update([TouchingPair::new(a, b, 0.01)].into_iter());
            touching.pairs().as_ptr()
        };
        let (first, second) = (buffer(), buffer());
        assert_eq!([buffer(), buffer()], [first, second]);
    }
}
