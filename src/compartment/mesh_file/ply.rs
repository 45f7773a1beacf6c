//! Reader of PLY files, ASCII and binary: the positions of `vertex`, the polygons of `face`.
//!
//! 1. The header declares elements in any order, each with a count and its properties.
//! 2. Elements other than `vertex` and `face`, and their other properties, are skipped.
//! 3. Indices are checked against the declared number of vertices, because faces may come first.

use glam::Vec3;

use super::text::Words;
use super::{Fault, MeshFileProblem, TriangleMesh, next_index};
use crate::molecule::FileLocation;
use crate::plain_text::{parse, quote, split_line, words};

const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// The names that the list of the corners of a face has.
const CORNERS: [&[u8]; 2] = [b"vertex_indices", b"vertex_index"];

/// Minimum bytes of a word in an ASCII file, with the space after it.
const WORD_BYTES: u64 = 2;

pub(super) fn read(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let header = Header::read(bytes)?;
    let vertices = header.element(b"vertex");
    let vertex_count = vertices.map_or(0, |element| element.count);
    let mut values = match header.encoding {
        Encoding::Ascii => Values::Text(Words::new(header.body, header.lines + 1)),
        Encoding::Binary { big_endian } => Values::Binary {
            bytes: header.body,
            start: bytes.len() - header.body.len(),
            at: 0,
            big_endian,
        },
    };
    let mut mesh = TriangleMesh::default();
    for element in &header.elements {
        values.check_left(element)?;
        match element.name {
            b"vertex" => read_vertices(&mut values, element, &mut mesh)?,
            b"face" => read_faces(&mut values, element, vertex_count, &mut mesh)?,
            _ => {
                for _ in 0..element.rows() {
                    values.skip_all(&element.properties)?;
                }
            }
        }
    }
    values.check_end()?;
    Ok(mesh)
}

fn read_vertices(
    values: &mut Values<'_>,
    element: &Element<'_>,
    mesh: &mut TriangleMesh,
) -> Result<(), Fault> {
    // The axis that each property is.
    let axis = |property: &Property<'_>| match property.kind {
        Kind::Scalar(_) => COORDINATES
            .iter()
            .position(|name| name.as_bytes() == property.name),
        Kind::List { .. } => None,
    };
    let axes: Vec<Option<usize>> = element.properties.iter().map(axis).collect();
    for (wanted, expected) in [
        (0, "property x of the vertices"),
        (1, "property y of the vertices"),
        (2, "property z of the vertices"),
    ] {
        if !axes.contains(&Some(wanted)) {
            return Err(element.not_declared(expected));
        }
    }
    for _ in 0..element.rows() {
        let mut position = Vec3::ZERO;
        for (property, axis) in element.properties.iter().zip(&axes) {
            match (property.kind, *axis) {
                (Kind::Scalar(scalar), Some(axis)) => {
                    position[axis] = values.coordinate(scalar, COORDINATES[axis])?;
                }
                _ => values.skip(property.kind)?,
            }
        }
        next_index(mesh.vertices.len(), || values.location())?;
        mesh.vertices.push(position);
    }
    Ok(())
}

fn read_faces(
    values: &mut Values<'_>,
    element: &Element<'_>,
    vertex_count: u64,
    mesh: &mut TriangleMesh,
) -> Result<(), Fault> {
    let is_corners = |property: &Property<'_>| {
        CORNERS.contains(&property.name) && matches!(property.kind, Kind::List { .. })
    };
    let corners_at = element.properties.iter().position(is_corners);
    let Some(corners_at) = corners_at else {
        return Err(element.not_declared("list vertex_indices or vertex_index of the faces"));
    };
    let mut corners = Vec::new();
    for _ in 0..element.rows() {
        for (property, index) in element.properties.iter().zip(0..) {
            match property.kind {
                Kind::List { count, item } if index == corners_at => {
                    values.corners(count, item, vertex_count, &mut corners)?;
                    mesh.push_polygon(&corners);
                }
                kind => values.skip(kind)?,
            }
        }
    }
    Ok(())
}

/// How the values after the header are written.
#[derive(Clone, Copy)]
enum Encoding {
    Ascii,
    Binary { big_endian: bool },
}

/// The declarations at the start of a file.
struct Header<'a> {
    encoding: Encoding,
    elements: Vec<Element<'a>>,
    /// Number of lines.
    lines: usize,
    /// The bytes after the header.
    body: &'a [u8],
}

