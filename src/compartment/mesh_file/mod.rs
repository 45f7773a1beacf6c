//! Readers of triangle meshes: OBJ, STL and PLY, as the shapes of compartments.
//!
//! [`load_mesh`] and [`read_mesh`] return the vertices in the unit and frame of the file.
//! [`TriangleMesh::scaled`] converts them to nm, and
//! [`ShapeCompartment::mesh`](super::ShapeCompartment::mesh) checks that the mesh is closed.
//!
//! | format | read | ignored |
//! |---|---|---|
//! | OBJ | `v`, `f` | all other statements, texture and normal indices |
//! | STL, ASCII and binary | vertices | normals, attributes, names |
//! | PLY, ASCII and binary of both byte orders | `x`, `y`, `z` of `vertex`; `vertex_indices` or `vertex_index` of `face` | all other elements and properties |
//!
//! Polygons become fans of triangles around their first corner. Triangles with the same vertex
//! twice are dropped, which opens nothing: their edges cancel.
//!
//! Any bytes give a mesh or a [`MeshFileError`] with file, location and cause. Memory is bounded
//! by the size of the file, whatever counts its header has.

mod error;
mod obj;
mod ply;
mod stl;
mod text;

use std::path::Path;

use glam::Vec3;

pub use error::{MeshFileError, MeshFileProblem};

use crate::molecule::FileLocation;

/// What is wrong with a file, and where.
type Fault = (FileLocation, MeshFileProblem);

/// A triangle mesh from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// The vertices, in the unit and frame of the file.
    pub vertices: Vec<Vec3>,
    /// The corners of each triangle, as indices of vertices. All exist.
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// The mesh with all coordinates multiplied by `factor`, such as 0.1 from ångström to nm.
    #[must_use]
    pub fn scaled(mut self, factor: f32) -> Self {
        for vertex in &mut self.vertices {
            *vertex *= factor;
        }
        self
    }

    /// Adds a polygon as a fan of triangles around its first corner.
    fn push_polygon(&mut self, corners: &[u32]) {
        let [first, rest @ ..] = corners else {
            return;
        };
        for pair in rest.windows(2) {
            let [a, b, c] = [*first, pair[0], pair[1]];
            if a != b && b != c && c != a {
                self.triangles.push([a, b, c]);
            }
        }
    }
}

/// A format of mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MeshFormat {
    /// Wavefront OBJ: `.obj`.
    Obj,
    /// Stereolithography, ASCII or binary: `.stl`.
    Stl,
    /// Polygon file format of Stanford, ASCII or binary: `.ply`.
    Ply,
}

impl MeshFormat {
    /// The format given by a file extension, in upper or lower case.
    #[must_use]
    pub fn from_name(path: impl AsRef<Path>) -> Option<Self> {
        let extension = path.as_ref().extension()?.to_str()?;
        match extension.to_ascii_lowercase().as_str() {
            "obj" => Some(Self::Obj),
            "stl" => Some(Self::Stl),
            "ply" => Some(Self::Ply),
            _ => None,
        }
    }
}

/// Loads a mesh in the format given by the extension of its file.
///
/// # Errors
/// [`MeshFileError`] with file, location and cause.
pub fn load_mesh(path: impl AsRef<Path>) -> Result<TriangleMesh, MeshFileError> {
    let path = path.as_ref();
    let file = path.to_string_lossy();
    let bytes = std::fs::read(path).map_err(|source| MeshFileError::Io {
        file: file.clone().into_owned(),
        source,
    })?;
    read_mesh(&bytes, &file, None)
}

/// Reads a mesh from memory.
///
/// `source` is the file name used in errors; its extension determines the format unless `format`
/// does.
///
/// ```
/// use bevy_rapier_molecules::compartment::{ShapeCompartment, read_mesh};
/// use bevy_rapier_molecules::pose::Pose;
///
/// // A tetrahedron in ångström.
/// let text = "v 0 0 0\nv 30 0 0\nv 0 30 0\nv 0 0 30\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// let mesh = read_mesh(text.as_bytes(), "tetrahedron.obj", None)?.scaled(0.1);
/// let compartment = ShapeCompartment::mesh(&mesh.vertices, &mesh.triangles, Pose::IDENTITY)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MeshFileError`] with file, location and cause.
pub fn read_mesh(
    bytes: &[u8],
    source: &str,
    format: Option<MeshFormat>,
) -> Result<TriangleMesh, MeshFileError> {
    let mesh = match format.or_else(|| MeshFormat::from_name(source)) {
        Some(MeshFormat::Obj) => obj::read(bytes),
        Some(MeshFormat::Stl) => stl::read(bytes),
        Some(MeshFormat::Ply) => ply::read(bytes),
        None => Err((FileLocation::File, MeshFileProblem::UnknownFormat)),
    };
    mesh.and_then(|mesh| {
        if mesh.triangles.is_empty() {
            let vertices = mesh.vertices.len();
            return Err((
                FileLocation::File,
                MeshFileProblem::NoTriangles { vertices },
            ));
        }
        Ok(mesh)
    })
    .map_err(|(location, problem)| MeshFileError::Invalid {
        file: source.to_owned(),
        location,
        problem,
    })
}

/// The index that the next vertex has.
fn next_index(vertices: usize, location: impl FnOnce() -> FileLocation) -> Result<u32, Fault> {
    u32::try_from(vertices).map_err(|_| (location(), MeshFileProblem::TooManyVertices))
}
