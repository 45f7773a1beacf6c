//! OBJ files: the syntax of vertices and faces.

use bevy_rapier_molecules::compartment::{TriangleMesh, read_mesh};

use super::fixtures::{cube, obj};

fn read(text: &str) -> TriangleMesh {
    read_mesh(text.as_bytes(), "mesh.obj", None).unwrap()
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn corners_have_texture_and_normal_indices_or_none() {
    for face in [
        "f 1 2 3",
        "f 1/9 2/9 3/9",
        "f 1//9 2//9 3//9",
        "f 1/9/9 2/9/9 3/9/9",
    ] {
        let mesh = read(&format!("{SQUARE}{face}"));
        assert_eq!(mesh.triangles, [[0, 1, 2]], "{face}");
    }
}

#[test]
fn negative_indices_count_back_from_the_last_vertex_so_far() {
    let mesh = read(&format!("{SQUARE}f -4 -3 -2\nv 5 5 5\nf -1//-1 1 2\n"));
    assert_eq!(mesh.triangles, [[0, 1, 2], [4, 0, 1]]);
}

#[test]
fn faces_may_come_before_their_vertices() {
    let mesh = read(&format!("f 1 2 4\n{SQUARE}"));
    assert_eq!(mesh.triangles, [[0, 1, 3]]);
}

#[test]
fn polygons_become_fans() {
    let mesh = read(&format!("{SQUARE}v 0 0.5 0\nf 1 2 3 4 5\n"));
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
}

#[test]
fn weights_and_colors_of_vertices_are_ignored() {
    let mesh = read("v 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0 red\nf 1 2 3\n");
    assert_eq!(mesh.vertices[2].to_array(), [0.0, 1.0, 0.0]);
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn line_ends_comments_and_continuations_do_not_matter() {
    let expected = cube();
    let text = String::from_utf8(obj(&expected)).unwrap();
    for changed in [
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        text.replace('\n', " # comment \\\n"),
        text.replace("f ", "f \\\n  \\\r\n "),
        text.replace("v ", "  \tv\t"),
        format!("\u{feff}{text}"),
        text.trim_end().to_owned(),
        format!("{text}\\"),
    ] {
        assert_eq!(read(&changed), expected, "{changed:?}");
    }
}

#[test]
fn objects_and_groups_merge_and_other_statements_are_ignored() {
    let mesh = read(
        "mtllib a.mtl\no first\nv 0 0 0\nv 1 0 0\nvn 0 0 1\nvt 0 0\nv 0 1 0\ng a b\ns off\n\
         usemtl m#1\nf 1 2 3\no second\nv 0 0 1\nfo 1 2\nl 1 2\nvp 1\nf 1 2 4\n",
    );
    assert_eq!(mesh.vertices.len(), 4);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 1, 3]]);
}

#[test]
fn names_need_not_be_utf_8() {
    let mut bytes = b"o caf\xe9\n# \xff\n".to_vec();
    bytes.extend(obj(&cube()));
    assert_eq!(read_mesh(&bytes, "mesh.obj", None).unwrap(), cube());
}
