//! Readers return a structure or an error for any bytes and never panic.
//!
//! Random bytes rarely get past the first line, so most cases are real files with bytes changed,
//! removed, repeated or truncated. Structures are also turned into bodies.

use std::io::{Read, Write};
use std::sync::LazyLock;

use bevy_rapier_molecules::molecule::{
    AssemblyChoice, Format, LoadOptions, ModelChoice, SplitBy, Structure, read_bytes,
};
use proptest::prelude::*;

const FORMATS: [Format; 4] = [Format::Pdb, Format::Mmcif, Format::BinaryCif, Format::Gro];

/// A frame with velocities, and one without.
const GRO: &str = "\
Two waters
6
    1SOL     OW    1   0.126   1.624   1.679  0.1227 -0.0580  0.0434
    1SOL    HW1    2   0.190   1.661   1.747  0.8085  0.3191 -0.7791
    1SOL    HW2    3   0.177   1.568   1.613 -0.9045 -2.6469  1.3180
    2SOL     OW    4   1.275   0.053   0.622  0.2519  0.3140 -0.1734
    2SOL    HW1    5   1.337   0.002   0.680 -1.0641 -1.1349  0.0257
    2SOL    HW2    6   1.326   0.120   0.568  1.9427 -0.8216 -0.0244
   1.82060   1.82060   1.82060
One ion
1
    1NA      NA    1   0.1260   1.6240   1.6790
5 5 3.5 0 0 0 0 2.5 2.5
";

/// Bytes used of a real file: enough for header, atoms and assembly.
const SAMPLE_BYTES: usize = 12_000;

