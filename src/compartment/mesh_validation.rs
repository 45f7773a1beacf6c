//! [`ValidatedMesh`]: welds, validates and orients a triangle mesh.
//!
//! 1. Every vertex is finite, every index exists, and no triangle has the same vertex twice.
//! 2. Vertices at the same position are merged: meshes for rendering have split vertices along
//!    seams and hard edges. Triangles that collapse are removed, which opens nothing, because
//!    their two long edges cancel.
//! 3. No remaining triangle is degenerate.
//! 4. Every edge is traversed once in each direction: the mesh is closed and consistently
//!    oriented.
//! 5. The volume is not zero; if it is negative, all triangles are flipped.

use std::collections::HashMap;

use glam::{DVec3, IVec3, Vec3};

use super::CompartmentError;

/// Distance up to which vertices are merged, as a fraction of the size of the mesh: a few units
/// in the last place of an f32.
const WELD_DISTANCE: f32 = 1.0e-6;

/// Sine of the angle at a corner below which a triangle is degenerate.
const MIN_SINE: f64 = 1.0e-7;

/// Minimum volume, as a fraction of the cube of the size.
const MIN_VOLUME: f64 = 1.0e-12;

/// Minimum size of a mesh, nm: much smaller than an atom, and large enough for finite cell
/// coordinates.
const MIN_SIZE_NM: f32 = 1.0e-9;

/// A closed mesh whose triangles are counter-clockwise seen from outside.
pub(super) struct ValidatedMesh {
    pub(super) vertices: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// For each triangle, the neighbors at its edges 01, 12 and 20.
    pub(super) neighbors: Vec<[u32; 3]>,
    /// Center of the volume, nm.
    pub(super) center: Vec3,
    /// Diagonal of the bounding box, nm.
    pub(super) size: f32,
    /// Enclosed volume, nm³.
    pub(super) volume: f64,
}

impl ValidatedMesh {
    pub(super) fn new(vertices: &[Vec3], given: &[[u32; 3]]) -> Result<Self, CompartmentError> {
        check_indices(vertices, given)?;
        let (low, high) = bounds(vertices, given);
        let size = low.distance(high);
        CompartmentError::check_positive(&[("size", size)])?;
        if size < MIN_SIZE_NM {
            return Err(CompartmentError::NoVolume);
        }
        let (welded, vertices) = weld(vertices, given, (low, size));
        // The triangles that do not collapse, each with its given index.
        let (given_indices, mut triangles): (Vec<usize>, Vec<[u32; 3]>) = given
            .iter()
            .map(|corners| corners.map(|corner| welded[corner as usize]))
            .enumerate()
            .filter(|(_, corners)| !has_repeated_vertex(*corners))
            .unzip();
        for (corners, &triangle) in triangles.iter().zip(&given_indices) {
            if is_degenerate(corners.map(|corner| vertices[corner as usize])) {
                return Err(CompartmentError::FlatTriangle { triangle });
            }
        }
        let mut neighbors = find_neighbors(&triangles, &given_indices, given)?;
        let middle = low.midpoint(high);
        let (volume, centroid) = volume(&vertices, &triangles, middle);
        if volume.abs() <= MIN_VOLUME * f64::from(size).powi(3) {
            return Err(CompartmentError::NoVolume);
        }
        if volume < 0.0 {
            // Edges 01, 12, 20 of (a, b, c) are edges 20, 12, 01 of (a, c, b).
            triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
            neighbors.iter_mut().for_each(|edges| edges.swap(0, 2));
        }
        Ok(Self {
            vertices,
            triangles,
            neighbors,
            center: middle + centroid,
            size,
            volume: volume.abs(),
        })
    }
}

fn check_indices(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), CompartmentError> {
    if triangles.is_empty() {
        return Err(CompartmentError::EmptyMesh);
    }
    for (vertex, &position) in vertices.iter().enumerate() {
        if !position.is_finite() {
            return Err(CompartmentError::BadVertex { vertex, position });
        }
    }
    let count = vertices.len();
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&corner| corner as usize >= count) {
            return Err(CompartmentError::NoSuchVertex {
                triangle,
                vertex,
                count,
            });
        }
        if has_repeated_vertex(*corners) {
            return Err(CompartmentError::FlatTriangle { triangle });
        }
    }
    Ok(())
}

fn has_repeated_vertex([a, b, c]: [u32; 3]) -> bool {
    a == b || b == c || c == a
}

