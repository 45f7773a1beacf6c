//! Rays, points, balls and moving shapes against molecules, down to the atom.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_rapier3d::parry::math::Pose3;
use bevy_rapier3d::parry::query::Ray;
use bevy_rapier3d::parry::shape::Shape;
use bevy_rapier3d::prelude::{RapierContextEntityLink, RapierRigidBodyHandle, RapierRigidBodySet};

use super::components::Molecule;
use super::prepared_molecule::PreparedMolecule;
use super::query_results::{MoleculeAtom, MoleculeHit, MoleculeQueryFilter, NearestAtom};
use crate::compartment::direction as unit;
use crate::molecule::{AtomLabel, MoleculeTemplate};
use crate::pose::Pose;
use crate::rapier::MoleculeShape;

/// By how much bounding spheres are too large, as a fraction of the lengths at hand:
/// rounding must not hide a molecule.
const SLACK: f32 = 4.0e-6;

/// Asks which atom is where.
///
/// Finds all molecules whose file is loaded, with a Rapier collider or
/// [`CrowdOnly`](super::CrowdOnly), static or asleep, in every Rapier context. Each is
/// where its body is, which is where the last physics step left it; a molecule that
/// has no body yet is at its [`GlobalTransform`]. Nothing has to be up to date but
/// that: every query passes all molecules, and looks at the atoms of those whose
/// bounding sphere is in the way.
///
/// Lengths are nm, in the world frame. Numbers that are not finite find nothing. Where
/// two molecules are equally near, that whose entity sorts first is the answer.
///
/// ```
/// # use bevy::ecs::system::RunSystemOnce;
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
/// # let lipid = app.world_mut().spawn((Molecule(lipid), GravityScale(0.0))).id();
/// # for _ in 0..2 {
/// #     app.update();
/// # }
/// fn look(molecules: MoleculeQueries) -> Option<(NearestAtom, MoleculeHit, String)> {
///     let all = MoleculeQueryFilter::default();
///     let eye = Vec3::new(0.0, 20.0, 0.0);
///     // The atom that is nearest to the eye, and what a ray towards it hits.
///     let near = molecules.nearest_atom(eye, f32::MAX, &all)?;
///     let (center, _radius) = molecules.atom(near)?;
///     let hit = molecules.cast_ray(eye, center - eye, f32::MAX, &all)?;
///     let label = molecules.describe(hit)?;
///     Some((near, hit, label.to_string()))
/// }
/// let seen = app.world_mut().run_system_once(look).ok().flatten();
/// let (near, hit, label) = seen.ok_or("there is nothing")?;
/// assert_eq!((hit.molecule, hit.atom), (lipid, near.atom));
/// assert!((hit.distance - near.distance).abs() < 1.0e-4);
/// assert!(label.starts_with("POP 1 A"), "{label}");
/// # Ok(())
/// # }
/// ```
///
/// For the atom under the cursor there is `MoleculePicker`, with the feature `draw`.
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

/// A molecule that a query looks at.
struct Candidate<'a> {
    entity: Entity,
    shape: &'a MoleculeShape,
    pose: Pose,
}

impl Candidate<'_> {
    /// Radius of the sphere about its position that holds all atoms, nm.
    fn radius(&self) -> f32 {
        self.shape.template().bounding_radius()
    }

    /// Center in the body frame and radius of an atom, nm.
    fn atom(&self, index: usize) -> Option<(Vec3, f32)> {
        let template = self.shape.template();
        let center = template.positions().get(index)?;
        Some((*center, *template.radii().get(index)?))
    }

    /// A hit from what is known in the body frame.
    fn hit(&self, atom: usize, distance: f32, point: Vec3, normal: Vec3) -> MoleculeHit {
        MoleculeHit {
            molecule: self.entity,
            atom,
            distance,
            point: self.pose.transform_point(point),
            normal: self.pose.rotation * normal,
        }
    }

    /// The atom that a ray hits within `most` nm, and the way to it. The ray begins at
    /// `origin` in the body frame and has a unit direction.
    fn hit_by_ray(&self, origin: Vec3, direction: Vec3, most: f32) -> Option<(usize, f32)> {
        if let Some((atom, _)) = self.shape.nearest_atom_within(origin, 0.0_f32.next_up()) {
            return Some((atom as usize, 0.0));
        }
        let ray = Ray::new(origin, direction);
        let hit = self
            .shape
            .atom_hit_by_ray(&ray, most.max(0.0).next_up(), true)?;
        let (center, radius) = self.atom(hit.atom as usize)?;
        // Once more with the way to the atom's nearest point: the difference of two
        // squares that parry takes loses digits in large molecules.
        let arm = center - origin;
        let along = arm.dot(direction);
        let aside = (arm - direction * along).length_squared();
        let time = along - (radius * radius - aside).max(0.0).sqrt();
        Some((hit.atom as usize, time.max(0.0)))
    }
}

