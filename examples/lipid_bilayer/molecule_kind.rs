//! The molecules of a vesicle: bundled ones, or one from a file.

use std::path::PathBuf;

use bevy_rapier_molecules::molecule::{
    LoadOptions, MoleculeError, MoleculeTemplate, TemplateError, load, read_bytes,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a molecule cannot be loaded.
#[derive(Debug, Error)]
pub enum KindError {
    /// The file is invalid.
    #[error(transparent)]
    File(#[from] MoleculeError),
    /// The tolerance is invalid.
    #[error(transparent)]
    Tolerance(#[from] TemplateError),
}

/// A kind of molecule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoleculeKind {
    /// A membrane lipid, 134 atoms.
    #[default]
    Popc,
    /// A small cytoplasmic protein, 602 atoms.
    Ubiquitin,
    /// A larger protein, 1309 atoms.
    Lysozyme,
    /// A structure file.
    File(PathBuf),
}

impl MoleculeKind {
    /// The name of the file.
    pub fn name(&self) -> String {
        match self {
            Self::Popc => "popc.pdb".into(),
            Self::Ubiquitin => "1ubq.cif".into(),
            Self::Lysozyme => "t4_lysozyme_l99a.pdb".into(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// The template, with atoms of radius `tolerance` / 2 (nm) if there is a tolerance.
    pub fn template(&self, tolerance: Option<f32>) -> Result<MoleculeTemplate, KindError> {
        let options = LoadOptions::default();
        // Embedded, so that the program runs from any folder.
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
