//! Writers of structure files.
//!
//! The readers must restore the atoms, positions and molecules of a written file; unsupported
//! molecules must be rejected without leaving a file.

mod chain_and_residue_ids;
mod errors;
mod file_text;
mod fixtures;
mod periodic_boxes;
mod round_trip;
