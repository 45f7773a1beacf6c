//! Readers on real structures, irregular files and invalid input.
//!
//! The readers must return every atom of a file unchanged, and reject invalid input with file,
//! location and cause.

mod errors;
mod irregular_files;
mod mmcif_files;
mod pdb_files;
mod real_structures;
mod unit_cells;

use std::collections::BTreeMap;
use std::io::Write;

use approx::assert_relative_eq;
use bevy_rapier_molecules::molecule::{
    AssemblyChoice, Element, FileLocation, Format, LoadOptions, ModelChoice, MoleculeError,
    MoleculeTemplate, ReadErrorKind, SplitBy, Structure, load, load_instances, load_structure,
    read_bytes,
};
use glam::{DMat3, DVec3, Vec3};

fn path(name: &str) -> String {
    format!("{}/assets/molecules/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn structure(name: &str) -> Structure {
    load_structure(path(name), &LoadOptions::default()).unwrap()
}

fn with_waters() -> LoadOptions {
    LoadOptions {
        waters: true,
        ..LoadOptions::default()
    }
}

fn elements(template: &MoleculeTemplate) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for element in template.elements() {
        *counts.entry(element.symbol()).or_default() += 1;
    }
    counts
}

fn read(text: &str, source: &str) -> Structure {
    read_bytes(text.as_bytes(), source, &LoadOptions::default()).unwrap()
}

fn read_error(bytes: &[u8], source: &str) -> (FileLocation, ReadErrorKind) {
    match read_bytes(bytes, source, &LoadOptions::default()) {
        Err(MoleculeError::Read(error)) => {
            assert_eq!(error.file, source);
            assert!(error.to_string().starts_with(source), "{error}");
            (error.location, error.kind)
        }
        other => panic!("expected a read error, found {other:?}"),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const ATOM: &str = "ATOM      1  CA  ALA A   1      10.000  20.000  30.000  1.00  0.00           C";
