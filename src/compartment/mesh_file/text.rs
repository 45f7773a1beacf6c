//! [`Words`] and coordinates of text formats.

use super::{Fault, MeshFileProblem};
use crate::molecule::FileLocation;
use crate::plain_text::{parse, quote};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text after its byte order mark, if it has one.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Words of a file in which lines do not matter, except for errors.
pub(super) struct Words<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Words<'a> {
    /// Words of `bytes`, which start at this line of the file.
    pub(super) fn new(bytes: &'a [u8], line: usize) -> Self {
        Self { rest: bytes, line }
    }

    /// The line of the last word.
    pub(super) fn location(&self) -> FileLocation {
        FileLocation::Line(self.line)
    }

    /// The bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The next word, if there is one.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.rest {
                [] => return None,
                [b'\r', b'\n', rest @ ..] | [b'\r' | b'\n', rest @ ..] => {
                    self.line += 1;
                    self.rest = rest;
                }
                [space, rest @ ..] if space.is_ascii_whitespace() => self.rest = rest,
                _ => break,
            }
        }
        let end = self.rest.iter().position(u8::is_ascii_whitespace);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Some(word)
    }

    /// The next word, which must exist.
    pub(super) fn required(&mut self, expected: &'static str) -> Result<&'a [u8], Fault> {
        let word = self.next();
        word.ok_or_else(|| (self.location(), MeshFileProblem::FileEnds { expected }))
    }

    /// Skips the rest of the line of the last word.
    pub(super) fn skip_line(&mut self) {
        let end = self
            .rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'));
        self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
    }
}

/// A coordinate: a finite number.
pub(super) fn coordinate(word: &[u8], what: &'static str) -> Result<f32, MeshFileProblem> {
    let number = parse(word).filter(|number: &f32| number.is_finite());
    number.ok_or_else(|| MeshFileProblem::InvalidNumber {
        what,
        found: quote(word),
    })
}
