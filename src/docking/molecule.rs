//! A molecule with the acceleration structures for docking.

use std::sync::Arc;

use glam::Vec3;

use super::distance_field::DistanceField;
use crate::molecule::{LocalGrid, MoleculeTemplate};

/// A molecule with a cell grid and a distance field of its atoms. Build one per template and
/// share it.
#[derive(Clone, Debug)]
pub struct DockingMolecule {
    template: Arc<MoleculeTemplate>,
    /// Cell grid of the atoms, body frame.
    pub(super) grid: LocalGrid,
    /// Distance field of the atoms, body frame.
    pub(super) distance_field: DistanceField,
}

impl DockingMolecule {
    /// Builds the cell grid and the distance field.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        Self {
            grid: LocalGrid::new(template.positions(), template.radii()),
            distance_field: DistanceField::new(template.positions(), template.radii()),
            template,
        }
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// Number of atoms.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.template.atom_count()
    }
}

/// Lowest and highest corner of the bounding box of points, nm; inverted if there are none.
pub(super) fn bounding_box(points: &[Vec3]) -> [Vec3; 2] {
    let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    [low, high]
}
