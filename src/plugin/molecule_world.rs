//! The molecules of one Rapier context.

use std::fmt;
use std::time::Duration;

use bevy::ecs::lifecycle::Add;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy_rapier3d::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use bevy_rapier3d::prelude::{RapierContextColliders, RapierContextSimulation, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::RigidBodyHandle;
use bevy_rapier3d::rapier::geometry::NarrowPhase;

use super::acceleration_bound::Watched;
use super::backend::Searcher;
use super::brownian_motion::Diffusing;
use super::collisions::MoleculeCollision;
use super::contact_events::TouchLedger;
use crate::backend::Backend;
use crate::dynamics::{ContactSolverConfig, CrowdContacts, Impulse};
use crate::rapier::{MoleculeDispatcher, MoleculePairFilter};

/// How molecules collide with each other. Both ways find the same contacts, and in both
/// molecules collide with ordinary colliders through Rapier.
///
/// May be changed at any time. Default: [`Crowd`](Self::Crowd).
///
/// ```
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
/// // Two lipids that overlap part, whoever solves their contacts.
/// let [one, other] = [-0.2, 0.2].map(|x| {
///     let lipid = Molecule(lipid.clone());
///     let bundle = (lipid, GravityScale(0.0), Transform::from_xyz(x, 0.0, 0.0));
///     app.world_mut().spawn(bundle).id()
/// });
/// let mut before = 0.4;
/// for model in [ContactModel::Crowd, ContactModel::Rapier] {
///     app.insert_resource(model);
///     for _ in 0..10 {
///         app.update();
///     }
///     let place = |entity| app.world().get::<Transform>(entity).map(|at| at.translation);
///     let [one, other] = [one, other].map(place);
///     let apart = one.ok_or("it is gone")?.distance(other.ok_or("it is gone")?);
///     assert!(apart > before, "{model:?}: from {before} to {apart} nm");
///     before = apart;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub enum ContactModel {
    /// Our search finds the pairs of atoms, and our solver answers them with impulses
    /// on the Rapier bodies in each substep. For crowds. Default.
    #[default]
    Crowd,
    /// Each molecule is a shape for Rapier, whose broad phase and solver do the rest.
    /// For up to some thousand molecules, and where stacks and joints matter most.
    Rapier,
}

/// A molecule as a context knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub entity: Entity,
    pub body: RigidBodyHandle,
}

/// The molecules of one Rapier context, and what they are doing. Every entity with a
/// [`RapierContextSimulation`] has one, made and kept by the plugin.
#[derive(Default, Component)]
pub struct MoleculeWorld {
    pub(super) contacts: CrowdContacts,
    pub(super) members: Vec<Member>,
    /// Member of each body.
    pub(super) member_of: HashMap<RigidBodyHandle, u32>,
    /// Ordinary bodies that molecules touch in this substep; none for those that nothing
    /// moves.
    pub(super) obstacles: Vec<Option<RigidBodyHandle>>,
    /// Whether the members are those of now.
    pub(super) collected: bool,
    /// Length of the substep that is running, s; none if this context rests.
    pub(super) substep: Option<f32>,
    /// Impulses of springs in this substep, by member.
    pub(super) springs: Vec<(u32, Impulse)>,
    pub(super) ledger: TouchLedger,
    pub(super) filter: MoleculePairFilter,
    pub(super) times: MoleculeTimes,
    /// Whether the last search failed: said once, not every substep.
    pub(super) failing: bool,
    pub(super) searcher: Searcher,
    /// Time that has been simulated, s.
    pub(super) clock: f64,
    pub(super) diffusing: Diffusing,
    pub(super) watched: Watched,
    /// Who met in this frame.
    pub(super) meetings: Vec<MoleculeCollision>,
}

impl fmt::Debug for MoleculeWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoleculeWorld")
            .field("molecules", &self.members.len())
            .field("spheres", &self.contacts.spheres().len())
            .field("touching", &self.ledger.touching().len())
            .field("backend", &self.backend())
            .field("clock", &self.clock)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

impl MoleculeWorld {
    /// The crowd, with its contacts in the last substep; it has no contacts in
    /// [`ContactModel::Rapier`].
    #[must_use]
    pub fn contacts(&self) -> &CrowdContacts {
        &self.contacts
    }

