//! Reader of STL files, ASCII and binary. Equal vertices of different triangles become one.

use std::collections::HashMap;

use glam::Vec3;

use super::text::{Words, coordinate, without_mark};
use super::{Fault, MeshFileProblem, TriangleMesh, next_index};
use crate::molecule::FileLocation;
use crate::plain_text::quote;

/// Bytes of the header of a binary file, with the number of triangles.
const HEADER_BYTES: usize = 84;

/// Bytes of a triangle of a binary file: the normal, three vertices and two bytes of attributes.
const TRIANGLE_BYTES: usize = 50;

/// Bytes of a normal or a vertex.
const VECTOR_BYTES: usize = 12;

const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// Reads a binary file if the size is that of one, even if the header starts with "solid" as
/// that of an ASCII file.
pub(super) fn read(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let count = triangle_count(bytes);
    let expected =
        count.map(|count| HEADER_BYTES as u64 + TRIANGLE_BYTES as u64 * u64::from(count));
    let found = bytes.len() as u64;
    if expected == Some(found) {
        return read_binary(bytes);
    }
    let text = without_mark(bytes);
    match (count, expected) {
        (Some(triangles), Some(expected)) if !starts_as_text(text) => {
            let problem = MeshFileProblem::WrongSize {
                found,
                triangles,
                expected,
            };
            Err((FileLocation::File, problem))
        }
        _ => read_text(text),
    }
}

/// The number of triangles in the header, if the file were binary.
fn triangle_count(bytes: &[u8]) -> Option<u32> {
    let count = bytes.get(HEADER_BYTES - 4..HEADER_BYTES)?;
    Some(u32::from_le_bytes(count.try_into().ok()?))
}

fn starts_as_text(bytes: &[u8]) -> bool {
    let word = Words::new(bytes, 1).next();
    word.is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
}

fn read_binary(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let mut builder = Builder::default();
    let body = bytes.get(HEADER_BYTES..).unwrap_or_default();
    for (triangle, row) in body.chunks_exact(TRIANGLE_BYTES).enumerate() {
        let start = HEADER_BYTES + triangle * TRIANGLE_BYTES;
        let mut corners = [Vec3::ZERO; 3];
        for (corner, position) in corners.iter_mut().enumerate() {
            for axis in 0..3 {
                let offset = VECTOR_BYTES * (corner + 1) + 4 * axis;
                let [a, b, c, d] = [0, 1, 2, 3].map(|byte| row[offset + byte]);
                let value = f32::from_le_bytes([a, b, c, d]);
                if !value.is_finite() {
                    let problem = MeshFileProblem::InvalidNumber {
                        what: COORDINATES[axis],
                        found: value.to_string(),
                    };
                    return Err((FileLocation::Byte(start + offset), problem));
                }
                position[axis] = value;
            }
        }
        builder.push(corners, FileLocation::Byte(start))?;
    }
    Ok(builder.mesh)
}

/// Reads one solid or several, as one mesh.
fn read_text(text: &[u8]) -> Result<TriangleMesh, Fault> {
    let mut builder = Builder::default();
    let mut words = Words::new(text, 1);
    keyword(&mut words, b"solid", "'solid', or a binary file")?;
    words.skip_line();
    loop {
        let expected = "'facet' or 'endsolid'";
        let word = words.required(expected)?;
        if word.eq_ignore_ascii_case(b"facet") {
            read_facet(&mut words, &mut builder)?;
        } else if word.eq_ignore_ascii_case(b"endsolid") {
            words.skip_line();
            match words.next() {
                None => return Ok(builder.mesh),
                Some(word) => check_keyword(&words, word, b"solid", "'solid' or the end")?,
            }
            words.skip_line();
        } else {
            return Err(unexpected(&words, word, expected));
        }
    }
}

fn read_facet(words: &mut Words<'_>, builder: &mut Builder) -> Result<(), Fault> {
    keyword(words, b"normal", "'normal'")?;
    for _ in 0..3 {
        // Not used, and often zero or not finite.
        words.required("the normal")?;
    }
    keyword(words, b"outer", "'outer loop'")?;
    keyword(words, b"loop", "'outer loop'")?;
    let mut corners = [Vec3::ZERO; 3];
    for position in &mut corners {
        keyword(words, b"vertex", "'vertex'")?;
        for (axis, what) in COORDINATES.into_iter().enumerate() {
            let word = words.required("a coordinate")?;
            let value = coordinate(word, what).map_err(|problem| (words.location(), problem))?;
            position[axis] = value;
        }
    }
    keyword(words, b"endloop", "'endloop' after three vertices")?;
    keyword(words, b"endfacet", "'endfacet'")?;
    builder.push(corners, words.location())
}

/// Reads a keyword, in upper or lower case.
fn keyword(words: &mut Words<'_>, word: &[u8], expected: &'static str) -> Result<(), Fault> {
    let found = words.required(expected)?;
    check_keyword(words, found, word, expected)
}

fn check_keyword(
    words: &Words<'_>,
    found: &[u8],
    word: &[u8],
    expected: &'static str,
) -> Result<(), Fault> {
    if found.eq_ignore_ascii_case(word) {
        Ok(())
    } else {
        Err(unexpected(words, found, expected))
    }
}

fn unexpected(words: &Words<'_>, found: &[u8], expected: &'static str) -> Fault {
    let found = quote(found);
    (
        words.location(),
        MeshFileProblem::Unexpected { found, expected },
    )
}

/// A mesh whose equal vertices are one.
#[derive(Default)]
struct Builder {
    mesh: TriangleMesh,
    /// Index of the vertex with these bits of its coordinates.
    indices: HashMap<[u32; 3], u32>,
}

impl Builder {
    fn push(&mut self, corners: [Vec3; 3], at: FileLocation) -> Result<(), Fault> {
        let mut triangle = [0; 3];
        for (index, corner) in triangle.iter_mut().zip(corners) {
            // −0 + 0 is 0.
            let corner = corner + Vec3::ZERO;
            let bits = corner.to_array().map(f32::to_bits);
            *index = match self.indices.get(&bits) {
                Some(&index) => index,
                None => {
                    let new = next_index(self.mesh.vertices.len(), || at)?;
                    self.mesh.vertices.push(corner);
                    self.indices.insert(bits, new);
                    new
                }
            };
        }
        self.mesh.push_polygon(&triangle);
        Ok(())
    }
}
