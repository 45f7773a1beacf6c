//! [`MembraneScene`]: the part of a preset that describes a membrane of several species.

use serde::{Deserialize, Serialize};

use super::preset::{MAX_RADIUS_NM, PresetError, check_positive};
use super::species_entry::SpeciesEntry;

/// Max edge of a flat patch, nm.
pub const MAX_EDGE_NM: f32 = 1000.0;

/// Max area scale: beyond it, lipids do not touch each other.
pub const MAX_AREA_SCALE: f32 = 100.0;

/// Max number of conformers of a species.
pub const MAX_CONFORMERS: u32 = 1000;

/// Default number of conformers of a species: all of the bundled ones.
const CONFORMERS: u32 = 16;

/// Default radius of the mid-surface of a vesicle, nm.
const RADIUS_NM: f32 = 8.0;

/// Default edge of a flat patch, nm.
const EDGE_NM: f32 = 20.0;

/// The mid-surface of a membrane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Shape {
    /// A sphere around the origin.
    Vesicle {
        /// Radius, nm.
        radius: f32,
    },
    /// A plane in a periodic box.
    Flat {
        /// Edge along x, nm.
        x: f32,
        /// Edge along y, nm.
        y: f32,
    },
}

impl Shape {
    /// The default vesicle.
    pub const VESICLE: Self = Self::Vesicle { radius: RADIUS_NM };

    /// The default flat patch.
    #[allow(dead_code, reason = "only the editor and the tests use it")]
    pub const FLAT: Self = Self::Flat {
        x: EDGE_NM,
        y: EDGE_NM,
    };

    /// Whether this is a plane in a periodic box.
    pub fn is_flat(self) -> bool {
        matches!(self, Self::Flat { .. })
    }
}

/// A number of copies of a protein.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProteinCopies {
    /// Name of a bundled protein, or a structure file.
    pub protein: String,
    /// Number of copies.
    pub copies: u32,
}

/// A membrane: its mid-surface, the ratios of its lipids, and its proteins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MembraneScene {
    /// The mid-surface.
    pub shape: Shape,
    /// The lipids and their ratios.
    pub species: Vec<SpeciesEntry>,
    /// Factor of the areas of all lipids; 1.1 leaves 10 % more area to each.
    pub area_scale: f32,
    /// Max number of conformers of each species.
    pub conformers: u32,
    /// Proteins at random places.
    pub proteins: Vec<ProteinCopies>,
    /// Whether the relaxation never moves proteins.
    pub fixed_proteins: bool,
}

impl Default for MembraneScene {
    fn default() -> Self {
        Self {
            shape: Shape::VESICLE,
            species: vec![SpeciesEntry::default()],
            area_scale: 1.0,
            conformers: CONFORMERS,
            proteins: Vec::new(),
            fixed_proteins: false,
        }
    }
}

impl MembraneScene {
    /// Validates the values that the builder of membranes does not.
    pub fn check(&self) -> Result<(), PresetError> {
        match self.shape {
            Shape::Vesicle { radius } => check_positive("radius", radius, MAX_RADIUS_NM, " nm")?,
            Shape::Flat { x, y } => {
                check_positive("x of the flat patch", x, MAX_EDGE_NM, " nm")?;
                check_positive("y of the flat patch", y, MAX_EDGE_NM, " nm")?;
            }
        }
        check_positive("area_scale", self.area_scale, MAX_AREA_SCALE, "")?;
        check_positive(
            "conformers",
            self.conformers as f32,
            MAX_CONFORMERS as f32,
            "",
        )
    }
}
