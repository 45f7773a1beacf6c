//! Pointer events on molecules: a backend of `bevy_picking`.

use bevy::camera::visibility::RenderLayers;
use bevy::ecs::query::QueryData;
use bevy::picking::backend::prelude::*;
use bevy::prelude::*;

use super::components::Molecule;
use super::extract::drawn_pose;
use super::prepared_molecule::PreparedMolecule;
use crate::molecule::AtomLabel;
use crate::render::{InstancedMolecules, MoleculeStyle, PickingRay, ViewStyle, picking_radius};

/// The atom under a pointer: the extra data of every pointer event on a molecule.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn print_atom(click: On<Pointer<Click>>) {
///     if let Some(picked) = click.hit.extra_as::<PickedAtom>() {
///         info!("{} of {}, {} nm away", picked.label, picked.entity, click.hit.depth);
///     }
/// }
/// # let mut app = App::new();
/// app.add_observer(print_atom);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PickedAtom {
    /// The entity with the [`Molecule`] or the [`InstancedMolecules`], also in events that were
    /// propagated to a parent.
    pub entity: Entity,
    /// Index of the molecule in the [`InstancedMolecules`]; `None` for a [`Molecule`].
    pub instance: Option<usize>,
    /// Index of the atom in its template.
    pub atom: usize,
    /// Element, atom, residue and chain.
    pub label: AtomLabel,
}

/// Whether molecules and cameras must be marked to be picked, like Bevy's `MeshPickingSettings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct MoleculePickingSettings {
    /// If true, only molecules with a [`Pickable`] are picked, and only by cameras with a
    /// [`MoleculePickingCamera`]. Default: false.
    pub require_markers: bool,
}

/// Marks a camera that picks molecules if [`MoleculePickingSettings::require_markers`] is set.
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct MoleculePickingCamera;

/// Pointer events on each [`Molecule`], with or without a collider, and on [`InstancedMolecules`].
/// Part of [`MoleculePlugins`](super::MoleculePlugins) with the feature `picking`. Needs Bevy's
/// `PickingPlugin`, which is part of `DefaultPlugins`; without it, the plugin does nothing.
///
/// A ray through the pointer is intersected with all atoms as they are drawn: at the
/// [`GlobalTransform`] of the last frame and with the radii of the camera's [`MoleculeStyle`], also
/// if distant molecules are drawn with fewer spheres. Every entity along the ray is reported with
/// its first atom, in the [`HitData`]: the depth is the distance from the near plane, nm; position
/// (nm) and normal (unit vector) are in the world frame; the extra data is a [`PickedAtom`].
///
/// [`Pickable`], [`RenderLayers`], the order and the viewport of cameras, and [`Visibility`] are
/// respected. Molecules with a [`MoleculeTint`](crate::render::MoleculeTint) of any opacity are
/// picked; insert [`Pickable::IGNORE`] to click through one.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculePickingPlugin;

impl Plugin for MoleculePickingPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<MoleculePickingSettings>()
            .register_type::<MoleculePickingCamera>()
            .init_resource::<MoleculePickingSettings>()
            .add_systems(
                PreUpdate,
                report_hits
                    .in_set(PickingSystems::Backend)
                    .run_if(resource_exists::<RayMap>),
            );
    }
}

/// What decides whether an entity can be picked, and where it is.
#[derive(QueryData)]
struct Target {
    entity: Entity,
    transform: &'static GlobalTransform,
    visibility: &'static InheritedVisibility,
    pickable: Option<&'static Pickable>,
    layers: Option<&'static RenderLayers>,
}

impl TargetItem<'_, '_> {
    fn is_picked_in(&self, layers: &RenderLayers, require_markers: bool) -> bool {
        let wanted = match self.pickable {
            // Entities that only block others must be reported, too.
            Some(pickable) => pickable.is_hoverable || pickable.should_block_lower,
            None => !require_markers,
        };
        let own_layers = self.layers.cloned().unwrap_or_default();
        wanted && self.visibility.get() && own_layers.intersects(layers)
    }
}

