//! Proteins in membranes: how they are oriented, how deep they sit, and which area they take.

mod cross_section;
mod membrane_protein;
mod slab_scan;

pub use cross_section::{CrossSection, CrossSectionConfig, CrossSectionError};
pub use membrane_protein::{MembraneProtein, MembraneProteinError};
