//! Reactions of molecules that meet: A + B → C.

use std::sync::Arc;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    CollisionGroups, Friction, GravityScale, RapierContextEntityLink, RapierRigidBodySet,
    Restitution, RigidBody, SolverGroups, Velocity,
};
use bevy_rapier3d::rapier::dynamics::RigidBodySet;

use super::acceleration_bound::AccelerationBound;
use super::brownian_motion::BrownianMotion;
use super::collisions::{CollisionOutcome, MoleculeCollision};
use super::compartment::{CompartmentSurface, InCompartment};
use super::compartment_springs::ValidConfinement;
use super::components::{CrowdOnly, Molecule, MoleculeDetail, MoleculeMaterial, StaticMolecule};
use super::contact_events::MoleculeEventsEnabled;
use super::molecule_world::{Members, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use super::rapier_body::finite_body_pose;
use crate::molecule::MoleculeTemplate;
use crate::motion::brownian::random_number;
use crate::motion::{MoleculeMotion, Reaction, ReactionError, Reactions, place_products};
use crate::pose::Pose;
use crate::rapier::MoleculeShape;

/// The reactions of molecules that meet: A + B → C, A + B → C + D or A + A → B. Default: none.
///
/// Molecules react if both have [`CollisionOutcome::React`], or if the
/// [`CollisionRule`](super::CollisionRule) returns it, like all collisions of molecules with
/// [`BrownianMotion`] or an [`AccelerationBound`]. The reaction is drawn by its probability for each
/// collision. It takes place at the end of the frame,
/// after Rapier's writeback: the reactants are despawned, and the products
/// are spawned as [`place_products`] states. A product that would overlap another molecule, or leave
/// its compartment, does not fit: then the reactants bounce and stay.
///
/// The first product inherits these components of the first reactant, and the second those of the
/// second: [`BrownianMotion`] (with the default coefficients of its mass), [`AccelerationBound`],
/// [`CollisionOutcome`], [`InCompartment`], [`MoleculeDetail`], [`MoleculeMaterial`], [`CrowdOnly`],
/// [`StaticMolecule`], [`MoleculeEventsEnabled`], and of Rapier `RigidBody`, `Friction`,
/// `Restitution`, `CollisionGroups`, `SolverGroups` and `GravityScale`. Add others when
/// [`MoleculesReacted`] is received.
///
/// Mass need not be conserved; [`MoleculesReacted::mass_change`] reports the difference.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// use bevy_rapier_molecules::motion::Reaction;
///
/// fn add_reaction(assets: Res<AssetServer>, mut reactions: ResMut<MoleculeReactions>) -> Result {
///     let [a, b, c] = ["1ubq.cif", "popc.pdb", "dhfr.pdb"]
///         .map(|file| assets.load(format!("molecules/{file}")));
///     *reactions = MoleculeReactions::new([Reaction {
///         reactants: [a, b],
///         products: vec![c],
///         probability: 0.5,
///     }])?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, Default, Resource, Reflect)]
#[reflect(Debug, Default, from_reflect = false)]
pub struct MoleculeReactions {
    #[reflect(ignore)]
    reactions: Reactions<Handle<MoleculeTemplate>>,
    /// Random seed. Default: 0.
    pub seed: u64,
}

impl MoleculeReactions {
    /// These reactions.
    ///
    /// # Errors
    /// [`ReactionError`] if a probability, a number of products or the sum of the probabilities of
    /// the same reactants is invalid.
    pub fn new(
        reactions: impl IntoIterator<Item = Reaction<Handle<MoleculeTemplate>>>,
    ) -> Result<Self, ReactionError> {
        Ok(Self {
            reactions: Reactions::new(reactions)?,
            seed: 0,
        })
    }

    /// The reactions.
    #[must_use]
    pub fn list(&self) -> &[Reaction<Handle<MoleculeTemplate>>] {
        self.reactions.list()
    }
}

/// Two molecules have reacted. Written once as a message. In each context, messages are sorted by
/// substep, time and entities, the same from run to run.
#[derive(Clone, Debug, PartialEq, Message, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculesReacted {
    /// Index of the reaction in [`MoleculeReactions`].
    pub reaction: usize,
    /// The reactants, in the order of the reaction. They are despawned.
    pub reactants: [Entity; 2],
    /// The products, in the order of the reaction.
    pub products: Vec<Entity>,
    /// Time of the collision, s on the [clock](MoleculeWorld::clock) of the Rapier context.
    pub time: f64,
    /// Mass of the products minus that of the reactants, Da.
    pub mass_change: f32,
}

