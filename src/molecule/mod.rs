//! Molecule templates, chemical elements, and readers of structure files.
//!
//! A structure file becomes rigid [`MoleculeTemplate`]s in three steps, which [`load`] combines:
//! 1. the reader of its [`Format`] (PDB, mmCIF, `BinaryCIF` or GRO of GROMACS, plain or gzipped) parses the
//!    bytes into a [`Structure`], the complete content of the file;
//! 2. [`LoadOptions`] select models, chains, waters, hydrogens and an assembly; of alternate
//!    locations the one with the highest occupancy is kept;
//! 3. the selected atoms become one [`MoleculeTemplate`], one per chain, residue or model
//!    ([`Structure::split_by`]), or one with many poses ([`Structure::instances`]).
//!
//! # Units and frames
//!
//! Lengths are nm and masses dalton; readers convert from the ångström of the files (GRO files have nm). Positions
//! in a [`Structure`] are in the frame of the file. Positions in a template are in its body
//! frame, which has its origin at the center of mass and the axes of the file;
//! [`MoleculeTemplate::file_pose`] transforms them back.
//!
//! # Determinism and errors
//!
//! The same bytes and options give the same template, bit for bit. Any input gives either a
//! template or a [`MoleculeError`] with file, location and cause, in bounded memory. Values that
//! a template can do without, such as an unknown element, are replaced and counted in
//! [`LoadWarnings`].
//!
//! # Papers
//!
//! [`LocalGrid`] is based on the grid of G. Turk, *Interactive Collision Detection for Molecular
//! Graphics* (University of North Carolina, 1989). Sharing one template between all copies of a
//! molecule follows J. Pauschenwein's thesis (2022, section 4.1).

mod binary_cif;
mod bonds;
mod conformation;
mod decimal;
mod element;
mod element_from_atom_name;
mod error;
mod format;
mod gro;
mod load;
mod local_grid;
mod mmcif;
mod occupied_volume;
mod pdb;
mod rotatable_bonds;
mod structure;
mod template;
mod unit_cell;

pub(crate) use bonds::bonds;
pub use element::Element;
pub use error::{FileLocation, MoleculeError, ReadError, ReadErrorKind};
pub use format::Format;
#[cfg(feature = "recipe")]
pub(crate) use format::read_gro;
#[cfg(feature = "recipe")]
pub(crate) use gro::MoleculeRun;
pub use load::{
    AssemblyChoice, DEFAULT_RADIUS_SCALE, LoadOptions, LoadWarnings, ModelChoice, load,
    load_instances, load_structure, read_bytes,
};
pub use local_grid::{GridAtom, LocalGrid};
pub use occupied_volume::occupied_volume;
pub(crate) use rotatable_bonds::atoms_within_bonds;
pub use rotatable_bonds::{RotatableBond, rotatable_bonds};
#[cfg(feature = "recipe")]
pub(crate) use structure::proper_rotation;
pub use structure::{
    Assembly, MoleculeInstances, MoleculePart, Operator, SplitBy, Structure, StructureAtom,
};
pub use template::{
    Atom, AtomLabel, BodySpheres, COARSE_DENSITY, MAX_COORDINATE_NM, MoleculeTemplate, Residue,
    TemplateError,
};
pub use unit_cell::UnitCell;
