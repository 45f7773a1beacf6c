//! What can be packed: the molecules that come with the program, or one from a file.

use std::path::PathBuf;

use bevy_rapier_molecules::molecule::{
    LoadOptions, MoleculeError, MoleculeTemplate, TemplateError, load, read_bytes,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why there is no molecule.
#[derive(Debug, Error)]
pub enum KindError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] MoleculeError),
    /// The tolerance cannot be used.
    #[error(transparent)]
    Tolerance(#[from] TemplateError),
}

/// A kind of molecule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoleculeKind {
    /// A lipid of membranes, 134 atoms.
    #[default]
    Popc,
    /// A small protein of the cytoplasm, 602 atoms.
    Ubiquitin,
    /// Another one, 1309 atoms.
    Lysozyme,
    /// A structure file.
    File(PathBuf),
}

impl MoleculeKind {
    /// Its name, or that of its file.
    pub fn name(&self) -> String {
        match self {
            Self::Popc => "popc.pdb".into(),
            Self::Ubiquitin => "1ubq.cif".into(),
            Self::Lysozyme => "t4_lysozyme_l99a.pdb".into(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Its atoms, with radii of half the tolerance (nm) if there is one.
    pub fn template(&self, tolerance: Option<f32>) -> Result<MoleculeTemplate, KindError> {
        let options = LoadOptions::default();
        // In the program, so that it runs from any folder.
        let bytes: &[u8] = match self {
            Self::Popc => include_bytes!("../../assets/molecules/popc.pdb"),
            Self::Ubiquitin => include_bytes!("../../assets/molecules/1ubq.cif"),
            Self::Lysozyme => include_bytes!("../../assets/molecules/t4_lysozyme_l99a.pdb"),
            Self::File(_) => &[],
        };
        let template = match self {
            Self::File(path) => load(path, &options)?,
            _ => read_bytes(bytes, &self.name(), &options)?.template(&options)?,
        };
        Ok(match tolerance {
            Some(tolerance) => template.with_uniform_radius(tolerance / 2.0)?,
            None => template,
        })
    }
}
