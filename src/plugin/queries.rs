//! Scene queries: rays, points, balls and moving shapes against the atoms of molecules.

use std::fmt;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_rapier3d::parry::math::Pose3;
use bevy_rapier3d::parry::query::Ray;
use bevy_rapier3d::parry::shape::Shape;
use bevy_rapier3d::prelude::{RapierContextEntityLink, RapierRigidBodyHandle, RapierRigidBodySet};

use super::components::Molecule;
use super::prepared_molecule::PreparedMolecule;
use super::rapier_body::body_pose;
use crate::compartment::direction as unit;
use crate::molecule::{AtomLabel, MoleculeTemplate};
use crate::pose::Pose;
use crate::rapier::MoleculeShape;

/// Relative enlargement of bounding spheres, so that rounding does not hide a molecule.
const SLACK: f32 = 4.0e-6;

/// Selects the molecules that a query considers.
#[derive(Clone, Copy, Default)]
pub struct MoleculeQueryFilter<'a> {
    /// A molecule to ignore. Default: none.
    pub exclude: Option<Entity>,
    /// The Rapier context of the molecules. Default: any.
    pub context: Option<Entity>,
    /// Ignores molecules for which it returns `false`. Default: none.
    pub predicate: Option<&'a dyn Fn(Entity) -> bool>,
}

impl MoleculeQueryFilter<'_> {
    fn accepts(&self, molecule: Entity, context: Option<Entity>) -> bool {
        self.exclude != Some(molecule)
            && (self.context.is_none() || self.context == context)
            && self.predicate.is_none_or(|predicate| predicate(molecule))
    }
}

impl fmt::Debug for MoleculeQueryFilter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoleculeQueryFilter")
            .field("exclude", &self.exclude)
            .field("context", &self.context)
            .field("predicate", &self.predicate.map(|_| ".."))
            .finish()
    }
}

/// An atom of a molecule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
pub struct MoleculeAtom {
    /// The entity with the [`Molecule`](super::Molecule).
    pub molecule: Entity,
    /// Index of the atom in its template.
    pub atom: usize,
}

/// Where a ray or a moving shape hits a molecule. World frame.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeHit {
    /// The entity with the [`Molecule`](super::Molecule).
    pub molecule: Entity,
    /// Index of the atom in its template.
    pub atom: usize,
    /// Distance along the ray or the motion, nm; zero if it starts inside an atom.
    pub distance: f32,
    /// Point of the hit, nm: on the surface of the atom, or the origin of a ray that starts
    /// inside it.
    pub point: Vec3,
    /// Outward unit normal of the atom at the hit.
    pub normal: Vec3,
}

/// The atom nearest to a point. World frame.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct NearestAtom {
    /// The entity with the [`Molecule`](super::Molecule).
    pub molecule: Entity,
    /// Index of the atom in its template.
    pub atom: usize,
    /// Distance from the surface of the atom, nm; negative inside.
    pub distance: f32,
    /// The nearest point on the surface of the atom, nm.
    pub point: Vec3,
}

impl From<(Entity, usize)> for MoleculeAtom {
    fn from((molecule, atom): (Entity, usize)) -> Self {
        Self { molecule, atom }
    }
}

impl From<MoleculeHit> for MoleculeAtom {
    fn from(MoleculeHit { molecule, atom, .. }: MoleculeHit) -> Self {
        Self { molecule, atom }
    }
}

impl From<NearestAtom> for MoleculeAtom {
    fn from(NearestAtom { molecule, atom, .. }: NearestAtom) -> Self {
        Self { molecule, atom }
    }
}