/// Two molecules that are to react at the end of the frame.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    reaction: usize,
    /// In the order of the reaction.
    reactants: [Entity; 2],
    time: f64,
}

/// A reaction whose products fit.
struct Accepted {
    meeting: Meeting,
    products: Vec<Product>,
    /// Da.
    mass_change: f32,
}

/// A molecule that is to be spawned.
struct Product {
    molecule: Molecule,
    motion: MoleculeMotion,
    /// Whether the reactant that it replaces diffuses.
    diffuses: bool,
}

/// The reactions of a context in this frame.
#[derive(Default)]
pub(super) struct PendingReactions {
    meetings: Vec<Meeting>,
    accepted: Vec<Accepted>,
}

impl PendingReactions {
    /// Draws whether two molecules react that collide at `time`, and records it. A molecule reacts
    /// once in a frame.
    pub fn draw(
        &mut self,
        reactions: &MoleculeReactions,
        mut molecules: [(Entity, Option<&Molecule>); 2],
        time: f64,
    ) -> bool {
        let [(one, Some(kind)), (other, Some(other_kind))] = molecules else {
            return false;
        };
        let reacts = |entity| {
            self.meetings
                .iter()
                .any(|known| known.reactants.contains(&entity))
        };
        if reacts(one) || reacts(other) {
            return false;
        }
        let pair = [one, other].map(Entity::index_u32);
        let random = random_number(reactions.seed, time.to_bits(), pair, 0);
        let Some(found) = reactions.reactions.find([&**kind, &**other_kind], random) else {
            return false;
        };
        if found.is_swapped {
            molecules.swap(0, 1);
        }
        self.meetings.push(Meeting {
            reaction: found.index,
            reactants: molecules.map(|(entity, _)| entity),
            time,
        });
        true
    }
}

/// A molecule that is in the way of products.
type Obstacle<'a> = (&'a MoleculeShape, Pose);

/// What a reaction reads of molecules.
#[derive(SystemParam)]
pub(super) struct ReactionQueries<'w, 's> {
    templates: Res<'w, Assets<MoleculeTemplate>>,
    molecules: Query<'w, 's, (&'static PreparedMolecule, Has<BrownianMotion>)>,
    confinements: Query<'w, 's, (&'static InCompartment, &'static ValidConfinement)>,
    surfaces: Query<'w, 's, &'static CompartmentSurface>,
}

impl ReactionQueries<'_, '_> {
    fn template(&self, molecule: Entity) -> Option<&Arc<MoleculeTemplate>> {
        Some(self.molecules.get(molecule).ok()?.0.template())
    }

    fn mass(&self, molecule: Entity) -> f32 {
        self.template(molecule)
            .map_or(0.0, |template| template.mass())
    }
}

/// The molecules around a reaction.
struct Surroundings<'a, 'w, 's> {
    members: &'a Members,
    bodies: &'a RigidBodySet,
    queries: &'a ReactionQueries<'w, 's>,
    /// Molecules that have reacted in this frame.
    gone: Vec<Entity>,
    /// Products of this frame.
    new: Vec<(MoleculeShape, Pose)>,
}

