//! Invalid files are rejected with file, location and cause.

use bevy_rapier_molecules::compartment::{MeshFileError, MeshFileProblem, read_mesh};
use bevy_rapier_molecules::molecule::FileLocation;

use super::fixtures::{Encoding, all_files, binary_stl, cube, message, ply};

fn invalid(bytes: &[u8], source: &str) -> (FileLocation, MeshFileProblem) {
    match read_mesh(bytes, source, None) {
        Err(MeshFileError::Invalid {
            file,
            location,
            problem,
        }) => {
            assert_eq!(file, source);
            (location, problem)
        }
        other => panic!("expected an invalid file, found {other:?}"),
    }
}

#[test]
fn files_without_triangles_are_rejected() {
    for (name, text, vertices) in [
        ("a.obj", "", 0),
        ("a.obj", "v 0 0 0\nv 1 0 0\n", 2),
        ("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 1\n", 2),
        ("a.stl", "solid\nendsolid\n", 0),
        ("a.ply", "ply\nformat ascii 1.0\nend_header\n", 0),
    ] {
        let expected = MeshFileProblem::NoTriangles { vertices };
        let found = invalid(text.as_bytes(), name);
        assert_eq!(found, (FileLocation::File, expected), "{text}");
    }
    let empty = binary_stl(&Default::default(), "solid");
    assert_eq!(
        message(&empty, "a.stl"),
        "a.stl: the mesh is empty: found 0 vertices and no triangles"
    );
}

#[test]
fn messages_of_obj_files_name_line_and_cause() {
    let start = "v 0 0 0\nv 1 0 0\n\nv 0 1 0 # third\n";
    for (text, expected) in [
        (
            "v 1 2\n",
            "line 5: the line ends, expected three coordinates",
        ),
        ("v 1 x 2\n", "line 5: y is 'x', expected a finite number"),
        (
            "v NaN 0 0\n",
            "line 5: x is 'NaN', expected a finite number",
        ),
        (
            "v 0 0 1e39\n",
            "line 5: z is '1e39', expected a finite number",
        ),
        (
            "v \\\n0 \\\n0 inf\n",
            "line 5: z is 'inf', expected a finite number",
        ),
        (
            "f 1 2\n",
            "line 5: the face has 2 corners, expected at least 3",
        ),
        ("f\n", "line 5: the face has 0 corners, expected at least 3"),
        (
            "f 1 2 0\n",
            "line 5: the face refers to vertex 0, but there are 3 vertices",
        ),
        (
            "f 1 2 -4\n",
            "line 5: the face refers to vertex -4, but there are 3 vertices",
        ),
        (
            "f 1 2 3\nf 1 2 4\nf 1 2 3\n",
            "line 6: the face refers to vertex 4, but there are 3 vertices",
        ),
        (
            "f 1 2 4294967296\n",
            "line 5: the face refers to vertex 4294967296, but there are 3 vertices",
        ),
        (
            "f 1 2 4294967295\n",
            "line 5: the face refers to vertex 4294967295, but there are 3 vertices",
        ),
        (
            "f 1 2 -9223372036854775808\n",
            "line 5: the face refers to vertex -9223372036854775808, but there are 3 vertices",
        ),
        (
            "f 1 2 1e3\n",
            "line 5: a corner of the face is '1e3', expected the index of a vertex",
        ),
        (
            "f 1 2 //3\n",
            "line 5: a corner of the face is '//3', expected the index of a vertex",
        ),
    ] {
        let text = format!("{start}{text}");
        let expected = format!("a.obj, {expected}");
        assert_eq!(message(text.as_bytes(), "a.obj"), expected, "{text}");
    }
}

#[test]
fn long_and_binary_text_is_shortened_in_messages() {
    let text = format!("v 0 0 {}\n", "9x".repeat(1_000));
    let expected = format!(
        "a.obj, line 1: z is '{}…', expected a finite number",
        "9x".repeat(20)
    );
    assert_eq!(message(text.as_bytes(), "a.obj"), expected);
    assert_eq!(
        message(b"v 0 0 1\x00\xff2\n", "a.obj"),
        "a.obj, line 1: z is '1\u{fffd}\u{fffd}2', expected a finite number"
    );
}

