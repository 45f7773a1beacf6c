//! Molecules at rest: elements, structure files, body-frame templates.
//!
//! Bytes of a structure file go in, rigid [`MoleculeTemplate`]s come out. A file goes through
//! three stages:
//! 1. a [`StructureReader`] (PDB, mmCIF, `BinaryCIF`, each plain or gzipped) turns
//!    bytes into a [`Structure`], which is what the file says;
//! 2. [`LoadOptions`] choose models, chains, waters, hydrogens, one of several
//!    alternate locations, and an assembly;
//! 3. what is left becomes one [`MoleculeTemplate`], or one for each part of the
//!    file ([`Structure::split_by`]), or one with many poses ([`Structure::instances`]).
//!
//! [`load`] does all three.
//!
//! Lengths are nm, masses dalton; files have ångström. Positions in a [`Structure`] are in
//! the frame of the file; those in a template are in its body frame, which has its origin at
//! the center of mass and the axes of the file. [`MoleculeTemplate::file_pose`] leads back.
//!
//! The same bytes and options give the same template, to the last bit. Bytes are never
//! trusted: whatever they are, the answer is a template or a [`MoleculeError`] with file, line
//! and cause, in bounded memory.
//!
//! [`LocalGrid`] and [`HashedLocalGrid`] are the cells over the atoms of one molecule of
//! G. Turk, *Interactive Collision Detection for Molecular Graphics* (University of North
//! Carolina, 1989), as a full array and as a hash table. That a molecule is defined once and
//! shared by all its copies is in J. Pauschenwein's thesis (2022, section 4.1).

mod bodies;
mod body_spheres;
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
pub use body_spheres::BodySpheres;
pub use element::Element;
pub use error::{MoleculeError, Place, ReadCause, ReadError};
pub use hashed_grid::HashedLocalGrid;
pub use label::AtomLabel;
pub use load::{load, load_instances, load_structure, read_bytes};
pub use local_grid::{GridAtom, LocalGrid};
pub use options::{AssemblyChoice, DEFAULT_RADIUS_SCALE, LoadOptions, ModelChoice};
pub use reader::{Format, MAX_INFLATED_BYTES, StructureReader};
pub use structure::{Assembly, Operator, Structure, StructureAtom};
pub use template::{Atom, MAX_COORDINATE_NM, MoleculeTemplate, Residue, TemplateError};
