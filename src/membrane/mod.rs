//! Membranes: species of lipids, proteins with their orientation and depth, and the builder.
//!
//! [`membrane()`] builds a membrane from [`Species`] and a [`MembraneConfig`]: the mid-surface, a
//! [`Composition`] for each leaflet, and [`ProteinEntry`]s. A [`MembraneProtein`] knows how it is
//! oriented and how deep it sits; its [`CrossSection`] is the area that it takes. The result is a
//! [`Crowd`](crate::crowd::Crowd) that a relaxer resolves, and a [`MembraneReport`] of numbers and
//! areas.

mod box_check;
mod builder;
mod composition;
mod config;
mod cross_section;
mod error;
mod leaflet_plan;
mod leaflet_points;
mod membrane_protein;
mod protein_outline;
mod protein_places;
mod report;
mod slab_scan;
mod slim;
mod species;

pub use builder::{MemberKind, Membrane, membrane};
pub use composition::{Composition, Share};
pub use config::{MembraneConfig, ProteinEntry, ProteinPlace, ProteinPlaces};
pub use cross_section::{CrossSection, CrossSectionConfig, CrossSectionError};
pub use error::MembraneError;
pub use membrane_protein::{MembraneProtein, MembraneProteinError};
pub use report::{LeafletReport, MembraneReport, ProteinReport, SpeciesReport};
pub use species::{Conformer, Species, known_area};

/// Most lipids of a leaflet. They need about 10 GB; a sphere with a radius of 2 µm has fewer.
pub const MAX_LIPIDS: u32 = 100_000_000;