/// Scene queries against the atoms of molecules.
///
/// Queries consider all loaded molecules, with a Rapier collider or
/// [`CrowdOnly`](super::CrowdOnly), static or asleep, in all Rapier contexts. A molecule is at the
/// pose of its body after the last physics step, or at its [`GlobalTransform`] if it has no body
/// yet. A query visits all molecules and tests the atoms of those whose bounding sphere it hits.
///
/// Lengths are nm, world frame. Non-finite arguments give no result. Of two equally near
/// molecules, the one with the smaller entity is returned.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn query(molecules: MoleculeQueries) {
///     let all = MoleculeQueryFilter::default();
///     let hit = molecules.cast_ray(20.0 * Vec3::Y, Vec3::NEG_Y, f32::MAX, &all);
///     if let Some(hit) = hit
///         && let Some(label) = molecules.atom_label(hit)
///     {
///         info!("the ray hits {label} of {} at {}", hit.molecule, hit.point);
///     }
/// }
/// ```
///
/// With the feature `picking`, pointer events have the atom under the pointer (`PickedAtom`).
#[derive(SystemParam)]
pub struct MoleculeQueries<'w, 's> {
    molecules: Query<'w, 's, MoleculeData, With<Molecule>>,
    contexts: Query<'w, 's, &'static RapierRigidBodySet>,
}

type MoleculeData = (
    Entity,
    &'static PreparedMolecule,
    &'static GlobalTransform,
    Option<&'static RapierRigidBodyHandle>,
    Option<&'static RapierContextEntityLink>,
);

/// A molecule that a query considers.
struct Candidate<'a> {
    entity: Entity,
    shape: &'a MoleculeShape,
    pose: Pose,
}

impl Candidate<'_> {
    /// Radius of the bounding sphere around its position, nm.
    fn radius(&self) -> f32 {
        self.shape.template().bounding_radius()
    }

    /// A hit from its body-frame point and normal.
    fn hit(&self, atom: u32, distance: f32, point: Vec3, normal: Vec3) -> MoleculeHit {
        MoleculeHit {
            molecule: self.entity,
            atom: atom as usize,
            distance,
            point: self.pose.transform_point(point),
            normal: self.pose.rotation * normal,
        }
    }

    /// The atom that a body-frame ray with a unit direction hits within `max_distance` nm,
    /// and the distance.
    fn hit_by_ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<(u32, f32)> {
        if let Some((atom, _)) = self.shape.nearest_atom(origin, 0.0_f32.next_up()) {
            return Some((atom, 0.0));
        }
        let ray = Ray::new(origin, direction);
        let max_time = max_distance.max(0.0).next_up();
        let hit = self.shape.atom_hit_by_ray(&ray, max_time, true)?;
        let (center, radius) = self.shape.atom(hit.atom)?;
        // Recompute the distance: parry's difference of two squares is inaccurate in large
        // molecules.
        let arm = center - origin;
        let along = arm.dot(direction);
        let aside = (arm - direction * along).length_squared();
        let time = along - (radius * radius - aside).max(0.0).sqrt();
        Some((hit.atom, time.max(0.0)))
    }
}

/// The path of a query: from `origin` along a unit vector, at most `length`.
#[derive(Clone, Copy)]
struct Path {
    origin: Vec3,
    direction: Vec3,
    length: f32,
}

impl Path {
    /// Lower bound on the distance (nm) at which the path enters the sphere of `radius`
    /// around `center`; `None` if it does not within `max_distance` nm.
    fn entry(&self, center: Vec3, radius: f32, max_distance: f32) -> Option<f32> {
        let arm = center - self.origin;
        let along = arm.dot(self.direction);
        let aside = (arm - self.direction * along).length();
        let radius = radius + SLACK * (radius + arm.length());
        let hits = aside <= radius && along + radius >= 0.0 && along - radius <= max_distance;
        hits.then(|| (along - radius).max(0.0))
    }
}

impl MoleculeQueries<'_, '_> {
    /// The first atom that a ray hits within `max_distance` nm.
    ///
    /// The direction need not be normalized; distances are nm in any case. A ray that starts
    /// inside atoms hits the one in which it is deepest, at distance 0. Returns `None` if the
    /// direction is zero.
    #[must_use]
    pub fn cast_ray(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        filter: &MoleculeQueryFilter,
    ) -> Option<MoleculeHit> {
        let direction = unit(direction)?;
        let path = Path {
            origin,
            direction,
            length: max_distance,
        };
        self.first_hit(&path, 0.0, filter, |candidate, skip, max_distance| {
            // Start near the molecule, where `f32` is more accurate.
            let start = origin + direction * skip;
            let local = candidate.pose.inverse_transform_point(start);
            let local_direction = candidate.pose.rotation.inverse() * direction;
            let (atom, time) = candidate.hit_by_ray(local, local_direction, max_distance - skip)?;
            let (center, _) = candidate.shape.atom(atom)?;
            let point = local + local_direction * time;
            let normal = (point - center).normalize_or(-local_direction);
            Some(candidate.hit(atom, skip + time, point, normal))
        })
    }