/// Things of one kind, such as all vertices.
struct Element<'a> {
    name: &'a [u8],
    count: u64,
    properties: Vec<Property<'a>>,
    /// Where it is declared.
    declared: FileLocation,
}

struct Property<'a> {
    name: &'a [u8],
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Scalar(Scalar),
    List { count: Scalar, item: Scalar },
}

#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut encoding = None;
        let mut elements: Vec<Element<'a>> = Vec::new();
        let (mut lines, mut rest) = (0, bytes);
        while let Some((line, after)) = split_line(rest) {
            rest = after;
            lines += 1;
            let at = FileLocation::Line(lines);
            let mut words = words(line);
            let result = match (lines, words.next()) {
                (1, Some(b"ply")) => Ok(()),
                (1, _) => unexpected(line, "'ply'"),
                (_, None | Some(b"comment" | b"obj_info")) => Ok(()),
                (_, Some(b"format")) => read_encoding(words).map(|found| encoding = Some(found)),
                (_, Some(b"element")) => {
                    read_element(words, at).and_then(|new| declare(&mut elements, new))
                }
                (_, Some(b"property")) => match elements.last_mut() {
                    Some(element) => {
                        read_property(words).map(|property| element.properties.push(property))
                    }
                    None => unexpected(line, "an element before its properties"),
                },
                (_, Some(b"end_header")) => {
                    let expected = "format";
                    let problem = MeshFileProblem::NotDeclared { expected };
                    return Ok(Self {
                        encoding: encoding.ok_or((at, problem))?,
                        elements,
                        lines,
                        body: rest,
                    });
                }
                _ => unexpected(
                    line,
                    "'format', 'comment', 'element', 'property' or 'end_header'",
                ),
            };
            result.map_err(|problem| (at, problem))?;
        }
        let expected = if lines == 0 { "'ply'" } else { "'end_header'" };
        let problem = MeshFileProblem::FileEnds { expected };
        Err((FileLocation::Line(lines.max(1)), problem))
    }

    fn element(&self, name: &[u8]) -> Option<&Element<'a>> {
        self.elements.iter().find(|element| element.name == name)
    }
}

fn unexpected<T>(found: &[u8], expected: &'static str) -> Result<T, MeshFileProblem> {
    let found = quote(found);
    Err(MeshFileProblem::Unexpected { found, expected })
}

fn next<'a>(
    words: &mut impl Iterator<Item = &'a [u8]>,
    expected: &'static str,
) -> Result<&'a [u8], MeshFileProblem> {
    words.next().ok_or(MeshFileProblem::LineEnds { expected })
}

fn read_encoding<'a>(
    mut words: impl Iterator<Item = &'a [u8]>,
) -> Result<Encoding, MeshFileProblem> {
    let expected = "'ascii', 'binary_little_endian' or 'binary_big_endian'";
    match next(&mut words, expected)? {
        b"ascii" => Ok(Encoding::Ascii),
        b"binary_little_endian" => Ok(Encoding::Binary { big_endian: false }),
        b"binary_big_endian" => Ok(Encoding::Binary { big_endian: true }),
        word => unexpected(word, expected),
    }
}

fn read_element<'a>(
    mut words: impl Iterator<Item = &'a [u8]>,
    declared: FileLocation,
) -> Result<Element<'a>, MeshFileProblem> {
    let name = next(&mut words, "the name of the element")?;
    let expected = "the number of elements";
    let word = next(&mut words, expected)?;
    let Some(count) = parse(word) else {
        return unexpected(word, expected);
    };
    Ok(Element {
        name,
        count,
        properties: Vec::new(),
        declared,
    })
}

fn declare<'a>(elements: &mut Vec<Element<'a>>, new: Element<'a>) -> Result<(), MeshFileProblem> {
    // Other elements are only skipped.
    let is_read = matches!(new.name, b"vertex" | b"face");
    if is_read && elements.iter().any(|element| element.name == new.name) {
        let name = quote(new.name);
        return Err(MeshFileProblem::DeclaredTwice { name });
    }
    elements.push(new);
    Ok(())
}

fn read_property<'a>(
    mut words: impl Iterator<Item = &'a [u8]>,
) -> Result<Property<'a>, MeshFileProblem> {
    let word = next(&mut words, "the type of the property")?;
    let kind = if word == b"list" {
        let expected = "an integer type for the length of the list";
        let word = next(&mut words, expected)?;
        let count = Scalar::from_name(word)?;
        if matches!(count, Scalar::F32 | Scalar::F64) {
            return unexpected(word, expected);
        }
        let item = Scalar::from_name(next(&mut words, "the type of the items")?)?;
        Kind::List { count, item }
    } else {
        Kind::Scalar(Scalar::from_name(word)?)
    };
    let name = next(&mut words, "the name of the property")?;
    Ok(Property { name, kind })
}

