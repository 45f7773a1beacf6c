//! What every reader of structure files has in common: the trait, the formats, gzip.

use std::borrow::Cow;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::cif::{BinaryCifReader, MmcifReader};
use super::error::{Place, ReadCause, ReadError};
use super::pdb::PdbReader;
use super::structure::Structure;

/// Most bytes a gzipped file may unpack to: 2 GiB, some 26 million atoms of PDB.
///
/// A few kilobytes of gzip can claim to be terabytes; this stops them.
pub const MAX_INFLATED_BYTES: u64 = 2 << 30;

/// How far into a file the format is looked for, bytes.
const SNIFFED_BYTES: usize = 64 * 1024;

/// Reads one format of structure file; [`Format::reader`] has those that there are.
pub trait StructureReader {
    /// Reads `bytes`, gzipped or not; `source` is what errors call the file.
    ///
    /// # Errors
    /// [`ReadError`] with the place and the cause.
    fn read(&self, bytes: &[u8], source: &str) -> Result<Structure, ReadError>;
}

/// A format of structure file.
///
/// ```
/// use bevy_rapier_molecules::molecule::Format;
///
/// assert_eq!(Format::from_name("4HHB.bcif.gz"), Some(Format::BinaryCif));
/// assert_eq!(Format::from_content(b"data_1UBQ\n"), Some(Format::Mmcif));
/// assert_eq!(Format::from_name("notes.txt"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Format {
    /// Fixed columns: `.pdb`, `.ent`.
    Pdb,
    /// Text tables: `.cif`, `.mmcif`.
    Mmcif,
    /// Packed binary tables: `.bcif`.
    BinaryCif,
}

impl Format {
    /// The reader of this format.
    #[must_use]
    pub fn reader(self) -> &'static dyn StructureReader {
        match self {
            Self::Pdb => &PdbReader,
            Self::Mmcif => &MmcifReader,
            Self::BinaryCif => &BinaryCifReader,
        }
    }

    /// The format that a file name tells, with or without `.gz`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "pdb" | "ent" => Some(Self::Pdb),
            "cif" | "mmcif" => Some(Self::Mmcif),
            "bcif" => Some(Self::BinaryCif),
            _ => None,
        }
    }

    /// The format that (decompressed) content tells.
    #[must_use]
    pub fn from_content(bytes: &[u8]) -> Option<Self> {
        let head = &bytes[..bytes.len().min(SNIFFED_BYTES)];
        // A MessagePack map with the key that every BinaryCIF file starts with or soon has.
        let is_map = head
            .first()
            .is_some_and(|byte| matches!(byte, 0x80..=0x8f | 0xde | 0xdf));
        let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
        if is_map && (has(b"dataBlocks") || has(b"encoder")) {
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

/// Records that a PDB file may start with.
const PDB_RECORDS: [&[u8]; 12] = [
    b"HEADER", b"TITLE", b"COMPND", b"REMARK", b"CRYST1", b"MODEL", b"ATOM", b"HETATM", b"SEQRES",
    b"OBSLTE", b"AUTHOR", b"EXPDTA",
];

/// Reads `bytes` as `format`, or as what its name or its content tells.
pub(super) fn read_as(
    bytes: &[u8],
    source: &str,
    format: Option<Format>,
) -> Result<Structure, ReadError> {
    let fail = |cause| ReadError::new(source, Place::File, cause);
    if bytes.is_empty() {
        return Err(fail(ReadCause::Empty));
    }
    if source.to_ascii_lowercase().ends_with(".gz") && !is_gzip(bytes) {
        return Err(fail(ReadCause::BadGzip(
            "there is no gzip header".to_owned(),
        )));
    }
    if let Some(format) = format.or_else(|| Format::from_name(source)) {
        return format.reader().read(bytes, source);
    }
    let bytes = inflate(bytes, source)?;
    Format::from_content(&bytes)
        .ok_or_else(|| fail(ReadCause::UnknownFormat))?
        .reader()
        .read(&bytes, source)
}

fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The bytes themselves, or what they unpack to if they are gzip.
pub(super) fn inflate<'a>(bytes: &'a [u8], source: &str) -> Result<Cow<'a, [u8]>, ReadError> {
    let fail = |cause| ReadError::new(source, Place::File, cause);
    let content = if is_gzip(bytes) {
        let mut content = Vec::new();
        flate2::read::MultiGzDecoder::new(bytes)
            .take(MAX_INFLATED_BYTES + 1)
            .read_to_end(&mut content)
            .map_err(|error| fail(ReadCause::BadGzip(error.to_string())))?;
        if content.len() as u64 > MAX_INFLATED_BYTES {
            return Err(fail(ReadCause::TooLarge {
                what: "the decompressed size in bytes",
                limit: MAX_INFLATED_BYTES,
            }));
        }
        Cow::Owned(content)
    } else {
        Cow::Borrowed(bytes)
    };
    if content.is_empty() {
        return Err(fail(ReadCause::Empty));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        assert_eq!(Format::from_name("a/b.PDB"), Some(Format::Pdb));
        assert_eq!(Format::from_name("pdb1abc.ent.gz"), Some(Format::Pdb));
        assert_eq!(Format::from_name("x.cif.gz"), Some(Format::Mmcif));
        assert_eq!(Format::from_name("x.bcif"), Some(Format::BinaryCif));
        assert_eq!(Format::from_name("x.gz"), None);
        assert_eq!(Format::from_name("x.txt"), None);
        assert_eq!(Format::from_name(""), None);
    }

    #[test]
    fn content_tells_formats() {
        assert_eq!(
            Format::from_content(b"# hello\n\ndata_X\n"),
            Some(Format::Mmcif)
        );
        assert_eq!(Format::from_content(b"\nATOM      1"), Some(Format::Pdb));
        assert_eq!(
            Format::from_content(b"\x83\xaadataBlocks"),
            Some(Format::BinaryCif)
        );
        assert_eq!(Format::from_content(b"hello"), None);
        assert_eq!(Format::from_content(b""), None);
    }
}
