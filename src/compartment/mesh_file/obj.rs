//! Reader of Wavefront OBJ files: vertices and faces of all objects and groups, as one mesh.

use glam::Vec3;

use super::text::{coordinate, without_mark};
use super::{Fault, MeshFileProblem, TriangleMesh, next_index};
use crate::molecule::FileLocation;
use crate::plain_text::{parse, quote, split_line, words};

pub(super) fn read(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let mut reader = Reader::default();
    let mut rest = without_mark(bytes);
    // A statement that goes on in the next line.
    let mut statement: Vec<u8> = Vec::new();
    let (mut line_number, mut first_line) = (0, 1);
    while let Some((line, after)) = split_line(rest) {
        rest = after;
        line_number += 1;
        if statement.is_empty() {
            first_line = line_number;
        }
        let text = line.split(|&byte| byte == b'#').next().unwrap_or(line);
        let text = text.trim_ascii_end();
        if let [text @ .., b'\\'] = text {
            statement.extend_from_slice(text);
            statement.push(b' ');
            continue;
        }
        let at = FileLocation::Line(first_line);
        if statement.is_empty() {
            reader.read_statement(text, at)?;
        } else {
            statement.extend_from_slice(text);
            reader.read_statement(&statement, at)?;
            statement.clear();
        }
    }
    reader.read_statement(&statement, FileLocation::Line(first_line))?;
    reader.finish()
}

#[derive(Default)]
struct Reader {
    mesh: TriangleMesh,
    /// Corners of the current face.
    corners: Vec<u32>,
    /// The largest index so far, from 1, and where it is first used: faces may come before their
    /// vertices.
    largest: Option<(u32, FileLocation)>,
}

impl Reader {
    fn read_statement(&mut self, text: &[u8], at: FileLocation) -> Result<(), Fault> {
        let mut words = words(text);
        let result = match words.next() {
            Some(b"v") => self.read_vertex(words, at),
            Some(b"f") => self.read_face(words, at),
            // Everything else has no influence on the shape.
            _ => Ok(()),
        };
        result.map_err(|problem| (at, problem))
    }

    fn read_vertex<'a>(
        &mut self,
        mut words: impl Iterator<Item = &'a [u8]>,
        at: FileLocation,
    ) -> Result<(), MeshFileProblem> {
        let mut next = |what, expected| match words.next() {
            Some(word) => coordinate(word, what),
            None => Err(MeshFileProblem::LineEnds { expected }),
        };
        let position = Vec3::new(
            next("x", "three coordinates")?,
            next("y", "three coordinates")?,
            next("z", "three coordinates")?,
        );
        next_index(self.mesh.vertices.len(), || at).map_err(|(_, problem)| problem)?;
        self.mesh.vertices.push(position);
        Ok(())
    }

    fn read_face<'a>(
        &mut self,
        words: impl Iterator<Item = &'a [u8]>,
        at: FileLocation,
    ) -> Result<(), MeshFileProblem> {
        self.corners.clear();
        for word in words {
            let corner = self.read_corner(word)?;
            self.corners.push(corner);
            let number = corner + 1;
            if self.largest.is_none_or(|(largest, _)| largest < number) {
                self.largest = Some((number, at));
            }
        }
        if self.corners.len() < 3 {
            let found = self.corners.len() as u64;
            return Err(MeshFileProblem::TooFewCorners { found });
        }
        self.mesh.push_polygon(&self.corners);
        Ok(())
    }

    /// The index, from 0, of a vertex in a corner such as `7`, `7/1`, `7//2`, `7/1/2` or `-1`.
    fn read_corner(&self, word: &[u8]) -> Result<u32, MeshFileProblem> {
        let vertex = word.split(|&byte| byte == b'/').next().unwrap_or(word);
        let index: i64 =
            parse(vertex).ok_or_else(|| MeshFileProblem::InvalidIndex { found: quote(word) })?;
        let count = self.mesh.vertices.len() as u64;
        let from_zero = if index < 0 {
            count.checked_sub(index.unsigned_abs())
        } else {
            index.unsigned_abs().checked_sub(1)
        };
        from_zero
            .and_then(|index| u32::try_from(index).ok())
            .filter(|&index| index < u32::MAX)
            .ok_or(MeshFileProblem::NoSuchVertex { index, count })
    }

    fn finish(self) -> Result<TriangleMesh, Fault> {
        let count = self.mesh.vertices.len() as u64;
        match self.largest {
            Some((index, at)) if u64::from(index) > count => {
                let index = i64::from(index);
                Err((at, MeshFileProblem::NoSuchVertex { index, count }))
            }
            _ => Ok(self.mesh),
        }
    }
}
