//! Many atom contacts as few manifolds.
//!
//! 1. All atom contacts nearer than the prediction distance are collected
//!    ([`molecule_vs_molecule`], [`molecule_vs_shape`]).
//! 2. Each belongs to one of 26 directions: those of the faces, edges and corners of
//!    a cube. Directions are fixed, so that a contact seldom changes its manifold.
//! 3. A direction with contacts is a manifold. Its normal is the mean of theirs,
//!    deeper ones weighing more; none is further than about 30° from the middle.
//! 4. At most four points are kept ([`reduction`]), since Rapier solves no more.
//!
//! The distance of a point is that of the two surfaces, never a projection of it, so
//! that no penetration is invented. Points are named by atom indices, by which they
//! find the impulses of the step before.

mod atom_contact;
pub(super) mod molecule_vs_molecule;
pub(super) mod molecule_vs_shape;
mod reduction;
mod write;

pub(super) use atom_contact::AtomContact;
pub(super) use write::{Written, clear, write};

use glam::Vec3;

/// Ratio to the largest component above which a component counts: tan 22.5°.
const COUNTS: f32 = 0.414_213_57;

/// The direction, of 26, that a unit vector belongs to, as a number from 0 to 26.
///
/// Thirteen would be no direction at all, which only a zero vector has.
fn direction(normal: Vec3) -> u8 {
    let least = COUNTS * normal.abs().max_element();
    let trit = |component: f32| match component {
        c if c > least => 2,
        c if c < -least => 0,
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
