//! [`ZipArchive`]: reads files of a zip archive in memory. Nothing is written to disk.

use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use thiserror::Error;

/// Maximum size of all files that are read: 2 GiB, 70 million poses.
///
/// Stops zip bombs, in which a few kilobytes expand to terabytes.
const MAX_BYTES: u64 = 2 << 30;
/// Size of the end record without comment.
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
const ENCRYPTED: u16 = 1;
const STORED: u16 = 0;
const DEFLATE: u16 = 8;

/// A zip archive is invalid or not supported.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ZipError {
    #[error("this is not a zip archive, or its end is missing; copy or download it again")]
    NoEnd,
    #[error("the archive is truncated or damaged: {0} is outside of the file")]
    Truncated(&'static str),
    #[error("zip64 and archives in several parts are not supported; write it without zip64")]
    Zip64,
    #[error("two files have the same name")]
    Duplicate,
    #[error("the file is encrypted")]
    Encrypted,
    #[error("compression method {0} is not supported, expected 0 (stored) or 8 (deflate)")]
    Method(u16),
    #[error("the compressed data are damaged: {0}")]
    Inflate(String),
    #[error("the file has not the size of {0} bytes that the archive states")]
    Size(u32),
    #[error("the checksum is wrong; copy or download the archive again")]
    Checksum,
    #[error("the files of the archive exceed the limit of {MAX_BYTES} bytes")]
    TooLarge,
}

struct Entry {
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u32,
    size: u32,
    offset: u32,
}

/// The files of an archive.
pub(super) struct ZipArchive<'a> {
    bytes: &'a [u8],
    entries: HashMap<String, Entry>,
    read: HashMap<String, Rc<[u8]>>,
    /// How much more may be read, bytes.
    budget: u64,
}

impl<'a> ZipArchive<'a> {
    /// Reads the directory. The error has the name of the file, if it is about one.
    pub fn open(bytes: &'a [u8]) -> Result<Self, (String, ZipError)> {
        let in_archive = |error| (String::new(), error);
        let end = end_of(bytes).ok_or(in_archive(ZipError::NoEnd))?;
        let [disk, first_disk, here, count] = [4, 6, 8, 10].map(|at| number16(end, at));
        let [size, offset] = [12, 16].map(|at| number32(end, at));
        if count == u16::MAX || size == u32::MAX || offset == u32::MAX {
            return Err(in_archive(ZipError::Zip64));
        }
        if disk != 0 || first_disk != 0 || here != count {
            return Err(in_archive(ZipError::Zip64));
        }
        let mut rest = bytes
            .get(offset as usize..)
            .ok_or(in_archive(ZipError::Truncated("the directory")))?;
        let mut entries = HashMap::new();
        for _ in 0..count {
            let truncated = || in_archive(ZipError::Truncated("the directory"));
            let head = rest.get(..ENTRY_BYTES).ok_or_else(truncated)?;
            if !head.starts_with(b"PK\x01\x02") {
                return Err(truncated());
            }
            let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(number16(head, at)));
            let name_end = ENTRY_BYTES + name;
            let name = rest.get(ENTRY_BYTES..name_end).ok_or_else(truncated)?;
            let name = String::from_utf8_lossy(name).into_owned();
            rest = rest
                .get(name_end + extra + comment..)
                .ok_or_else(truncated)?;
            let entry = Entry {
                flags: number16(head, 8),
                method: number16(head, 10),
                crc: number32(head, 16),
                compressed: number32(head, 20),
                size: number32(head, 24),
                offset: number32(head, 42),
            };
            if [entry.compressed, entry.size, entry.offset].contains(&u32::MAX) {
                return Err((name, ZipError::Zip64));
            }
            if entries.insert(name.clone(), entry).is_some() {
                return Err((name, ZipError::Duplicate));
            }
        }
        Ok(Self {
            bytes,
            entries,
            read: HashMap::new(),
            budget: MAX_BYTES,
        })
    }

    /// The content of a file; none if there is no such file.
    pub fn read(&mut self, name: &str) -> Result<Option<Rc<[u8]>>, ZipError> {
        if let Some(known) = self.read.get(name) {
            return Ok(Some(Rc::clone(known)));
        }
        let Some(entry) = self.entries.get(name) else {
            return Ok(None);
        };
        if u64::from(entry.size) > self.budget {
            return Err(ZipError::TooLarge);
        }
        let content: Rc<[u8]> = content_of(self.bytes, entry)?.into();
        self.budget -= content.len() as u64;
        self.read.insert(name.to_owned(), Rc::clone(&content));
        Ok(Some(content))
    }
}

