//! Manifests of the mesoscale explorer of Mol*: a zip archive with `manifest.json`, structure files,
//! and poses as little-endian single-precision numbers.
//!
//! # Writing
//!
//! - `NAME.cif`: the structure of a kind in its body frame, so that rotations and positions are
//!   those of the poses. Kinds with the same template share it. Coarse molecules are
//!   `_ihm_sphere_obj_site` spheres, which Mol* draws with their radii.
//! - `NAME.poses`: positions (Å), then quaternions (x, y, z, w) of a kind.
//! - `manifest.json`: the groups as a tree, and per kind its label, color and files. What the format
//!   has no place for is in our own keys, which Mol* ignores.
//!
//! Mol* needs sizes in the local headers of the archive, and supports neither data descriptors nor
//! zip64.
//!
//! # Reading
//!
//! Also manifests of other programs: poses as lists of numbers or files, rotations as quaternions,
//! Euler angles (XYZ, radian) or matrices (rows), structure files of all formats that this library
//! reads. An entity without poses is one molecule, or the first assembly of its file. Meshes
//! (`.ply`) are left out. Of several groups of an entity, the first one is its path.

mod document;
mod read;
mod sphere_cif;
mod write;
mod zip_reader;
mod zip_writer;

pub(super) use read::read;
pub(super) use write::write;

/// Name of the manifest in the archive.
const MANIFEST: &str = "manifest.json";

/// Size of a number in a file of poses, bytes.
const NUMBER_BYTES: usize = 4;
