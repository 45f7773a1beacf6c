//! Instances in mmCIF and `BinaryCIF`: the atoms of each kind of molecule once, and an operator of
//! an assembly for each molecule.
//!
//! The files have the layout of cellPACK: the mesoscale explorer of Mol* shows the groups of kinds
//! as a tree, and every reader of assemblies makes the scene.
//!
//! | category | contents |
//! |---|---|
//! | data block | `cellpack_` and the title |
//! | `_cell` | the periodic box |
//! | `_entity` | a row for each path and name: `root.vesicle.outer_leaflet.popc` in `pdbx_description`; conformers share it |
//! | `_struct_asym` | a row for each kind: `A`, `B`, … |
//! | `_pdbx_struct_assembly` | assembly `1` with the method `CELLPACK` |
//! | `_pdbx_struct_assembly_gen` | a row for each kind: its operators, such as `(1-5)` |
//! | `_pdbx_struct_oper_list` | a row for each molecule: world = matrix · body + vector, Å |
//! | `_atom_site` | the atoms of each kind in its body frame, Å |
//!
//! A kind is one `label_asym_id`, so a molecule is one instance even if it has several chains, and
//! it is read back as one body. `auth_asym_id` is the same, with a number if there are several
//! chains. Two columns with the prefix `brm_` keep what other programs have no column for: the
//! collision radius (unknown for that of the element) and the chain.
//!
//! Dots separate the groups of a path, and readers split descriptions at commas. In names they
//! become `․` (U+2024) and `‚` (U+201A), which look the same, and are read back.
//!
//! Kinds without molecules are not written.
//!
//! # Precision
//!
//! Vectors and atoms have five decimals (Å), matrices seven: an atom at 10 nm from the center of
//! mass is read to 10⁻⁶ nm plus the rounding of single precision, which is 8·10⁻⁶ nm at 200 nm. In
//! `BinaryCIF` they are fixed-point numbers of four bytes, with fewer decimals if a vector is longer
//! than 21,474 Å.
//!
//! # Memory
//!
//! Both writers stream: text row by row, `BinaryCIF` column by column, whose lengths are known. They
//! need eight bytes for each atom of the kinds and, while a column of the atoms is encoded, some
//! tens of bytes, but nothing for each molecule.

mod binary_writer;
mod column_encoding;
mod contents;
mod message_pack_writer;
mod names;
mod read;
mod text_writer;

pub use self::binary_writer::write_binary_cif;
pub(super) use self::read::read_kinds;
pub use self::text_writer::write_instanced_mmcif;

/// Decimals of the entries of a matrix: as exact as the single-precision quaternion of a pose.
const MATRIX_DECIMALS: u8 = 7;

/// Decimals of coordinates and vectors, Å.
const ANGSTROM_DECIMALS: u8 = 5;

/// The assembly with all molecules.
const ASSEMBLY_ID: &str = "1";

/// Number of molecules between two calls of the progress.
const PROGRESS_EVERY: usize = 1024;
