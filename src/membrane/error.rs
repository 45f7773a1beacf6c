//! [`MembraneError`].

use glam::{Vec2, Vec3};
use thiserror::Error;

use super::{CrossSectionError, MAX_LIPIDS};
use crate::compartment::Leaflet;
use crate::crowd::CrowdError;
use crate::molecule::{MoleculeError, TemplateError};

/// Why a membrane or a species of lipids is invalid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MembraneError {
    /// A file of a species is missing or invalid.
    #[error(transparent)]
    Molecule(#[from] MoleculeError),
    /// A collision radius is invalid.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A leeway or depth is invalid.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// A protein has no cross-section.
    #[error(transparent)]
    CrossSection(#[from] CrossSectionError),
    /// A species has no conformers, and so no atoms.
    #[error("species '{species}' has no conformers; give it at least one template")]
    NoConformers {
        /// Name of the species.
        species: String,
    },
    /// Two conformers are not the same molecule.
    #[error(
        "conformer {conformer} of species '{species}' has {atoms} atoms, but the first one has {expected}"
    )]
    UnequalConformers {
        /// Name of the species.
        species: String,
        /// Index of the conformer, from 0.
        conformer: usize,
        /// Its number of atoms.
        atoms: usize,
        /// Atoms of the first conformer.
        expected: usize,
    },
    /// The area per molecule is not positive and finite.
    #[error("the area of species '{species}' must be positive and finite, not {area} nm²")]
    BadArea {
        /// Name of the species.
        species: String,
        /// The given area, nm².
        area: f32,
    },
    /// The axis, depth or head of a conformer is invalid.
    #[error(
        "conformer {conformer} of species '{species}' needs an axis and finite heights, not up {up}, depth {depth} nm and head {head_height} nm"
    )]
    BadConformer {
        /// Name of the species.
        species: String,
        /// Index of the conformer, from 0.
        conformer: usize,
        /// Its up direction.
        up: Vec3,
        /// Its depth, nm.
        depth: f32,
        /// Height of its head above the center of mass, nm.
        head_height: f32,
    },
    /// The heads of a leaflet are not on its own side of the mid-surface.
    #[error("the heads of species '{species}' are {head} nm above the mid-surface, not above 0")]
    HeadInMidSurface {
        /// Name of the species.
        species: String,
        /// Mean height of its heads, nm.
        head: f32,
    },
    /// Neither leaflet has a composition.
    #[error("the membrane has neither an outer nor an inner leaflet")]
    NoLeaflet,
    /// A composition has no species, or all its shares are zero.
    #[error("the {} leaflet has no lipids: all of its shares are zero", side(*leaflet))]
    EmptyComposition {
        /// The leaflet.
        leaflet: Leaflet,
    },
    /// A ratio is negative or not finite.
    #[error("ratios must be finite and not negative, but one of the {} leaflet is {ratio}", side(*leaflet))]
    BadRatio {
        /// The leaflet.
        leaflet: Leaflet,
        /// The given ratio.
        ratio: f32,
    },
    /// A composition has ratios and numbers.
    #[error("the {} leaflet has ratios and numbers; use one kind for all of its species", side(*leaflet))]
    MixedShares {
        /// The leaflet.
        leaflet: Leaflet,
    },
    /// A composition refers to a species that does not exist.
    #[error("there is no species {species}: there are {count}")]
    UnknownSpecies {
        /// The given index.
        species: usize,
        /// Number of species.
        count: usize,
    },
    /// The area scale is not positive and finite.
    #[error("the area scale must be positive and finite, not {scale}")]
    BadAreaScale {
        /// The given scale.
        scale: f32,
    },
    /// A periodic plane needs a periodic box.
    #[error("a periodic plane needs a periodic box with the edges {} × {} nm along x and y", size.x, size.y)]
    NoPeriodicBox {
        /// The edges of the plane, nm.
        size: Vec2,
    },
    /// The box does not repeat with the plane.
    #[error(
        "the periodic box has the edges {} × {} nm along x and y, but the plane has {} × {} nm",
        periodic.x, periodic.y, size.x, size.y
    )]
    BoxMismatch {
        /// The edges of the plane, nm.
        size: Vec2,
        /// The edges of the box, nm.
        periodic: Vec3,
    },
    /// A molecule meets its own image, or the leaflets meet through the box.
    #[error(
        "the periodic box has an edge of {edge} nm along {axis}, but {what} needs {needed:.2} nm"
    )]
    BoxTooSmall {
        /// The axis: x, y or z.
        axis: char,
        /// The edge, nm.
        edge: f32,
        /// Name of the molecule, or the membrane.
        what: String,
        /// The smallest edge, nm.
        needed: f32,
    },
    /// The heads of a leaflet have no surface, or no lipid fits.
    #[error(
        "the {} leaflet has no space for lipids: {free_area:.2} nm² are left {offset:+.2} nm from the surface",
        side(*leaflet)
    )]
    LeafletWithoutRoom {
        /// The leaflet.
        leaflet: Leaflet,
        /// Distance from the mid-surface along its normal, nm.
        offset: f32,
        /// The area there, nm².
        free_area: f32,
    },
    /// The proteins cover all of a leaflet.
    #[error(
        "there is more protein than surface: {protein_area:.1} nm² of protein in the {} leaflet of {area:.1} nm²",
        side(*leaflet)
    )]
    MoreProteinThanSurface {
        /// The leaflet.
        leaflet: Leaflet,
        /// Area of the outlines of all proteins, nm².
        protein_area: f32,
        /// Area of the leaflet, nm².
        area: f32,
    },
    /// There is no free place for a protein.
    #[error("{wanted} proteins do not fit on the surface; about {placed} would fit")]
    ProteinsDoNotFit {
        /// Number of proteins.
        wanted: usize,
        /// Largest number that was placed.
        placed: usize,
    },
    /// Two proteins at given places have overlapping atoms.
    #[error("'{first}' and '{second}' overlap at the places given for them")]
    ProteinsOverlap {
        /// Name of one protein.
        first: String,
        /// Name of the other one.
        second: String,
    },
    /// A place of a protein is not finite.
    #[error("a place of '{protein}' must be finite, not {point} nm with a spin of {spin}")]
    BadPlace {
        /// Name of the protein.
        protein: String,
        /// The given point, nm.
        point: Vec3,
        /// The given spin, radian.
        spin: f32,
    },
    /// The gaps between the proteins are too narrow.
    #[error("{lipids} lipids find no place between the proteins of the {} leaflet", side(*leaflet))]
    NoPlaceBetweenProteins {
        /// The leaflet.
        leaflet: Leaflet,
        /// Number of lipids.
        lipids: u32,
    },
    /// There are too many lipids for the memory.
    #[error("a leaflet has at most {MAX_LIPIDS} lipids, but the {} one would have {lipids:.0}", side(*leaflet))]
    TooManyLipids {
        /// The leaflet.
        leaflet: Leaflet,
        /// Number of lipids.
        lipids: f64,
    },
}

/// `outer` or `inner`.
pub(super) fn side(leaflet: Leaflet) -> &'static str {
    match leaflet {
        Leaflet::Outer => "outer",
        Leaflet::Inner => "inner",
    }
}
