//! Molecules at rest: elements, structure files, body-frame templates.
//!
//! A file goes through three rooms:
//! 1. a [`StructureReader`] (PDB, mmCIF, `BinaryCIF`, each plain or gzipped) turns
//!    bytes into a [`Structure`], which is what the file says;
//! 2. [`LoadOptions`] choose models, chains, waters, hydrogens, one of several
//!    alternate locations, and an assembly;
//! 3. what is left becomes one [`MoleculeTemplate`], or one for each part of the
//!    file ([`Structure::split_by`]), or one with many poses ([`Structure::instances`]).
//!
//! [`load`] does all three. Lengths are nm, masses dalton; files have Ångström.

mod bodies;
mod builder;
mod cif;
mod element;
mod element_table;
mod error;
mod hashed_grid;
mod label;
mod load;
mod local_grid;
mod number;
mod options;
mod pdb;
mod pdb_biomt;
mod pdb_element;
mod reader;
mod select;
mod structure;
mod template;

pub use bodies::{MAX_ASSEMBLY_ATOMS, MoleculeInstances, MoleculePart, SplitBy};
pub use cif::{BinaryCifReader, MmcifReader};
pub use element::Element;
pub use error::{MoleculeError, Place, ReadCause, ReadError};
pub use hashed_grid::HashedLocalGrid;
pub use label::AtomLabel;
pub use load::{load, load_instances, load_structure, read_bytes};
pub use local_grid::{GridAtom, LocalGrid};
pub use options::{AssemblyChoice, DEFAULT_RADIUS_SCALE, LoadOptions, ModelChoice};
pub use pdb::PdbReader;
pub use reader::{Format, MAX_INFLATED_BYTES, StructureReader};
pub use structure::{Assembly, Operator, Structure, StructureAtom};
pub use template::{Atom, MAX_COORDINATE_NM, MoleculeTemplate, Residue, TemplateError};
