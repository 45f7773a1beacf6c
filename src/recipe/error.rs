//! [`RecipeError`]: what is wrong in a recipe, and where.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::bent::BentError;
use super::live::EditError;
use super::sphere_tree::SphereTreeError;
use crate::compartment::{CompartmentError, MeshFileError};
use crate::crowd::CrowdError;
use crate::membrane::{MembraneError, MembraneProteinError};
use crate::molecule::{MoleculeError, TemplateError};
use crate::periodic_box::PeriodicBoxError;
use crate::proxy::ProxyError;
use crate::relax::RelaxError;

/// A recipe cannot be read or filled.
///
/// As text it is one sentence that begins with the file and the place in it, such as
/// `cell.json: composition.vesicle.regions.interior[2].object: there is no object 'popcc'; did you
/// mean 'popc'?`
#[derive(Debug, Error)]
#[error("{}", sentence(file, place, problem))]
pub struct RecipeError {
    /// The recipe.
    pub file: String,
    /// The place in it, as a path of keys; empty for the whole file.
    pub place: String,
    /// What is wrong there.
    pub problem: Box<RecipeProblem>,
}

fn sentence(file: &str, place: &str, problem: &RecipeProblem) -> String {
    match problem {
        // Begins with the file and the line.
        RecipeProblem::Bent(error) => error.to_string(),
        _ => format!("{file}: {}{problem}", with_colon(place)),
    }
}

fn with_colon(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!("{place}: ")
    }
}

/// What is wrong at a place of a recipe.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecipeProblem {
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Io(#[from] io::Error),
    /// The file cannot be written.
    #[error("cannot write the file: {0}")]
    Write(io::Error),
    /// The file is not valid JSON, or a value has another type than expected.
    #[error("{0}")]
    Json(String),
    /// The file is not a valid `.bent` file. The text has the file, line and column.
    #[error(transparent)]
    Bent(#[from] BentError),
    /// The extension is not that of a recipe.
    #[error("expected a recipe, .json (cellPACK) or .bent (bentopy)")]
    UnknownFormat,
    /// The version of the format is not supported.
    #[error("format version {found} is not supported, expected 2.0 or 2.1; {hint}")]
    Version {
        /// The given version.
        found: String,
        /// How to get a supported one.
        hint: &'static str,
    },
    /// A field is missing.
    #[error("{0}")]
    Missing(String),
    /// A name refers to nothing.
    #[error("there is no {kind} '{name}'{}", did_you_mean(suggestion))]
    UnknownName {
        /// What the name should refer to.
        kind: &'static str,
        /// The name.
        name: String,
        /// An existing name that is almost the given one.
        suggestion: Option<String>,
    },
    /// Names refer to each other in a circle.
    #[error("{what} in a circle: {}", names.join(" → "))]
    Circle {
        /// What the names do.
        what: &'static str,
        /// The names.
        names: Vec<String>,
    },
    /// A value is out of its range.
    #[error("{what} must be {allowed}, not {value}")]
    OutOfRange {
        /// What the value is.
        what: &'static str,
        /// The allowed range.
        allowed: &'static str,
        /// The given value.
        value: String,
    },
    /// Something is not supported.
    #[error("{what} is not supported; {instead}")]
    Unsupported {
        /// What is not supported.
        what: String,
        /// What to use instead.
        instead: &'static str,
    },
    /// There is not exactly one entry that no other refers to.
    #[error("{0}")]
    Root(String),
    /// A path leaves the folder of the recipe.
    #[error(
        "'{path}' is outside of the folder of the recipe; move the file, or allow it (--allow-outside)"
    )]
    OutsideFolder {
        /// The path.
        path: String,
    },
    /// A file would have to be fetched from a network.
    #[error("'{path}' is on a network, and nothing is fetched; give a path next to the recipe")]
    Network {
        /// The path.
        path: String,
    },
    /// A file of the recipe does not exist.
    #[error("there is no file '{}'", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// A structure file is invalid.
    #[error(transparent)]
    Molecule(#[from] MoleculeError),
    /// A shape cannot be a molecule.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A sphere tree is invalid.
    #[error(transparent)]
    SphereTree(#[from] SphereTreeError),
    /// A mesh file is invalid.
    #[error(transparent)]
    MeshFile(#[from] MeshFileError),
    /// A compartment is invalid, such as a mesh that is open.
    #[error(transparent)]
    Compartment(#[from] CompartmentError),
    /// The bounding box cannot repeat in space.
    #[error(transparent)]
    PeriodicBox(#[from] PeriodicBoxError),
    /// A membrane cannot be built.
    #[error(transparent)]
    Membrane(#[from] MembraneError),
    /// The orientation of a membrane protein is unknown.
    #[error(transparent)]
    MembraneProtein(#[from] MembraneProteinError),
    /// A pose or placement is invalid.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// A molecule has no proxies.
    #[error(transparent)]
    Proxies(#[from] ProxyError),
    /// The molecules cannot be relaxed.
    #[error(transparent)]
    Relax(#[from] RelaxError),
    /// A packing cannot be edited or saved.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// There are too many molecules for the memory.
    #[error("{count:.0} molecules are too many: at most {max} are possible")]
    TooMany {
        /// Number of molecules.
        count: f64,
        /// Largest number.
        max: u32,
    },
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    let meant = |name: &String| format!("; did you mean '{name}'?");
    suggestion.as_ref().map_or_else(String::new, meant)
}

impl RecipeProblem {
    /// The problem at a place of a file.
    pub(super) fn at(self, file: &str, place: impl Into<String>) -> RecipeError {
        RecipeError {
            file: file.to_owned(),
            place: place.into(),
            problem: Box::new(self),
        }
    }
}

/// Something in a recipe that is ignored or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeWarning {
    /// The place in the recipe, as a path of keys.
    pub place: String,
    /// What is ignored or replaced.
    pub text: String,
}

impl std::fmt::Display for RecipeWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", with_colon(&self.place), self.text)
    }
}