/// The straight way of a query: from `origin` along a unit vector, at most `length`.
#[derive(Clone, Copy)]
struct Way {
    origin: Vec3,
    direction: Vec3,
    length: f32,
}

impl Way {
    /// A place on the way, nm from the origin, before which nothing within `reach` of
    /// `center` is met; none if nothing is met before `most` nm.
    fn entry(&self, center: Vec3, reach: f32, most: f32) -> Option<f32> {
        let arm = center - self.origin;
        let along = arm.dot(self.direction);
        let aside = (arm - self.direction * along).length();
        let reach = reach + SLACK * (reach + arm.length());
        let meets = aside <= reach && along + reach >= 0.0 && along - reach <= most;
        meets.then(|| (along - reach).max(0.0))
    }
}

impl MoleculeQueries<'_, '_> {
    /// The first atom that a ray meets within `max_distance` nm.
    ///
    /// The direction need not have unit length; distances are nm whatever its length.
    /// A ray that begins inside of an atom hits at distance 0 the atom that it begins
    /// deepest in. None if the direction is zero.
    #[must_use]
    pub fn cast_ray(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        filter: &MoleculeQueryFilter,
    ) -> Option<MoleculeHit> {
        let direction = unit(direction)?;
        let way = Way {
            origin,
            direction,
            length: max_distance,
        };
        self.first_on_way(&way, 0.0, filter, |candidate, skip, most| {
            // Begins near the molecule, where 32 bits tell more.
            let start = origin + direction * skip;
            let local = candidate.pose.inverse_transform_point(start);
            let turned = candidate.pose.rotation.inverse() * direction;
            let (atom, time) = candidate.hit_by_ray(local, turned, most - skip)?;
            let (center, _) = candidate.atom(atom)?;
            let point = local + turned * time;
            let normal = (point - center).normalize_or(-turned);
            Some(candidate.hit(atom, skip + time, point, normal))
        })
    }

