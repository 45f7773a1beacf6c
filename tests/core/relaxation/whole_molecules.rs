//! Molecules that end inside or outside a compartment with all of their atoms.

use std::path::Path;
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{
    Confinement, Region, ShapeCompartment, SphereShell, Surface,
};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::force::ThesisSteps;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{ReactionLaw, RelaxConfig, StopReason};
use glam::{Quat, Vec3};
use rand::SeedableRng;

use crate::common::carbons::rod;
use crate::common::thread_pool::with_threads;
use crate::compartment::fixtures::{in_cube, octasphere, pose};
use crate::relaxation::fixtures::{SLACK, bits, out_of_place, overlaps, relaxed};

const CLEARANCE: f32 = 0.1;

fn protein() -> Arc<MoleculeTemplate> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules/1ubq.cif");
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

/// Proteins at random in a cube with this half edge around the center of a surface.
fn crowd(surface: Arc<dyn Surface>, count: usize, half: f32, confinement: Confinement) -> Crowd {
    let mut crowd = Crowd::new();
    let template = crowd.add_template(protein());
    let center = surface.center();
    let compartment = crowd.add_compartment(surface);
    let placement = crowd.add_placement(compartment, confinement).unwrap();
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(9);
    for _ in 0..count {
        let rotation = Quat::from_scaled_axis(in_cube(3.0, &mut random)).normalize();
        let member = CrowdMember {
            template,
            placement: Some(placement),
            pose: Pose::new(center + in_cube(half, &mut random), rotation),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

fn mesh() -> ShapeCompartment {
    let (vertices, triangles) = octasphere(5.0, 3);
    ShapeCompartment::mesh(&vertices, &triangles, pose()).unwrap()
}

fn shell(center: Vec3, radius: f32) -> Arc<dyn Surface> {
    Arc::new(SphereShell::new(center, radius).unwrap())
}

#[test]
fn squeezed_proteins_end_whole_inside() {
    let cuboid = ShapeCompartment::cuboid(Vec3::new(5.0, 4.0, 3.5), pose()).unwrap();
    let region = Region::new(
        Some(shell(Vec3::ZERO, 6.0)),
        vec![shell(Vec3::X, 2.5)],
        None,
    );
    let surfaces: [(&str, Arc<dyn Surface>); 4] = [
        ("sphere", shell(Vec3::ONE, 4.8)),
        ("box", Arc::new(cuboid)),
        ("mesh", Arc::new(mesh())),
        ("region", Arc::new(region.unwrap())),
    ];
    let inside = Confinement::WholeInside {
        clearance: CLEARANCE,
    };
    for (name, surface) in surfaces {
        let start = crowd(surface.clone(), 12, 5.0, inside);
        let (report, crowd) = relaxed(start, RelaxConfig::default());
        assert!(report.start.out_of_place > 3, "{name}: {report:?}");
        assert!(report.converged(), "{name}: {report:?}");
        assert_eq!(overlaps(&crowd), 0, "{name}");
        assert_eq!(out_of_place(&crowd), 0, "{name}");
        for (template, pose) in crowd.instances() {
            for (atom, radius) in template.positions().iter().zip(template.radii()) {
                let distance = surface.signed_distance(pose.transform_point(*atom)) + radius;
                assert!(
                    f64::from(distance + CLEARANCE) < SLACK,
                    "{name}: {distance}"
                );
            }
        }
    }
}

#[test]
fn proteins_in_an_organelle_end_whole_outside() {
    let outside = Confinement::WholeOutside {
        clearance: CLEARANCE,
    };
    let start = crowd(Arc::new(mesh()), 10, 4.0, outside);
    let (report, crowd) = relaxed(start, RelaxConfig::default());
    assert!(
        report.start.out_of_place > 5 && report.converged(),
        "{report:?}"
    );
    assert_eq!((overlaps(&crowd), out_of_place(&crowd)), (0, 0));
}

#[test]
fn the_thesis_law_brings_whole_molecules_inside() {
    let inside = Confinement::WholeInside { clearance: 0.0 };
    let mut start = Crowd::new();
    let template = start.add_template(rod(8));
    let compartment = start.add_compartment(shell(Vec3::ONE, 3.0));
    let placement = start.add_placement(compartment, inside).unwrap();
    let member = CrowdMember {
        template,
        placement: Some(placement),
        pose: Pose::new(Vec3::Y * 6.0, Quat::from_rotation_z(0.4)),
        ..CrowdMember::default()
    };
    start.add_member(member).unwrap();
    let config = RelaxConfig {
        law: ReactionLaw::Thesis(ThesisSteps::default()),
        ..RelaxConfig::default()
    };
    let (report, crowd) = relaxed(start, config);
    assert!(report.converged(), "{report:?}");
    assert_eq!(out_of_place(&crowd), 0);
    let rotation = crowd.members()[0].pose.rotation;
    assert!(
        rotation.abs_diff_eq(member.pose.rotation, 1.0e-6),
        "only moved"
    );
}

#[test]
fn a_molecule_larger_than_its_compartment_stalls_out_of_place() {
    let inside = Confinement::WholeInside { clearance: 0.0 };
    let small = ShapeCompartment::cuboid(Vec3::ONE, pose()).unwrap();
    for surface in [shell(Vec3::ZERO, 1.2), Arc::new(small)] {
        let start = crowd(surface, 1, 1.0, inside);
        let (report, crowd) = relaxed(start, RelaxConfig::default());
        assert_eq!(report.reason, StopReason::Stalled, "{report:?}");
        assert_eq!(report.end.out_of_place, 1, "{report:?}");
        assert!(crowd.members()[0].pose.is_finite());
    }
}

#[test]
fn the_number_of_threads_does_not_change_whole_molecules() {
    let inside = Confinement::WholeInside {
        clearance: CLEARANCE,
    };
    let run = |threads| {
        let config = RelaxConfig {
            max_iterations: 20,
            ..RelaxConfig::default()
        };
        let start = crowd(Arc::new(mesh()), 80, 6.0, inside);
        bits(&with_threads(threads, || relaxed(start, config)).1)
    };
    assert_eq!(run(1), run(3));
}
