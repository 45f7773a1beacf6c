//! STL files: ASCII or binary, and vertices that become one.

use bevy_rapier_molecules::compartment::{TriangleMesh, read_mesh};
use glam::Vec3;

use super::fixtures::{ascii_stl, binary_stl, corners, cube};

fn read(bytes: &[u8]) -> TriangleMesh {
    read_mesh(bytes, "mesh.stl", None).unwrap()
}

#[test]
fn keywords_of_ascii_files_are_in_any_case_and_lines_do_not_matter() {
    let text = String::from_utf8(ascii_stl(&cube())).unwrap();
    let (name, rest) = text.split_once('\n').unwrap();
    for changed in [
        text.to_uppercase(),
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        format!("\n\n  {text}"),
        format!("\u{feff}{text}"),
        format!("{name}\n{}", rest.replace('\n', " ")),
        text.replace(" a name with facet", ""),
    ] {
        let mesh = read(changed.as_bytes());
        assert_eq!(corners(&mesh), corners(&cube()), "{changed:?}");
    }
}

#[test]
fn several_solids_become_one_mesh() {
    let mut bytes = ascii_stl(&cube());
    let mut second = cube();
    second
        .vertices
        .iter_mut()
        .for_each(|vertex| vertex.x += 20.0);
    bytes.extend(ascii_stl(&second));
    let mesh = read(&bytes);
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (16, 24));
}

#[test]
fn zeros_of_both_signs_are_equal() {
    let mesh = TriangleMesh {
        vertices: vec![
            Vec3::new(0.0, -0.0, 0.0),
            Vec3::X,
            Vec3::Y,
            Vec3::new(-0.0, 0.0, -0.0),
            Vec3::new(0.0, 1.0, -0.0),
            Vec3::Z,
        ],
        triangles: vec![[0, 1, 2], [3, 4, 5]],
    };
    for bytes in [ascii_stl(&mesh), binary_stl(&mesh, "")] {
        let read = read(&bytes);
        assert_eq!(read.vertices.len(), 4);
        assert_eq!(read.triangles, [[0, 1, 2], [0, 2, 3]]);
        let is_positive = |vertex: &Vec3| vertex.to_array().iter().all(|x| x.is_sign_positive());
        assert!(read.vertices.iter().all(is_positive));
    }
}

#[test]
fn vertices_that_differ_in_one_bit_remain_two() {
    let next = Vec3::new(f32::from_bits(1.0_f32.to_bits() + 1), 0.0, 0.0);
    let mesh = TriangleMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, next],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    assert_eq!(read(&binary_stl(&mesh, "")).vertices.len(), 4);
    assert_eq!(read(&ascii_stl(&mesh)).vertices.len(), 4);
}
