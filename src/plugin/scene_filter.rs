//! Molecules in saved scenes.

use bevy::prelude::*;
use bevy::transform::components::TransformTreeChanged;
use bevy_rapier3d::prelude::RapierContextEntityLink;

use super::components::Colliding;

/// The components of molecules and compartments that a saved scene should contain: all that can
/// be saved, except those that Bevy, Rapier and the plugin compute again.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn save(world: &mut World) -> Result<String> {
///     let registry = world.resource::<AppTypeRegistry>().clone();
///     let mut saved = world.query_filtered::<Entity, Or<(With<Molecule>, With<Compartment>)>>();
///     let saved: Vec<Entity> = saved.iter(world).collect();
///     let mut scene = DynamicWorldBuilder::from_world(world, &registry.read())
///         .with_component_filter(molecule_scene_filter())
///         .extract_entities(saved.into_iter())
///         .build();
///     // From the first to the last that was spawned.
///     scene.entities.reverse();
///     Ok(scene.serialize(&registry.read())?)
/// }
/// ```
///
/// Load the file with [`DynamicWorldRoot`]. Molecules and meshes are saved as the paths and labels
/// of their files; settings of the loader are not, except in `.meta` files. Handles of assets that
/// the app has made are lost, with a warning. Save [`MoleculeJoint`](super::MoleculeJoint)s with
/// their molecules. A compartment with a
/// [`ParryShape`](super::ParryShape) or a [`SharedSurface`](super::SharedSurface) cannot be saved,
/// and neither can an ordinary [`Collider`](bevy_rapier3d::prelude::Collider), which is not
/// reflected.
///
/// A scene starts from the saved poses and velocities. Impulses of contacts, sleep and the states
/// of random numbers are not saved. A scene that is saved before its first step moves as the
/// original does, bit for bit, if its entities have the same order: contacts are summed in the
/// order of entities, and [`DynamicWorldBuilder`] lists the last ones first. All molecules are in
/// the default Rapier context.
#[must_use]
pub fn molecule_scene_filter() -> WorldFilter {
    let filter = WorldFilter::default()
        .deny::<Colliding>()
        .deny::<GlobalTransform>()
        .deny::<TransformTreeChanged>()
        .deny::<InheritedVisibility>()
        .deny::<ViewVisibility>()
        // Refers to an entity that is not in the scene.
        .deny::<RapierContextEntityLink>();
    #[cfg(feature = "draw")]
    let filter = filter.deny::<crate::render::InstancedMolecules>();
    filter
}
