//! [`MeshFileError`].

use thiserror::Error;

use crate::molecule::FileLocation;

/// A mesh file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot be read: {source}")]
    Io {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a valid mesh.
    #[error("{file}{location}: {problem}")]
    Invalid {
        /// The file name given to the reader.
        file: String,
        /// Where in the file.
        location: FileLocation,
        /// What is wrong there.
        problem: MeshFileProblem,
    },
}

/// What is wrong with a mesh file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshFileProblem {
    /// The name does not identify the format.
    #[error("unknown mesh format; use the extension .obj, .stl or .ply, or give the format")]
    UnknownFormat,
    /// The file has no triangles.
    #[error("the mesh is empty: found {vertices} vertices and no triangles")]
    NoTriangles {
        /// Number of vertices.
        vertices: usize,
    },
    /// A value is not a finite number.
    #[error("{what} is '{found}', expected a finite number")]
    InvalidNumber {
        /// The value.
        what: &'static str,
        /// Its text, or its number in a binary file.
        found: String,
    },
    /// The corner of a face is not an index.
    #[error("a corner of the face is '{found}', expected the index of a vertex")]
    InvalidIndex {
        /// Its text, or its number in a binary file.
        found: String,
    },
    /// A face refers to a vertex that does not exist.
    #[error("the face refers to vertex {index}, but there are {count} vertices")]
    NoSuchVertex {
        /// The index in the file: OBJ counts from 1, or from −1 backwards, PLY from 0.
        index: i64,
        /// Number of vertices: for a negative index those so far, otherwise all.
        count: u64,
    },
    /// A face is no polygon.
    #[error("the face has {found} corners, expected at least 3")]
    TooFewCorners {
        /// Number of corners.
        found: u64,
    },
    /// The syntax of the format is violated.
    #[error("found '{found}', expected {expected}")]
    Unexpected {
        /// The text in the file.
        found: String,
        /// What the format has there.
        expected: &'static str,
    },
    /// A line ends too early.
    #[error("the line ends, expected {expected}")]
    LineEnds {
        /// What the format has there.
        expected: &'static str,
    },
    /// The file ends too early.
    #[error("the file ends, expected {expected}; it may be truncated")]
    FileEnds {
        /// What the format has there.
        expected: &'static str,
    },
    /// The header of a PLY file lacks a declaration.
    #[error("the header has no {expected}")]
    NotDeclared {
        /// The declaration.
        expected: &'static str,
    },
    /// The header of a PLY file declares the same element twice.
    #[error("the element '{name}' is declared twice")]
    DeclaredTwice {
        /// Name of the element.
        name: String,
    },
    /// A PLY file is too short for its header.
    #[error(
        "the header announces {count} of '{name}', which take at least {needed} bytes, but {left} are left; the file may be truncated"
    )]
    TooShort {
        /// Name of the element.
        name: String,
        /// How many there should be.
        count: u64,
        /// The bytes that these take at least.
        needed: u64,
        /// The bytes that are left.
        left: u64,
    },
    /// The size of a binary STL file does not match its number of triangles.
    #[error(
        "the file has {found} bytes, but a binary STL file of {triangles} triangles has {expected}; it may be truncated, or not be an STL file"
    )]
    WrongSize {
        /// Bytes of the file.
        found: u64,
        /// Number of triangles according to the header.
        triangles: u32,
        /// Bytes of a file with as many triangles.
        expected: u64,
    },
    /// There are more vertices than indices.
    #[error("the mesh has more than {} vertices", u32::MAX)]
    TooManyVertices,
}
