//! Springs hold molecules in surfaces of every kind, with both laws.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{
    FlatPatch, Leaflet, Placement, ShapeCompartment, SphereShell, Surface, Torus, even_points,
};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::force::ThesisSteps;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{ReactionLaw, RelaxConfig};
use glam::{Quat, Vec2, Vec3};
use rand::{RngExt, SeedableRng};
use rapier3d::parry::shape::SharedShape;

use crate::common::carbons::rod;
use crate::compartment::fixtures::{concave_cells, in_cube, pose};
use crate::relaxation::fixtures::{out_of_place, overlaps, relaxed};

fn surfaces() -> Vec<(&'static str, Arc<dyn Surface>)> {
    let [disc, bell] = concave_cells(pose());
    let round = SharedShape::round_cuboid(4.0, 3.0, 2.0, 3.0);
    vec![
        (
            "sphere",
            Arc::new(SphereShell::new(Vec3::ONE, 6.0).unwrap()),
        ),
        (
            "flat patch",
            Arc::new(FlatPatch::new(Vec2::new(20.0, 13.0), 4.0).unwrap()),
        ),
        ("torus", Arc::new(Torus::new(10.0, 3.0, pose()).unwrap())),
        (
            "capsule",
            Arc::new(ShapeCompartment::capsule(8.0, 4.0, pose()).unwrap()),
        ),
        (
            "round cuboid",
            Arc::new(ShapeCompartment::new(round, pose()).unwrap()),
        ),
        (disc.0, Arc::new(disc.1)),
        (bell.0, Arc::new(bell.1)),
    ]
}

/// Pairs of rods at even points of both leaflets, shifted from their depth by up to `shift` nm and tilted by up to `tilt`
/// radian.
fn crowd(surface: &Arc<dyn Surface>, pairs: usize, shift: f32, tilt: f32) -> Crowd {
    let mut crowd = Crowd::new();
    let template = crowd.add_template(rod(6));
    let compartment = crowd.add_compartment(Arc::clone(surface));
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(8);
    for leaflet in [Leaflet::Outer, Leaflet::Inner] {
        let placement = Placement {
            leaflet,
            depth: 0.5,
            up: Vec3::X,
            leeway: 0.1,
            tilt_leeway: 0.2,
        };
        let index = crowd.add_placement(compartment, placement).unwrap();
        let places = even_points(&**surface, placement.offset(), pairs, &mut random);
        for start in places.into_iter().flat_map(|place| [place; 2]) {
            let upright = placement.upright_pose(&**surface, start, random.random());
            let turn = in_cube(1.0, &mut random).normalize() * tilt;
            let shift = surface.normal(start) * random.random_range(-shift..shift);
            let member = CrowdMember {
                template,
                placement: Some(index),
                pose: Pose::new(
                    start + shift,
                    (Quat::from_scaled_axis(turn) * upright.rotation).normalize(),
                ),
                ..CrowdMember::default()
            };
            crowd.add_member(member).unwrap();
        }
    }
    crowd
}

#[test]
fn the_projection_law_brings_molecules_to_rest_in_every_surface() {
    for (name, surface) in surfaces() {
        let start = crowd(&surface, 150, 0.4, 0.9);
        let (report, end) = relaxed(start, RelaxConfig::default());
        assert!(report.start.overlaps > 20, "{name}: {report:?}");
        assert!(report.start.out_of_place > 100, "{name}: {report:?}");
        assert!(report.converged(), "{name}: {report:?}");
        assert_eq!((overlaps(&end), out_of_place(&end)), (0, 0), "{name}");
    }
}

#[test]
fn molecules_stay_on_their_side_and_near_their_start() {
    for (name, surface) in surfaces() {
        let start = crowd(&surface, 60, 0.3, 0.9);
        let (_, end) = relaxed(start.clone(), RelaxConfig::default());
        for (before, after) in start.members().iter().zip(end.members()) {
            let moved = before.pose.position.distance(after.pose.position);
            assert!(moved < 1.0, "{name}: {moved}");
        }
    }
}

#[test]
fn the_springs_of_the_thesis_pull_molecules_back_into_every_surface() {
    // Without contacts, so that nothing but the springs acts.
    let config = RelaxConfig {
        law: ReactionLaw::Thesis(ThesisSteps {
            force: 0.0,
            torque: 0.0,
            ..ThesisSteps::default()
        }),
        max_iterations: 1_000,
        ..RelaxConfig::default()
    };
    for (name, surface) in surfaces() {
        let start = crowd(&surface, 30, 0.4, 0.9);
        let before = out_of_place(&start);
        let (report, end) = relaxed(start, config);
        assert!(before > 30, "{name}: {before}");
        assert_eq!(report.end.out_of_place, out_of_place(&end), "{name}");
        assert_eq!(report.end.out_of_place, 0, "{name}: {report:?}");
    }
}

#[test]
fn the_law_of_the_thesis_brings_a_sparse_crowd_to_rest_in_every_surface() {
    let config = RelaxConfig {
        law: ReactionLaw::Thesis(ThesisSteps::default()),
        ..RelaxConfig::default()
    };
    for (name, surface) in surfaces() {
        let start = crowd(&surface, 60, 0.3, 0.6);
        let (report, end) = relaxed(start, config);
        assert!(report.start.out_of_place > 10, "{name}: {report:?}");
        assert!(report.converged(), "{name}: {report:?}");
        assert_eq!((overlaps(&end), out_of_place(&end)), (0, 0), "{name}");
    }
}