fn asset(name: &str) -> Vec<u8> {
    let path = format!("{}/assets/molecules/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// Shortened real files, so that thousands of cases are fast.
static SAMPLES: LazyLock<Vec<(Format, Vec<u8>)>> = LazyLock::new(|| {
    let head = |bytes: Vec<u8>| bytes[..bytes.len().min(SAMPLE_BYTES)].to_vec();
    let assembly = String::from_utf8(asset("4udv.pdb")).unwrap();
    let assembly: String = assembly
        .lines()
        .filter(|line| line.starts_with("REMARK 350") || line.starts_with("ATOM"))
        .take(200)
        .map(|line| format!("{line}\n"))
        .collect();
    let cif = String::from_utf8(asset("1ubq.cif")).unwrap();
    let atoms = cif.find("loop_\n_atom_site.").unwrap();
    let mut small_cif = format!("data_X\n{}", &cif[atoms..atoms + 6_000]);
    small_cif.truncate(small_cif.rfind('\n').unwrap());
    let tables = cif.find("_pdbx_struct_assembly.id").unwrap();
    small_cif += "\n";
    small_cif += &cif[tables..tables + 2_000];
    vec![
        (Format::Pdb, head(asset("popc.pdb"))),
        (Format::Pdb, head(asset("p_xylene.pdb"))),
        (Format::Pdb, assembly.into_bytes()),
        (Format::Mmcif, small_cif.into_bytes()),
        (Format::BinaryCif, binary_sample()),
        (Format::Gro, GRO.as_bytes().to_vec()),
    ]
});

/// The decompressed `BinaryCIF` file.
fn binary_sample() -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = asset("4hhb.bcif.gz");
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Reads the bytes as every format and with automatic detection.
fn read_as_every_format(bytes: &[u8]) {
    for format in FORMATS.map(Some).into_iter().chain([None]) {
        read_as(bytes, format);
    }
}

fn read_as(bytes: &[u8], format: Option<Format>) {
    let options = LoadOptions {
        format,
        ..LoadOptions::default()
    };
    match read_bytes(bytes, "case", &options) {
        Ok(structure) => build_bodies(&structure),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Turns the structure into bodies in every way. Errors are allowed, panics are not.
fn build_bodies(structure: &Structure) {
    let all = LoadOptions {
        model: ModelChoice::All,
        waters: true,
        ..LoadOptions::default()
    };
    if let Ok(template) = structure.template(&all) {
        assert!(template.mass() > 0.0 && template.bounding_radius().is_finite());
    }
    let _ = structure.split_by(SplitBy::Residue, &all);
    let _ = structure.split_by(SplitBy::Chain, &LoadOptions::default());
    for assembly in structure.assemblies().iter().take(2) {
        let options = LoadOptions {
            assembly: AssemblyChoice::Instances(assembly.id.clone()),
            ..all.clone()
        };
        let _ = structure.instances(&options);
    }
}

/// A modification of a file; positions are fractions of its length.
#[derive(Clone, Debug)]
pub enum Change {
    Set(f64, u8),
    Flip(f64, u8),
    Cut(f64),
    Remove(f64, usize),
    Repeat(f64, usize),
}

pub fn change() -> impl Strategy<Value = Change> {
    let position = || 0.0..1.0;
    prop_oneof![
        4 => (position(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        4 => (position(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => position().prop_map(Change::Cut),
        2 => (position(), 1..200_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        2 => (position(), 1..200_usize).prop_map(|(at, count)| Change::Repeat(at, count)),
    ]
}

pub fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    let index = |at: f64| ((at * bytes.len() as f64) as usize).min(bytes.len() - 1);
    match *change {
        Change::Set(at, byte) => {
            let at = index(at);
            bytes[at] = byte;
        }
        Change::Flip(at, bit) => {
            let at = index(at);
            bytes[at] ^= 1 << bit;
        }
        Change::Cut(at) => {
            let at = index(at);
            bytes.truncate(at);
        }
        Change::Remove(at, count) => {
            let at = index(at);
            let end = (at + count).min(bytes.len());
            bytes.drain(at..end);
        }
        Change::Repeat(at, count) => {
            let at = index(at);
            let end = (at + count).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_as_every_format(&bytes);
        read_as_every_format(&gzip(&bytes));
    }

    #[test]
    fn random_text_never_panics(text in "(ATOM  |HETATM|MODEL |TER|END|REMARK 350|data_|loop_|_atom_site.Cartn_x|[ -~]|\n|[0-9.]{8}| ){0,120}") {
        read_as_every_format(text.as_bytes());
    }

    #[test]
    fn damaged_text_files_never_panic(
        sample in 0..4_usize,
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let (format, mut bytes) = SAMPLES[sample].clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        read_as(&bytes, Some(format));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_binary_files_never_panic(changes in prop::collection::vec(change(), 1..6)) {
        let (format, mut bytes) = SAMPLES[4].clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        read_as(&bytes, Some(format));
    }

    #[test]
    fn damaged_gzip_files_never_panic(
        sample in 0..5_usize,
        before in prop::collection::vec(change(), 0..3),
        after in prop::collection::vec(change(), 0..3),
    ) {
        let (format, mut bytes) = SAMPLES[sample].clone();
        for change in &before {
            apply(&mut bytes, change);
        }
        let mut packed = gzip(&bytes);
        for change in &after {
            apply(&mut packed, change);
        }
        read_as(&packed, Some(format));
    }
}

#[test]
fn undamaged_samples_are_read() {
    // The first sample ends in the middle of a line.
    for (format, bytes) in SAMPLES.iter().skip(1) {
        let options = LoadOptions {
            format: Some(*format),
            ..LoadOptions::default()
        };
        let structure = read_bytes(bytes, "sample", &options).unwrap();
        build_bodies(&structure);
    }
}

/// The seed corpus of the fuzzer contains valid files after the byte of the format.
#[test]
fn the_fuzz_corpus_is_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/read_structure");
    // The published crate does not contain the corpus.
    let Ok(files) = std::fs::read_dir(folder) else {
        return;
    };
    for file in files.map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("hand-") {
            continue;
        }
        let bytes = std::fs::read(&file).unwrap();
        let options = LoadOptions {
            format: FORMATS.get(usize::from(bytes[0])).copied(),
            ..LoadOptions::default()
        };
        let structure = read_bytes(&bytes[1..], "case", &options);
        let structure = structure.unwrap_or_else(|error| panic!("{name}: {error}"));
        build_bodies(&structure);
    }
}
