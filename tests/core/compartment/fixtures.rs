//! Shapes, meshes and random points of the compartment tests.

use bevy_rapier_molecules::compartment::{ShapeCompartment, Surface};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec2, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rapier3d::parry::shape::SharedShape;

use crate::common::revolution::{half_turn, revolution};

pub type Mesh = (Vec<Vec3>, Vec<[u32; 3]>);

pub fn random(seed: u64) -> rand_pcg::Pcg64Mcg {
    rand_pcg::Pcg64Mcg::seed_from_u64(seed)
}

/// A pose away from the origin and not along the axes.
pub fn pose() -> Pose {
    let rotation = Quat::from_axis_angle(Vec3::new(1.0, -2.0, 0.5).normalize(), 0.9);
    Pose::new(Vec3::new(3.0, -7.0, 11.0), rotation)
}

/// A random point of the cube with this half extent.
pub fn in_cube(half: f32, random: &mut dyn Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.random_range(-half..half)))
}

pub const BOX: Vec3 = Vec3::new(4.0, 2.5, 1.5);

/// One of each kind of shape, at `pose`.
pub fn all_shapes(pose: Pose) -> Vec<(&'static str, ShapeCompartment)> {
    let shape = |shape| ShapeCompartment::new(shape, pose).unwrap();
    let mesh =
        |(vertices, triangles): Mesh| ShapeCompartment::mesh(&vertices, &triangles, pose).unwrap();
    vec![
        ("ball", shape(SharedShape::ball(3.0))),
        ("cuboid", ShapeCompartment::cuboid(BOX, pose).unwrap()),
        (
            "capsule",
            ShapeCompartment::capsule(3.0, 1.5, pose).unwrap(),
        ),
        ("cylinder", shape(SharedShape::cylinder(2.0, 3.0))),
        ("cone", shape(SharedShape::cone(2.0, 3.0))),
        (
            "round cuboid",
            shape(SharedShape::round_cuboid(2.0, 1.5, 1.0, 0.7)),
        ),
        (
            "round cylinder",
            shape(SharedShape::round_cylinder(1.5, 2.0, 0.5)),
        ),
        ("round cone", shape(SharedShape::round_cone(1.5, 2.0, 0.5))),
        (
            "convex polyhedron",
            shape(SharedShape::convex_hull(&octasphere(3.0, 2).0).unwrap()),
        ),
        (
            "round convex polyhedron",
            shape(SharedShape::round_convex_hull(&cube_mesh(BOX).0, 0.5).unwrap()),
        ),
        ("mesh of a box", mesh(cube_mesh(BOX))),
        ("mesh of a sphere", mesh(octasphere(4.0, 4))),
        ("concave mesh", mesh(concave_mesh())),
    ]
}

pub fn solid(name: &str) -> ShapeCompartment {
    let mut shapes = all_shapes(Pose::IDENTITY);
    let index = shapes.iter().position(|(other, _)| *other == name).unwrap();
    shapes.swap_remove(index).1
}

/// A box of eight vertices and twelve triangles.
pub fn cube_mesh(half: Vec3) -> Mesh {
    let vertices = (0..8)
        .map(|i| half * Vec3::new(sign(i, 1), sign(i, 2), sign(i, 4)))
        .collect();
    // The corners of each face, counter-clockwise seen from outside.
    let faces = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    (vertices, triangles)
}

fn sign(i: u32, bit: u32) -> f32 {
    if i & bit == 0 { -1.0 } else { 1.0 }
}