    /// The first atom that a shape meets on its way from `pose` to `pose` + `motion`
    /// (nm), without turning. `distance` of the hit is the way that the shape has gone,
    /// nm.
    ///
    /// Takes any shape of parry: that of a collider is `&*collider.raw.0`. A shape that
    /// overlaps molecules at the start, or does not move, hits at distance 0 one of the
    /// atoms that it overlaps.
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
        let way = Way {
            origin: pose.transform_point(bounds.center),
            direction,
            length: motion.dot(direction),
        };
        self.first_on_way(&way, bounds.radius, filter, |candidate, skip, most| {
            let inverse = candidate.pose.rotation.inverse();
            let start = candidate
                .pose
                .inverse_transform_point(pose.position + direction * skip);
            let seen = Pose3::from_parts(start, (inverse * pose.rotation).normalize());
            let hit = candidate.shape.atom_hit_by_shape(
                shape,
                &seen,
                inverse * direction,
                (most - skip).max(0.0),
            )?;
            let (center, radius) = candidate.atom(hit.atom as usize)?;
            let point = center + hit.normal * radius;
            let distance = skip + hit.time;
            Some(candidate.hit(hit.atom as usize, distance, point, hit.normal))
        })
    }

    /// The atom whose surface is nearest to `point`, no further than `max_distance` nm.
    ///
    /// A point inside of atoms belongs to the one it is deepest in.
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
            let most = best.map_or(max_distance, |best| best.distance);
            let (center, radius) = (candidate.pose.position, candidate.radius());
            let way = center.distance(point);
            if way - radius > most + SLACK * (way + radius) {
                continue;
            }
            let local = candidate.pose.inverse_transform_point(point);
            let limit = most.next_up().min(f32::MAX);
            let Some((atom, distance)) = candidate.shape.nearest_atom_within(local, limit) else {
                continue;
            };
            if best
                .is_some_and(|best| (best.distance, best.molecule) < (distance, candidate.entity))
            {
                continue;
            }
            let Some((center, radius)) = candidate.atom(atom as usize) else {
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

    /// All atoms that touch or overlap a ball around `center` with `radius` (nm), sorted
    /// by molecule and index. With radius 0, the atoms that hold a point.
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
            let (way, reach) = (candidate.pose.position.distance(center), candidate.radius());
            let slack = SLACK * (way + reach);
            if way > radius + reach + slack {
                continue;
            }
            // No larger than what holds the whole molecule.
            let radius = radius.min(way + reach + slack);
            let local = candidate.pose.inverse_transform_point(center);
            let atoms = candidate.shape.atoms_touching_ball(local, radius);
            let atom = |atom: u32| MoleculeAtom::from((candidate.entity, atom as usize));
            found.extend(atoms.into_iter().map(atom));
        }
        found.sort_unstable();
        found
    }

    /// Where a molecule is: its center of mass (nm) and rotation. None if it is gone or
    /// not loaded.
    #[must_use]
    pub fn pose(&self, molecule: Entity) -> Option<Pose> {
        let (_, _, transform, body, link) = self.molecules.get(molecule).ok()?;
        Some(self.pose_of(transform, body, link))
    }

    /// The template of a molecule. None if it is gone or not loaded.
    #[must_use]
    pub fn template(&self, molecule: Entity) -> Option<&MoleculeTemplate> {
        let (_, prepared, ..) = self.molecules.get(molecule).ok()?;
        Some(prepared.shared().template())
    }

    /// Center in the world and radius of an atom, nm. None if there is no such atom.
    #[must_use]
    pub fn atom(&self, atom: impl Into<MoleculeAtom>) -> Option<(Vec3, f32)> {
        let MoleculeAtom { molecule, atom } = atom.into();
        let template = self.template(molecule)?;
        let center = *template.positions().get(atom)?;
        let radius = *template.radii().get(atom)?;
        Some((self.pose(molecule)?.transform_point(center), radius))
    }

    /// What an atom is called: `HIS 68 A ND1`. None if there is no such atom.
    #[must_use]
    pub fn describe(&self, atom: impl Into<MoleculeAtom>) -> Option<AtomLabel> {
        let MoleculeAtom { molecule, atom } = atom.into();
        AtomLabel::new(self.template(molecule)?, atom)
    }

    /// The first of what `meet` finds in the molecules along a way, given the candidate,
    /// a place on the way where to begin and one where to end, nm. `reach` is how far
    /// what moves extends from the way.
    fn first_on_way(
        &self,
        way: &Way,
        reach: f32,
        filter: &MoleculeQueryFilter,
        meet: impl Fn(&Candidate, f32, f32) -> Option<MoleculeHit>,
    ) -> Option<MoleculeHit> {
        if !(way.origin.is_finite() && way.length >= 0.0) {
            return None;
        }
        let length = way.length.min(f32::MAX);
        let mut best: Option<MoleculeHit> = None;
        for candidate in self.candidates(filter) {
            let most = best.map_or(length, |best| best.distance);
            let radius = candidate.radius() + reach;
            let found = way
                .entry(candidate.pose.position, radius, most)
                .and_then(|skip| meet(&candidate, skip, most))
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

    /// The molecules that a filter lets through, at poses that are finite.
    fn candidates<'a>(
        &'a self,
        filter: &'a MoleculeQueryFilter,
    ) -> impl Iterator<Item = Candidate<'a>> {
        self.molecules
            .iter()
            .filter(|(entity, .., link)| filter.takes(*entity, link.map(|link| link.0)))
            .map(|(entity, prepared, transform, body, link)| Candidate {
                entity,
                shape: prepared.shared().shape(),
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
        let position = body.zip(link).and_then(|(body, link)| {
            let bodies = &self.contexts.get(link.0).ok()?.bodies;
            Some(bodies.get(body.0)?.position())
        });
        match position {
            Some(position) => Pose::new(position.translation, position.rotation),
            None => {
                let (_, rotation, position) = transform.to_scale_rotation_translation();
                Pose::new(position, rotation)
            }
        }
    }
}