#[test]
fn messages_of_ascii_stl_files_name_line_and_cause() {
    let facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                 endloop\nendfacet\nendsolid\n";
    let text = format!("solid\n{facet}");
    for (from, to, expected) in [
        (
            "facet normal",
            "face normal",
            "line 2: found 'face', expected 'facet' or 'endsolid'",
        ),
        (
            "normal",
            "abnormal",
            "line 2: found 'abnormal', expected 'normal'",
        ),
        (
            "outer",
            "inner",
            "line 3: found 'inner', expected 'outer loop'",
        ),
        (
            "loop\nv",
            "loops\nv",
            "line 3: found 'loops', expected 'outer loop'",
        ),
        (
            "vertex 1",
            "vortex 1",
            "line 5: found 'vortex', expected 'vertex'",
        ),
        (
            "vertex 1",
            "vertex one",
            "line 5: x is 'one', expected a finite number",
        ),
        (
            "1 0 0\nv",
            "1 0 -inf\nv",
            "line 5: z is '-inf', expected a finite number",
        ),
        (
            "endloop",
            "vertex 1 1 0\nendloop",
            "line 7: found 'vertex', expected 'endloop' after three vertices",
        ),
        (
            "vertex 0 1 0\n",
            "",
            "line 6: found 'endloop', expected 'vertex'",
        ),
        (
            "endfacet",
            "endsolid",
            "line 8: found 'endsolid', expected 'endfacet'",
        ),
        (
            "endsolid\n",
            "\n",
            "line 10: the file ends, expected 'facet' or 'endsolid'; it may be truncated",
        ),
        (
            "endsolid\n",
            "endsolid\nfacet\n",
            "line 10: found 'facet', expected 'solid' or the end",
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let expected = format!("a.stl, {expected}");
        assert_eq!(message(changed.as_bytes(), "a.stl"), expected, "{changed}");
    }
    assert_eq!(
        message(b"sold\nfacet\n", "a.stl"),
        "a.stl, line 1: found 'sold', expected 'solid', or a binary file"
    );
    assert_eq!(
        message(b"", "a.stl"),
        "a.stl, line 1: the file ends, expected 'solid', or a binary file; it may be truncated"
    );
}

#[test]
fn messages_of_binary_stl_files_name_byte_and_cause() {
    let bytes = binary_stl(&cube(), "");
    let mut damaged = bytes.clone();
    // The y coordinate of the second vertex of the second triangle.
    damaged[84 + 50 + 28..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(
        message(&damaged, "a.stl"),
        "a.stl, byte 162: y is 'NaN', expected a finite number"
    );
    assert_eq!(
        message(&bytes[..600], "a.stl"),
        "a.stl: the file has 600 bytes, but a binary STL file of 12 triangles has 684; \
         it may be truncated, or not be an STL file"
    );
    let mut huge = bytes;
    huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        message(&huge, "a.stl"),
        "a.stl: the file has 684 bytes, but a binary STL file of 4294967295 triangles has \
         214748364834; it may be truncated, or not be an STL file"
    );
}

const HEADER: &str = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
                      property float z\nelement face 1\nproperty list uchar int vertex_indices\n\
                      end_header\n";

#[test]
fn messages_of_ply_headers_name_line_and_cause() {
    let body = "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    for (from, to, expected) in [
        ("ply", "plyx", "line 1: found 'plyx', expected 'ply'"),
        ("format ascii 1.0\n", "", "line 8: the header has no format"),
        (
            "ascii",
            "text",
            "line 2: found 'text', expected 'ascii', 'binary_little_endian' or 'binary_big_endian'",
        ),
        (
            "format ascii 1.0",
            "format",
            "line 2: the line ends, expected 'ascii', 'binary_little_endian' or 'binary_big_endian'",
        ),
        (
            "format ascii 1.0",
            "format ascii 1.0\nproperty int a",
            "line 3: found 'property int a', expected an element before its properties",
        ),
        (
            "element vertex 3",
            "element",
            "line 3: the line ends, expected the name of the element",
        ),
        (
            "vertex 3",
            "vertex",
            "line 3: the line ends, expected the number of elements",
        ),
        (
            "vertex 3",
            "vertex -3",
            "line 3: found '-3', expected the number of elements",
        ),
        (
            "element face",
            "element vertex",
            "line 7: the element 'vertex' is declared twice",
        ),
        (
            "float x",
            "half x",
            "line 4: found 'half', expected a type such as 'float', 'int32' or 'uchar'",
        ),
        (
            "float x",
            "float",
            "line 4: the line ends, expected the name of the property",
        ),
        (
            "float x",
            "float u",
            "line 3: the header has no property x of the vertices",
        ),
        (
            "float y",
            "list uchar int y",
            "line 3: the header has no property y of the vertices",
        ),
        (
            "vertex_indices",
            "corners",
            "line 7: the header has no list vertex_indices or vertex_index of the faces",
        ),
        (
            "list uchar",
            "list float",
            "line 8: found 'float', expected an integer type for the length of the list",
        ),
        (
            "end_header",
            "endheader",
            "line 9: found 'endheader', expected 'format', 'comment', 'element', 'property' or \
             'end_header'",
        ),
    ] {
        let text = format!("{HEADER}{body}").replacen(from, to, 1);
        let expected = format!("a.ply, {expected}");
        assert_eq!(message(text.as_bytes(), "a.ply"), expected, "{text}");
    }
    assert_eq!(
        message(&HEADER.as_bytes()[..72], "a.ply"),
        "a.ply, line 5: the file ends, expected 'end_header'; it may be truncated"
    );
    assert_eq!(
        message(b"", "a.ply"),
        "a.ply, line 1: the file ends, expected 'ply'; it may be truncated"
    );
}

