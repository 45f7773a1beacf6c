//! [`Library`]: the lipids and proteins of membranes, bundled or from files.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bevy_rapier_molecules::membrane::{
    MembraneError, MembraneProtein, MembraneProteinError, Species, known_area,
};
use bevy_rapier_molecules::molecule::{
    LoadOptions, MoleculeError, Structure, load_structure, read_bytes,
};
use bevy_rapier_molecules::names::closest_name;
use thiserror::Error;

use super::preset::modified;
use super::species_entry::SpeciesEntry;

/// The bundled lipids: name, and a file whose models are the conformers. Embedded, so that the
/// program runs from any folder.
pub const LIPIDS: [(&str, &[u8]); 4] = [
    (
        "popc",
        include_bytes!("../../assets/lipids/popc_conformers.pdb"),
    ),
    (
        "pope",
        include_bytes!("../../assets/lipids/pope_conformers.pdb"),
    ),
    (
        "dppc",
        include_bytes!("../../assets/lipids/dppc_conformers.pdb"),
    ),
    (
        "cholesterol",
        include_bytes!("../../assets/lipids/cholesterol_conformers.pdb"),
    ),
];

/// The bundled proteins: name and file.
pub const PROTEINS: [(&str, &[u8]); 1] =
    [("2por", include_bytes!("../../assets/molecules/2por.pdb"))];

/// Why a lipid or a protein cannot be loaded.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// Neither a bundled name nor a file.
    #[error(
        "there is no {kind} '{name}'{}; bundled are {bundled}, others need a file name with an extension",
        did_you_mean(suggestion)
    )]
    Unknown {
        /// Lipid or protein.
        kind: &'static str,
        /// The given name.
        name: String,
        /// A bundled name that is almost the given one.
        suggestion: Option<String>,
        /// All bundled names.
        bundled: String,
    },
    /// The area of the lipids of a file is neither given nor known.
    #[error("the area of a lipid of '{file}' is unknown; give it in nm², as in {file}@0.65")]
    UnknownArea {
        /// The file.
        file: String,
    },
    /// A file is missing or invalid.
    #[error(transparent)]
    File(#[from] MoleculeError),
    /// The species is invalid.
    #[error(transparent)]
    Species(#[from] MembraneError),
    /// The protein is invalid.
    #[error(transparent)]
    Protein(#[from] MembraneProteinError),
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    let meant = |name: &String| format!(" (did you mean '{name}'?)");
    suggestion.as_ref().map_or_else(String::new, meant)
}

/// A loaded species, by lipid, time of the last change of its file, bits of its area, and number
/// of conformers.
type SpeciesKey = (String, Option<SystemTime>, Option<u32>, u32);

/// Loads lipids and proteins, and remembers lipids: making their conformers slim takes time.
#[derive(Debug, Default)]
pub struct Library {
    species: Vec<(SpeciesKey, Species)>,
}

impl Library {
    /// A species with up to `conformers` slim conformers, with the radii of the elements.
    pub fn species(
        &mut self,
        entry: &SpeciesEntry,
        conformers: u32,
    ) -> Result<Species, LibraryError> {
        let name = entry.lipid.trim();
        let changed = modified(Path::new(name));
        let area = entry.area.map(f32::to_bits);
        let key = (name.to_owned(), changed, area, conformers);
        if let Some((_, species)) = self.species.iter().find(|(known, _)| *known == key) {
            return Ok(species.clone());
        }
        let species = load_species(name, entry.area)?
            .take(conformers as usize)
            .slimmed()?;
        self.species.retain(|((known, ..), _)| known != name);
        self.species.push((key, species.clone()));
        Ok(species)
    }
}

fn load_species(name: &str, area: Option<f32>) -> Result<Species, LibraryError> {
    let options = LoadOptions::default();
    let structure = read("lipid", name, &LIPIDS)?;
    // A file is named by its stem.
    let stem = Path::new(name).file_stem();
    let title = stem.map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    let residue = || {
        known_area(
            structure
                .template(&options)
                .ok()?
                .residues()
                .first()?
                .name
                .as_str(),
        )
    };
    let area = area.or_else(|| known_area(&title)).or_else(residue);
    let Some(area) = area else {
        return Err(LibraryError::UnknownArea {
            file: name.to_owned(),
        });
    };
    Ok(Species::from_structures(
        title,
        &[structure],
        &options,
        area,
    )?)
}

/// A protein with the radii of the elements, and whether its orientation is a guess: that of a
/// file of the OPM database is known.
pub fn load_protein(name: &str) -> Result<(MembraneProtein, bool), LibraryError> {
    let options = LoadOptions::default();
    let structure = read("protein", name.trim(), &PROTEINS)?;
    if structure.bilayer_half_thickness().is_some() {
        let known = MembraneProtein::from_opm_structure(&structure, &options)?;
        return Ok((known, false));
    }
    let template = Arc::new(structure.template(&options)?);
    Ok((MembraneProtein::guess(name.trim(), template)?, true))
}

/// A bundled structure, or that of a file.
fn read(
    kind: &'static str,
    name: &str,
    bundled: &[(&str, &[u8])],
) -> Result<Structure, LibraryError> {
    let options = LoadOptions::default();
    let known = bundled
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((known, bytes)) = known {
        return Ok(read_bytes(bytes, &format!("{known}.pdb"), &options)?);
    }
    let path = Path::new(name);
    if path.extension().is_none() && !path.is_file() {
        let names: Vec<&str> = bundled.iter().map(|(known, _)| *known).collect();
        return Err(LibraryError::Unknown {
            kind,
            name: name.to_owned(),
            suggestion: closest_name(name, names.iter().copied()),
            bundled: names.join(", "),
        });
    }
    Ok(load_structure(path, &options)?)
}
