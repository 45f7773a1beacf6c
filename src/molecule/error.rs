//! What can go wrong between a structure file and a template, with file, place and cause.

use std::fmt;

use smol_str::SmolStr;
use thiserror::Error;

use super::TemplateError;
use super::options::DEFAULT_RADIUS_SCALE;
use super::template::MAX_COORDINATE_NM;

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of a text file, from 1.
    Line(usize),
    /// A row of the atom table of a binary file, from 1.
    Row(usize),
    /// A byte of a (decompressed) binary file, from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Row(row) => write!(f, ", atom row {row}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

/// A file that could not be read as a structure.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{file}{place}: {cause}")]
pub struct ReadError {
    /// The file, or whatever name the bytes were given.
    pub file: String,
    /// Where in the file.
    pub place: Place,
    /// What is wrong there.
    pub cause: ReadCause,
}

impl ReadError {
    /// An error at a place of `file`.
    #[must_use]
    pub fn new(file: &str, place: Place, cause: ReadCause) -> Self {
        Self {
            file: file.to_owned(),
            place,
            cause,
        }
    }
}

/// What is wrong with a structure file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReadCause {
    /// There are no bytes.
    #[error("the file is empty")]
    Empty,
    /// The file was read to its end without finding an atom.
    #[error("no atoms found; is it a structure file, in the format that its name says?")]
    NoAtoms,
    /// Neither the name nor the content tells the format.
    #[error(
        "not a PDB, mmCIF or BinaryCIF file, as far as its name and its content tell; give it an ending such as .pdb, .cif or .bcif"
    )]
    UnknownFormat,
    /// Bytes that are not text in a text format.
    #[error("the file holds bytes that are not text")]
    NotText,
    /// An atom record ends before its coordinates do.
    #[error("the atom record is truncated: {length} columns, at least {needed} are needed")]
    Truncated {
        /// Columns that the line has.
        length: usize,
        /// Columns that the record needs.
        needed: usize,
    },
    /// A field that should be a number is not.
    #[error("{field} '{text}' is not a number")]
    BadNumber {
        /// Which field.
        field: &'static str,
        /// What it says.
        text: String,
    },
    /// A number is NaN or infinite.
    #[error("{field} '{text}' is not finite")]
    NotFinite {
        /// Which field.
        field: &'static str,
        /// What it says.
        text: String,
    },
    /// A coordinate is further out than any structure could be.
    #[error("{field} {value} nm is further than {MAX_COORDINATE_NM} nm from the origin")]
    TooFar {
        /// Which coordinate.
        field: &'static str,
        /// Its value, nm.
        value: f64,
    },
    /// An element symbol that does not exist, or an atom name that tells none.
    #[error("unknown element '{symbol}' of atom '{atom}'")]
    UnknownElement {
        /// What the element field says; empty if the name had to tell.
        symbol: String,
        /// Name of the atom.
        atom: String,
    },
    /// The text breaks a rule of its format.
    #[error("{0}")]
    Syntax(String),
    /// A column without which there are no coordinates.
    #[error("the column '{0}' is missing")]
    MissingColumn(&'static str),
    /// The gzip stream is damaged, or there is none where the name says `.gz`.
    #[error("bad gzip data: {0}")]
    BadGzip(String),
    /// The content unpacks to more than a limit.
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit, in bytes or entries.
        limit: u64,
    },
    /// The bytes are not `MessagePack`, the container of `BinaryCIF`.
    #[error("not valid MessagePack: {0}")]
    BadMessagePack(&'static str),
    /// A `BinaryCIF` column does not decode.
    #[error("column '{column}' does not decode: {what}")]
    BadEncoding {
        /// The column.
        column: String,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// What there is, one after the other; `none` if there is nothing.
fn listed<T: fmt::Display>(known: &[T]) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = known.iter().map(|one| format!("'{one}'")).collect();
    quoted.join(", ")
}

/// Why a file did not become a molecule.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MoleculeError {
    /// The file system refused.
    #[error("{file}: cannot be read: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a readable structure.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The atoms do not make a rigid body.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The file has atoms, but the options removed all of them.
    #[error(
        "{file}: none of its {atoms} atoms is left after the load options were applied; keep more models, chains, waters or hydrogens"
    )]
    NothingLeft {
        /// The file.
        file: String,
        /// Atoms in the file.
        atoms: usize,
    },
    /// The model that was asked for is not in the file.
    #[error("{file}: no model {asked}; the file has {}", listed(known))]
    UnknownModel {
        /// The file.
        file: String,
        /// What was asked for.
        asked: i32,
        /// What there is.
        known: Vec<i32>,
    },
    /// A chain that was asked for is not in the file.
    #[error("{file}: no chain '{asked}'; the file has {}", listed(known))]
    UnknownChain {
        /// The file.
        file: String,
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<SmolStr>,
    },
    /// The assembly that was asked for is not in the file.
    #[error("{file}: no assembly '{asked}'; the file has {}", listed(known))]
    UnknownAssembly {
        /// The file.
        file: String,
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
    /// An assembly operator reflects, scales or shears, which a rigid body cannot do.
    #[error("{file}: operator {operator} of assembly '{assembly}' is not a rotation: {why}")]
    NotARotation {
        /// The file.
        file: String,
        /// The assembly.
        assembly: String,
        /// The operator.
        operator: String,
        /// What it does instead.
        why: &'static str,
    },
    /// One template was asked for, but the options ask for the copies of an assembly.
    #[error("{file}: assembly '{assembly}' as instances is not one body: use load_instances")]
    SeveralBodies {
        /// The file.
        file: String,
        /// The assembly.
        assembly: String,
    },
    /// An assembly, built in full, has too many atoms.
    #[error("{file}: assembly '{assembly}' would have more than {limit} atoms")]
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
        "{file}: the radius scale {scale} is not a positive number; the usual one is {DEFAULT_RADIUS_SCALE}"
    )]
    BadRadiusScale {
        /// The file.
        file: String,
        /// The scale.
        scale: f32,
    },
}