#[test]
fn messages_of_ply_values_name_line_or_byte_and_cause() {
    for (body, expected) in [
        (
            "0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n",
            "line 11: z is 'NaN', expected a finite number",
        ),
        (
            "0 0 0\n1 zero 0\n0 1 0\n3 0 1 2\n",
            "line 11: y is 'zero', expected a finite number",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n2 0 1\n",
            "line 13: the face has 2 corners, expected at least 3",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n-3 0 1 2\n",
            "line 13: found '-3', expected the length of a list",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
            "line 13: the face refers to vertex 3, but there are 3 vertices",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n",
            "line 13: the face refers to vertex -1, but there are 3 vertices",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n",
            "line 13: a corner of the face is '1.5', expected the index of a vertex",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n3 0 1 b\n",
            "line 13: a corner of the face is 'b', expected the index of a vertex",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n",
            "line 14: the file ends, expected a value; it may be truncated",
        ),
        (
            "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n7\n",
            "line 14: found '7', expected the end of the file after the last element",
        ),
    ] {
        let text = format!("{HEADER}{body}");
        let expected = format!("a.ply, {expected}");
        assert_eq!(message(text.as_bytes(), "a.ply"), expected, "{text}");
    }
    let mut bytes = ply(&cube(), Encoding::BigEndian);
    let faces = bytes.len() - 12 * 13;
    bytes[faces + 5..][..4].copy_from_slice(&8_u32.to_be_bytes());
    let expected = format!(
        "a.ply, byte {}: the face refers to vertex 8, but there are 8 vertices",
        faces + 5
    );
    assert_eq!(message(&bytes, "a.ply"), expected);
}

#[test]
fn counts_that_do_not_fit_in_the_file_are_rejected_before_reading() {
    for (from, to) in [
        ("vertex 3", "vertex 18446744073709551615"),
        ("vertex 3", "vertex 4294967296"),
        ("face 1", "face 4000000000"),
    ] {
        for encoding in ["ascii", "binary_little_endian", "binary_big_endian"] {
            let mut text = HEADER.replacen(from, to, 1).replacen("ascii", encoding, 1);
            text += &"00000000 ".repeat(20);
            let (_, problem) = invalid(text.as_bytes(), "a.ply");
            let is_short = matches!(problem, MeshFileProblem::TooShort { .. });
            assert!(is_short, "{to}, {encoding}: {problem}");
        }
    }
    assert_eq!(
        message(
            HEADER.replace("vertex 3", "vertex 1000").as_bytes(),
            "a.ply"
        ),
        "a.ply, line 3: the header announces 1000 of 'vertex', which take at least 6000 bytes, \
         but 1 are left; the file may be truncated"
    );
    // The length of a list.
    let header = HEADER.replacen("ascii", "binary_little_endian", 1);
    let header = header.replacen("uchar", "uint", 1);
    let header = header.replacen("vertex 3", "vertex 1", 1);
    let mut bytes = header.into_bytes();
    bytes.extend([0; 12]);
    bytes.extend([0xff, 0xff, 0xff, 0xff]);
    let end = bytes.len();
    bytes.extend([0; 9]);
    let expected = format!(
        "a.ply, byte {}: the file ends, expected a value; it may be truncated",
        end + 8
    );
    assert_eq!(message(&bytes, "a.ply"), expected);
}

#[test]
fn truncated_files_are_rejected_wherever_they_end() {
    for (name, source, bytes) in all_files(&cube()) {
        // An OBJ file without its last faces is valid.
        if source == "mesh.obj" {
            continue;
        }
        // The last line of ASCII files may miss its end, its name, or digits of its last number.
        let needed = match name.as_str() {
            "ASCII STL" => bytes.len() - "a name with facet\n".len() - 1,
            "PLY, Ascii" => bytes.len() - 3,
            _ => bytes.len(),
        };
        for length in 0..needed {
            assert!(
                read_mesh(&bytes[..length], source, None).is_err(),
                "{name} of {length} bytes"
            );
        }
    }
}
