//! A molecule with its atoms in cells.

use std::sync::Arc;

use super::clearance::Clearance;
use crate::molecule::{LocalGrid, MoleculeTemplate};

/// A molecule that can be moved against another.
#[derive(Clone, Debug)]
pub struct DockingMolecule {
    template: Arc<MoleculeTemplate>,
    grid: LocalGrid,
    clearance: Clearance,
}

impl DockingMolecule {
    /// Sorts the atoms into cells, and measures the room around them.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        let grid = LocalGrid::new(template.positions(), template.radii());
        let clearance = Clearance::new(template.positions(), template.radii());
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
    pub(super) fn clearance(&self) -> &Clearance {
        &self.clearance
    }

    /// Number of atoms.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.template.atom_count()
    }
}