    /// The first atom that a shape hits on its path from `pose` to `pose` + `motion` (nm),
    /// without rotating. The distance of the hit is that of the shape along its path, nm.
    ///
    /// The shape is any parry shape, such as `&*collider.raw.0` of a collider. A shape that
    /// overlaps atoms at the start hits one of them at distance 0.
    #[must_use]
    pub fn cast_shape(
        &self,
        shape: &dyn Shape,
        pose: Pose,
        motion: Vec3,
        filter: &MoleculeQueryFilter,
    ) -> Option<MoleculeHit> {
        if !(pose.is_finite() && motion.is_finite()) {
            return None;
        }
        let bounds = shape.compute_local_bounding_sphere();
        let direction = unit(motion).unwrap_or(Vec3::ZERO);
        let path = Path {
            origin: pose.transform_point(bounds.center),
            direction,
            length: motion.dot(direction),
        };
        self.first_hit(
            &path,
            bounds.radius,
            filter,
            |candidate, skip, max_distance| {
                let inverse = candidate.pose.rotation.inverse();
                let start = candidate
                    .pose
                    .inverse_transform_point(pose.position + direction * skip);
                let local_pose = Pose3::from_parts(start, (inverse * pose.rotation).normalize());
                let hit = candidate.shape.atom_hit_by_shape(
                    shape,
                    &local_pose,
                    inverse * direction,
                    (max_distance - skip).max(0.0),
                )?;
                let (center, radius) = candidate.shape.atom(hit.atom)?;
                let point = center + hit.normal * radius;
                let distance = skip + hit.time;
                Some(candidate.hit(hit.atom, distance, point, hit.normal))
            },
        )
    }

    /// The atom whose surface is nearest to `point`, within `max_distance` nm.
    ///
    /// Inside several atoms, this is the one in which the point is deepest.
    #[must_use]
    pub fn nearest_atom(
        &self,
        point: Vec3,
        max_distance: f32,
        filter: &MoleculeQueryFilter,
    ) -> Option<NearestAtom> {
        if !point.is_finite() || max_distance.is_nan() {
            return None;
        }
        let mut best: Option<NearestAtom> = None;
        for candidate in self.candidates(filter) {
            let max_distance = best.map_or(max_distance, |best| best.distance);
            let (center, radius) = (candidate.pose.position, candidate.radius());
            let distance = center.distance(point);
            if distance - radius > max_distance + SLACK * (distance + radius) {
                continue;
            }
            let local = candidate.pose.inverse_transform_point(point);
            let limit = max_distance.next_up().min(f32::MAX);
            let Some((atom, distance)) = candidate.shape.nearest_atom(local, limit) else {
                continue;
            };
            if best
                .is_some_and(|best| (best.distance, best.molecule) < (distance, candidate.entity))
            {
                continue;
            }
            let Some((center, radius)) = candidate.shape.atom(atom) else {
                continue;
            };
            let on_surface = center + (local - center).normalize_or(Vec3::Y) * radius;
            best = Some(NearestAtom {
                molecule: candidate.entity,
                atom: atom as usize,
                distance,
                point: candidate.pose.transform_point(on_surface),
            });
        }
        best
    }

    /// All atoms that touch or overlap a ball (nm), sorted by molecule and index. With radius
    /// 0, the atoms that contain a point.
    #[must_use]
    pub fn atoms_in_ball(
        &self,
        center: Vec3,
        radius: f32,
        filter: &MoleculeQueryFilter,
    ) -> Vec<MoleculeAtom> {
        let mut found = Vec::new();
        if !(center.is_finite() && radius >= 0.0) {
            return found;
        }
        for candidate in self.candidates(filter) {
            let distance = candidate.pose.position.distance(center);
            let bounding_radius = candidate.radius();
            let slack = SLACK * (distance + bounding_radius);
            if distance > radius + bounding_radius + slack {
                continue;
            }
            // No larger than a ball that contains the whole molecule.
            let radius = radius.min(distance + bounding_radius + slack);
            let local = candidate.pose.inverse_transform_point(center);
            let atoms = candidate.shape.atoms_touching_ball(local, radius);
            found.extend(atoms.into_iter().map(|atom| MoleculeAtom {
                molecule: candidate.entity,
                atom: atom as usize,
            }));
        }
        found.sort_unstable();
        found
    }

