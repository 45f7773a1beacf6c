//! PLY files: any element and property order, and all types.

use bevy_rapier_molecules::compartment::{TriangleMesh, read_mesh};

use super::fixtures::{ENCODINGS, Encoding, PlyWriter, cube, ply};

fn read(bytes: &[u8]) -> TriangleMesh {
    read_mesh(bytes, "mesh.ply", None).unwrap()
}

const INTEGERS: [&str; 12] = [
    "char", "int8", "uchar", "uint8", "short", "int16", "ushort", "uint16", "int", "int32", "uint",
    "uint32",
];

const FLOATS: [&str; 4] = ["float", "float32", "double", "float64"];

#[test]
fn all_types_are_read_for_coordinates_lengths_and_indices() {
    let expected: [[f64; 3]; 3] = [[0.0, 1.0, 2.0], [100.0, 3.0, 4.0], [5.0, 6.0, 127.0]];
    for encoding in ENCODINGS {
        for kind in INTEGERS.iter().chain(&FLOATS) {
            // Lengths are integers.
            let length = if FLOATS.contains(kind) { "uchar" } else { kind };
            let mut writer = PlyWriter::new(
                encoding,
                &format!(
                    "element vertex 3\nproperty {kind} x\nproperty {kind} y\nproperty {kind} z\n\
                     element face 1\nproperty list {length} {kind} vertex_index\n"
                ),
            );
            for position in expected {
                position.iter().for_each(|&value| writer.put(kind, value));
                writer.end_row();
            }
            writer.put(length, 3.0);
            for corner in [2.0, 0.0, 1.0] {
                writer.put(kind, corner);
            }
            let mesh = read(&writer.bytes);
            let positions = mesh
                .vertices
                .iter()
                .map(|vertex| vertex.as_dvec3().to_array());
            assert!(positions.eq(expected), "{encoding:?}, {kind}");
            assert_eq!(mesh.triangles, [[2, 0, 1]], "{encoding:?}, {kind}");
        }
    }
}

#[test]
fn signed_and_fractional_coordinates_keep_their_value() {
    for encoding in ENCODINGS {
        for (kind, value) in [
            ("char", -128.0),
            ("short", -32_768.0),
            ("ushort", 65_535.0),
            ("int", -16_777_216.0),
            ("uint", 4_294_967_040.0),
            ("float", f64::from(-0.1_f32)),
            ("double", -0.1),
        ] {
            let declarations = format!(
                "element vertex 3\nproperty {kind} x\nproperty float y\nproperty uchar z\n\
                 element face 1\nproperty list uchar uchar vertex_indices\n"
            );
            let mut writer = PlyWriter::new(encoding, &declarations);
            for y in [0.0, 1.0, 2.0] {
                writer.put(kind, value);
                writer.put("float", y);
                writer.put("uchar", 0.0);
            }
            for byte in [3.0, 0.0, 1.0, 2.0] {
                writer.put("uchar", byte);
            }
            let mesh = read(&writer.bytes);
            assert_eq!(mesh.vertices[1].x, value as f32, "{encoding:?}, {kind}");
        }
    }
}

/// Faces before vertices, coordinates in another order, and other elements and properties of all
/// kinds in between.
#[test]
fn order_and_other_elements_and_properties_do_not_matter() {
    let declarations = "element empty 4000000000000\n\
        element material 2\nproperty list ushort double weights\nproperty uchar id\n\
        element face 2\nproperty uchar flags\nproperty list uint8 float texcoord\n\
        property list uchar ushort vertex_indices\nproperty float quality\n\
        comment in between\n\
        element edge 1\nproperty int vertex1\nproperty int vertex2\n\
        element vertex 4\nproperty double z\nproperty list int int tags\nproperty short x\n\
        property float nx\nproperty float y\n\
        element last 1\nproperty list uchar char name\n";
    for encoding in ENCODINGS {
        let mut writer = PlyWriter::new(encoding, declarations);
        for weights in [&[][..], &[0.5, 0.25]] {
            writer.put("ushort", weights.len() as f64);
            weights
                .iter()
                .for_each(|&weight| writer.put("double", weight));
            writer.put("uchar", 200.0);
            writer.end_row();
        }
        for corners in [&[0.0, 1.0, 2.0][..], &[3.0, 2.0, 1.0, 0.0]] {
            writer.put("uchar", 1.0);
            writer.put("uint8", 2.0);
            writer.put("float", 0.5);
            writer.put("float", f64::NAN);
            writer.put("uchar", corners.len() as f64);
            corners
                .iter()
                .for_each(|&corner| writer.put("ushort", corner));
            writer.put("float", f64::INFINITY);
            writer.end_row();
        }
        writer.put("int", -1.0);
        writer.put("int", 9.0);
        writer.end_row();
        for k in 0..4 {
            let k = f64::from(k);
            writer.put("double", 10.0 + k);
            writer.put("int", 1.0);
            writer.put("int", -5.0);
            writer.put("short", -k);
            writer.put("float", f64::NAN);
            writer.put("float", 20.5 + k);
            writer.end_row();
        }
        writer.put("uchar", 3.0);
        (0..3).for_each(|_| writer.put("char", 65.0));
        let mesh = read(&writer.bytes);
        assert_eq!(
            mesh.vertices[2].to_array(),
            [-2.0, 22.5, 12.0],
            "{encoding:?}"
        );
        assert_eq!(
            mesh.triangles,
            [[0, 1, 2], [3, 2, 1], [3, 1, 0]],
            "{encoding:?}"
        );
    }
}

#[test]
fn line_ends_and_padding_do_not_matter() {
    for encoding in ENCODINGS {
        let mut bytes = ply(&cube(), encoding);
        let text = b"end_header\n";
        let end = bytes.windows(text.len()).position(|window| window == text);
        let body = bytes.split_off(end.unwrap() + text.len());
        let header = String::from_utf8(bytes).unwrap();
        for line_end in ["\n", "\r\n", "\r", " \n"] {
            let mut changed = header.replace('\n', line_end).into_bytes();
            changed.extend(&body);
            // Blank lines at the end of text, any bytes after the last element of binary files.
            changed.extend(if encoding == Encoding::Ascii {
                b"\r\n "
            } else {
                b"abc"
            });
            assert_eq!(read(&changed), cube(), "{encoding:?}, {line_end:?}");
        }
    }
}
