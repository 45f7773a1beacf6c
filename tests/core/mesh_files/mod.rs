//! Mesh files: every variant of OBJ, STL and PLY gives the mesh that was written, and invalid
//! files are rejected with file, location and cause.

mod closed_compartments;
mod errors;
mod fixtures;
mod never_panic;
mod obj_files;
mod ply_files;
mod stl_files;

use bevy_rapier_molecules::compartment::{MeshFileError, MeshFormat, load_mesh, read_mesh};

#[test]
fn formats_are_recognized_by_extension_in_any_case() {
    for (name, format) in [
        ("a.obj", Some(MeshFormat::Obj)),
        ("folder.ply/A.STL", Some(MeshFormat::Stl)),
        ("a.b.Ply", Some(MeshFormat::Ply)),
        ("a.obj.gz", None),
        ("obj", None),
        ("", None),
    ] {
        assert_eq!(MeshFormat::from_name(name), format, "{name}");
    }
    let error = read_mesh(b"v 0 0 0\n", "mesh.dae", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mesh.dae: unknown mesh format; use the extension .obj, .stl or .ply, or give the format"
    );
}

#[test]
fn a_given_format_takes_precedence_over_the_extension() {
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let mesh = read_mesh(text, "mesh.stl", Some(MeshFormat::Obj)).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    assert!(read_mesh(text, "mesh.stl", None).is_err());
}

#[test]
fn files_are_loaded_from_disk_and_missing_ones_reported() {
    let path = std::env::temp_dir().join(format!("mesh_files_{}.OBJ", std::process::id()));
    std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let mesh = load_mesh(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(mesh.unwrap().vertices.len(), 3);
    let error = load_mesh(&path).unwrap_err();
    assert!(matches!(error, MeshFileError::Io { .. }), "{error:?}");
    let start = format!("{}: cannot be read: ", path.display());
    assert!(error.to_string().starts_with(&start), "{error}");
}

#[test]
fn scaling_multiplies_all_coordinates() {
    let text = b"v 10 -20 30\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let mesh = read_mesh(text, "a.obj", None).unwrap().scaled(0.5);
    assert_eq!(mesh.vertices[0].to_array(), [5.0, -10.0, 15.0]);
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
}
