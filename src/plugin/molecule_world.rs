//! The state of the molecules in one Rapier context.

use std::fmt;
use std::ops::Index;
use std::time::Duration;

use bevy::ecs::lifecycle::Add;
use bevy::prelude::*;
use bevy_rapier3d::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use bevy_rapier3d::prelude::{RapierContextColliders, RapierContextSimulation, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::RigidBodyHandle;
use bevy_rapier3d::rapier::geometry::NarrowPhase;

use super::acceleration_bound::BoundedMolecules;
use super::backend::ContextBackend;
use super::brownian_motion::Diffusion;
use super::collect_members::{MemberState, MissedBodies};
use super::collisions::MoleculeCollision;
use super::contact_events::TouchingPairs;
use super::external_contacts::ExternalContacts;
use super::reactions::PendingReactions;
use crate::backend::Backend;
use crate::dynamics::{ContactSolverConfig, CrowdContacts, Impulse, MemberIndex};
use crate::rapier::{MoleculeDispatcher, MoleculePairFilter};
use crate::search::SearchWork;

/// How molecules collide with each other. Both models find the same contacts, and in both
/// Rapier handles collisions of molecules with ordinary colliders.
///
/// May change at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub enum ContactModel {
    /// The crate's search finds pairs of atoms, and its solver applies impulses to the
    /// Rapier bodies in each substep. For crowds. Default.
    #[default]
    Crowd,
    /// Each molecule is a Rapier shape, and Rapier's broad phase and solver handle contacts.
    /// For up to a few thousand molecules, and for scenes dominated by stacks and joints.
    Solver,
}

/// A molecule of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub entity: Entity,
    pub body: RigidBodyHandle,
}

/// The molecules of a context, sorted by entity.
#[derive(Default, Deref)]
pub(super) struct Members {
    #[deref]
    sorted: Vec<Member>,
    /// The member with each body, by the index of its handle.
    by_body: Vec<MemberIndex>,
}

impl Members {
    /// Removes and adds members; both lists must be sorted by entity. Added members replace those of
    /// the same entity.
    pub fn update(&mut self, removed: &[Entity], added: &[Member]) {
        let mut sorted = Vec::with_capacity(self.sorted.len() + added.len());
        let (mut removed, mut added) = (removed.iter().peekable(), added.iter().peekable());
        for member in &self.sorted {
            let entity = member.entity;
            while let Some(new) = added.next_if(|new| new.entity <= entity) {
                sorted.push(*new);
            }
            while removed.next_if(|removed| **removed < entity).is_some() {}
            let is_replaced = sorted.last().is_some_and(|last| last.entity == entity);
            if !is_replaced && removed.peek() != Some(&&entity) {
                sorted.push(*member);
            }
        }
        sorted.extend(added);
        self.sorted = sorted;
        self.by_body.clear();
        for (member, index) in self.sorted.iter().zip(0..) {
            let (place, _) = member.body.into_raw_parts();
            let place = place as usize;
            if self.by_body.len() <= place {
                self.by_body.resize(place + 1, MemberIndex::default());
            }
            self.by_body[place] = MemberIndex(index);
        }
    }

    /// The members with their indices.
    pub fn indexed(&self) -> impl Iterator<Item = (MemberIndex, &Member)> {
        (0..).map(MemberIndex).zip(&self.sorted)
    }

    /// Index of a molecule.
    pub fn index_of(&self, entity: Entity) -> Option<MemberIndex> {
        self.sorted
            .binary_search_by_key(&entity, |member| member.entity)
            .ok()
            .map(|index| MemberIndex(index as u32))
    }

    /// Index of the molecule with this body.
    pub fn index_of_body(&self, body: RigidBodyHandle) -> Option<MemberIndex> {
        let (place, _) = body.into_raw_parts();
        let index = *self.by_body.get(place as usize)?;
        // The handle of another body may have had the same index.
        (self.sorted.get(index.index())?.body == body).then_some(index)
    }

    /// Indices of the molecules with these bodies, if both are molecules.
    pub fn pair_of_bodies(&self, bodies: [RigidBodyHandle; 2]) -> Option<[MemberIndex; 2]> {
        let [one, other] = bodies.map(|body| self.index_of_body(body));
        Some([one?, other?])
    }
}