impl Surroundings<'_, '_, '_> {
    fn motion(&self, entity: Entity) -> Option<MoleculeMotion> {
        let member = self.members[self.members.index_of(entity)?];
        let body = self.bodies.get(member.body)?;
        Some(MoleculeMotion {
            pose: finite_body_pose(Some(body))?,
            velocity: body.linvel(),
            angular_velocity: body.angvel(),
        })
    }

    /// Whether a product overlaps no molecule but the reactants, and stays in the compartment of
    /// the reactant that it replaces.
    fn fits(
        &self,
        product: &MoleculeTemplate,
        pose: &Pose,
        reactants: [Entity; 2],
        replaced: (Entity, &Pose),
    ) -> bool {
        if let Ok((held, confinement)) = self.queries.confinements.get(replaced.0)
            && let Ok(surface) = self.queries.surfaces.get(held.compartment)
            && !confinement.allows(surface, replaced.1, pose)
        {
            return false;
        }
        let others = self.members.iter().filter(|member| {
            !(reactants.contains(&member.entity) || self.gone.contains(&member.entity))
        });
        let others = others.filter_map(|member| {
            let (prepared, _) = self.queries.molecules.get(member.entity).ok()?;
            let pose = finite_body_pose(self.bodies.get(member.body))?;
            Some((prepared.shape(), pose))
        });
        let new = self.new.iter().map(|(shape, pose)| (shape, *pose));
        !others.chain(new).any(|other| overlap(product, pose, other))
    }
}

/// Whether atoms of two molecules overlap.
fn overlap(product: &MoleculeTemplate, pose: &Pose, (shape, other): Obstacle) -> bool {
    let bound = shape.template().bounding_radius();
    let distance = pose.position.distance(other.position);
    if distance > product.bounding_radius() + bound {
        return false;
    }
    let mut atoms = product.positions().iter().zip(product.radii());
    atoms.any(|(&center, &radius)| {
        let center = pose.transform_point(center);
        center.distance(other.position) < bound + radius
            && shape
                .nearest_atom(other.inverse_transform_point(center), radius)
                .is_some()
    })
}

/// Finds the reactions whose products fit.
pub(super) fn accept_reactions(
    reactions: Res<MoleculeReactions>,
    mut worlds: Query<(&mut MoleculeWorld, &RapierRigidBodySet)>,
    queries: ReactionQueries,
) {
    for (mut world, bodies) in &mut worlds {
        if world.reactions.meetings.is_empty() {
            continue;
        }
        let world = &mut *world;
        let meetings = std::mem::take(&mut world.reactions.meetings);
        let mut around = Surroundings {
            members: &world.members,
            bodies: &bodies.bodies,
            queries: &queries,
            gone: Vec::new(),
            new: Vec::new(),
        };
        for meeting in meetings {
            let reaction = reactions.list().get(meeting.reaction);
            let Some(placed) = reaction.and_then(|reaction| place(&around, &meeting, reaction))
            else {
                world.blocked_reactions += 1;
                bounce(&mut world.collisions, meeting.reactants);
                continue;
            };
            let masses = meeting.reactants.map(|one| queries.mass(one));
            let mut mass_change = -masses.iter().sum::<f32>();
            let mut products = Vec::new();
            for ((handle, template, motion), reactant) in placed.into_iter().zip(meeting.reactants)
            {
                mass_change += template.mass();
                let shape = MoleculeShape::new(Arc::new(template.clone()));
                around.new.push((shape, motion.pose));
                let diffuses = queries.molecules.get(reactant);
                products.push(Product {
                    molecule: Molecule(handle.clone()),
                    motion,
                    diffuses: diffuses.is_ok_and(|(_, diffuses)| diffuses),
                });
            }
            around.gone.extend(meeting.reactants);
            world.reactions.accepted.push(Accepted {
                meeting,
                products,
                mass_change,
            });
        }
    }
}