    /// The pose of a molecule, centered on its center of mass (nm). `None` if it does not
    /// exist or is not loaded.
    #[must_use]
    pub fn pose(&self, molecule: Entity) -> Option<Pose> {
        let (_, _, transform, body, link) = self.molecules.get(molecule).ok()?;
        Some(self.pose_of(transform, body, link))
    }

    /// The template of a molecule. `None` if it does not exist or is not loaded.
    #[must_use]
    pub fn template(&self, molecule: Entity) -> Option<&MoleculeTemplate> {
        let (_, prepared, ..) = self.molecules.get(molecule).ok()?;
        Some(prepared.template())
    }

    /// World-frame center and radius of an atom, nm. `None` if it does not exist.
    #[must_use]
    pub fn atom(&self, atom: impl Into<MoleculeAtom>) -> Option<(Vec3, f32)> {
        let MoleculeAtom { molecule, atom } = atom.into();
        let template = self.template(molecule)?;
        let center = *template.positions().get(atom)?;
        let radius = *template.radii().get(atom)?;
        Some((self.pose(molecule)?.transform_point(center), radius))
    }

    /// The label of an atom, such as `HIS 68 A ND1`. `None` if it does not exist.
    #[must_use]
    pub fn atom_label(&self, atom: impl Into<MoleculeAtom>) -> Option<AtomLabel> {
        let MoleculeAtom { molecule, atom } = atom.into();
        AtomLabel::new(self.template(molecule)?, atom)
    }

    /// The first hit along a path. `margin` (nm) is the radius of what moves along it.
    /// `cast` finds the hit with one molecule, given the distances (nm) on the path at which
    /// to start and to stop.
    fn first_hit(
        &self,
        path: &Path,
        margin: f32,
        filter: &MoleculeQueryFilter,
        cast: impl Fn(&Candidate, f32, f32) -> Option<MoleculeHit>,
    ) -> Option<MoleculeHit> {
        if !(path.origin.is_finite() && path.length >= 0.0) {
            return None;
        }
        let length = path.length.min(f32::MAX);
        let mut best: Option<MoleculeHit> = None;
        for candidate in self.candidates(filter) {
            let max_distance = best.map_or(length, |best| best.distance);
            let radius = candidate.radius() + margin;
            let found = path
                .entry(candidate.pose.position, radius, max_distance)
                .and_then(|skip| cast(&candidate, skip, max_distance))
                .filter(|hit| hit.distance <= length);
            if let Some(hit) = found
                && best.is_none_or(|best| {
                    (hit.distance, hit.molecule) < (best.distance, best.molecule)
                })
            {
                best = Some(hit);
            }
        }
        best
    }

    /// The molecules that a filter accepts and whose poses are finite.
    fn candidates<'a>(
        &'a self,
        filter: &'a MoleculeQueryFilter,
    ) -> impl Iterator<Item = Candidate<'a>> {
        self.molecules
            .iter()
            .filter(|(entity, .., link)| filter.accepts(*entity, link.map(|link| link.0)))
            .map(|(entity, prepared, transform, body, link)| Candidate {
                entity,
                shape: prepared.shape(),
                pose: self.pose_of(transform, body, link),
            })
            .filter(|candidate| candidate.pose.is_finite())
    }

    fn pose_of(
        &self,
        transform: &GlobalTransform,
        body: Option<&RapierRigidBodyHandle>,
        link: Option<&RapierContextEntityLink>,
    ) -> Pose {
        let body = body.zip(link).and_then(|(body, link)| {
            let bodies = &self.contexts.get(link.0).ok()?.bodies;
            bodies.get(body.0)
        });
        body.map_or_else(
            || {
                let (_, rotation, position) = transform.to_scale_rotation_translation();
                Pose::new(position, rotation)
            },
            body_pose,
        )
    }
}
