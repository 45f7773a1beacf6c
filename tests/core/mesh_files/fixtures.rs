//! Meshes, and writers of all formats.

use std::fmt::Write;

use bevy_rapier_molecules::compartment::{TriangleMesh, read_mesh};
use glam::Vec3;

use crate::compartment::fixtures::{cube_mesh, octasphere};

pub const HALF_EXTENTS: Vec3 = Vec3::new(4.0, 2.5, 1.5);
pub const SPHERE_RADIUS: f32 = 3.0;

pub fn cube() -> TriangleMesh {
    let (vertices, triangles) = cube_mesh(HALF_EXTENTS);
    TriangleMesh {
        vertices,
        triangles,
    }
}

/// A sphere of 2,048 triangles that do not share vertices.
pub fn sphere() -> TriangleMesh {
    let (vertices, triangles) = octasphere(SPHERE_RADIUS, 4);
    TriangleMesh {
        vertices,
        triangles,
    }
}

/// The corners of all triangles, for comparisons of meshes with other indices.
pub fn corners(mesh: &TriangleMesh) -> Vec<[Vec3; 3]> {
    let position = |index: u32| mesh.vertices[index as usize];
    mesh.triangles
        .iter()
        .map(|triangle| triangle.map(position))
        .collect()
}

/// The message of the error that reading these bytes gives.
pub fn message(bytes: &[u8], source: &str) -> String {
    read_mesh(bytes, source, None).unwrap_err().to_string()
}

pub fn obj(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("# a comment\no mesh\n");
    for Vec3 { x, y, z } in &mesh.vertices {
        writeln!(text, "v {x} {y} {z}").unwrap();
    }
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|corner| corner + 1);
        writeln!(text, "f {a} {b} {c}").unwrap();
    }
    text.into_bytes()
}

pub fn ascii_stl(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("solid a name with facet\n");
    for triangle in corners(mesh) {
        text += "  facet normal 0 0 nan\n    outer loop\n";
        for Vec3 { x, y, z } in triangle {
            writeln!(text, "      vertex {x:e} {y:e} {z:e}").unwrap();
        }
        text += "    endloop\n  endfacet\n";
    }
    text += "endsolid a name with facet\n";
    text.into_bytes()
}

/// A binary file whose header starts with the given text.
pub fn binary_stl(mesh: &TriangleMesh, header: &str) -> Vec<u8> {
    let mut bytes = header.as_bytes().to_vec();
    bytes.resize(80, 0);
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for triangle in corners(mesh) {
        for vector in [Vec3::NAN].iter().chain(&triangle) {
            bytes.extend(
                vector
                    .to_array()
                    .iter()
                    .flat_map(|value| value.to_le_bytes()),
            );
        }
        bytes.extend([7, 7]);
    }
    bytes
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

pub const ENCODINGS: [Encoding; 3] = [Encoding::Ascii, Encoding::LittleEndian, Encoding::BigEndian];

/// A PLY file, value by value.
pub struct PlyWriter {
    pub bytes: Vec<u8>,
    encoding: Encoding,
}

impl PlyWriter {
    /// Writes the header; `declarations` are its lines between `format` and `end_header`.
    pub fn new(encoding: Encoding, declarations: &str) -> Self {
        let name = match encoding {
            Encoding::Ascii => "ascii",
            Encoding::LittleEndian => "binary_little_endian",
            Encoding::BigEndian => "binary_big_endian",
        };
        let header = format!("ply\nformat {name} 1.0\n{declarations}end_header\n");
        Self {
            bytes: header.into_bytes(),
            encoding,
        }
    }

    /// Writes a value as the PLY type of this name.
    pub fn put(&mut self, kind: &str, value: f64) {
        if self.encoding == Encoding::Ascii {
            // The shortest text of a float is that of its own type.
            let text = if kind.starts_with("float") && kind != "float64" {
                (value as f32).to_string()
            } else {
                value.to_string()
            };
            self.bytes.extend(text.as_bytes());
            self.bytes.push(b' ');
            return;
        }
        let mut bytes = match kind {
            "char" | "int8" => (value as i8).to_le_bytes().to_vec(),
            "uchar" | "uint8" => (value as u8).to_le_bytes().to_vec(),
            "short" | "int16" => (value as i16).to_le_bytes().to_vec(),
            "ushort" | "uint16" => (value as u16).to_le_bytes().to_vec(),
            "int" | "int32" => (value as i32).to_le_bytes().to_vec(),
            "uint" | "uint32" => (value as u32).to_le_bytes().to_vec(),
            "float" | "float32" => (value as f32).to_le_bytes().to_vec(),
            "double" | "float64" => value.to_le_bytes().to_vec(),
            _ => panic!("no type {kind}"),
        };
        if self.encoding == Encoding::BigEndian {
            bytes.reverse();
        }
        self.bytes.extend(bytes);
    }

    pub fn end_row(&mut self) {
        if self.encoding == Encoding::Ascii {
            self.bytes.push(b'\n');
        }
    }
}

pub fn ply(mesh: &TriangleMesh, encoding: Encoding) -> Vec<u8> {
    let declarations = format!(
        "comment by the tests\nobj_info nothing\n\
         element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    );
    let mut writer = PlyWriter::new(encoding, &declarations);
    for vertex in &mesh.vertices {
        for value in vertex.to_array() {
            writer.put("float", f64::from(value));
        }
        writer.end_row();
    }
    for triangle in &mesh.triangles {
        writer.put("uchar", 3.0);
        for corner in triangle {
            writer.put("int", f64::from(*corner));
        }
        writer.end_row();
    }
    writer.bytes
}

/// The mesh in every format: a name for messages, the name of the file, and its bytes.
pub fn all_files(mesh: &TriangleMesh) -> Vec<(String, &'static str, Vec<u8>)> {
    let mut files = vec![
        ("OBJ".to_owned(), "mesh.obj", obj(mesh)),
        ("ASCII STL".to_owned(), "mesh.stl", ascii_stl(mesh)),
        ("binary STL".to_owned(), "mesh.stl", binary_stl(mesh, "")),
        (
            "binary STL that starts with solid".to_owned(),
            "mesh.stl",
            binary_stl(mesh, "solid mesh"),
        ),
    ];
    for encoding in ENCODINGS {
        let bytes = ply(mesh, encoding);
        files.push((format!("PLY, {encoding:?}"), "mesh.ply", bytes));
    }
    files
}