impl Scalar {
    fn from_name(name: &[u8]) -> Result<Self, MeshFileProblem> {
        match name {
            b"char" | b"int8" => Ok(Self::I8),
            b"uchar" | b"uint8" => Ok(Self::U8),
            b"short" | b"int16" => Ok(Self::I16),
            b"ushort" | b"uint16" => Ok(Self::U16),
            b"int" | b"int32" => Ok(Self::I32),
            b"uint" | b"uint32" => Ok(Self::U32),
            b"float" | b"float32" => Ok(Self::F32),
            b"double" | b"float64" => Ok(Self::F64),
            _ => unexpected(name, "a type such as 'float', 'int32' or 'uchar'"),
        }
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The value of as many bytes as the size, from the lowest.
    fn decode(self, bytes: [u8; 8]) -> f64 {
        let [a, b, c, d, ..] = bytes;
        match self {
            Self::I8 => f64::from(a as i8),
            Self::U8 => f64::from(a),
            Self::I16 => f64::from(i16::from_le_bytes([a, b])),
            Self::U16 => f64::from(u16::from_le_bytes([a, b])),
            Self::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Self::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Self::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::F64 => f64::from_le_bytes(bytes),
        }
    }

    /// The value of a word, if it is a number. Words of type `float` are rounded once.
    fn parse(self, word: &[u8]) -> Option<f64> {
        match self {
            Self::F32 => parse::<f32>(word).map(f64::from),
            _ => parse(word),
        }
    }
}

impl Kind {
    /// The scalar that this takes in any case: the value, or the length of the list.
    fn first(self) -> Scalar {
        match self {
            Self::Scalar(scalar) | Self::List { count: scalar, .. } => scalar,
        }
    }
}

impl Element<'_> {
    /// How many there are to read: elements without properties take no bytes.
    fn rows(&self) -> u64 {
        if self.properties.is_empty() {
            0
        } else {
            self.count
        }
    }

    fn not_declared(&self, expected: &'static str) -> Fault {
        (self.declared, MeshFileProblem::NotDeclared { expected })
    }
}

/// The values after the header.
enum Values<'a> {
    Text(Words<'a>),
    Binary {
        bytes: &'a [u8],
        /// Where in the file the bytes start.
        start: usize,
        /// Index of the next byte, at most the number of bytes.
        at: usize,
        big_endian: bool,
    },
}

impl<'a> Values<'a> {
    fn location(&self) -> FileLocation {
        match self {
            Self::Text(words) => words.location(),
            Self::Binary { start, at, .. } => FileLocation::Byte(start + at),
        }
    }

    /// Checks that as many elements as declared can follow, before any are read.
    fn check_left(&self, element: &Element<'_>) -> Result<(), Fault> {
        let (left, row) = match self {
            Self::Text(words) => {
                let words_of_row = element.properties.len() as u64;
                // The last word of the file has no space after it.
                (words.left() as u64 + 1, WORD_BYTES * words_of_row)
            }
            Self::Binary { bytes, at, .. } => {
                let sizes = element
                    .properties
                    .iter()
                    .map(|property| property.kind.first().size());
                ((bytes.len() - at) as u64, sizes.sum::<usize>() as u64)
            }
        };
        let needed = element.count.saturating_mul(row);
        if needed <= left {
            return Ok(());
        }
        let problem = MeshFileProblem::TooShort {
            name: quote(element.name),
            count: element.count,
            needed,
            left,
        };
        Err((element.declared, problem))
    }