/// A sphere: an octahedron whose faces are split in four `splits` times. Triangles do not share
/// vertices.
pub fn octasphere(radius: f32, splits: u32) -> Mesh {
    let mut triangles: Vec<[Vec3; 3]> = (0..8)
        .map(|i| {
            let [x, y, z] = [
                Vec3::X * sign(i, 1),
                Vec3::Y * sign(i, 2),
                Vec3::Z * sign(i, 4),
            ];
            if sign(i, 1) * sign(i, 2) * sign(i, 4) > 0.0 {
                [x, y, z]
            } else {
                [x, z, y]
            }
        })
        .collect();
    for _ in 0..splits {
        triangles = triangles
            .into_iter()
            .flat_map(|[a, b, c]| {
                let [ab, bc, ca] = [a + b, b + c, c + a].map(Vec3::normalize);
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    let vertices: Vec<Vec3> = triangles.iter().flatten().map(|v| *v * radius).collect();
    let indices = (0..triangles.len() as u32)
        .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
        .collect();
    (vertices, indices)
}

/// An L-shaped prism with its corner at the origin: arms 4 long and 2 wide, 2 high.
pub fn concave_mesh() -> Mesh {
    let outline = [
        (0.0, 0.0),
        (4.0, 0.0),
        (4.0, 2.0),
        (2.0, 2.0),
        (2.0, 4.0),
        (0.0, 4.0),
    ];
    let vertices = [0.0, 2.0]
        .iter()
        .flat_map(|&z| outline.map(|(x, y)| Vec3::new(x, y, z)))
        .collect();
    let lid = [[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]];
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for [a, b, c] in lid {
        triangles.push([a, c, b]);
        triangles.push([a + 6, b + 6, c + 6]);
    }
    for i in 0..6 {
        let j = (i + 1) % 6;
        triangles.push([i, j, j + 6]);
        triangles.push([i, j + 6, i + 6]);
    }
    (vertices, triangles)
}

/// The center, random points, and points on the surface and close to it.
pub fn probes(compartment: &dyn Surface, count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = random(seed);
    let center = compartment.center();
    let mut points = vec![center];
    while points.len() < count {
        let point = match points.len() % 4 {
            0 | 1 => center + in_cube(8.0, &mut random),
            2 => compartment.sample(0.0, &mut random),
            _ => {
                let near = random.random_range(-1.0e-4..1.0e-4);
                compartment.sample(near, &mut random)
            }
        };
        points.push(point);
    }
    points
}

/// The profile of a red blood cell (Evans and Fung 1972), 15.6 nm in radius, 3.2 nm thick at the
/// center and 10 nm at the rim.
pub fn biconcave_profile(points: usize) -> Vec<Vec2> {
    let point = |k: usize| {
        let (x, cosine) = half_turn(k, points);
        let half = 2.0 * cosine * (0.81 + 7.83 * x.powi(2) - 4.39 * x.powi(4));
        Vec2::new(15.6 * x, half)
    };
    (0..points).map(point).collect()
}

/// The profile of a dumb-bell, 20 nm long, with a waist 2 nm in radius.
pub fn dumb_bell_profile(points: usize) -> Vec<Vec2> {
    let point = |k: usize| {
        let (sine, cosine) = half_turn(k, points);
        Vec2::new(sine * (2.0 + 6.0 * cosine * cosine), 10.0 * cosine)
    };
    (0..points).map(point).collect()
}

/// The two meshes that are not convex, at `pose`.
pub fn concave_cells(pose: Pose) -> [(&'static str, ShapeCompartment); 2] {
    let mesh = |profile: Vec<Vec2>| {
        let (vertices, triangles) = revolution(&profile, 48);
        ShapeCompartment::mesh(&vertices, &triangles, pose).unwrap()
    };
    [
        ("biconcave disc", mesh(biconcave_profile(41))),
        ("dumb-bell", mesh(dumb_bell_profile(41))),
    ]
}

/// Pearson's χ² of counts against expected ones.
pub fn chi_squared(counts: &[usize], expected: &[f64]) -> f64 {
    let (sum, total) = (
        counts.iter().sum::<usize>() as f64,
        expected.iter().sum::<f64>(),
    );
    counts
        .iter()
        .zip(expected)
        .map(|(&count, share)| {
            let expected = sum * share / total;
            (count as f64 - expected).powi(2) / expected
        })
        .sum()
}
