//! Readers return a mesh or an error for any bytes and never panic. Meshes that are read have
//! finite vertices and valid indices, and compartments accept or reject them.
//!
//! Random bytes rarely get past the first line, so most cases are files with bytes changed,
//! removed, repeated or truncated.

use std::sync::LazyLock;

use bevy_rapier_molecules::compartment::{MeshFormat, ShapeCompartment, Surface, read_mesh};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;
use proptest::prelude::*;

use super::fixtures::{all_files, cube};
use crate::readers_never_panic::{apply, change};

const FORMATS: [MeshFormat; 3] = [MeshFormat::Obj, MeshFormat::Stl, MeshFormat::Ply];

static SAMPLES: LazyLock<Vec<(String, &'static str, Vec<u8>)>> =
    LazyLock::new(|| all_files(&cube()));

fn read(bytes: &[u8], source: &str, format: Option<MeshFormat>) {
    match read_mesh(bytes, source, format) {
        Ok(mesh) => {
            assert!(mesh.vertices.iter().all(|vertex| vertex.is_finite()));
            let count = mesh.vertices.len();
            let mut corners = mesh.triangles.iter().flatten();
            assert!(count <= bytes.len() && corners.all(|&corner| (corner as usize) < count));
            let compartment =
                ShapeCompartment::mesh(&mesh.vertices, &mesh.triangles, Pose::IDENTITY);
            if let Ok(compartment) = compartment {
                let _ = compartment.signed_distance(Vec3::ONE);
            }
        }
        Err(error) => assert!(error.to_string().starts_with(source), "{error}"),
    }
}

fn read_as_every_format(bytes: &[u8]) {
    for format in FORMATS {
        read(bytes, "case", Some(format));
    }
    read(bytes, "case.ply", None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_as_every_format(&bytes);
    }

    #[test]
    fn random_text_never_panics(
        text in "(v |f |solid|endsolid|facet normal|outer loop|vertex |endloop|endfacet|[ -~]|\n|\r|\\\\|#|-?[0-9]{1,11}|1e39| |/){0,120}",
    ) {
        read_as_every_format(text.as_bytes());
    }

    #[test]
    fn random_ply_headers_never_panic(
        format in "(ascii|binary_little_endian|binary_big_endian)",
        lines in "(element (vertex|face|edge) [0-9]{1,20}\n|property (float|double|char|uint) (x|y|z|w)\n|property list (uchar|int|uint) (int|double) (vertex_index|x|tags)\n){0,12}",
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = format!("ply\nformat {format} 1.0\n{lines}end_header\n").into_bytes();
        bytes.extend(body);
        read(&bytes, "case", Some(MeshFormat::Ply));
    }

    #[test]
    fn damaged_files_never_panic(
        sample in 0..7_usize,
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let (_, source, mut bytes) = SAMPLES[sample].clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        read(&bytes, source, None);
    }
}

/// The seed corpus of the fuzzer contains valid files after the byte of the format.
#[test]
fn the_fuzz_corpus_is_read() {
    const SPHERE_TREE: u8 = 4;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/read_mesh");
    // The published crate does not contain the corpus.
    let Ok(files) = std::fs::read_dir(folder) else {
        return;
    };
    for file in files.map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).unwrap();
        if !name.starts_with("hand-") || bytes[0] == SPHERE_TREE {
            continue;
        }
        let format = FORMATS.get(usize::from(bytes[0])).copied();
        // Without a format, the fuzzer gives this name.
        let mesh = read_mesh(&bytes[1..], "input.ply", format);
        let mesh = mesh.unwrap_or_else(|error| panic!("{name}: {error}"));
        ShapeCompartment::mesh(&mesh.vertices, &mesh.triangles, Pose::IDENTITY)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
