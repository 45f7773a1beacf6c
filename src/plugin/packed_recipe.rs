//! [`PackedRecipe`]: the molecules of a recipe as entities.

use bevy::asset::{AssetLoadError, AssetLoadFailedEvent, LoadState};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::template::FromTemplate;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::tasks::futures::check_ready;

use super::components::Molecule;
use super::molecule_joint::MoleculeJoint;
use super::packing_task::{PackedScene, PackingResult, PackingTask};
use super::spawn_crowd::{CrowdBundles, CrowdEntities};
use crate::crowd::CrowdMember;
use crate::pose::Pose;
use crate::recipe::{Recipe, RecipeError};
#[cfg(feature = "draw")]
use crate::render::MoleculeTint;

/// A recipe that becomes molecules. This component is enough to spawn one:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     commands
///         .spawn(PackedRecipe(assets.load("recipes/proteins_in_a_box.json")))
///         .observe(|packed: On<RecipePacked>, mut commands: Commands| {
///             for molecule in &packed.added {
///                 commands.entity(*molecule).insert(BrownianMotion::default());
///             }
///         });
/// }
/// ```
///
/// When the file is loaded, a background task packs it ([`pack`](crate::recipe::pack())). Then its
/// molecules, compartments and joints are spawned as by [`SpawnCrowd`](super::SpawnCrowd), and a
/// [`RecipePacked`] is triggered. [`RecipeState`] has the progress. With the feature `draw`, the
/// colors of the recipe become `MoleculeTint`s.
///
/// Molecules and compartments are [`InRecipe`]: they are despawned with the entity, and when this
/// component is removed, and their joints with them. They are not its children, since `bevy_rapier3d` 0.36 loses changes of the
/// `Transform`s of child bodies. The pose that the entity has when they are first packed is that of
/// the frame of the recipe; they do not follow it later.
///
/// Periodic boxes are packed as such, but worlds are open. In a saved scene, leave the molecules
/// out: they are packed again when it is loaded.
///
/// # Changes of the file
///
/// When the recipe is loaded again, or the handle changes, the scene follows. Molecules are matched
/// by the names of compartment, region, object and entry, in their order. Those that stay keep
/// their entities, and what the app has changed in them; they only make room. Numbers that have
/// changed add molecules, or despawn the last ones. A given place moves its molecule if it has
/// changed. Joints stay if their molecules and limits do; broken ones stay broken. If the new file
/// is invalid, the scene stays as it is.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut, Component, FromTemplate, Reflect,
)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(Transform, Visibility, RecipeState)]
pub struct PackedRecipe(pub Handle<Recipe>);

/// A molecule or compartment of a [`PackedRecipe`]. Inserted by the plugin; despawned with the entity
/// of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Component, Reflect)]
#[reflect(Component, Clone, Debug, PartialEq)]
#[relationship(relationship_target = RecipeMembers)]
pub struct InRecipe(#[entities] pub Entity);

/// The molecules and compartments of a [`PackedRecipe`], in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deref, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[relationship_target(relationship = InRecipe, linked_spawn)]
pub struct RecipeMembers(Vec<Entity>);

/// How far a [`PackedRecipe`] is. Written by the plugin.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::plugin::RecipeState;
/// fn show_progress(recipes: Query<&RecipeState, Changed<RecipeState>>) {
///     for state in &recipes {
///         match state {
///             RecipeState::Packing { overlaps, .. } => info!("{overlaps} overlaps are left"),
///             RecipeState::Failed { error } => error!("{error}"),
///             _ => {}
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RecipeState {
    /// The file is not loaded yet. Default.
    #[default]
    Loading,
    /// A task packs the molecules.
    Packing {
        /// Number of iterations of the relaxation.
        iterations: u32,
        /// Pairs of atoms of different molecules that overlap.
        overlaps: u64,
        /// Molecules that are not in their region.
        out_of_place: u64,
    },
    /// The molecules are in the world.
    Ready {
        /// Whether all are in their places and none overlap.
        complete: bool,
    },
    /// The recipe is invalid, or cannot be packed. Molecules of an earlier one stay.
    Failed {
        /// The reason, with the file and the place in it.
        error: String,
    },
}

/// The molecules of a [`PackedRecipe`] are in the world, or have changed after its file did. A
/// message, and an entity event of the recipe.
#[derive(Clone, Debug, PartialEq, Eq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct RecipePacked {
    /// The entity with the [`PackedRecipe`].
    #[event_target]
    pub recipe: Entity,
    /// The molecules that are new, in the order of the recipe.
    pub added: Vec<Entity>,
    /// Number of molecules that were there already.
    pub kept: usize,
    /// The molecules that have been despawned.
    pub removed: Vec<Entity>,
    /// Whether all molecules are in their places and none overlap. If not, a warning with numbers
    /// is logged.
    pub complete: bool,
}

