//! Molecules for the proxy tests.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};

/// Structure files of the crate.
pub const STRUCTURES: [&str; 11] = [
    "popc.pdb",
    "p_xylene.pdb",
    "1ubq.cif",
    "4c64_dna.pdb",
    "4udv.pdb",
    "dhfr.pdb",
    "2por.pdb",
    "t4_lysozyme_l99a.pdb",
    "1gzx.pdb",
    "4hhb.bcif.gz",
    "multi.pdb",
];

/// A structure as one rigid body.
pub fn molecule(file: &str) -> Arc<MoleculeTemplate> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let loaded = load(path, &LoadOptions::default());
    Arc::new(loaded.unwrap_or_else(|error| panic!("{error}")))
}
