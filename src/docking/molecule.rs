//! A molecule with its atoms in cells.

use std::sync::Arc;

use glam::Vec3;

use super::distance_field::DistanceField;
use crate::molecule::{LocalGrid, MoleculeTemplate};

/// A molecule that can be moved against another. Cheap to share: make one of a template.
#[derive(Clone, Debug)]
pub struct DockingMolecule {
    template: Arc<MoleculeTemplate>,
    grid: LocalGrid,
    clearance: DistanceField,
}

impl DockingMolecule {
    /// Sorts the atoms into cells, and measures the room around them.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        let grid = LocalGrid::new(template.positions(), template.radii());
        let clearance = DistanceField::new(template.positions(), template.radii());
        Self {
            template,
            grid,
            clearance,
        }
    }

    /// What it was made of.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// Its atoms in cells, in the body frame.
    #[must_use]
    pub fn grid(&self) -> &LocalGrid {
        &self.grid
    }

    /// The room around its atoms, in the body frame.
    pub(super) fn clearance(&self) -> &DistanceField {
        &self.clearance
    }

    /// Number of atoms.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.template.atom_count()
    }
}

/// Lowest and highest corner of the box around points, nm; inside out if there are none.
pub(super) fn corners(points: &[Vec3]) -> [Vec3; 2] {
    let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    [low, high]
}