/// Replaces the molecules that react by their products. Rapier panics if they are despawned
/// before its writeback.
pub(super) fn replace_reactants(
    mut commands: Commands,
    mut worlds: Query<&mut MoleculeWorld>,
    mut messages: MessageWriter<MoleculesReacted>,
) {
    for mut world in &mut worlds {
        if world.reactions.accepted.is_empty() {
            continue;
        }
        for accepted in world.reactions.accepted.drain(..) {
            let Meeting {
                reaction,
                reactants,
                time,
            } = accepted.meeting;
            let products = accepted.products.into_iter().zip(reactants);
            let products = products.map(|(product, parent)| product.spawn(&mut commands, parent));
            let products: Vec<Entity> = products.collect();
            for reactant in reactants {
                commands.entity(reactant).try_despawn();
            }
            messages.write(MoleculesReacted {
                reaction,
                reactants,
                products,
                time,
                mass_change: accepted.mass_change,
            });
        }
    }
}

/// Corrects the outcome of collisions of molecules whose products do not fit.
fn bounce(collisions: &mut [MoleculeCollision], reactants: [Entity; 2]) {
    for collision in collisions {
        let both = [collision.molecule, collision.other];
        if collision.outcome == CollisionOutcome::React
            && both.iter().all(|one| reactants.contains(one))
        {
            collision.outcome = CollisionOutcome::Bounce;
        }
    }
}

/// A product that fits.
type Placed<'a> = (
    &'a Handle<MoleculeTemplate>,
    &'a MoleculeTemplate,
    MoleculeMotion,
);

/// The products of a reaction, if their files are loaded and they fit.
fn place<'a>(
    around: &Surroundings<'a, '_, '_>,
    meeting: &Meeting,
    reaction: &'a Reaction<Handle<MoleculeTemplate>>,
) -> Option<Vec<Placed<'a>>> {
    let [one, other] = meeting.reactants;
    let [a, b] = [around.motion(one)?, around.motion(other)?];
    let queries = around.queries;
    let templates = [queries.template(one)?, queries.template(other)?];
    let products = reaction.products.iter();
    let products = products.map(|product| queries.templates.get(product));
    let products: Vec<&MoleculeTemplate> = products.collect::<Option<_>>()?;
    let motions = place_products([(templates[0], a), (templates[1], b)], &products);
    let replaced = [(one, &a.pose), (other, &b.pose)];
    let mut all = products.iter().zip(&motions).zip(replaced);
    let fit = all.all(|((product, motion), replaced)| {
        around.fits(product, &motion.pose, meeting.reactants, replaced)
    });
    let handles = reaction.products.iter();
    let placed = handles.zip(products).zip(motions);
    fit.then(|| {
        placed
            .map(|((handle, template), motion)| (handle, template, motion))
            .collect()
    })
}

impl Product {
    /// Spawns it with the components of the reactant that it replaces.
    fn spawn(self, commands: &mut Commands, reactant: Entity) -> Entity {
        let Pose { position, rotation } = self.motion.pose;
        let velocity = Velocity {
            linear: self.motion.velocity,
            angular: self.motion.angular_velocity,
        };
        let transform = Transform::from_translation(position).with_rotation(rotation);
        let mut product = commands.spawn((self.molecule, transform, velocity));
        if self.diffuses {
            product.insert(BrownianMotion::default());
        }
        let product = product.id();
        commands.queue(move |world: &mut World| inherit(world, reactant, product));
        product
    }
}

/// Copies the components that a product inherits.
fn inherit(world: &mut World, reactant: Entity, product: Entity) {
    if world.get_entity(product).is_err() {
        return;
    }
    if let Ok(mut reactant) = world.get_entity_mut(reactant) {
        reactant.clone_with_opt_in(product, |builder| {
            builder.without_required_components(|builder| {
                builder
                    .allow::<(AccelerationBound, CollisionOutcome, InCompartment)>()
                    .allow::<(MoleculeDetail, MoleculeMaterial, CrowdOnly, StaticMolecule)>()
                    .allow::<(MoleculeEventsEnabled, RapierContextEntityLink)>()
                    .allow::<(RigidBody, Friction, Restitution, GravityScale)>()
                    .allow::<(CollisionGroups, SolverGroups)>();
            });
        });
    }
}
