//! Picking of the atom under the cursor.

use bevy::ecs::system::SystemParam;
use bevy::math::Ray3d;
use bevy::prelude::*;

use super::queries::{MoleculeQueries, MoleculeQueryFilter};
use crate::molecule::AtomLabel;
use crate::render::{InstancedMolecules, MoleculeStyle};

/// An atom hit by a ray. World frame.
#[derive(Clone, Debug, PartialEq)]
pub struct PickedAtom {
    /// The entity with the [`Molecule`](super::Molecule) or the [`InstancedMolecules`].
    pub entity: Entity,
    /// Index of the molecule in the [`InstancedMolecules`]; `None` for a
    /// [`Molecule`](super::Molecule).
    pub molecule: Option<usize>,
    /// Index of the atom in its template.
    pub atom: usize,
    /// Distance from the origin of the ray, nm.
    pub distance: f32,
    /// Point of the hit, nm.
    pub point: Vec3,
    /// Outward unit normal of the atom at the hit.
    pub normal: Vec3,
    /// Element, atom, residue and chain.
    pub label: AtomLabel,
}

/// Finds the atom under the cursor, among molecules of the physics world and
/// [`InstancedMolecules`].
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn print_atom(picker: MoleculePicker, cameras: Query<(&Camera, &GlobalTransform)>) {
///     let Ok((camera, transform)) = cameras.single() else {
///         return;
///     };
///     let cursor = Vec2::new(320.0, 240.0);
///     if let Ok(ray) = camera.viewport_to_world(transform, cursor)
///         && let Some(atom) = picker.pick(ray)
///     {
///         info!("{}, {} nm away", atom.label, atom.distance);
///     }
/// }
/// ```
#[derive(SystemParam)]
pub struct MoleculePicker<'w, 's> {
    molecules: MoleculeQueries<'w, 's>,
    visibility: Query<'w, 's, &'static InheritedVisibility>,
    instanced: Query<
        'w,
        's,
        (
            Entity,
            &'static InstancedMolecules,
            &'static GlobalTransform,
        ),
    >,
    style: Option<Res<'w, MoleculeStyle>>,
}

impl MoleculePicker<'_, '_> {
    /// The first visible atom that a ray hits.
    ///
    /// Atoms of [`InstancedMolecules`] have the size set by [`MoleculeStyle`]; atoms of the
    /// physics world have their collision radius.
    #[must_use]
    pub fn pick(&self, ray: Ray3d) -> Option<PickedAtom> {
        let scale = self.style.as_ref().map_or(1.0, |style| style.radius_scale);
        let is_visible = |entity| self.visibility.get(entity).is_ok_and(|it| it.get());
        let visible = self
            .instanced
            .iter()
            .filter(|(entity, ..)| is_visible(*entity));
        let instanced = visible.filter_map(|(entity, instances, transform)| {
            let hit = instances.pick(transform, ray, scale)?;
            let molecule = instances.molecules.get(hit.molecule)?;
            let template = instances.templates.get(molecule.template as usize)?;
            Some(PickedAtom {
                entity,
                molecule: Some(hit.molecule),
                atom: hit.atom,
                distance: hit.distance,
                point: hit.point,
                normal: hit.normal,
                label: AtomLabel::new(template, hit.atom)?,
            })
        });
        let filter = MoleculeQueryFilter {
            predicate: Some(&is_visible),
            ..default()
        };
        let hit = self
            .molecules
            .cast_ray(ray.origin, *ray.direction, f32::MAX, &filter);
        let molecule = hit.and_then(|hit| {
            Some(PickedAtom {
                entity: hit.molecule,
                molecule: None,
                atom: hit.atom,
                distance: hit.distance,
                point: hit.point,
                normal: hit.normal,
                label: self.molecules.atom_label(hit)?,
            })
        });
        let all = instanced.chain(molecule);
        all.min_by(|one, other| one.distance.total_cmp(&other.distance))
    }
}
