//! Overlapping pairs of atoms of two molecules.

use std::ops::ControlFlow;

use super::{DockingMolecule, DockingPair};
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
    DockingPair::new(a, *pose_a, b, *pose_b).atoms_within(0.0)
}

/// Whether no atoms of `a` and `b` overlap or touch.
#[must_use]
pub fn is_free(a: &DockingMolecule, pose_a: &Pose, b: &DockingMolecule, pose_b: &Pose) -> bool {
    DockingPair::new(a, *pose_a, b, *pose_b).is_free()
}

impl DockingPair<'_> {
    pub(super) fn is_free(&self) -> bool {
        let visited = self.visit_within(0.0, |_| ControlFlow::Break(()));
        visited.is_continue()
    }

    /// All pairs of atoms whose surfaces are at most `margin` nm apart, sorted.
    pub(super) fn atoms_within(&self, margin: f32) -> Vec<AtomPair> {
        let mut pairs = Vec::new();
        let _ = self.visit_within(margin, |pair| {
            pairs.push(pair);
            ControlFlow::<()>::Continue(())
        });
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        pairs
    }

    fn visit_within<B>(
        &self,
        margin: f32,
        mut visit: impl FnMut(AtomPair) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        // The atoms of the smaller molecule query the grid of the larger one.
        let is_swapped = self.moving.atom_count() > self.other.atom_count();
        let [mut small, mut large] = [(self.moving, self.pose), (self.other, self.other_pose)];
        if is_swapped {
            (small, large) = (large, small);
        }
        let rotation = large.1.rotation.inverse();
        let relative = Pose::new(
            rotation * (small.1.position - large.1.position),
            (rotation * small.1.rotation).normalize(),
        );
        let (small, large) = (small.0.template(), large.0);
        let field = large.distance_field();
        let atoms = small.positions().iter().zip(small.radii());
        for ((&position, &radius), index) in atoms.zip(0..) {
            let center = relative.transform_point(position);
            let reach = radius + margin;
            if field.at(center) > reach {
                continue;
            }
            large.grid.visit_touching(center, reach, |other| {
                let gap = center.distance(other.center) - radius - other.radius;
                let pair = (index, other.index);
                let (a, b) = if is_swapped { (pair.1, pair.0) } else { pair };
                visit(AtomPair { a, b, gap })
            })?;
        }
        ControlFlow::Continue(())
    }
}
