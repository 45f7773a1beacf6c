//! Structures in the program, which recipes may refer to by name from any folder.

use std::sync::Arc;

use crate::molecule::{LoadOptions, MoleculeError, Structure, read_bytes};

/// Name, file and content of each bundled structure.
const BUNDLED: [(&str, &str, &[u8]); 15] = [
    (
        "1gzx",
        "1gzx.pdb",
        include_bytes!("../../assets/molecules/1gzx.pdb"),
    ),
    (
        "1ubq",
        "1ubq.cif",
        include_bytes!("../../assets/molecules/1ubq.cif"),
    ),
    (
        "2por",
        "2por.pdb",
        include_bytes!("../../assets/molecules/2por.pdb"),
    ),
    (
        "4c64",
        "4c64_dna.pdb",
        include_bytes!("../../assets/molecules/4c64_dna.pdb"),
    ),
    (
        "4udv",
        "4udv.pdb",
        include_bytes!("../../assets/molecules/4udv.pdb"),
    ),
    (
        "dhfr",
        "dhfr.pdb",
        include_bytes!("../../assets/molecules/dhfr.pdb"),
    ),
    (
        "t4_lysozyme",
        "t4_lysozyme_l99a.pdb",
        include_bytes!("../../assets/molecules/t4_lysozyme_l99a.pdb"),
    ),
    (
        "p_xylene",
        "p_xylene.pdb",
        include_bytes!("../../assets/molecules/p_xylene.pdb"),
    ),
    (
        "popc",
        "popc_conformers.pdb",
        include_bytes!("../../assets/lipids/popc_conformers.pdb"),
    ),
    (
        "pope",
        "pope_conformers.pdb",
        include_bytes!("../../assets/lipids/pope_conformers.pdb"),
    ),
    (
        "dppc",
        "dppc_conformers.pdb",
        include_bytes!("../../assets/lipids/dppc_conformers.pdb"),
    ),
    (
        "cholesterol",
        "cholesterol_conformers.pdb",
        include_bytes!("../../assets/lipids/cholesterol_conformers.pdb"),
    ),
    (
        "ssm",
        "ssm_conformers.pdb",
        include_bytes!("../../assets/lipids/ssm_conformers.pdb"),
    ),
    (
        "popg",
        "popg_conformers.pdb",
        include_bytes!("../../assets/lipids/popg_conformers.pdb"),
    ),
    (
        "cardiolipin",
        "cardiolipin_conformers.pdb",
        include_bytes!("../../assets/lipids/cardiolipin_conformers.pdb"),
    ),
];

/// The names of the bundled structures.
///
/// ```
/// use bevy_rapier_molecules::recipe::bundled_structures;
///
/// assert!(bundled_structures().any(|name| name == "popc"));
/// ```
pub fn bundled_structures() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|(name, ..)| *name)
}

/// A bundled structure by its name or file name, in capital or small letters.
pub(super) fn bundled(name: &str) -> Option<Result<Arc<Structure>, MoleculeError>> {
    let is_meant = |known: &str| known.eq_ignore_ascii_case(name);
    let (_, file, bytes) = BUNDLED
        .iter()
        .find(|(name, file, _)| is_meant(name) || is_meant(file))?;
    Some(read_bytes(bytes, file, &LoadOptions::default()).map(Arc::new))
}