    /// How contacts of the crowd are solved; may be changed at any time.
    ///
    /// Impossible numbers are answered in the next substep by the default, and the log says
    /// so.
    pub fn contact_config_mut(&mut self) -> &mut ContactSolverConfig {
        &mut self.contacts.config
    }

    /// Who finds and solves the contacts of this context in [`ContactModel::Crowd`]:
    /// [`Backend::Cpu`] or [`Backend::Gpu`]. See
    /// [`MoleculeBackend`](super::MoleculeBackend).
    #[must_use]
    pub fn backend(&self) -> Backend {
        if self.searcher.is_on_gpu() {
            Backend::Gpu
        } else {
            Backend::Cpu
        }
    }

    /// Time that the stages took in the last frame, all substeps together.
    #[must_use]
    pub fn times(&self) -> MoleculeTimes {
        self.times
    }

    /// Length of the substep that is running, s. None between substeps, and for a
    /// context that takes no step now.
    #[must_use]
    pub fn substep(&self) -> Option<f32> {
        self.substep
    }

    /// Time that has been simulated in this context, s.
    #[must_use]
    pub fn clock(&self) -> f64 {
        self.clock
    }

    /// Molecules that diffuse as one because they stick to each other: clusters of two and
    /// more, each in the order of entities. See [`CollisionOutcome`](super::CollisionOutcome).
    #[must_use]
    pub fn clusters(&self) -> Vec<Vec<Entity>> {
        self.diffusing.clusters()
    }

    /// The molecules, in the order of the crowd's members.
    pub fn molecules(&self) -> impl ExactSizeIterator<Item = Entity> + '_ {
        self.members.iter().map(|member| member.entity)
    }
}

/// Time that the stages of a frame took, all substeps together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MoleculeTimes {
    /// Moving the molecules that diffuse.
    pub diffuse: Duration,
    /// Reading the bodies and moving the spheres.
    pub gather: Duration,
    /// Finding the pairs.
    pub detect: Duration,
    /// Contacts and springs.
    pub respond: Duration,
    /// Writing the impulses to the bodies.
    pub apply: Duration,
    /// Rapier's own step.
    pub step: Duration,
    /// Number of substeps.
    pub substeps: u32,
}

/// How contacts are solved in new contexts.
#[derive(Resource)]
pub(super) struct ContactConfigAtStart(pub ContactSolverConfig);

/// Gives every new context our narrow phase, before the first body exists.
pub(super) fn adopt_context(
    added: On<Add, RapierContextSimulation>,
    mut contexts: Query<(&mut RapierContextSimulation, &mut MoleculeWorld)>,
    config: Res<ContactConfigAtStart>,
) {
    let Ok((mut simulation, mut molecules)) = contexts.get_mut(added.entity) else {
        return;
    };
    *molecules.contact_config_mut() = config.0;
    if simulation.narrow_phase.contact_pairs().next().is_some() {
        warn!(
            "the Rapier context {} already has contacts: molecules in it fall back to \
             parry's own contacts, which are slow. Spawn it without any",
            added.entity
        );
        return;
    }
    let dispatcher =
        MoleculeDispatcher::new(molecules.filter.clone()).chain(DefaultQueryDispatcher);
    simulation.narrow_phase = NarrowPhase::with_query_dispatcher(dispatcher);
}

/// Passes a change of the [`ContactModel`] on to the narrow phases.
pub(super) fn switch_model(
    model: Res<ContactModel>,
    mut contexts: Query<(
        &mut MoleculeWorld,
        &mut RapierContextColliders,
        &mut RapierRigidBodySet,
    )>,
) {
    let crowd = *model == ContactModel::Crowd;
    for (mut world, mut colliders, mut bodies) in &mut contexts {
        if world.filter.is_excluded() == crowd {
            continue;
        }
        world.filter.set_excluded(crowd);
        world.collected = false;
        if !crowd {
            // A substep of no length forgets the contacts: they would be answered once more
            // when the crowd is back, wherever the molecules are by then.
            world.contacts.respond(0.0);
        }
        // Rapier keeps the contacts of shapes that have not moved: a new shape and
        // being woken make it look again.
        for member in &world.members {
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
