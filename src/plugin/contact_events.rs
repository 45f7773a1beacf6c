//! Who touches whom: messages, entity events, and the state per molecule.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_rapier3d::prelude::RapierContextEntityLink;

use super::components::{Colliding, Molecule};
use super::molecule_world::MoleculeWorld;

/// Two molecules began to touch: atoms of theirs overlap.
///
/// Written once as a message, with `molecule` before `other` in the order of `Entity`,
/// and triggered as an event on either entity. In each frame the order is that of the
/// substeps, then of the entities: the same from run to run.
///
/// ```
/// # use bevy::ecs::system::RunSystemOnce;
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// #[derive(Resource, Default)]
/// struct Heard {
///     messages: Vec<MoleculeContactStarted>,
///     events: Vec<Entity>,
/// }
/// app.init_resource::<Heard>();
///
/// // Messages tell of all molecules, each pair once.
/// app.add_systems(
///     Last,
///     |mut started: MessageReader<MoleculeContactStarted>, mut heard: ResMut<Heard>| {
///         heard.messages.extend(started.read());
///     },
/// );
/// let one = app.world_mut().spawn(Molecule(lipid.clone())).id();
/// let other = (Molecule(lipid), Transform::from_xyz(0.3, 0.0, 0.0));
/// let other = app.world_mut().spawn(other).id();
/// // Events of an entity tell of that one.
/// app.world_mut().entity_mut(other).observe(
///     |started: On<MoleculeContactStarted>, mut heard: ResMut<Heard>| {
///         heard.events.push(started.other);
///     },
/// );
/// for _ in 0..3 {
///     app.update();
/// }
///
/// let heard = app.world().resource::<Heard>();
/// let (first, second) = (one.min(other), one.max(other));
/// assert_eq!(heard.messages, [MoleculeContactStarted { molecule: first, other: second }]);
/// assert_eq!(heard.events, [one]);
/// // State and queries say the same.
/// assert_eq!(app.world().get::<Colliding>(one), Some(&Colliding { molecules: 1 }));
/// let touching = move |touching: TouchingMolecules| touching.contains(one, other);
/// assert!(matches!(app.world_mut().run_system_once(touching), Ok(true)));
/// # Ok(())
/// # }
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

/// Two molecules no longer touch, or one of them is gone, or their Rapier context. See
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
pub struct Touching {
    /// The first of the two in the order of `Entity`.
    pub a: Entity,
    /// The second.
    pub b: Entity,
    /// Deepest overlap of two of their atoms, nm.
    pub penetration: f32,
}

impl Touching {
    /// Two molecules in order.
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

/// Which molecules of a context touch, and what has changed in this frame.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchLedger {
    /// Sorted by entities.
    touching: Vec<Touching>,
    /// Changes of this frame: begun or ended.
    changes: Vec<(bool, Entity, Entity)>,
}

impl TouchLedger {
    pub fn touching(&self) -> &[Touching] {
        &self.touching
    }

    /// Takes down who touches now.
    pub fn update(&mut self, mut now: Vec<Touching>) {
        now.sort_by_key(Touching::key);
        let (mut old, mut new) = (self.touching.iter().peekable(), now.iter().peekable());
        loop {
            let (a, b) = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => (true, false),
                (None, Some(_)) => (false, true),
                (Some(old), Some(new)) => (old.key() <= new.key(), new.key() <= old.key()),
            };
            let ended = if a { old.next() } else { None };
            let begun = if b { new.next() } else { None };
            match (ended, begun) {
                (Some(pair), None) => self.changes.push((false, pair.a, pair.b)),
                (None, Some(pair)) => self.changes.push((true, pair.a, pair.b)),
                _ => {}
            }
        }
        self.touching = now;
    }

    /// Molecules that touch `molecule`.
    pub fn partners(&self, molecule: Entity) -> impl Iterator<Item = Entity> + '_ {
        self.touching.iter().filter_map(move |pair| {
            if pair.a == molecule {
                Some(pair.b)
            } else if pair.b == molecule {
                Some(pair.a)
            } else {
                None
            }
        })
    }
}

