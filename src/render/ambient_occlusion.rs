//! How much of the sky the atoms of a molecule hide from each other.
//!
//! Light comes from everywhere; a neighbor in direction `e` that covers the part `w` of
//! the sky takes away `w · max(n·e, 0)` of it where the surface has the normal `n`. To
//! first order `max(x, 0) ≈ 1/4 + x/2`, so that all neighbors together take away
//! `Σ w/4 + n · Σ w e/2`: one number and one vector for each atom, whatever its number of
//! neighbors.

use std::ops::ControlFlow;

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use crate::molecule::{LocalGrid, MoleculeTemplate};

/// How far from an atom's surface neighbors are looked for, nm: about an atom's width,
/// beyond which those in between hide the rest.
const REACH: f32 = 0.35;

/// How much more than by the formula is taken away: neighbors of neighbors, which are
/// not looked at, hide as much again.
const GAIN: f32 = 2.0;

/// For each atom the vector (x, y, z) and the number (w) of the formula, body frame.
pub(super) fn occlusion(template: &MoleculeTemplate) -> Vec<Vec4> {
    let grid = LocalGrid::new(template.positions(), template.radii());
    let atoms = template.positions().par_iter().zip(template.radii());
    atoms
        .map(|(&center, &radius)| {
            let mut sum = Vec4::ZERO;
            let _ = grid.visit_touching(center, radius + REACH, |other| {
                sum += hidden(center, radius, other.center, other.radius);
                ControlFlow::<()>::Continue(())
            });
            sum * GAIN
        })
        .collect()
}

/// What one neighbor hides.
fn hidden(center: Vec3, radius: f32, other: Vec3, other_radius: f32) -> Vec4 {
    let way = other - center;
    let distance = way.length();
    // Itself, and whatever lies in the same place, has no direction.
    if distance <= f32::EPSILON {
        return Vec4::ZERO;
    }
    // Seen from the surface that faces it; from inside of it half the sky is hidden.
    let away = (distance - 0.5 * radius).max(other_radius);
    let sine = other_radius / away;
    let part = 1.0 - (1.0 - sine * sine).max(0.0).sqrt();
    let part = 0.5 * part;
    (0.5 * part * way / distance).extend(0.25 * part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::{Atom, Element, LoadOptions, Residue, load};

    fn template(places: &[Vec3]) -> MoleculeTemplate {
        let atoms = places.iter().map(|&position| Atom {
            position,
            radius: 0.12,
            element: Element::C,
            name: "C".into(),
            residue: 0,
        });
        MoleculeTemplate::new("test", atoms.collect(), vec![Residue::default()]).unwrap()
    }

    /// What is taken away at the normal `n`.
    fn taken(occlusion: Vec4, n: Vec3) -> f32 {
        occlusion.w + occlusion.truncate().dot(n)
    }

    #[test]
    fn a_lone_atom_is_in_the_light() {
        assert_eq!(occlusion(&template(&[Vec3::ZERO])), [Vec4::ZERO]);
        let apart = template(&[Vec3::ZERO, Vec3::X * 5.0]);
        assert_eq!(occlusion(&apart), [Vec4::ZERO; 2]);
    }

    #[test]
    fn a_neighbor_darkens_the_side_that_faces_it() {
        let pair = occlusion(&template(&[Vec3::ZERO, Vec3::X * 0.15]));
        assert!(taken(pair[0], Vec3::X) > 0.1);
        assert!(taken(pair[0], -Vec3::X) < 0.0);
        assert!((taken(pair[0], Vec3::X) - taken(pair[1], -Vec3::X)).abs() < 1.0e-6);
    }

    #[test]
    fn the_middle_of_a_protein_is_dark_and_its_surface_is_not() {
        let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default()).unwrap();
        let found = occlusion(&protein);
        let mut inner = (0.0, 0);
        let mut outer = (0.0, 0);
        for (place, occlusion) in protein.positions().iter().zip(&found) {
            assert!(occlusion.is_finite());
            let outward = taken(*occlusion, place.normalize_or_zero());
            if place.length() < 0.6 {
                inner = (inner.0 + outward, inner.1 + 1);
            } else if place.length() > 0.9 * protein.bounding_radius() {
                outer = (outer.0 + outward, outer.1 + 1);
            }
        }
        let (inner, outer) = (inner.0 / inner.1 as f32, outer.0 / outer.1 as f32);
        assert!(inner > 0.9 && outer < 0.4, "{inner} {outer}");
    }

    #[test]
    fn coincident_atoms_are_harmless() {
        let heap = occlusion(&template(&[Vec3::ONE; 3]));
        assert!(heap.iter().all(|atom| atom.is_finite()));
    }
}
