//! Molecules that meet in time: what it does, and who is told.

use std::fmt;

use bevy::prelude::*;

use super::molecule_world::MoleculeWorld;
pub use crate::motion::CollisionOutcome;

/// Two molecules met: atoms of theirs touch, or would have.
///
/// Written once as a message, with `molecule` before `other` in the order of `Entity`, and
/// triggered as an event on either entity. In each context the order is that of the
/// substeps, then of time, then of the entities: the same from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeCollision {
    /// The molecule that the event is about.
    #[event_target]
    pub molecule: Entity,
    /// The molecule that it met.
    pub other: Entity,
    /// When, s on the [clock](MoleculeWorld::clock) of their Rapier context. For molecules
    /// that diffuse, the beginning of the substep.
    pub time: f64,
    /// What they do.
    pub outcome: CollisionOutcome,
}

/// Decides what molecules do that meet. The meeting already says what their [`CollisionOutcome`]s
/// would have them do.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # let mut app = App::new();
/// // Molecules stick in the first ten seconds only.
/// app.insert_resource(CollisionRule::new(|meeting| match meeting.outcome {
///     CollisionOutcome::Stick if meeting.time > 10.0 => CollisionOutcome::Bounce,
///     outcome => outcome,
/// }));
/// ```
#[derive(Resource)]
pub struct CollisionRule(Box<dyn Fn(&MoleculeCollision) -> CollisionOutcome + Send + Sync>);

impl CollisionRule {
    /// A rule. It is asked once for each meeting, in the order of the messages.
    #[must_use]
    pub fn new(
        rule: impl Fn(&MoleculeCollision) -> CollisionOutcome + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(rule))
    }

    /// The meeting with its outcome decided.
    pub(super) fn decide(&self, mut meeting: MoleculeCollision) -> MoleculeCollision {
        meeting.outcome = (self.0)(&meeting);
        meeting
    }
}

impl Default for CollisionRule {
    /// As the components say.
    fn default() -> Self {
        Self::new(|meeting| meeting.outcome)
    }
}

impl fmt::Debug for CollisionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CollisionRule")
    }
}

/// Tells the world who met in this frame.
pub(super) fn publish_meetings(
    mut commands: Commands,
    mut worlds: Query<&mut MoleculeWorld>,
    mut messages: MessageWriter<MoleculeCollision>,
) {
    for mut world in &mut worlds {
        if world.meetings.is_empty() {
            continue;
        }
        for meeting in std::mem::take(&mut world.meetings) {
            let MoleculeCollision {
                molecule, other, ..
            } = meeting;
            for (molecule, other) in [(molecule, other), (other, molecule)] {
                // Whoever is gone by now is not told.
                if commands.get_entity(molecule).is_ok() {
                    commands.trigger(MoleculeCollision {
                        molecule,
                        other,
                        ..meeting
                    });
                }
            }
            messages.write(meeting);
        }
    }
}
