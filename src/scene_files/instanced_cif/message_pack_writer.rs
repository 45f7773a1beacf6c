//! Writer of `MessagePack`, the container of `BinaryCIF`.

use std::io::{self, Write};

/// Buffer size at which data is written, bytes.
const FLUSH_AT: usize = 64 * 1024;

/// Writes values one after the other. Lengths come before contents, so nothing is kept.
pub(super) struct MessagePackWriter<W: Write> {
    writer: W,
    buffer: Vec<u8>,
    bytes: u64,
}

impl<W: Write> MessagePackWriter<W> {
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            buffer: Vec::with_capacity(FLUSH_AT),
            bytes: 0,
        }
    }

    /// Starts a map: `length` pairs of key and value follow.
    pub fn map(&mut self, length: usize) -> io::Result<()> {
        match u8::try_from(length) {
            Ok(short @ 0..=15) => self.raw(&[0x80 | short]),
            _ => self.with_length(0xdf, length),
        }
    }

    /// Starts an array: `length` values follow.
    pub fn array(&mut self, length: usize) -> io::Result<()> {
        match u8::try_from(length) {
            Ok(short @ 0..=15) => self.raw(&[0x90 | short]),
            _ => self.with_length(0xdd, length),
        }
    }

    pub fn text(&mut self, text: &str) -> io::Result<()> {
        match u8::try_from(text.len()) {
            Ok(short @ 0..=31) => self.raw(&[0xa0 | short])?,
            _ => self.with_length(0xdb, text.len())?,
        }
        self.raw(text.as_bytes())
    }

    /// Starts a byte string: `length` bytes follow, by [`raw`](Self::raw).
    pub fn bytes(&mut self, length: usize) -> io::Result<()> {
        self.with_length(0xc6, length)
    }

    pub fn int(&mut self, value: i64) -> io::Result<()> {
        match i8::try_from(value) {
            Ok(short @ -32..) => self.raw(&short.to_be_bytes()),
            _ => match i32::try_from(value) {
                Ok(value) => {
                    self.raw(&[0xd2])?;
                    self.raw(&value.to_be_bytes())
                }
                Err(_) => {
                    self.raw(&[0xd3])?;
                    self.raw(&value.to_be_bytes())
                }
            },
        }
    }

    pub fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.raw(&[0xc2 | u8::from(value)])
    }

    pub fn nil(&mut self) -> io::Result<()> {
        self.raw(&[0xc0])
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= FLUSH_AT {
            self.write_buffer()?;
        }
        Ok(())
    }

    /// Writes the rest, flushes the writer and returns the number of bytes.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write_buffer()?;
        self.writer.flush()?;
        Ok(self.bytes)
    }

    fn with_length(&mut self, tag: u8, length: usize) -> io::Result<()> {
        let length = u32::try_from(length).map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "a column has more than the 4 GB that MessagePack allows",
            )
        })?;
        self.raw(&[tag])?;
        self.raw(&length.to_be_bytes())
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_bytes_of_the_specification() {
        let mut out = Vec::new();
        let mut writer = MessagePackWriter::new(&mut out);
        writer.map(2).unwrap();
        writer.text("a").unwrap();
        writer.int(-32).unwrap();
        writer.text(&"b".repeat(32)).unwrap();
        writer.array(16).unwrap();
        for value in [127, 128, -33, 1 << 40] {
            writer.int(value).unwrap();
        }
        for value in [false, true] {
            writer.boolean(value).unwrap();
        }
        writer.nil().unwrap();
        writer.bytes(2).unwrap();
        writer.raw(&[7, 8]).unwrap();
        let length = writer.finish().unwrap();
        let mut expected = vec![0x82, 0xa1, b'a', 0xe0, 0xdb, 0, 0, 0, 32];
        expected.extend([b'b'; 32]);
        expected.extend([0xdd, 0, 0, 0, 16, 0x7f, 0xd2, 0, 0, 0, 0x80]);
        expected.extend([0xd2, 0xff, 0xff, 0xff, 0xdf]);
        expected.extend([0xd3, 0, 0, 1, 0, 0, 0, 0, 0]);
        expected.extend([0xc2, 0xc3, 0xc0, 0xc6, 0, 0, 0, 2, 7, 8]);
        assert_eq!(out, expected);
        assert_eq!(length, expected.len() as u64);
    }
}
