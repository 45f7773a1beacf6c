//! Bundled molecules, and vesicles of lipids as dense as those of the README.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::scenes::{Vesicle, VesicleConfig, VesicleSize, vesicle};
use clap::builder::RangedU64ValueParser;

/// Area of a leaflet at its heads for each lipid, nm²: as dense as rigid lipids can be
/// packed without overlaps.
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// Atoms of a lipid.
pub const POPC_ATOMS: u64 = 134;

/// Fewest atoms that make a vesicle, which takes 133 lipids of that density; with some to
/// spare.
pub const VESICLE_ATOMS: u64 = 20_000;

/// Reads a number of atoms for a switch: at least so many, and no more than 32 bits can
/// number.
pub fn atoms_from(fewest: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(fewest..=u64::from(u32::MAX))
}

/// Where a bundled structure is.
pub fn path(file: &str) -> String {
    format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// A bundled structure as one molecule.
pub fn bundled(file: &str) -> MoleculeTemplate {
    load(path(file), &LoadOptions::default()).expect("the bundled structures can be read")
}

/// The lipid of all vesicles.
pub fn popc() -> MoleculeTemplate {
    bundled("popc.pdb")
}

/// A vesicle of so many lipids at random places, seed 1.
pub fn vesicle_of(lipid: &Arc<MoleculeTemplate>, lipids: u32) -> Vesicle {
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids,
            area_per_lipid: AREA_PER_LIPID_NM2,
        },
        ..VesicleConfig::default()
    };
    vesicle(Arc::clone(lipid), &config).expect("the vesicle is possible")
}
