//! Formats of structure files, recognized by file name or content; decompression of gzip.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::gro;
#[cfg(feature = "recipe")]
use super::gro::{GroFile, MoleculeRun};
use super::structure::Structure;
use super::{binary_cif, mmcif, pdb};

/// Maximum decompressed size of a file: 2 GiB, about 26 million atoms of PDB.
///
/// Stops gzip bombs, in which a few kilobytes expand to terabytes.
const MAX_DECOMPRESSED_BYTES: u64 = 2 << 30;

/// How much of a file is inspected to recognize its format, bytes.
const INSPECTED_BYTES: usize = 64 * 1024;

/// Records that a PDB file may start with.
const PDB_RECORDS: [&[u8]; 12] = [
    b"HEADER", b"TITLE", b"COMPND", b"REMARK", b"CRYST1", b"MODEL", b"ATOM", b"HETATM", b"SEQRES",
    b"OBSLTE", b"AUTHOR", b"EXPDTA",
];

/// A format of structure files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Format {
    /// Fixed columns: `.pdb`, `.ent`.
    Pdb,
    /// Text tables: `.cif`, `.mmcif`.
    Mmcif,
    /// Packed binary tables: `.bcif`.
    BinaryCif,
    /// Coordinates of GROMACS, in fixed columns: `.gro`. Not recognized by its content.
    Gro,
}

impl Format {
    /// The format given by a file extension, with or without `.gz`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match Path::new(name).extension()?.to_str()? {
            "pdb" | "ent" => Some(Self::Pdb),
            "cif" | "mmcif" => Some(Self::Mmcif),
            "bcif" => Some(Self::BinaryCif),
            "gro" => Some(Self::Gro),
            _ => None,
        }
    }

    /// The format of (decompressed) content.
    #[must_use]
    pub fn from_content(bytes: &[u8]) -> Option<Self> {
        let head = &bytes[..bytes.len().min(INSPECTED_BYTES)];
        // A MessagePack map with one of the first keys of every BinaryCIF file.
        let is_map = head
            .first()
            .is_some_and(|byte| matches!(byte, 0x80..=0x8f | 0xde | 0xdf));
        let contains = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
        if is_map && (contains(b"dataBlocks") || contains(b"encoder")) {
            return Some(Self::BinaryCif);
        }
        for line in head.split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            if line
                .get(..5)
                .is_some_and(|word| word.eq_ignore_ascii_case(b"data_"))
            {
                return Some(Self::Mmcif);
            }
            let tag = line.get(..6).unwrap_or(line).trim_ascii_end();
            if PDB_RECORDS.contains(&tag) {
                return Some(Self::Pdb);
            }
        }
        None
    }
}

/// Reads `bytes`, plain or gzipped, as `format`, or as the format of the name or content.
pub(super) fn read_structure(
    bytes: &[u8],
    source: &str,
    format: Option<Format>,
) -> Result<Structure, ReadError> {
    let error = |kind| ReadError::new(source, FileLocation::File, kind);
    let bytes = decompress(bytes, source).map_err(error)?;
    if bytes.is_empty() {
        return Err(error(ReadErrorKind::Empty));
    }
    let format = format
        .or_else(|| Format::from_name(source))
        .or_else(|| Format::from_content(&bytes));
    match format {
        Some(Format::Pdb) => pdb::read(&bytes, source),
        Some(Format::Mmcif) => mmcif::read(&bytes, source),
        Some(Format::BinaryCif) => binary_cif::read(&bytes, source),
        Some(Format::Gro) => Ok(gro::read(&bytes, source, None)?.structure),
        None => Err(error(ReadErrorKind::UnknownFormat)),
    }
}

/// Reads `bytes` of GROMACS, plain or gzipped, whose molecules are those of `molecules`, else
/// bonded residues.
#[cfg(feature = "recipe")]
pub(crate) fn read_gro(
    bytes: &[u8],
    source: &str,
    molecules: Option<&[MoleculeRun]>,
) -> Result<GroFile, ReadError> {
    let error = |kind| ReadError::new(source, FileLocation::File, kind);
    let bytes = decompress(bytes, source).map_err(error)?;
    if bytes.is_empty() {
        return Err(error(ReadErrorKind::Empty));
    }
    gro::read(&bytes, source, molecules)
}

/// The bytes themselves, or their content if they are gzipped.
fn decompress<'a>(bytes: &'a [u8], source: &str) -> Result<Cow<'a, [u8]>, ReadErrorKind> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        if !bytes.is_empty() && source.to_ascii_lowercase().ends_with(".gz") {
            return Err(ReadErrorKind::InvalidGzip(
                "the name ends in .gz but there is no gzip header".to_owned(),
            ));
        }
        return Ok(Cow::Borrowed(bytes));
    }
    let mut content = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes)
        .take(MAX_DECOMPRESSED_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(|error| ReadErrorKind::InvalidGzip(error.to_string()))?;
    if content.len() as u64 > MAX_DECOMPRESSED_BYTES {
        return Err(ReadErrorKind::TooLarge {
            what: "the decompressed size in bytes",
            limit: MAX_DECOMPRESSED_BYTES,
        });
    }
    Ok(Cow::Owned(content))
}