/// Smallest and largest coordinates of the vertices that triangles use.
fn bounds(vertices: &[Vec3], triangles: &[[u32; 3]]) -> (Vec3, Vec3) {
    triangles.iter().flatten().fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(low, high), &corner| {
            let position = vertices[corner as usize];
            (low.min(position), high.max(position))
        },
    )
}

/// Merges vertices. Returns the index of each vertex among the merged ones, and these.
///
/// A vertex is merged with the first one in its grid cell, or with one within the weld distance
/// in an adjacent cell. Vertices without a triangle are dropped.
fn weld(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    (low, size): (Vec3, f32),
) -> (Vec<u32>, Vec<Vec3>) {
    let furthest = low.abs().max((low + size).abs()).max_element();
    let reach = (WELD_DISTANCE * size).max(4.0 * f32::EPSILON * furthest);
    let mut merged: Vec<Vec3> = Vec::new();
    let mut cells: HashMap<IVec3, u32> = HashMap::new();
    let mut welded = vec![u32::MAX; vertices.len()];
    for &corner in triangles.iter().flatten() {
        let index = &mut welded[corner as usize];
        if *index != u32::MAX {
            continue;
        }
        let position = vertices[corner as usize];
        let cell = ((position - low) / reach).as_ivec3();
        let around = (0..27).map(|i| IVec3::new(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1));
        let found = cells.get(&cell).copied().or_else(|| {
            around
                .filter_map(|step| cells.get(&(cell + step)).copied())
                .find(|&other| merged[other as usize].distance(position) <= reach)
        });
        *index = found.unwrap_or_else(|| {
            let new = merged.len() as u32;
            merged.push(position);
            cells.insert(cell, new);
            new
        });
    }
    (welded, merged)
}

fn is_degenerate(corners: [Vec3; 3]) -> bool {
    let [a, b, c] = corners.map(Vec3::as_dvec3);
    let sides = [b - a, c - b, a - c];
    let longest = sides
        .iter()
        .map(|side| side.length_squared())
        .fold(0.0, f64::max);
    sides[0].cross(sides[1]).length() <= MIN_SINE * longest
}

/// The triangle on the other side of each edge.
fn find_neighbors(
    triangles: &[[u32; 3]],
    given_indices: &[usize],
    given: &[[u32; 3]],
) -> Result<Vec<[u32; 3]>, CompartmentError> {
    // Neighbors traverse their shared edge in opposite directions.
    let mut owners: HashMap<[u32; 2], usize> = HashMap::with_capacity(3 * triangles.len());
    let given_edge = |triangle: usize, edge: usize| {
        let corners = given[given_indices[triangle]];
        [corners[edge], corners[(edge + 1) % 3]]
    };
    for (triangle, corners) in triangles.iter().enumerate() {
        for edge in 0..3 {
            let ends = [corners[edge], corners[(edge + 1) % 3]];
            if let Some(other) = owners.insert(ends, triangle) {
                return Err(CompartmentError::NonManifoldEdge {
                    triangles: [given_indices[other], given_indices[triangle]],
                    edge: given_edge(triangle, edge),
                });
            }
        }
    }
    let mut neighbors = Vec::with_capacity(triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        let mut around = [0; 3];
        for (edge, neighbor) in around.iter_mut().enumerate() {
            let reversed = [corners[(edge + 1) % 3], corners[edge]];
            *neighbor = *owners.get(&reversed).ok_or(CompartmentError::OpenEdge {
                triangle: given_indices[triangle],
                edge: given_edge(triangle, edge),
            })? as u32;
        }
        neighbors.push(around);
    }
    Ok(neighbors)
}

/// Enclosed volume (nm³), and its center relative to `middle` (nm).
///
/// The tetrahedra from `middle` to each triangle (a, b, c) have the signed volumes
/// a · (b × c) / 6 and their centers at (a + b + c) / 4.
fn volume(vertices: &[Vec3], triangles: &[[u32; 3]], middle: Vec3) -> (f64, Vec3) {
    let (mut sum, mut moment) = (0.0, DVec3::ZERO);
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| (vertices[corner as usize] - middle).as_dvec3());
        let part = a.dot(b.cross(c)) / 6.0;
        sum += part;
        moment += (a + b + c) / 4.0 * part;
    }
    (sum, (moment / sum).as_vec3())
}
