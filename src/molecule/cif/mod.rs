//! The two faces of mmCIF: text tables and packed binary tables.
//!
//! `mmcif.rs` and `bcif.rs` find the tables of a file; `atom_site.rs` and
//! `assemblies.rs` say what the rows of those tables mean, for both.

mod assemblies;
mod atom_site;
mod bcif;
mod decode;
mod message_pack;
mod mmcif;
mod tokens;
mod unpack;

pub(super) use bcif::BinaryCifReader;
pub(super) use mmcif::MmcifReader;