/// A [`PackedRecipe`] is invalid or cannot be packed. A message, and an entity event of the recipe.
/// The error is also logged.
#[derive(Clone, Debug, PartialEq, Eq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct RecipeFailed {
    /// The entity with the [`PackedRecipe`].
    #[event_target]
    pub recipe: Entity,
    /// The reason, with the file and the place in it.
    pub error: String,
}

/// Reports files that fail to load, also to recipes that get their handle after that.
pub(super) fn report_failures(
    mut failures: MessageReader<AssetLoadFailedEvent<Recipe>>,
    server: Res<AssetServer>,
    recipes: Query<(Entity, Ref<PackedRecipe>)>,
    mut commands: Commands,
) {
    let failed: HashSet<AssetId<Recipe>> = failures.read().map(|failure| failure.id).collect();
    for (entity, recipe) in &recipes {
        if !(recipe.is_changed() || failed.contains(&recipe.id())) {
            continue;
        }
        if let Some(LoadState::Failed(error)) = server.get_load_state(recipe.id()) {
            let error = sentence(&error);
            commands.queue(move |world: &mut World| fail(world, entity, error));
        }
    }
}

/// The error of a file, without the name of its loader.
fn sentence(error: &AssetLoadError) -> String {
    let own = match error {
        AssetLoadError::AssetLoaderError(error) => error.error().downcast_ref::<RecipeError>(),
        _ => None,
    };
    own.map_or_else(|| error.to_string(), ToString::to_string)
}

fn fail(world: &mut World, recipe: Entity, error: String) {
    if world.get::<PackedRecipe>(recipe).is_none() {
        return;
    }
    world.entity_mut(recipe).insert(RecipeState::Failed {
        error: error.clone(),
    });
    let failed = RecipeFailed { recipe, error };
    world.write_message(failed.clone());
    world.trigger(failed);
}

/// Starts to pack recipes that were loaded or have changed.
pub(super) fn start_packing(
    mut recipes: Query<(
        Entity,
        Ref<PackedRecipe>,
        &mut RecipeState,
        Option<&PackedScene>,
    )>,
    mut events: MessageReader<AssetEvent<Recipe>>,
    assets: Res<Assets<Recipe>>,
    server: Res<AssetServer>,
    molecules: Query<&Transform, With<Molecule>>,
    transforms: TransformHelper,
    mut commands: Commands,
) {
    let mut changed = HashSet::new();
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            changed.insert(*id);
        }
    }
    for (entity, recipe, mut state, scene) in &mut recipes {
        if !(recipe.is_changed() || changed.contains(&recipe.id())) {
            continue;
        }
        let Some(asset) = assets.get(&recipe.0) else {
            // A failure may have been reported in this frame.
            if !matches!(
                server.get_load_state(recipe.id()),
                Some(LoadState::Failed(_))
            ) {
                state.set_if_neq(RecipeState::Loading);
            }
            // A task of another handle must not finish.
            commands.entity(entity).try_remove::<PackingTask>();
            continue;
        };
        let scene = match scene {
            Some(scene) => scene.at_poses(|entity| molecules.get(entity).ok()),
            None => {
                let frame = transforms
                    .compute_global_transform(entity)
                    .unwrap_or_default();
                let (_, rotation, position) = frame.to_scale_rotation_translation();
                PackedScene::empty(Pose::new(position, rotation))
            }
        };
        // Ends the task that is under way.
        commands
            .entity(entity)
            .try_insert(PackingTask::start(asset.clone(), scene));
        state.set_if_neq(RecipeState::Packing {
            iterations: 0,
            overlaps: 0,
            out_of_place: 0,
        });
    }
}

/// Spawns the molecules of recipes whose task is done.
pub(super) fn finish_packing(
    mut recipes: Query<(Entity, &mut PackingTask, &mut RecipeState)>,
    mut commands: Commands,
) {
    for (entity, mut task, mut state) in &mut recipes {
        let Some(result) = check_ready(&mut task.task) else {
            let (iterations, status) = task.progress();
            state.set_if_neq(RecipeState::Packing {
                iterations,
                overlaps: status.overlaps,
                out_of_place: status.out_of_place,
            });
            continue;
        };
        commands.entity(entity).try_remove::<PackingTask>();
        match result {
            Ok(result) => commands.queue(move |world: &mut World| spawn(world, entity, result)),
            Err(error) => {
                error!("{error}");
                let error = error.to_string();
                commands.queue(move |world: &mut World| fail(world, entity, error));
            }
        }
    }
}

