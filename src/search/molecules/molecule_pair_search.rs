//! [`MoleculePairSearch`]: two molecules, from scratch.

use glam::{Mat3, Vec3};

use super::cluster_compare::{ClusterPair, Comparison, Frame, PlacedPair};
use super::placed_molecule::PlacedMolecule;
use super::{FoundPairs, RigidSpheres};
use crate::pose::Pose;
use crate::search::uniform_grid::simd::Instructions;

/// Finds the overlapping spheres of two molecules from scratch.
#[derive(Default)]
pub(crate) struct MoleculePairSearch {
    comparison: Comparison,
    clusters: Vec<ClusterPair>,
    instructions: Instructions,
}

impl MoleculePairSearch {
    /// Finds all spheres of two molecules that are closer than their radii plus `margin`, nm. The
    /// second is at `relative` in the frame of the first, in which the centers are.
    pub(crate) fn find_between(
        &mut self,
        [a, b]: [&RigidSpheres; 2],
        relative: &Pose,
        margin: f32,
    ) -> FoundPairs<'_> {
        let second = PlacedMolecule::new(*relative, b, false);
        let relative = Frame {
            rotation: second.rotation,
            position: relative.position,
        };
        let first = Frame {
            rotation: Mat3::IDENTITY,
            position: Vec3::ZERO,
        };
        let pair = PlacedPair {
            a,
            b,
            relative,
            world: [first, relative],
            first_sphere: [0, 0],
            margin,
            rounding: second.rounding,
            with_centers: true,
        };
        self.clusters.clear();
        self.comparison
            .compare_all(self.instructions, &pair, 0.0, &mut self.clusters);
        FoundPairs {
            a: 0,
            b: 1,
            shift: Vec3::ZERO,
            pairs: &self.comparison.pairs,
            gaps: &self.comparison.gaps,
            centers: &self.comparison.centers,
        }
    }
}
