//! Overlapping pairs of atoms of two molecules.

use std::ops::ControlFlow;

use super::DockingMolecule;
use crate::pose::Pose;

/// A pair of atoms of two molecules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtomPair {
    /// Atom of the first molecule.
    pub a: u32,
    /// Atom of the second molecule.
    pub b: u32,
    /// Distance of their surfaces, nm; negative if they overlap.
    pub gap: f32,
}

/// All pairs of atoms of `a` and `b` that overlap or touch, sorted.
///
/// Queries the cell grid of the larger molecule for each atom of the smaller one.
#[must_use]
pub fn overlapping_atoms(
    a: &DockingMolecule,
    pose_a: &Pose,
    b: &DockingMolecule,
    pose_b: &Pose,
) -> Vec<AtomPair> {
    atoms_within(0.0, a, pose_a, b, pose_b)
}

/// Whether no atoms of `a` and `b` overlap or touch.
#[must_use]
pub fn is_free(a: &DockingMolecule, pose_a: &Pose, b: &DockingMolecule, pose_b: &Pose) -> bool {
    visit_within(0.0, a, pose_a, b, pose_b, |_| ControlFlow::Break(())).is_continue()
}

/// All pairs of atoms whose surfaces are at most `margin` nm apart, sorted.
pub(super) fn atoms_within(
    margin: f32,
    a: &DockingMolecule,
    pose_a: &Pose,
    b: &DockingMolecule,
    pose_b: &Pose,
) -> Vec<AtomPair> {
    let mut pairs = Vec::new();
    let _ = visit_within(margin, a, pose_a, b, pose_b, |pair| {
        pairs.push(pair);
        ControlFlow::<()>::Continue(())
    });
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    pairs
}

fn visit_within<B>(
    margin: f32,
    a: &DockingMolecule,
    pose_a: &Pose,
    b: &DockingMolecule,
    pose_b: &Pose,
    mut visit: impl FnMut(AtomPair) -> ControlFlow<B>,
) -> ControlFlow<B> {
    // The atoms of the smaller molecule query the grid of the larger one.
    let is_swapped = a.atom_count() > b.atom_count();
    let ((small, small_pose), (large, large_pose)) = if is_swapped {
        ((b, pose_b), (a, pose_a))
    } else {
        ((a, pose_a), (b, pose_b))
    };
    let rotation = large_pose.rotation.inverse();
    let relative = Pose::new(
        rotation * (small_pose.position - large_pose.position),
        (rotation * small_pose.rotation).normalize(),
    );
    let atoms = small.template().positions().iter();
    for ((&position, &radius), index) in atoms.zip(small.template().radii()).zip(0..) {
        let center = relative.transform_point(position);
        if large.distance_field().at(center) > radius + margin {
            continue;
        }
        large
            .grid()
            .visit_touching(center, radius + margin, |other| {
                let gap = center.distance(other.center) - radius - other.radius;
                let (a, b) = if is_swapped {
                    (other.index, index)
                } else {
                    (index, other.index)
                };
                visit(AtomPair { a, b, gap })
            })?;
    }
    ControlFlow::Continue(())
}