/// Spawns the new molecules of a recipe, changes those that stay and despawns the others.
fn spawn(world: &mut World, recipe: Entity, result: PackingResult) {
    if world.get::<PackedRecipe>(recipe).is_none() {
        return;
    }
    let PackingResult {
        mut scene,
        old,
        kept,
        complete,
    } = result;
    let known: EntityHashMap<CrowdMember> = kept
        .iter()
        .flatten()
        .map(|index| (old.entities.molecules[*index], old.member_in_world(*index)))
        .filter(|(entity, _)| world.get_entity(*entity).is_ok())
        .collect();
    let compartments = scene.crowd.compartments().len();
    let bundles = CrowdBundles::new(
        &scene.crowd,
        reuse(world, recipe, &old, &kept, compartments),
    );
    let bundles = match bundles {
        Ok(bundles) => bundles,
        Err(error) => return fail(world, recipe, error.to_string()),
    };
    scene.entities = bundles.entities();
    scene.joints = bundles.joints().to_vec();
    bundles.moved(&scene.frame).update(world, &known);

    let is_new = |entity: &Entity| !known.contains_key(entity);
    let molecules = old.entities.molecules.into_iter();
    let removed: Vec<Entity> = molecules.filter(is_new).collect();
    let surplus = old.entities.compartments.into_iter().skip(compartments);
    let joints: EntityHashSet = scene.entities.joints.iter().copied().collect();
    let broken = old.entities.joints.into_iter();
    let broken = broken.filter(|joint| !joints.contains(joint));
    for entity in removed.iter().copied().chain(surplus).chain(broken) {
        // The app may have done that already.
        world.try_despawn(entity).ok();
    }
    let molecules = scene.entities.molecules.iter().copied();
    let added: Vec<Entity> = molecules.filter(is_new).collect();
    #[cfg(feature = "draw")]
    tint(world, &scene, is_new);
    let packed = RecipePacked {
        recipe,
        added,
        kept: known.len(),
        removed,
        complete,
    };
    let state = RecipeState::Ready { complete };
    world.entity_mut(recipe).insert((scene, state));
    world.write_message(packed.clone());
    world.trigger(packed);
}

/// The entities of the compartments, then of the molecules and then of the joints of a scene: those
/// of before, or new ones.
fn reuse(
    world: &mut World,
    recipe: Entity,
    old: &PackedScene,
    kept: &[Option<usize>],
    compartments: usize,
) -> impl FnMut(Option<&MoleculeJoint>) -> Entity {
    let mut joints: HashMap<[Entity; 2], Vec<(Entity, MoleculeJoint)>> = HashMap::new();
    for (entity, joint) in &old.joints {
        let between = joints.entry([joint.a, joint.b]).or_default();
        between.push((*entity, *joint));
    }
    let of_compartments = (0..compartments).map(|index| old.entities.compartments.get(index));
    let of_molecules = kept.iter().map(|kept| old.entities.molecules.get((*kept)?));
    let mut old = of_compartments.chain(of_molecules);
    move |joint| {
        if let Some(joint) = joint {
            let between = joints.get_mut(&[joint.a, joint.b]);
            let same = between.and_then(|between| {
                let index = between.iter().position(|(_, known)| known == joint)?;
                Some(between.swap_remove(index).0)
            });
            return same.unwrap_or_else(|| world.spawn_empty().id());
        }
        let old = old.next().flatten().copied();
        let old = old.filter(|entity| world.get_entity(*entity).is_ok());
        old.unwrap_or_else(|| world.spawn(InRecipe(recipe)).id())
    }
}

/// Paints new molecules in the colors of the recipe.
#[cfg(feature = "draw")]
fn tint(world: &mut World, scene: &PackedScene, is_new: impl Fn(&Entity) -> bool) {
    let molecules = scene.entities.molecules.iter().enumerate();
    let tints = molecules.filter(|(_, entity)| is_new(entity));
    let tints = tints.filter_map(|(index, entity)| {
        let [red, green, blue] = scene.color(index)?;
        Some((*entity, MoleculeTint::from(Color::srgb(red, green, blue))))
    });
    let inserted = world.try_insert_batch(tints.collect::<Vec<_>>());
    if let Err(error) = inserted {
        warn!("a part of a recipe was despawned before it was painted: {error}");
    }
}

/// Despawns the molecules of a recipe whose component is removed.
pub(super) fn remove_molecules(
    removed: On<Remove, PackedRecipe>,
    scenes: Query<&PackedScene>,
    mut commands: Commands,
) {
    if let Ok(scene) = scenes.get(removed.entity) {
        let CrowdEntities {
            molecules,
            compartments,
            ..
        } = &scene.entities;
        for entity in molecules.iter().chain(compartments) {
            commands.entity(*entity).try_despawn();
        }
    }
    if let Ok(mut entity) = commands.get_entity(removed.entity) {
        entity.try_remove::<(PackedScene, PackingTask, RecipeState)>();
    }
}
