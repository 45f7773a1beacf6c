//! Readers must return a mesh, a sphere tree or an error for any bytes, without panics, in bounded
//! memory; compartments must accept or reject any mesh that is read.
//!
//! The first byte is the format (see the README), the rest is the file.
#![no_main]

use bevy_rapier_molecules::compartment::{MeshFormat, ShapeCompartment, Surface, read_mesh};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::recipe::SphereTree;
use glam::Vec3;
use libfuzzer_sys::fuzz_target;

/// Maximum number of triangles of a compartment, so that inputs run fast.
const MAX_TRIANGLES: usize = 2_000;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    let format = match choice % 5 {
        0 => Some(MeshFormat::Obj),
        1 => Some(MeshFormat::Stl),
        2 => Some(MeshFormat::Ply),
        3 => None,
        _ => {
            if let Ok(tree) = SphereTree::read(bytes, "input.sph") {
                assert!(!tree.spheres().is_empty());
            }
            return;
        }
    };
    let Ok(mesh) = read_mesh(bytes, "input.ply", format) else {
        return;
    };
    let count = mesh.vertices.len();
    assert!(mesh.vertices.iter().all(|vertex| vertex.is_finite()));
    assert!(
        mesh.triangles
            .iter()
            .flatten()
            .all(|&corner| (corner as usize) < count)
    );
    if mesh.triangles.len() > MAX_TRIANGLES {
        return;
    }
    if let Ok(compartment) = ShapeCompartment::mesh(&mesh.vertices, &mesh.triangles, Pose::IDENTITY)
    {
        let _ = compartment.distance_and_normal(Vec3::ONE);
    }
});
