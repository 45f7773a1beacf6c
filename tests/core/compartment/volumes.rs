//! Volumes against closed forms, and against the signed distance at random points.

use std::f64::consts::PI;

use bevy_rapier_molecules::compartment::{
    FlatPatch, ShapeCompartment, SphereShell, Surface, Torus,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{Vec2, Vec3};
use rapier3d::parry::shape::SharedShape;

use crate::compartment::fixtures::{
    BOX, all_shapes, concave_cells, concave_mesh, cube_mesh, in_cube, octasphere, pose, random,
};

/// Half the edge of a cube around all shapes, nm.
const HALF: f32 = 8.0;

fn check(name: &str, surface: &dyn Surface, expected: f64) {
    let volume = f64::from(surface.volume().unwrap());
    assert!(
        (volume / expected - 1.0).abs() < 1.0e-5,
        "{name}: {volume} instead of {expected} nm³"
    );
}

/// The volume by the signed distance at random points of a cube, and its standard deviation.
fn by_sampling(surface: &dyn Surface, half: f32, count: u32) -> [f64; 2] {
    let mut random = random(71);
    let center = surface.center();
    let inside = (0..count).filter(|_| {
        let point = center + in_cube(half, &mut random);
        surface.signed_distance(point) < 0.0
    });
    let share = inside.count() as f64 / f64::from(count);
    let cube = (2.0 * f64::from(half)).powi(3);
    [
        share * cube,
        cube * (share * (1.0 - share) / f64::from(count)).sqrt(),
    ]
}

#[test]
fn volumes_are_those_of_closed_forms() {
    let shape = |shape| ShapeCompartment::new(shape, pose()).unwrap();
    check("shell", &SphereShell::new(Vec3::X, 3.0).unwrap(), 36.0 * PI);
    check("ball", &shape(SharedShape::ball(3.0)), 36.0 * PI);
    let ring = Torus::new(5.0, 2.0, pose()).unwrap();
    check("ring", &ring, 2.0 * PI * PI * 5.0 * 4.0);
    let cuboid = ShapeCompartment::cuboid(BOX, pose()).unwrap();
    check("box", &cuboid, 8.0 * 4.0 * 2.5 * 1.5);
    let capsule = ShapeCompartment::capsule(3.0, 1.5, pose()).unwrap();
    check("capsule", &capsule, PI * 2.25 * 6.0 + 4.5 * PI);
    check(
        "cylinder",
        &shape(SharedShape::cylinder(2.0, 3.0)),
        PI * 9.0 * 4.0,
    );
    check(
        "cone",
        &shape(SharedShape::cone(2.0, 3.0)),
        PI * 9.0 * 4.0 / 3.0,
    );
    // The sum over the box, its faces, edges and corners.
    let round = 8.0 * 3.0 + 0.7 * 8.0 * 6.5 + 0.49 * PI * 9.0 + 4.0 / 3.0 * PI * 0.343;
    let shape_of_box = SharedShape::round_cuboid(2.0, 1.5, 1.0, 0.7);
    check("round box", &shape(shape_of_box), round);
    // A disc of radius 2 and half a torus around it, whose tube has its centroid at 4 r / 3π.
    let (major, tube) = (2.0, 0.5);
    let inner = PI * major * major * (3.0 + 2.0 * tube);
    let side = 2.0 * PI * major * tube * 3.0 + PI * tube * tube * 3.0;
    let rims = PI * tube * tube * PI * (major + 4.0 * tube / (3.0 * PI));
    let round_cylinder = SharedShape::round_cylinder(1.5, 2.0, 0.5);
    check(
        "round cylinder",
        &shape(round_cylinder),
        inner + side + rims,
    );
}

#[test]
fn volumes_are_the_share_of_points_inside() {
    let mut surfaces: Vec<(&str, Box<dyn Surface>)> = Vec::new();
    for (name, shape) in all_shapes(pose()) {
        surfaces.push((name, Box::new(shape)));
    }
    surfaces.push(("ring", Box::new(Torus::new(5.0, 2.0, pose()).unwrap())));
    for (name, surface) in surfaces {
        let volume = f64::from(surface.volume().unwrap());
        let [sampled, deviation] = by_sampling(&*surface, HALF, 40_000);
        assert!(
            (volume - sampled).abs() < 4.0 * deviation,
            "{name}: {volume} and {sampled} ± {deviation} nm³"
        );
    }
    for (name, cell) in concave_cells(pose()) {
        let volume = f64::from(cell.volume().unwrap());
        let [sampled, deviation] = by_sampling(&cell, 16.0, 10_000);
        assert!(
            (volume - sampled).abs() < 4.0 * deviation,
            "{name}: {volume} and {sampled} ± {deviation} nm³"
        );
    }
}

#[test]
fn a_rounded_polyhedron_has_the_volume_of_the_same_rounded_box() {
    let polyhedron = SharedShape::round_convex_hull(&cube_mesh(BOX).0, 0.5).unwrap();
    let cuboid = SharedShape::round_cuboid(BOX.x, BOX.y, BOX.z, 0.5);
    let [one, other] =
        [polyhedron, cuboid].map(|shape| ShapeCompartment::new(shape, pose()).unwrap());
    check("polyhedron", &one, f64::from(other.volume().unwrap()));
}

#[test]
fn a_mesh_of_a_sphere_has_almost_its_volume() {
    for (splits, error) in [(3, 0.03), (5, 0.002)] {
        let (vertices, triangles) = octasphere(5.0, splits);
        let mesh = ShapeCompartment::mesh(&vertices, &triangles, pose()).unwrap();
        let share = f64::from(mesh.volume().unwrap()) / (4.0 / 3.0 * PI * 125.0);
        assert!((1.0 - error..1.0).contains(&share), "{splits}: {share}");
    }
}

#[test]
fn cavities_do_not_count() {
    let (mut vertices, mut triangles) = cube_mesh(BOX);
    let (hole, faces) = cube_mesh(Vec3::splat(0.5));
    vertices.extend(hole);
    triangles.extend(faces.iter().map(|&[a, b, c]| [a + 8, c + 8, b + 8]));
    let mesh = ShapeCompartment::mesh(&vertices, &triangles, pose()).unwrap();
    check("mesh with a cavity", &mesh, 8.0 * 4.0 * 2.5 * 1.5 - 1.0);
    assert!(mesh.signed_distance(pose().position) > 0.0);
    // The winding of the whole mesh does not matter.
    triangles.iter_mut().for_each(|corners| corners.swap(0, 1));
    let flipped = ShapeCompartment::mesh(&vertices, &triangles, pose()).unwrap();
    assert_eq!(flipped.volume(), mesh.volume());
}

#[test]
fn volumes_are_exact_far_from_the_origin() {
    let far = Vec3::new(1.0e3, -1.0e3, 1.0e3);
    for (vertices, triangles) in [octasphere(5.0, 4), concave_mesh(), cube_mesh(BOX)] {
        let near = ShapeCompartment::mesh(&vertices, &triangles, Pose::IDENTITY).unwrap();
        let near = near.volume().unwrap();
        let moved: Vec<Vec3> = vertices.iter().map(|vertex| *vertex + far).collect();
        let mesh = ShapeCompartment::mesh(&moved, &triangles, Pose::IDENTITY).unwrap();
        let volume = mesh.volume().unwrap();
        assert!((volume / near - 1.0).abs() < 1.0e-3, "{volume} {near}");
        let posed = mesh.with_pose(&pose()).unwrap();
        assert_eq!(posed.volume(), Some(volume));
    }
}

#[test]
fn planes_enclose_no_volume() {
    assert_eq!(FlatPatch::new(Vec2::ONE, 1.0).unwrap().volume(), None);
}
