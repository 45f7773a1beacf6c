//! Ambient occlusion between the atoms of a molecule.
//!
//! With uniform ambient light, a neighbor in direction `e` that covers the fraction `w` of the
//! sky blocks `w · max(n·e, 0)` of the light at a surface point with normal `n`. To first order
//! `max(x, 0) ≈ 1/4 + x/2`, so that all neighbors together block `Σ w/4 + n · Σ w e/2`: one
//! scalar and one vector per atom, for any number of neighbors.

use std::ops::ControlFlow;

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use crate::molecule::{LocalGrid, MoleculeTemplate};

/// Maximum distance of a neighbor from an atom's surface, nm: about the width of an atom. Closer
/// atoms hide the rest.
const REACH: f32 = 0.35;

/// Factor that accounts for neighbors of neighbors, which are not considered.
const GAIN: f32 = 2.0;

/// For each atom, the vector (x, y, z) and the scalar (w) of the formula, in the body frame.
pub(super) fn ambient_occlusion(template: &MoleculeTemplate) -> Vec<Vec4> {
    let grid = LocalGrid::new(template.positions(), template.radii());
    let atoms = template.positions().par_iter().zip(template.radii());
    atoms
        .map(|(&center, &radius)| {
            let mut sum = Vec4::ZERO;
            let _ = grid.visit_touching(center, radius + REACH, |other| {
                sum += occlusion_by(center, radius, other.center, other.radius);
                ControlFlow::<()>::Continue(())
            });
            sum * GAIN
        })
        .collect()
}

/// Occlusion of an atom by one neighbor.
fn occlusion_by(center: Vec3, radius: f32, other: Vec3, other_radius: f32) -> Vec4 {
    let difference = other - center;
    let distance = difference.length();
    // The atom itself and coincident atoms have no direction.
    if distance <= f32::EPSILON {
        return Vec4::ZERO;
    }
    // Seen from the surface that faces the neighbor; inside it, half the sky is hidden.
    let away = (distance - 0.5 * radius).max(other_radius);
    let sine = other_radius / away;
    let part = 1.0 - (1.0 - sine * sine).max(0.0).sqrt();
    let part = 0.5 * part;
    (0.5 * part * difference / distance).extend(0.25 * part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::{Atom, Element, LoadOptions, Residue, load};

    fn template(positions: &[Vec3]) -> MoleculeTemplate {
        let atoms = positions.iter().map(|&position| Atom {
            position,
            radius: 0.12,
            element: Element::C,
            name: "C".into(),
            residue: 0,
        });
        MoleculeTemplate::new("test", atoms.collect(), vec![Residue::default()]).unwrap()
    }

    /// Fraction of the light that is blocked at the normal `n`.
    fn blocked(occlusion: Vec4, n: Vec3) -> f32 {
        occlusion.w + occlusion.truncate().dot(n)
    }

    #[test]
    fn single_atoms_are_not_occluded() {
        assert_eq!(ambient_occlusion(&template(&[Vec3::ZERO])), [Vec4::ZERO]);
        let distant = template(&[Vec3::ZERO, Vec3::X * 5.0]);
        assert_eq!(ambient_occlusion(&distant), [Vec4::ZERO; 2]);
    }

    #[test]
    fn a_neighbor_darkens_the_side_that_faces_it() {
        let pair = ambient_occlusion(&template(&[Vec3::ZERO, Vec3::X * 0.15]));
        assert!(blocked(pair[0], Vec3::X) > 0.1);
        assert!(blocked(pair[0], -Vec3::X) < 0.0);
        assert!((blocked(pair[0], Vec3::X) - blocked(pair[1], -Vec3::X)).abs() < 1.0e-6);
    }

    #[test]
    fn the_core_of_a_protein_is_dark_and_its_surface_is_not() {
        let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default()).unwrap();
        let occlusion = ambient_occlusion(&protein);
        let mut inner = (0.0, 0);
        let mut outer = (0.0, 0);
        for (position, occlusion) in protein.positions().iter().zip(&occlusion) {
            assert!(occlusion.is_finite());
            let outward = blocked(*occlusion, position.normalize_or_zero());
            if position.length() < 0.6 {
                inner = (inner.0 + outward, inner.1 + 1);
            } else if position.length() > 0.9 * protein.bounding_radius() {
                outer = (outer.0 + outward, outer.1 + 1);
            }
        }
        let (inner, outer) = (inner.0 / inner.1 as f32, outer.0 / outer.1 as f32);
        assert!(inner > 0.9 && outer < 0.4, "{inner} {outer}");
    }

    #[test]
    fn coincident_atoms_give_finite_occlusion() {
        let heap = ambient_occlusion(&template(&[Vec3::ONE; 3]));
        assert!(heap.iter().all(|atom| atom.is_finite()));
    }
}