/// Reports the first atom of every molecule under each pointer.
fn report_hits(
    rays: Res<RayMap>,
    settings: Res<MoleculePickingSettings>,
    global_style: Option<Res<MoleculeStyle>>,
    cameras: Query<(
        &Camera,
        Has<MoleculePickingCamera>,
        Option<&RenderLayers>,
        Option<&ViewStyle>,
    )>,
    molecules: Query<(Target, &PreparedMolecule), With<Molecule>>,
    instanced: Query<(Target, &InstancedMolecules)>,
    mut hits: MessageWriter<PointerHits>,
) {
    for (id, &ray) in rays.iter() {
        let Ok((camera, is_marked, layers, style)) = cameras.get(id.camera) else {
            continue;
        };
        if settings.require_markers && !is_marked {
            continue;
        }
        let layers = layers.cloned().unwrap_or_default();
        let style = style.map(|style| &style.0).or(global_style.as_deref());
        let radius_scale = style.map_or(1.0, MoleculeStyle::valid_radius_scale);
        let is_picked =
            |target: &TargetItem| target.is_picked_in(&layers, settings.require_markers);
        let molecules = molecules.iter().filter(|(target, _)| is_picked(target));
        let molecules = molecules
            .filter_map(|(target, prepared)| hit_molecule(&target, prepared, ray, radius_scale));
        let instanced = instanced.iter().filter(|(target, _)| is_picked(target));
        let instanced = instanced
            .filter_map(|(target, instances)| hit_instances(&target, instances, ray, radius_scale));
        let picks: Vec<(Entity, HitData)> = molecules
            .chain(instanced)
            .map(|hit| {
                let (position, normal) = (Some(hit.position), Some(hit.normal));
                let entity = hit.picked.entity;
                let data =
                    HitData::new_with_extra(id.camera, hit.distance, position, normal, hit.picked);
                (entity, data)
            })
            .collect();
        if !picks.is_empty() {
            hits.write(PointerHits::new(id.pointer, picks, camera.order as f32));
        }
    }
}

/// Where a ray hits an atom. World frame, nm.
struct Hit {
    distance: f32,
    position: Vec3,
    normal: Vec3,
    picked: PickedAtom,
}

/// The first atom of a molecule that a ray enters.
fn hit_molecule(
    target: &TargetItem,
    prepared: &PreparedMolecule,
    ray: Ray3d,
    radius_scale: f32,
) -> Option<Hit> {
    let template = prepared.template();
    let pose = drawn_pose(target.transform)?;
    let world_ray = PickingRay {
        origin: ray.origin,
        direction: *ray.direction,
    };
    // Start near the molecule, where `f32` is more accurate.
    let skip = world_ray.reach(pose.position, picking_radius(template, radius_scale))?;
    let origin = pose.inverse_transform_point(ray.get_point(skip));
    let direction = pose.rotation.inverse() * world_ray.direction;
    let shape = prepared.shape();
    let (atom, distance) = shape.atom_entered_by_ray(origin, direction, radius_scale, f32::MAX)?;
    let (center, _) = shape.atom(atom)?;
    let point = origin + direction * distance;
    let atom = atom as usize;
    Some(Hit {
        distance: skip + distance,
        position: pose.transform_point(point),
        normal: pose.rotation * (point - center).normalize_or(-direction),
        picked: PickedAtom {
            entity: target.entity,
            instance: None,
            atom,
            label: AtomLabel::new(template, atom)?,
        },
    })
}

/// The first atom of instanced molecules that a ray enters.
fn hit_instances(
    target: &TargetItem,
    instances: &InstancedMolecules,
    ray: Ray3d,
    radius_scale: f32,
) -> Option<Hit> {
    let hit = instances.pick(target.transform, ray, radius_scale)?;
    let molecule = instances.molecules.get(hit.molecule)?;
    let template = instances.templates.get(molecule.template as usize)?;
    Some(Hit {
        distance: hit.distance,
        position: hit.point,
        normal: hit.normal,
        picked: PickedAtom {
            entity: target.entity,
            instance: Some(hit.molecule),
            atom: hit.atom,
            label: AtomLabel::new(template, hit.atom)?,
        },
    })
}
