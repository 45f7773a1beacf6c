//! [`MembraneConfig`]: what a membrane is built from.

use std::sync::Arc;

use glam::Vec3;

use super::{Composition, MembraneProtein};
use crate::compartment::Surface;
use crate::periodic_box::PeriodicBox;

/// Default leeway of the depth of lipids and proteins, nm.
const DEFAULT_LEEWAY: f32 = 0.3;

/// Default leeway of the tilt of lipids, degrees: that of most lipids in a fluid bilayer.
const DEFAULT_LIPID_TILT: f32 = 30.0;

/// Default leeway of the tilt of proteins, degrees.
const DEFAULT_PROTEIN_TILT: f32 = 10.0;

/// A place of a protein in the membrane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProteinPlace {
    /// A point on or near the mid-surface, nm. The protein sits above the closest point of the
    /// mid-surface.
    pub point: Vec3,
    /// Rotation about the normal, radian.
    pub spin: f32,
    /// Whether this protein is the other way round than the others of its entry.
    pub flipped: bool,
}

/// Where the proteins of an entry are.
#[derive(Clone, Debug, PartialEq)]
pub enum ProteinPlaces {
    /// A number of them, spread over the surface at random places without overlaps, each with a
    /// random spin.
    Random(u32),
    /// At these places.
    At(Vec<ProteinPlace>),
}

/// Copies of a protein in a membrane.
#[derive(Clone, Debug, PartialEq)]
pub struct ProteinEntry {
    /// The protein, with its orientation.
    pub protein: MembraneProtein,
    /// Where its copies are.
    pub places: ProteinPlaces,
    /// Whether the outer side of the protein is on the inner side of the membrane. Default: no.
    pub flipped: bool,
    /// Whether a relaxer never moves it. Default: no.
    pub fixed: bool,
    /// Leeway of the depth, nm. Default: 0.3.
    pub leeway: f32,
    /// Leeway of the tilt, radian. Default: 10°.
    pub tilt_leeway: f32,
    /// Whether lipids stay out of the pores of the protein. Otherwise pores count as surface, and
    /// lipids may start there. Default: yes.
    pub keep_pore_empty: bool,
}

impl ProteinEntry {
    /// Copies of a protein that a relaxer may move.
    #[must_use]
    pub fn new(protein: MembraneProtein, places: ProteinPlaces) -> Self {
        Self {
            protein,
            places,
            flipped: false,
            fixed: false,
            leeway: DEFAULT_LEEWAY,
            tilt_leeway: DEFAULT_PROTEIN_TILT.to_radians(),
            keep_pore_empty: true,
        }
    }
}

/// What a membrane is built from; see [`membrane`](super::membrane()).
#[derive(Clone, Debug)]
pub struct MembraneConfig {
    /// Mid-surface between the two leaflets.
    pub surface: Arc<dyn Surface>,
    /// Box that repeats in space. A [`FlatPatch`](crate::compartment::FlatPatch) needs one, with
    /// its edges along x and y. Around a closed surface, only the size of single molecules is
    /// checked: whether the surface meets its own images is up to the caller. Default: none.
    pub periodic_box: Option<PeriodicBox>,
    /// Lipids of the outer leaflet, or none. Default: none.
    pub outer: Option<Composition>,
    /// Lipids of the inner leaflet, or none. Default: none.
    pub inner: Option<Composition>,
    /// Factor of the areas of all species; 1.1 leaves 10 % more area to each lipid. Default: 1.
    pub area_scale: f32,
    /// Proteins. Default: none.
    pub proteins: Vec<ProteinEntry>,
    /// Leeway of the depth of lipids, nm. Default: 0.3.
    pub leeway: f32,
    /// Leeway of the tilt of lipids, radian. Default: 30°.
    pub tilt_leeway: f32,
    /// Seed of all random choices. Default: 1.
    pub seed: u64,
}

impl MembraneConfig {
    /// A membrane along `surface`, without anything in it yet.
    #[must_use]
    pub fn new(surface: Arc<dyn Surface>) -> Self {
        Self {
            surface,
            periodic_box: None,
            outer: None,
            inner: None,
            area_scale: 1.0,
            proteins: Vec::new(),
            leeway: DEFAULT_LEEWAY,
            tilt_leeway: DEFAULT_LIPID_TILT.to_radians(),
            seed: 1,
        }
    }
}