impl Index<MemberIndex> for Members {
    type Output = Member;

    fn index(&self, member: MemberIndex) -> &Member {
        &self.sorted[member.index()]
    }
}

/// The molecules of one Rapier context. The plugin adds it to every entity with a
/// [`RapierContextSimulation`].
///
/// Reflection shows clock and times. Scenes do not save it.
#[derive(Default, Component, Reflect)]
#[reflect(Debug, from_reflect = false)]
pub struct MoleculeWorld {
    #[reflect(ignore)]
    pub(super) contacts: CrowdContacts,
    #[reflect(ignore)]
    pub(super) members: Members,
    #[reflect(ignore)]
    pub(super) member_state: MemberState,
    #[reflect(ignore)]
    pub(super) missed_bodies: MissedBodies,
    /// Members with a disabled collider, ascending.
    #[reflect(ignore)]
    pub(super) disabled: Vec<MemberIndex>,
    /// Whether hooks of the app filter pairs of molecules.
    #[reflect(ignore)]
    pub(super) has_hooks: bool,
    #[reflect(ignore)]
    pub(super) external_contacts: ExternalContacts,
    /// Length of the current substep, s; `None` if this context does not step.
    pub(super) substep: Option<f32>,
    /// Spring impulses of the current substep, by member.
    #[reflect(ignore)]
    pub(super) springs: Vec<(MemberIndex, Impulse)>,
    #[reflect(ignore)]
    pub(super) touching: TouchingPairs,
    #[reflect(ignore)]
    pub(super) pair_filter: MoleculePairFilter,
    pub(super) times: MoleculeTimes,
    /// Whether the search failed in the previous substep; logged once.
    #[reflect(ignore)]
    pub(super) search_failed: bool,
    #[reflect(ignore)]
    pub(super) backend: ContextBackend,
    /// Simulated time, s.
    pub(super) clock: f64,
    #[reflect(ignore)]
    pub(super) diffusion: Diffusion,
    #[reflect(ignore)]
    pub(super) bounded: BoundedMolecules,
    /// Collisions of the current frame.
    #[reflect(ignore)]
    pub(super) collisions: Vec<MoleculeCollision>,
    #[reflect(ignore)]
    pub(super) reactions: PendingReactions,
    pub(super) blocked_reactions: u64,
}

impl fmt::Debug for MoleculeWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoleculeWorld")
            .field("molecules", &self.members.len())
            .field("spheres", &self.contacts.sphere_count())
            .field("touching", &self.touching.pairs().len())
            .field("backend", &self.backend())
            .field("clock", &self.clock)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

impl MoleculeWorld {
    /// The contacts of the last substep; empty in [`ContactModel::Solver`]. Member indices
    /// are those of [`molecules`](Self::molecules).
    #[must_use]
    pub fn contacts(&self) -> &CrowdContacts {
        &self.contacts
    }

    /// The configuration of the contact solver; may change at any time.
    ///
    /// If a value is invalid, the next substep resets the configuration to the default and
    /// logs an error.
    pub fn contact_config_mut(&mut self) -> &mut ContactSolverConfig {
        &mut self.contacts.config
    }

    /// The backend of this context in [`ContactModel::Crowd`]: [`Backend::Cpu`] or
    /// [`Backend::Gpu`]. See [`MoleculeBackend`](super::MoleculeBackend).
    #[must_use]
    pub fn backend(&self) -> Backend {
        if self.backend.is_gpu {
            Backend::Gpu
        } else {
            Backend::Cpu
        }
    }

    /// Counted work of the search in the last substep. Zero in [`ContactModel::Solver`] and on a
    /// GPU.
    #[must_use]
    pub fn search_work(&self) -> SearchWork {
        // What was counted before a change of model or backend says nothing about this substep.
        let is_counted = self.pair_filter.is_excluded() && !self.backend.is_gpu;
        if is_counted {
            self.contacts.search_work()
        } else {
            SearchWork::default()
        }
    }

