//! Which atom is under the cursor.

use bevy::ecs::system::SystemParam;
use bevy::math::Ray3d;
use bevy::prelude::*;

use super::queries::MoleculeQueries;
use super::query_results::MoleculeQueryFilter;
use crate::molecule::AtomLabel;
use crate::render::{InstancedMolecules, MoleculeStyle};

/// An atom that a ray meets. World frame.
#[derive(Clone, Debug, PartialEq)]
pub struct PickedAtom {
    /// The entity with the [`Molecule`](super::Molecule) or the [`InstancedMolecules`].
    pub entity: Entity,
    /// Index of the molecule in the crowd; none for a [`Molecule`](super::Molecule).
    pub molecule: Option<usize>,
    /// Index of the atom in its template, from 0.
    pub atom: usize,
    /// Way from the ray's origin, nm.
    pub distance: f32,
    /// Where the atom is hit, nm.
    pub point: Vec3,
    /// Outward unit normal of the atom there.
    pub normal: Vec3,
    /// What it is called: element, atom, residue, chain.
    pub label: AtomLabel,
}

/// Finds the atom under the cursor, among molecules of the physics world and crowds that
/// are only drawn.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// fn name(picker: MoleculePicker, cameras: Query<(&Camera, &GlobalTransform)>) {
///     let Ok((camera, at)) = cameras.single() else {
///         return;
///     };
///     let cursor = Vec2::new(320.0, 240.0);
///     if let Ok(ray) = camera.viewport_to_world(at, cursor)
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
    crowds: Query<
        'w,
        's,
        (
            Entity,
            &'static InstancedMolecules,
            &'static GlobalTransform,
        ),
    >,
    look: Option<Res<'w, MoleculeStyle>>,
}

impl MoleculePicker<'_, '_> {
    /// The first atom that a ray meets. What is hidden is passed.
    ///
    /// Atoms of crowds have the size that [`MoleculeStyle`] gives them; those of
    /// molecules of the physics world that by which they collide.
    #[must_use]
    pub fn pick(&self, ray: Ray3d) -> Option<PickedAtom> {
        let scale = self.look.as_ref().map_or(1.0, |look| look.radius_scale);
        let seen = |entity| self.visibility.get(entity).is_ok_and(|it| it.get());
        let crowds = self.crowds.iter().filter(|(entity, ..)| seen(*entity));
        let in_crowds = crowds.filter_map(|(entity, crowd, transform)| {
            let hit = crowd.pick(transform, ray, scale)?;
            let molecule = crowd.molecules.get(hit.molecule)?;
            let template = crowd.templates.get(molecule.template as usize)?;
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
        in_crowds
            .chain(self.pick_molecule(ray, &seen))
            .min_by(|one, other| one.distance.total_cmp(&other.distance))
    }

    fn pick_molecule(&self, ray: Ray3d, seen: &dyn Fn(Entity) -> bool) -> Option<PickedAtom> {
        let filter = MoleculeQueryFilter::default().matching(seen);
        let hit = self
            .molecules
            .cast_ray(ray.origin, *ray.direction, f32::MAX, &filter)?;
        Some(PickedAtom {
            entity: hit.molecule,
            molecule: None,
            atom: hit.atom,
            distance: hit.distance,
            point: hit.point,
            normal: hit.normal,
            label: self.molecules.describe(hit)?,
        })
    }
}