    /// Takes the next bytes of a binary file.
    fn take(bytes: &'a [u8], at: &mut usize, count: usize) -> Option<&'a [u8]> {
        let taken = bytes.get(*at..)?.get(..count)?;
        *at += count;
        Some(taken)
    }

    /// The next value, and its text if it is not a number.
    fn next(&mut self, scalar: Scalar) -> Result<Result<f64, String>, Fault> {
        let end = (
            self.location(),
            MeshFileProblem::FileEnds {
                expected: "a value",
            },
        );
        match self {
            Self::Text(words) => {
                let word = words.required("a value")?;
                Ok(scalar.parse(word).ok_or_else(|| quote(word)))
            }
            Self::Binary {
                bytes,
                at,
                big_endian,
                ..
            } => {
                let taken = Self::take(bytes, at, scalar.size()).ok_or(end)?;
                let mut lowest_first = [0; 8];
                for (index, byte) in taken.iter().enumerate() {
                    let place = if *big_endian {
                        taken.len() - 1 - index
                    } else {
                        index
                    };
                    lowest_first[place] = *byte;
                }
                Ok(Ok(scalar.decode(lowest_first)))
            }
        }
    }

    /// Where the value just read is.
    fn location_of_last(&self, scalar: Scalar) -> FileLocation {
        match self.location() {
            FileLocation::Byte(byte) => FileLocation::Byte(byte - scalar.size()),
            line => line,
        }
    }

    fn coordinate(&mut self, scalar: Scalar, what: &'static str) -> Result<f32, Fault> {
        let found = match self.next(scalar)? {
            Ok(value) if (value as f32).is_finite() => return Ok(value as f32),
            Ok(value) => value.to_string(),
            Err(text) => text,
        };
        let problem = MeshFileProblem::InvalidNumber { what, found };
        Err((self.location_of_last(scalar), problem))
    }

    /// An integer that is not negative.
    fn length(&mut self, scalar: Scalar) -> Result<u64, Fault> {
        let found = match self.next(scalar)? {
            Ok(value) if is_integer(value) && value >= 0.0 => return Ok(value as u64),
            Ok(value) => value.to_string(),
            Err(text) => text,
        };
        let expected = "the length of a list";
        let problem = MeshFileProblem::Unexpected { found, expected };
        Err((self.location_of_last(scalar), problem))
    }

    /// The corners of a polygon, as indices of vertices.
    fn corners(
        &mut self,
        count: Scalar,
        item: Scalar,
        vertex_count: u64,
        corners: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        corners.clear();
        let found = self.length(count)?;
        if found < 3 {
            let problem = MeshFileProblem::TooFewCorners { found };
            return Err((self.location_of_last(count), problem));
        }
        for _ in 0..found {
            let problem = match self.next(item)? {
                Ok(value) if is_integer(value) => {
                    let index = value as i64;
                    let exists = u64::try_from(index).is_ok_and(|index| index < vertex_count);
                    match u32::try_from(index) {
                        Ok(corner) if exists => {
                            corners.push(corner);
                            continue;
                        }
                        _ => MeshFileProblem::NoSuchVertex {
                            index,
                            count: vertex_count,
                        },
                    }
                }
                Ok(value) => MeshFileProblem::InvalidIndex {
                    found: value.to_string(),
                },
                Err(found) => MeshFileProblem::InvalidIndex { found },
            };
            return Err((self.location_of_last(item), problem));
        }
        Ok(())
    }

    fn skip_all(&mut self, properties: &[Property<'_>]) -> Result<(), Fault> {
        properties
            .iter()
            .try_for_each(|property| self.skip(property.kind))
    }

    fn skip(&mut self, kind: Kind) -> Result<(), Fault> {
        match kind {
            Kind::Scalar(scalar) => self.skip_scalars(1, scalar),
            Kind::List { count, item } => {
                let length = self.length(count)?;
                self.skip_scalars(length, item)
            }
        }
    }

    fn skip_scalars(&mut self, count: u64, scalar: Scalar) -> Result<(), Fault> {
        let end = (
            self.location(),
            MeshFileProblem::FileEnds {
                expected: "a value",
            },
        );
        match self {
            Self::Text(words) => {
                for _ in 0..count {
                    words.required("a value")?;
                }
            }
            Self::Binary { bytes, at, .. } => {
                let size = usize::try_from(count).ok();
                let size = size.and_then(|count| count.checked_mul(scalar.size()));
                size.and_then(|size| Self::take(bytes, at, size))
                    .ok_or(end)?;
            }
        }
        Ok(())
    }

    /// Checks that nothing follows. Binary files may be padded.
    fn check_end(&mut self) -> Result<(), Fault> {
        let Self::Text(words) = self else {
            return Ok(());
        };
        match words.next() {
            None => Ok(()),
            Some(word) => {
                let problem = unexpected(word, "the end of the file after the last element");
                problem.map_err(|problem| (words.location(), problem))
            }
        }
    }
}

fn is_integer(value: f64) -> bool {
    value.is_finite() && value.fract() == 0.0
}
