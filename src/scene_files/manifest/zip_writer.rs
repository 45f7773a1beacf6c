//! [`ZipWriter`]: writes zip archives with the sizes in the local headers.

use std::io::{self, Seek, SeekFrom, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::export::ExportError;

/// Largest size and offset without zip64. The largest number marks zip64.
const MAX_BYTES: u64 = 0xffff_fffe;
/// Maximum number of entries without zip64.
const MAX_ENTRIES: usize = 0xfffe;
/// Version 2.0 of the format has deflate.
const VERSION: u16 = 20;
/// Flag: the name is UTF-8.
const UTF8: u16 = 1 << 11;
const DEFLATE: u16 = 8;
/// 1980-01-01, the first date of the format: the same input gives the same bytes.
const DATE: u16 = 1 << 5 | 1;
/// Offset of the checksum in a local header.
const CRC_OFFSET: u64 = 14;

/// An archive that is being written.
pub(super) struct ZipWriter<W: Write + Seek> {
    out: W,
    directory: Vec<u8>,
    entries: usize,
    /// Size of all entries before compression.
    bytes: u64,
}

impl<W: Write + Seek> ZipWriter<W> {
    /// `out` is at its start.
    pub fn new(out: W) -> Self {
        Self {
            out,
            directory: Vec::new(),
            entries: 0,
            bytes: 0,
        }
    }

    /// Adds a file.
    pub fn add(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        if self.entries >= MAX_ENTRIES {
            return Err(limit("the number of files".into(), MAX_ENTRIES as u64));
        }
        let too_long = |_| limit(format!("the name {name:?}"), u64::from(u16::MAX));
        let name_length = u16::try_from(name.len()).map_err(too_long)?;
        let start = self.out.stream_position()?;
        let offset = fitting(start, "the archive")?;
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        // Everything that local header and directory share, up to the checksum.
        let mut common = Vec::new();
        for value in [VERSION, flags, DEFLATE, 0, DATE] {
            common.extend(value.to_le_bytes());
        }
        self.out.write_all(b"PK\x03\x04")?;
        self.out.write_all(&common)?;
        // Checksum and sizes follow below.
        self.out.write_all(&[0; 12])?;
        self.out.write_all(&name_length.to_le_bytes())?;
        self.out.write_all(&[0; 2])?;
        self.out.write_all(name.as_bytes())?;

        let data = self.out.stream_position()?;
        let (crc, bytes) = deflate(&mut self.out, write)?;
        let end = self.out.stream_position()?;
        let mut sums = Vec::new();
        sums.extend(crc.to_le_bytes());
        sums.extend(fitting(end - data, name)?.to_le_bytes());
        sums.extend(fitting(bytes, name)?.to_le_bytes());
        self.out.seek(SeekFrom::Start(start + CRC_OFFSET))?;
        self.out.write_all(&sums)?;
        self.out.seek(SeekFrom::Start(end))?;

        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(common);
        self.directory.extend(sums);
        self.directory.extend(name_length.to_le_bytes());
        // No extra field, comment, disk and attributes.
        self.directory.extend([0; 12]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.entries += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// Writes the directory. Returns the size of all entries before compression.
    pub fn finish(mut self) -> Result<u64, ExportError> {
        let offset = fitting(self.out.stream_position()?, "the archive")?;
        let size = fitting(self.directory.len() as u64, "the directory")?;
        let entries = (self.entries as u16).to_le_bytes();
        self.out.write_all(&self.directory)?;
        self.out.write_all(b"PK\x05\x06\0\0\0\0")?;
        self.out.write_all(&entries)?;
        self.out.write_all(&entries)?;
        self.out.write_all(&size.to_le_bytes())?;
        self.out.write_all(&offset.to_le_bytes())?;
        self.out.write_all(&[0; 2])?;
        self.out.flush()?;
        Ok(self.bytes)
    }
}

/// Writes compressed content. Returns its checksum and its size before compression.
fn deflate(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<(u32, u64), ExportError> {
    let mut content = Checked {
        // Coordinates hardly shrink further at slower levels.
        inner: DeflateEncoder::new(out, Compression::fast()),
        crc: Crc::new(),
        bytes: 0,
    };
    write(&mut content)?;
    content.inner.finish()?;
    Ok((content.crc.sum(), content.bytes))
}

fn fitting(size: u64, what: &str) -> Result<u32, ExportError> {
    if size > MAX_BYTES {
        return Err(limit(format!("the size of {what}"), MAX_BYTES));
    }
    Ok(size as u32)
}

fn limit(what: String, limit: u64) -> ExportError {
    ExportError::FormatLimit {
        what,
        limit,
        format: "zip archives that Mol* opens; use BinaryCIF instead",
    }
}

/// Sums up what is written.
struct Checked<W> {
    inner: W,
    crc: Crc,
    bytes: u64,
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.crc.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::io::Cursor;

    pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let mut zip = ZipWriter::new(&mut bytes);
        for (name, content) in files {
            zip.add(name, |out| Ok(out.write_all(content)?)).unwrap();
        }
        zip.finish().unwrap();
        bytes.into_inner()
    }

    #[test]
    fn sizes_beyond_the_format_are_rejected() {
        assert_eq!(fitting(0xffff_fffe, "a").unwrap(), 0xffff_fffe);
        let error = fitting(0xffff_ffff, "popc.cif").unwrap_err().to_string();
        assert!(
            error.contains("popc.cif") && error.contains("zip"),
            "{error}"
        );
    }

    #[test]
    fn too_many_files_are_rejected() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for index in 0..MAX_ENTRIES {
            zip.add(&index.to_string(), |_| Ok(())).unwrap();
        }
        let result = zip.add("one more", |_| Ok(()));
        assert!(matches!(result, Err(ExportError::FormatLimit { .. })));
        let result = ZipWriter::new(Cursor::new(Vec::new())).add(&"x".repeat(70_000), |_| Ok(()));
        assert!(matches!(result, Err(ExportError::FormatLimit { .. })));
    }

    #[test]
    fn local_headers_have_sizes_and_no_data_descriptors() {
        let bytes = archive(&[("a", &[7; 1000])]);
        let flags = u16::from_le_bytes([bytes[6], bytes[7]]);
        assert_eq!(flags & 1 << 3, 0);
        let size = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert!(size(18) > 0 && size(18) < 100);
        assert_eq!(size(22), 1000);
    }
}
