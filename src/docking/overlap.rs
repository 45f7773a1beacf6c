//! Which atoms of two molecules overlap.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::DockingMolecule;
use crate::pose::Pose;

/// An atom of each of two molecules.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtomPair {
    /// Atom of the first molecule, counted from zero.
    pub a: u32,
    /// Atom of the second molecule, counted from zero.
    pub b: u32,
    /// Distance of their surfaces, nm; negative where they overlap.
    pub gap: f32,
}

/// All pairs of atoms of `a` and `b` that overlap or touch, sorted.
///
/// Costs a look into the cells of the larger molecule for each atom of the smaller one.
#[must_use]
pub fn overlapping_atoms(
    a: &DockingMolecule,
    pose_a: &Pose,
    b: &DockingMolecule,
    pose_b: &Pose,
) -> Vec<AtomPair> {
    closer_than(a, pose_a, b, pose_b, 0.0)
}

/// Whether no two atoms of `a` and `b` overlap or touch.
#[must_use]
pub fn is_free(a: &DockingMolecule, pose_a: &Pose, b: &DockingMolecule, pose_b: &Pose) -> bool {
    visit(a, pose_a, b, pose_b, 0.0, |_| ControlFlow::Break(())).is_continue()
}

/// All pairs of atoms whose surfaces are no further apart than `margin`, nm, sorted.
pub(super) fn closer_than(
    a: &DockingMolecule,
    pose_a: &Pose,
    b: &DockingMolecule,
    pose_b: &Pose,
    margin: f32,
) -> Vec<AtomPair> {
    let mut pairs = Vec::new();
    let _ = visit(a, pose_a, b, pose_b, margin, |pair| {
        pairs.push(pair);
        ControlFlow::<()>::Continue(())
    });
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    pairs
}

/// Visits all pairs of atoms whose surfaces are no further apart than `margin`, nm, until
/// `visit` breaks.
fn visit<B>(
    a: &DockingMolecule,
    pose_a: &Pose,
    b: &DockingMolecule,
    pose_b: &Pose,
    margin: f32,
    mut visit: impl FnMut(AtomPair) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let swapped = a.atom_count() > b.atom_count();
    let (small, large) = if swapped { (b, a) } else { (a, b) };
    let (pose_small, pose_large) = if swapped {
        (pose_b, pose_a)
    } else {
        (pose_a, pose_b)
    };
    // The smaller molecule as the larger one sees it.
    let rotation = pose_large.rotation.inverse();
    let seen = Pose::new(
        rotation * (pose_small.position - pose_large.position),
        (rotation * pose_small.rotation).normalize(),
    );
    let atoms = small.template().positions().iter();
    for ((&position, &radius), index) in atoms.zip(small.template().radii()).zip(0..) {
        let center = seen.transform_point(position);
        if large.clearance().at(center) > radius + margin {
            continue;
        }
        large
            .grid()
            .visit_touching(center, radius + margin, |other| {
                let gap = center.distance(other.center) - radius - other.radius;
                let (a, b) = if swapped {
                    (other.index, index)
                } else {
                    (index, other.index)
                };
                visit(AtomPair { a, b, gap })
            })?;
    }
    ControlFlow::Continue(())
}
