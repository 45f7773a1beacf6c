//! Is a triangle mesh closed? Welds it, checks it, and turns it outside out.
//!
//! 1. Every vertex is finite, every corner exists, no triangle has a corner twice.
//! 2. Vertices in the same place become one: meshes for drawing have a vertex for
//!    each face or along a seam. Triangles that collapse thereby are left out, which
//!    opens nothing: their two long edges cancel.
//! 3. No triangle that is left has its corners on a line.
//! 4. Every edge is walked once each way: the mesh is closed, and all triangles run
//!    the same way round.
//! 5. The volume is not zero; if it is negative all triangles are turned.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::CompartmentError;

/// Distance below which vertices are in the same place, as a fraction of the size of
/// the mesh: a few units in the last place of an f32.
const WELD: f32 = 1.0e-6;

/// Sine of the angle at a corner below which a triangle is a line.
const FLATTEST: f64 = 1.0e-7;

/// Volume of the least mesh, as a fraction of the cube of its size.
const LEAST_VOLUME: f64 = 1.0e-12;

/// Size of the least mesh, nm: much less than an atom, and enough for the numbers of
/// cells to be finite.
const LEAST_SIZE_NM: f32 = 1.0e-9;

/// A closed mesh with triangles that run counter-clockwise seen from outside.
pub(super) struct ValidatedMesh {
    pub(super) vertices: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// For each triangle, those at its edges 01, 12 and 20.
    pub(super) neighbors: Vec<[u32; 3]>,
    /// Center of the volume, nm.
    pub(super) center: Vec3,
    /// Diagonal of the bounding box, nm.
    pub(super) size: f32,
}

impl ValidatedMesh {
    pub(super) fn new(vertices: &[Vec3], given: &[[u32; 3]]) -> Result<Self, CompartmentError> {
        check_numbers(vertices, given)?;
        let (low, high) = bounds(vertices, given);
        let size = low.distance(high);
        CompartmentError::check_positive(&[("size", size)])?;
        if size < LEAST_SIZE_NM {
            return Err(CompartmentError::NoVolume);
        }
        let (welded, vertices) = weld(vertices, given, (low, size));
        // Which of the given triangles are left.
        let numbers: Vec<usize> = (0..given.len())
            .filter(|&number| !has_twins(corners(&welded, given[number])))
            .collect();
        let mut triangles: Vec<[u32; 3]> = numbers
            .iter()
            .map(|&number| corners(&welded, given[number]))
            .collect();
        for (triangle, &number) in triangles.iter().zip(&numbers) {
            if is_flat(triangle.map(|corner| vertices[corner as usize])) {
                return Err(CompartmentError::FlatTriangle { triangle: number });
            }
        }
        let mut neighbors = find_neighbors(&triangles, &numbers, given)?;
        let middle = low.midpoint(high);
        let (volume, centroid) = volume(&vertices, &triangles, middle);
        if volume.abs() <= LEAST_VOLUME * f64::from(size).powi(3) {
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
        })
    }
}

fn check_numbers(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), CompartmentError> {
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
        if has_twins(*corners) {
            return Err(CompartmentError::FlatTriangle { triangle });
        }
    }
    Ok(())
}

fn has_twins([a, b, c]: [u32; 3]) -> bool {
    a == b || b == c || c == a
}

fn corners(welded: &[u32], triangle: [u32; 3]) -> [u32; 3] {
    triangle.map(|corner| welded[corner as usize])
}

/// Least and largest coordinates of the vertices that triangles have.
fn bounds(vertices: &[Vec3], triangles: &[[u32; 3]]) -> (Vec3, Vec3) {
    triangles.iter().flatten().fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(low, high), &corner| {
            let position = vertices[corner as usize];
            (low.min(position), high.max(position))
        },
    )
}

/// The place of each vertex among the places that there are, and these.
///
/// A vertex joins the first place found in its cell of a grid, or near enough in one
/// of the cells around. Vertices without a triangle have no place.
fn weld(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    (low, size): (Vec3, f32),
) -> (Vec<u32>, Vec<Vec3>) {
    let furthest = low.abs().max((low + size).abs()).max_element();
    let reach = (WELD * size).max(4.0 * f32::EPSILON * furthest);
    let mut places: Vec<Vec3> = Vec::new();
    let mut cells: HashMap<[i32; 3], u32> = HashMap::new();
    let mut welded = vec![u32::MAX; vertices.len()];
    for &corner in triangles.iter().flatten() {
        let place = &mut welded[corner as usize];
        if *place != u32::MAX {
            continue;
        }
        let position = vertices[corner as usize];
        let cell = ((position - low) / reach).as_ivec3();
        let around = (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]);
        let found = cells.get(&cell.to_array()).copied().or_else(|| {
            around
                .filter_map(|step| cells.get(&(cell + glam::IVec3::from(step)).to_array()))
                .copied()
                .find(|&other| places[other as usize].distance(position) <= reach)
        });
        *place = found.unwrap_or_else(|| {
            let new = places.len() as u32;
            places.push(position);
            cells.insert(cell.to_array(), new);
            new
        });
    }
    (welded, places)
}

fn is_flat([a, b, c]: [Vec3; 3]) -> bool {
    let [a, b, c] = [a, b, c].map(Vec3::as_dvec3);
    let sides = [b - a, c - b, a - c];
    let longest = sides
        .iter()
        .map(|side| side.length_squared())
        .fold(0.0, f64::max);
    sides[0].cross(sides[1]).length() <= FLATTEST * longest
}

/// The triangle on the other side of each edge.
fn find_neighbors(
    triangles: &[[u32; 3]],
    numbers: &[usize],
    given: &[[u32; 3]],
) -> Result<Vec<[u32; 3]>, CompartmentError> {
    // Triangles run along shared edges in opposite directions.
    let mut walked: HashMap<[u32; 2], usize> = HashMap::with_capacity(3 * triangles.len());
    let given_edge = |triangle: usize, edge: usize| {
        let corners = given[numbers[triangle]];
        [corners[edge], corners[(edge + 1) % 3]]
    };
    for (triangle, corners) in triangles.iter().enumerate() {
        for edge in 0..3 {
            let ends = [corners[edge], corners[(edge + 1) % 3]];
            if let Some(other) = walked.insert(ends, triangle) {
                return Err(CompartmentError::CrowdedEdge {
                    triangles: [numbers[other], numbers[triangle]],
                    edge: given_edge(triangle, edge),
                });
            }
        }
    }
    let mut neighbors = Vec::with_capacity(triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        let mut around = [0; 3];
        for (edge, neighbor) in around.iter_mut().enumerate() {
            let back = [corners[(edge + 1) % 3], corners[edge]];
            *neighbor = *walked.get(&back).ok_or(CompartmentError::OpenEdge {
                triangle: numbers[triangle],
                edge: given_edge(triangle, edge),
            })? as u32;
        }
        neighbors.push(around);
    }
    Ok(neighbors)
}

/// Volume (nm³) within the triangles, and its center relative to `middle` (nm).
///
/// The tetrahedra from `middle` to each triangle (a, b, c) have the volumes
/// a · (b × c) / 6, negative where the triangle is seen from outside, and their
/// centers at (a + b + c) / 4.
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
