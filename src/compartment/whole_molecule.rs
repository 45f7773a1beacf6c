//! [`WholeMolecule`]: how far the atoms of a molecule reach over a surface.
//!
//! The distance to a surface such as a mesh is expensive, and molecules have thousands of atoms. A
//! signed distance changes by at most the length of the step (it is 1-Lipschitz), so that a query
//! at one point bounds the distances of all others:
//!
//! 1. Query the center of mass. With the bounding radius it settles most molecules.
//! 2. Query the atom that is furthest in the direction of the normal there, which often is the one
//!    that reaches furthest over the surface.
//! 3. Walk over the atoms in order. Skip those that cannot reach further than the furthest so far,
//!    by their distances from the last few points; query the others.
//!
//! The result is that of queries at all atoms, bit by bit: bounds have a margin for rounding.

use glam::Vec3;

use super::Surface;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Bound on the rounding of a distance, relative to the coordinates.
const ROUNDING: f32 = 64.0 * f32::EPSILON;

/// Queried points that are remembered, besides the center of mass: atoms that are close in the file
/// are mostly close in space.
const REMEMBERED: usize = 8;

/// A molecule that has to stay on one side of a surface with all of its atoms.
pub(super) struct WholeMolecule<'a> {
    pub surface: &'a dyn Surface,
    pub molecule: &'a MoleculeTemplate,
    pub pose: &'a Pose,
    /// 1 if the molecule belongs inside, −1 if it belongs outside.
    pub forbidden: f32,
    /// Minimum gap between the atoms and the surface, nm.
    pub clearance: f32,
}

/// The atom that reaches furthest over the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct FurthestAtom {
    /// How far it reaches to the forbidden side beyond its clearance, nm. Zero if no atom does.
    pub excess: f32,
    /// Its center in the world, nm. The center of mass if no atom exceeds its clearance.
    pub center: Vec3,
    /// Outward unit normal of the surface there.
    pub normal: Vec3,
}

/// A queried point.
#[derive(Clone, Copy)]
struct Queried {
    /// In the body frame, nm.
    point: Vec3,
    /// How far an atom without radius would exceed its clearance there, nm; negative if it does
    /// not.
    excess: f32,
}

impl Queried {
    /// Whether no atom without radius at `point` exceeds its clearance by more than `limit`.
    fn excludes(&self, point: Vec3, limit: f32) -> bool {
        let reach = limit - self.excess;
        reach > 0.0 && point.distance_squared(self.point) < reach * reach
    }
}

impl WholeMolecule<'_> {
    pub fn furthest_atom(&self) -> FurthestAtom {
        let (molecule, pose) = (self.molecule, self.pose);
        let at_center = self.surface.distance_and_normal(pose.position);
        let center = Queried {
            point: Vec3::ZERO,
            excess: self.forbidden * at_center.distance + self.clearance,
        };
        let mut furthest = FurthestAtom {
            excess: 0.0,
            center: pose.position,
            normal: at_center.normal,
        };
        let coordinates = pose.position.length() + self.surface.center().length();
        let extent = molecule.bounding_radius() + at_center.distance.abs();
        let margin = ROUNDING * (coordinates + extent);
        if center.excess + molecule.bounding_radius() + margin <= 0.0 {
            return furthest;
        }
        let mut remembered = [center; REMEMBERED];
        let mut next = 0;
        let mut query = |furthest: &mut FurthestAtom, atom: usize| {
            let (point, radius) = (molecule.positions()[atom], molecule.radii()[atom]);
            let limit = furthest.excess - radius - margin;
            let mut known = remembered.iter();
            if center.excludes(point, limit) || known.any(|one| one.excludes(point, limit)) {
                return;
            }
            let at = pose.transform_point(point);
            let surface = self.surface.distance_and_normal(at);
            let distance = self.forbidden * surface.distance;
            remembered[next] = Queried {
                point,
                excess: distance + self.clearance,
            };
            next = (next + 1) % REMEMBERED;
            let excess = distance + radius + self.clearance;
            if excess > furthest.excess {
                *furthest = FurthestAtom {
                    excess,
                    center: at,
                    normal: surface.normal,
                };
            }
        };
        let first = self.most_extreme_atom(at_center.normal);
        query(&mut furthest, first);
        for atom in (0..molecule.atom_count()).filter(|atom| *atom != first) {
            query(&mut furthest, atom);
        }
        furthest
    }

    /// The atom that reaches furthest to the forbidden side of a plane with this normal.
    fn most_extreme_atom(&self, normal: Vec3) -> usize {
        let out = self.pose.rotation.inverse() * (normal * self.forbidden);
        let atoms = self.molecule.positions().iter().zip(self.molecule.radii());
        let heights = atoms.map(|(position, radius)| position.dot(out) + radius);
        let furthest = heights.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        furthest.map_or(0, |(atom, _)| atom)
    }
}