    /// Time spent in each stage in the last frame, summed over its substeps.
    #[must_use]
    pub fn times(&self) -> MoleculeTimes {
        self.times
    }

    /// Length of the current substep, s. `None` between substeps, and for a context that
    /// does not step.
    #[must_use]
    pub fn substep(&self) -> Option<f32> {
        self.substep
    }

    /// Simulated time of this context, s.
    #[must_use]
    pub fn clock(&self) -> f64 {
        self.clock
    }

    /// Clusters of two or more Brownian molecules that stick together, each in the order of
    /// entities. See [`CollisionOutcome::Stick`](super::CollisionOutcome::Stick).
    #[must_use]
    pub fn clusters(&self) -> Vec<Vec<Entity>> {
        self.diffusion.clusters()
    }

    /// Number of reactions so far that did not take place because their products did not fit. See
    /// [`MoleculeReactions`](super::MoleculeReactions).
    #[must_use]
    pub fn blocked_reactions(&self) -> u64 {
        self.blocked_reactions
    }

    /// The molecules, sorted by entity.
    pub fn molecules(&self) -> impl ExactSizeIterator<Item = Entity> + '_ {
        self.members.iter().map(|member| member.entity)
    }
}

/// Time spent in each stage of a frame, summed over its substeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MoleculeTimes {
    /// Brownian motion.
    pub diffuse: Duration,
    /// Reading the bodies and moving the spheres.
    pub gather: Duration,
    /// Finding the pairs.
    pub detect: Duration,
    /// Contacts and springs.
    pub respond: Duration,
    /// Applying the impulses to the bodies.
    pub apply: Duration,
    /// Rapier's step.
    pub step: Duration,
    /// Number of substeps.
    pub substeps: u32,
}

/// Contact solver configuration of new contexts.
#[derive(Resource)]
pub(super) struct InitialContactConfig(pub ContactSolverConfig);

/// Installs the [`MoleculeDispatcher`] in a new context, before it has bodies.
pub(super) fn install_dispatcher(
    added: On<Add, RapierContextSimulation>,
    mut contexts: Query<(&mut RapierContextSimulation, &mut MoleculeWorld)>,
    config: Res<InitialContactConfig>,
) {
    let Ok((mut simulation, mut world)) = contexts.get_mut(added.entity) else {
        return;
    };
    *world.contact_config_mut() = config.0;
    if simulation.narrow_phase.contact_pairs().next().is_some() {
        warn!(
            "Rapier context {} already has contacts, so molecules in it use parry's slow \
             contact manifolds; spawn the context without contacts",
            added.entity
        );
        return;
    }
    let dispatcher =
        MoleculeDispatcher::new(world.pair_filter.clone()).chain(DefaultQueryDispatcher);
    simulation.narrow_phase = NarrowPhase::with_query_dispatcher(dispatcher);
    // Molecules are large, and their pairs are not Rapier's: its tree may follow them less closely.
    simulation.broad_phase.adaptive_change_detection_margin = true;
}

/// Applies a change of the [`ContactModel`] to the narrow phases.
pub(super) fn apply_contact_model(
    model: Res<ContactModel>,
    mut contexts: Query<(
        &mut MoleculeWorld,
        &mut RapierContextColliders,
        &mut RapierRigidBodySet,
    )>,
) {
    let crowd = *model == ContactModel::Crowd;
    for (mut world, mut colliders, mut bodies) in &mut contexts {
        if world.pair_filter.is_excluded() == crowd {
            continue;
        }
        world.pair_filter.set_excluded(crowd);
        world.member_state = MemberState::Outdated;
        if !crowd {
            // A substep of zero length clears the contacts, which would be stale if the
            // model changes back.
            world.contacts.respond(0.0);
        }
        // Rapier keeps the contacts of unchanged shapes. Setting the shape again and waking
        // the body makes it update them.
        for member in world.members.iter() {
            let Some(body) = bodies.bodies.get_mut(member.body) else {
                continue;
            };
            body.wake_up(true);
            for &handle in body.colliders() {
                if let Some(collider) = colliders.colliders.get_mut(handle) {
                    let shape = collider.shared_shape().clone();
                    collider.set_shape(shape);
                }
            }
        }
    }
}