fn content_of(bytes: &[u8], entry: &Entry) -> Result<Vec<u8>, ZipError> {
    if entry.flags & ENCRYPTED != 0 {
        return Err(ZipError::Encrypted);
    }
    let truncated = ZipError::Truncated("the content of a file");
    let local = bytes.get(entry.offset as usize..).unwrap_or_default();
    let head = local.get(..LOCAL_BYTES).ok_or(truncated.clone())?;
    if !head.starts_with(b"PK\x03\x04") {
        return Err(truncated);
    }
    let [name, extra] = [26, 28].map(|at| usize::from(number16(head, at)));
    let start = LOCAL_BYTES + name + extra;
    let data = start + entry.compressed as usize;
    let data = local.get(start..data).ok_or(truncated)?;
    let content = match entry.method {
        STORED => data.to_vec(),
        DEFLATE => {
            // Grows with the data that are there, not with the stated size.
            let mut content = Vec::new();
            DeflateDecoder::new(data)
                .take(u64::from(entry.size) + 1)
                .read_to_end(&mut content)
                .map_err(|error| ZipError::Inflate(error.to_string()))?;
            content
        }
        other => return Err(ZipError::Method(other)),
    };
    if content.len() != entry.size as usize {
        return Err(ZipError::Size(entry.size));
    }
    let mut crc = Crc::new();
    crc.update(&content);
    if crc.sum() != entry.crc {
        return Err(ZipError::Checksum);
    }
    Ok(content)
}

/// The end record, which a comment may follow.
fn end_of(bytes: &[u8]) -> Option<&[u8]> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let mut starts = (first..=last).rev();
    let start = starts.find(|&start| {
        let end = &bytes[start..];
        let comment = usize::from(number16(end, END_BYTES - 2));
        end.starts_with(b"PK\x05\x06") && end.len() >= END_BYTES + comment
    })?;
    Some(&bytes[start..])
}

/// A number at an offset inside `bytes`.
fn number16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn number32(bytes: &[u8], at: usize) -> u32 {
    u32::from(number16(bytes, at)) | u32::from(number16(bytes, at + 2)) << 16
}

#[cfg(test)]
mod tests {
    use super::super::zip_writer::tests::archive;
    use super::*;

    fn read(bytes: &[u8], name: &str) -> Result<Option<Rc<[u8]>>, ZipError> {
        ZipArchive::open(bytes)
            .map_err(|(_, error)| error)?
            .read(name)
    }

    /// Overwrites bytes of the only entry of the directory.
    fn with_entry(content: &[u8], at: usize, value: &[u8]) -> Vec<u8> {
        let mut bytes = archive(&[("a", content)]);
        let end = end_of(&bytes).unwrap();
        let entry = number32(end, 16) as usize;
        bytes[entry + at..entry + at + value.len()].copy_from_slice(value);
        bytes
    }

    #[test]
    fn files_are_read_back() {
        let big: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut bytes = archive(&[("empty", b""), ("µ/b", b"text"), ("big", &big)]);
        for comment in ["", "a comment"] {
            let end = bytes.len();
            bytes[end - 2..].copy_from_slice(&(comment.len() as u16).to_le_bytes());
            bytes.extend(comment.as_bytes());
            for (name, content) in [("empty", &b""[..]), ("µ/b", b"text"), ("big", &big)] {
                assert_eq!(&*read(&bytes, name).unwrap().unwrap(), content);
            }
            assert_eq!(read(&bytes, "other"), Ok(None));
        }
    }

    #[test]
    fn stored_files_are_read() {
        // The deflated form of no bytes has two bytes.
        let mut bytes = with_entry(b"", 10, &[0; 2]);
        let end = end_of(&bytes).unwrap();
        let entry = number32(end, 16) as usize;
        let data = [3, 0];
        let mut crc = Crc::new();
        crc.update(&data);
        bytes[entry + 16..entry + 20].copy_from_slice(&crc.sum().to_le_bytes());
        bytes[entry + 24..entry + 28].copy_from_slice(&2_u32.to_le_bytes());
        assert_eq!(&*read(&bytes, "a").unwrap().unwrap(), &data);
    }

    #[test]
    fn damaged_archives_are_rejected_and_do_not_panic() {
        let content = [7; 5000];
        let cases: [(usize, &[u8], ZipError); 7] = [
            (8, &[1, 0], ZipError::Encrypted),
            (10, &[12, 0], ZipError::Method(12)),
            (16, &[0; 4], ZipError::Checksum),
            (24, &[9, 0, 0, 0], ZipError::Size(9)),
            (20, &[0xff; 4], ZipError::Zip64),
            (24, &[0xfe, 0xff, 0xff, 0xff], ZipError::TooLarge),
            (
                42,
                &[9, 9, 9, 0],
                ZipError::Truncated("the content of a file"),
            ),
        ];
        for (at, value, expected) in cases {
            let bytes = with_entry(&content, at, value);
            assert_eq!(read(&bytes, "a").unwrap_err(), expected);
        }
        let whole = archive(&[("a", &content), ("b", b"b")]);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length], "a"), Err(ZipError::NoEnd));
        }
        let twice = archive(&[("a", b"1"), ("a", b"2")]);
        assert_eq!(read(&twice, "a"), Err(ZipError::Duplicate));
        // Any changed byte is an error or does not matter.
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x5a;
            for name in ["a", "b"] {
                let _ = read(&bytes, name);
            }
        }
    }

    #[test]
    fn a_bomb_is_not_inflated_beyond_its_stated_size() {
        let content = vec![0; 10_000_000];
        let bytes = with_entry(&content, 24, &[0, 1, 0, 0]);
        assert!(bytes.len() < 50_000);
        assert_eq!(read(&bytes, "a"), Err(ZipError::Size(256)));
        // Many entries with the same data share one budget.
        let mut zip = ZipArchive::open(&bytes).unwrap();
        zip.budget = 255;
        assert_eq!(zip.read("a"), Err(ZipError::TooLarge));
    }
}
