//! A molecule with the acceleration structures for docking.

use std::sync::{Arc, OnceLock};

use glam::Vec3;

use super::distance_field::DistanceField;
use crate::molecule::{LocalGrid, MoleculeTemplate};

/// A molecule with a cell grid and a distance field of its atoms. Build one per template and
/// share it. The field is built when it is first used.
#[derive(Clone, Debug)]
pub struct DockingMolecule {
    template: Arc<MoleculeTemplate>,
    /// Cell grid of the atoms, body frame.
    pub(super) grid: LocalGrid,
    /// Distance field of the atoms, body frame. Only the larger one of two molecules needs it, and
    /// conformations of ligands change often.
    distance_field: OnceLock<DistanceField>,
}

impl DockingMolecule {
    /// Builds the cell grid.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        Self {
            grid: LocalGrid::new(template.positions(), template.radii()),
            distance_field: OnceLock::new(),
            template,
        }
    }

    /// The distance field of the atoms, body frame.
    pub(super) fn distance_field(&self) -> &DistanceField {
        let (positions, radii) = (self.template.positions(), self.template.radii());
        self.distance_field
            .get_or_init(|| DistanceField::new(positions, radii))
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
