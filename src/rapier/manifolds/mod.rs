//! Contact manifolds of a molecule, built from its atom contacts.
//!
//! 1. Collect all atom contacts closer than the prediction distance
//!    ([`molecule_vs_molecule`], [`molecule_vs_shape`]).
//! 2. Assign each to one of 26 directions: the faces, edges and corners of a cube. The
//!    directions are fixed, so a contact rarely changes its manifold.
//! 3. Build one manifold per direction. Its normal is the mean of its contact normals,
//!    weighted by depth; all are within about 30° of the direction.
//! 4. Keep at most four points ([`reduction`]), the maximum that Rapier solves.
//!
//! The distance of a point is the distance between the surfaces, never a projection, so no
//! penetration is invented. The features of a point are atom indices, which identify its
//! impulse of the previous step.

pub(super) mod molecule_vs_molecule;
pub(super) mod molecule_vs_shape;
mod reduction;
mod write;

pub(super) use write::{ManifoldWriter, clear};

use std::cmp::Ordering;

use glam::Vec3;

/// A contact between an atom of a molecule and an atom or part of another shape.
///
/// All vectors are in the body frame of the molecule, nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AtomContact {
    /// Index of the atom in its template.
    pub atom: u32,
    /// Index of the atom of the other molecule, or id of the part of the other shape.
    pub other: u32,
    /// Point on the surface of the atom.
    pub on_atom: Vec3,
    /// Point on the surface of the other shape.
    pub on_other: Vec3,
    /// Unit vector from the atom towards the other shape.
    pub normal: Vec3,
    /// `(on_other − on_atom)·normal`: negative if they overlap.
    pub dist: f32,
    /// Direction of the normal, one of 26; set when manifolds are written.
    pub direction: u8,
}

impl AtomContact {
    /// Orders contacts by depth, deepest first, then by indices.
    pub fn cmp_depth(&self, other: &Self) -> Ordering {
        self.dist
            .total_cmp(&other.dist)
            .then_with(|| (self.atom, self.other).cmp(&(other.atom, other.other)))
    }
}

/// Ratio to the largest component above which a component is significant: tan 22.5°.
const SIGNIFICANT_RATIO: f32 = 0.414_213_57;

/// The direction of a unit vector, one of 26, as a number from 0 to 26. Only the zero vector
/// has number 13.
fn direction(normal: Vec3) -> u8 {
    let threshold = SIGNIFICANT_RATIO * normal.abs().max_element();
    let trit = |component: f32| match component {
        c if c > threshold => 2,
        c if c < -threshold => 0,
        _ => 1,
    };
    9 * trit(normal.x) + 3 * trit(normal.y) + trit(normal.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_one_direction_are_within_61_degrees() {
        let mut members: Vec<Vec<Vec3>> = vec![Vec::new(); 27];
        for k in 0..4000 {
            let y = 1.0 - 2.0 * (k as f32 + 0.5) / 4000.0;
            let angle = k as f32 * 2.399_963;
            let radius = (1.0 - y * y).sqrt();
            let normal = Vec3::new(radius * angle.cos(), y, radius * angle.sin());
            members[direction(normal) as usize].push(normal);
        }
        assert!(members[13].is_empty());
        for group in members {
            for a in &group {
                assert!(
                    group
                        .iter()
                        .all(|b| a.dot(*b) > 61.0_f32.to_radians().cos())
                );
            }
        }
    }

    #[test]
    fn nearly_parallel_vectors_along_an_axis_share_a_direction() {
        let up = direction(Vec3::Y);
        for tilt in [Vec3::X, Vec3::Z, Vec3::NEG_X] {
            assert_eq!(direction((Vec3::Y + 0.1 * tilt).normalize()), up);
        }
        assert_eq!(direction(Vec3::ZERO), 13);
    }
}