/// Tells who touches whom, as of the last substep.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// fn report(touching: TouchingMolecules, molecules: Query<Entity, With<Molecule>>) {
///     for molecule in &molecules {
///         for other in touching.of(molecule) {
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
    /// Every two molecules that touch, sorted within each Rapier context.
    pub fn iter(&self) -> impl Iterator<Item = &Touching> {
        self.worlds.iter().flat_map(|world| world.ledger.touching())
    }

    /// Molecules that touch `molecule`, in the order of entities.
    pub fn of(&self, molecule: Entity) -> impl Iterator<Item = Entity> + '_ {
        let link = self.links.get(molecule).ok();
        let world = link.and_then(|link| self.worlds.get(link.0).ok());
        world
            .into_iter()
            .flat_map(move |world| world.ledger.partners(molecule))
    }

    /// Whether two molecules touch.
    #[must_use]
    pub fn contains(&self, one: Entity, other: Entity) -> bool {
        self.of(one).any(|partner| partner == other)
    }
}

/// All who are told of a change.
#[derive(SystemParam)]
pub(super) struct Listeners<'w, 's> {
    commands: Commands<'w, 's>,
    started: MessageWriter<'w, MoleculeContactStarted>,
    stopped: MessageWriter<'w, MoleculeContactStopped>,
    colliding: Query<'w, 's, &'static mut Colliding>,
}

impl Listeners<'_, '_> {
    /// Tells what has begun and ended, in order.
    fn tell(&mut self, changes: Vec<(bool, Entity, Entity)>) {
        for (begun, molecule, other) in changes {
            for (molecule, other) in [(molecule, other), (other, molecule)] {
                let Ok(mut state) = self.colliding.get_mut(molecule) else {
                    continue;
                };
                if begun {
                    state.molecules += 1;
                    let started = MoleculeContactStarted { molecule, other };
                    self.commands.trigger(started);
                } else {
                    state.molecules = state.molecules.saturating_sub(1);
                    let stopped = MoleculeContactStopped { molecule, other };
                    self.commands.trigger(stopped);
                }
            }
            if begun {
                let started = MoleculeContactStarted { molecule, other };
                self.started.write(started);
            } else {
                let stopped = MoleculeContactStopped { molecule, other };
                self.stopped.write(stopped);
            }
        }
    }
}

/// Tells the world what has changed in this frame.
pub(super) fn publish_changes(mut worlds: Query<&mut MoleculeWorld>, mut listeners: Listeners) {
    for mut world in &mut worlds {
        if !world.ledger.changes.is_empty() {
            listeners.tell(std::mem::take(&mut world.ledger.changes));
        }
    }
}

/// Ends the contacts of a Rapier context that goes: its molecules may outlive it.
pub(super) fn end_contacts(
    removed: On<Remove, MoleculeWorld>,
    mut worlds: Query<&mut MoleculeWorld>,
    mut listeners: Listeners,
) {
    if let Ok(mut world) = worlds.get_mut(removed.entity) {
        world.ledger.update(Vec::new());
        listeners.tell(std::mem::take(&mut world.ledger.changes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_tells_beginnings_and_ends_in_order() {
        let [a, b, c] = [3, 2, 1].map(|index| Entity::from_raw_u32(index).unwrap());
        let pair = |one, other| Touching::new(one, other, 0.01);
        let mut ledger = TouchLedger::default();
        ledger.update(vec![pair(c, a), pair(a, b)]);
        assert_eq!(ledger.changes, [(true, a, b), (true, a, c)]);
        ledger.changes.clear();
        ledger.update(vec![pair(b, c), pair(a, c)]);
        assert_eq!(ledger.changes, [(false, a, b), (true, b, c)]);
        assert_eq!(ledger.partners(c).collect::<Vec<_>>(), [a, b]);
        ledger.changes.clear();
        ledger.update(Vec::new());
        assert_eq!(ledger.changes, [(false, a, c), (false, b, c)]);
    }
}
