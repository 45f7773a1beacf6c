//! Errors of loading a structure file, with file, location and cause.

use std::fmt;

use thiserror::Error;

use super::TemplateError;
use super::load::DEFAULT_RADIUS_SCALE;
use super::template::MAX_COORDINATE_NM;

/// A location in a structure file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileLocation {
    /// The file as a whole.
    File,
    /// A line of a text file, from 1.
    Line(usize),
    /// A row of the atom table of a binary file, from 1.
    Row(usize),
    /// A byte of a (decompressed) binary file, from 0.
    Byte(usize),
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Row(row) => write!(f, ", row {row} of _atom_site"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

/// A structure file is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{file}{location}: {kind}")]
pub struct ReadError {
    /// The file name given to the reader.
    pub file: String,
    /// Where in the file.
    pub location: FileLocation,
    /// What is wrong there.
    pub kind: ReadErrorKind,
}

impl ReadError {
    pub(super) fn new(file: &str, location: FileLocation, kind: ReadErrorKind) -> Self {
        Self {
            file: file.to_owned(),
            location,
            kind,
        }
    }
}

/// What is wrong with a structure file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// There are no bytes.
    #[error("the file is empty; expected a PDB, mmCIF, BinaryCIF or GRO structure")]
    Empty,
    /// The file ends without an atom.
    #[error(
        "no atoms found; check that it is a structure file and that its extension matches its format"
    )]
    NoAtoms,
    /// Neither the name nor the content identifies the format.
    #[error(
        "not a PDB, mmCIF, BinaryCIF or GRO file, neither by its name nor by its content; use an extension such as .pdb, .cif, .bcif or .gro, or set LoadOptions::format"
    )]
    UnknownFormat,
    /// A text format contains bytes that are not text.
    #[error("found bytes that are not text; name the file .bcif if it is BinaryCIF")]
    NotText,
    /// An atom record ends before its coordinates.
    #[error(
        "the atom record has {length} columns, but the coordinates extend to column {needed}; restore the missing columns or remove the line"
    )]
    Truncated {
        /// Columns of the line.
        length: usize,
        /// Columns that the record needs.
        needed: usize,
    },
    /// A field is not a finite number.
    #[error("{field} is '{text}', expected a finite number")]
    InvalidNumber {
        /// The field, and in PDB files its columns.
        field: &'static str,
        /// The text of the field.
        text: String,
    },
    /// A coordinate is out of range.
    #[error(
        "{field} is {value} nm, expected at most {MAX_COORDINATE_NM} nm from the origin; check the unit of the coordinates"
    )]
    TooFar {
        /// The coordinate.
        field: &'static str,
        /// Its value, nm.
        value: f64,
    },
    /// The text violates the syntax of its format.
    #[error("{0}")]
    Syntax(String),
    /// The atom table has no coordinates.
    #[error("the atom table has no column '_atom_site.{0}', which is required")]
    MissingColumn(&'static str),
    /// The gzip stream is damaged or missing.
    #[error("invalid gzip data: {0}; compress or download the file again")]
    InvalidGzip(String),
    /// The content exceeds a limit that protects against exhausted memory.
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit, in bytes or entries.
        limit: u64,
    },
    /// The bytes are not `MessagePack`, the container of `BinaryCIF`.
    #[error("invalid MessagePack: {0}; the file is damaged or not BinaryCIF")]
    InvalidMessagePack(&'static str),
    /// A `BinaryCIF` column is invalid.
    #[error("column '{column}' cannot be decoded: {reason}")]
    InvalidColumn {
        /// The column.
        column: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl ReadErrorKind {
    pub(super) fn syntax(message: impl Into<String>) -> Self {
        Self::Syntax(message.into())
    }
}

/// The quoted names, separated by commas; `none` if there are none.
fn quoted_list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    format!("'{}'", names.join("', '"))
}

/// A structure file could not become a molecule.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MoleculeError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot be read: {source}")]
    Io {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a valid structure.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The atoms do not make a rigid body.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The load options exclude all atoms of the file.
    #[error(
        "{file}: the load options exclude all {atoms} atoms; include more models, chains, waters or hydrogens"
    )]
    NoAtomsSelected {
        /// The file.
        file: String,
        /// Atoms in the file.
        atoms: usize,
    },
    /// The requested model, chain or assembly is not in the file.
    #[error(
        "{file}: no {what} '{requested}'; the file has {}",
        quoted_list(available)
    )]
    NotInFile {
        /// The file.
        file: String,
        /// `model`, `chain` or `assembly`.
        what: &'static str,
        /// Its requested name.
        requested: String,
        /// All names in the file.
        available: Vec<String>,
    },
    /// An assembly operator is not a rigid motion.
    #[error(
        "{file}: operator {operator} of assembly '{assembly}' is not a rotation: {reason}; load the file without this assembly"
    )]
    NotARotation {
        /// The file.
        file: String,
        /// The assembly.
        assembly: String,
        /// The operator.
        operator: String,
        /// What it does instead.
        reason: &'static str,
    },
    /// One template was requested, but the options ask for the copies of an assembly.
    #[error(
        "{file}: assembly '{assembly}' as instances is not one body; use load_instances or AssemblyChoice::OneBody"
    )]
    SeveralBodies {
        /// The file.
        file: String,
        /// The assembly.
        assembly: String,
    },
    /// A complete assembly has too many atoms.
    #[error(
        "{file}: assembly '{assembly}' has more than {limit} atoms; use load_instances, which stores them once"
    )]
    AssemblyTooLarge {
        /// The file.
        file: String,
        /// The assembly.
        assembly: String,
        /// The limit.
        limit: usize,
    },
    /// The radius scale is zero, negative or not finite.
    #[error(
        "{file}: the radius scale is {scale}, expected a positive number such as {DEFAULT_RADIUS_SCALE}"
    )]
    InvalidRadiusScale {
        /// The file.
        file: String,
        /// The scale.
        scale: f32,
    },
}
