//! Bundled molecules, and vesicles at the density used in the README.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::scenes::{Vesicle, VesicleConfig, VesicleSize, VesicleStart, vesicle};
use clap::builder::RangedU64ValueParser;

/// Leaflet area per lipid at the head groups, nm²: the highest density at which this rigid
/// conformer packs without overlaps.
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// Atoms of one lipid.
pub const POPC_ATOMS: u64 = 134;

/// Smallest vesicle, atoms. At this density a vesicle needs at least 133 lipids.
pub const MIN_VESICLE_ATOMS: u64 = 20_000;

/// Parser of an atom count from `min` to `u32::MAX`.
pub fn atoms_from(min: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(min..=u64::from(u32::MAX))
}

/// Path of a bundled structure.
pub fn path(file: &str) -> String {
    format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// A bundled structure as one molecule.
pub fn bundled(file: &str) -> MoleculeTemplate {
    load(path(file), &LoadOptions::default()).expect("bundled structures are valid")
}

/// The lipid used in all vesicles.
pub fn popc() -> MoleculeTemplate {
    bundled("popc.pdb")
}

/// A vesicle of `lipids` randomly placed lipids, seed 1.
pub fn vesicle_of(lipid: &Arc<MoleculeTemplate>, lipids: u32) -> Vesicle {
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids,
            area_per_lipid: AREA_PER_LIPID_NM2,
        },
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    vesicle(Arc::clone(lipid), &config).expect("the vesicle is large enough")
}
