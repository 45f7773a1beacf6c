//! Collisions with a time of impact, and their outcome.

use std::fmt;

use bevy::prelude::*;

use super::contact_events::MoleculeEventsEnabled;
use super::molecule_world::MoleculeWorld;

pub use crate::motion::CollisionOutcome;

/// Two molecules collided: their atoms touch, or would have touched. Reported for molecules with
/// [`BrownianMotion`](super::BrownianMotion) or [`AccelerationBound`](super::AccelerationBound).
///
/// Written once as a message, with the smaller entity as `molecule`, and triggered as an event on
/// those of the two that have [`MoleculeEventsEnabled`]. In each context, messages are sorted by substep, time and
/// entities, the same from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeCollision {
    /// The molecule that the event is about.
    #[event_target]
    pub molecule: Entity,
    /// The molecule that it collided with.
    pub other: Entity,
    /// Time of impact, s on the [clock](MoleculeWorld::clock) of the Rapier context. For
    /// Brownian molecules, the start of the substep.
    pub time: f64,
    /// The outcome for both.
    pub outcome: CollisionOutcome,
}

/// Decides the outcome of a collision. The outcome in the argument is the one that follows
/// from the [`CollisionOutcome`] components of the two molecules.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// # let mut app = App::new();
/// // Molecules stick only in the first ten seconds.
/// app.insert_resource(CollisionRule::new(|collision| match collision.outcome {
///     CollisionOutcome::Stick if collision.time > 10.0 => CollisionOutcome::Bounce,
///     outcome => outcome,
/// }));
/// ```
#[derive(Resource, Reflect)]
#[reflect(Debug, Default, from_reflect = false)]
pub struct CollisionRule(
    #[reflect(ignore)] Box<dyn Fn(&MoleculeCollision) -> CollisionOutcome + Send + Sync>,
);

impl CollisionRule {
    /// A rule, called once per collision in the order of the messages.
    #[must_use]
    pub fn new(
        rule: impl Fn(&MoleculeCollision) -> CollisionOutcome + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(rule))
    }

    /// The collision with its outcome decided.
    pub(super) fn decide(&self, mut collision: MoleculeCollision) -> MoleculeCollision {
        collision.outcome = (self.0)(&collision);
        collision
    }
}

impl Default for CollisionRule {
    /// The outcome that follows from the components.
    fn default() -> Self {
        Self::new(|collision| collision.outcome)
    }
}

impl fmt::Debug for CollisionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CollisionRule")
    }
}

/// Writes the messages and triggers the events of this frame's collisions.
pub(super) fn publish_collisions(
    mut commands: Commands,
    mut worlds: Query<&mut MoleculeWorld>,
    enabled: Query<(), With<MoleculeEventsEnabled>>,
    mut messages: MessageWriter<MoleculeCollision>,
) {
    for mut world in &mut worlds {
        for collision in world.collisions.drain(..) {
            let (one, two) = (collision.molecule, collision.other);
            for (molecule, other) in [(one, two), (two, one)] {
                if enabled.contains(molecule) {
                    commands.trigger(MoleculeCollision {
                        molecule,
                        other,
                        ..collision
                    });
                }
            }
            messages.write(collision);
        }
    }
}
