//! Fixed molecules: they never move, and the others give way.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{Confinement, Leaflet, Placement, SphereShell};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::force::{Push, ThesisSteps};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{
    CoarseStart, ReactionLaw, RelaxConfig, RelaxError, Relaxer, StopReason,
};
use bevy_rapier_molecules::search::UniformGrid;
use glam::{Quat, Vec3};

use crate::common::carbons::{free_crowd, rod};
use crate::common::thread_pool::with_threads;
use crate::relaxation::fixtures::{bits, out_of_place, overlaps, relaxed};

/// Rods at these positions, of which the first `fixed` are fixed.
fn rods(fixed: usize, positions: &[Vec3]) -> Crowd {
    let mut crowd = Crowd::new();
    let template = crowd.add_template(rod(5));
    for (k, &position) in positions.iter().enumerate() {
        // A rotation that rounding would change if it were normalized again and again.
        let rotation = Quat::from_axis_angle(Vec3::new(0.3, -0.5, 0.8).normalize(), 0.1 * k as f32);
        let member = CrowdMember {
            template,
            pose: Pose::new(position, rotation),
            fixed: k < fixed,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

/// Four fixed rods in a row, and a heap of others around each.
fn heaps() -> Crowd {
    let row = (0..4).map(|k| Vec3::Y * k as f32);
    let heap = (0..36).map(|k| {
        let turn = 2.4 * k as f32;
        Vec3::new(turn.sin() * 0.15, (k % 4) as f32, turn.cos() * 0.15)
    });
    rods(4, &row.chain(heap).collect::<Vec<_>>())
}

fn configs() -> [RelaxConfig; 3] {
    [
        RelaxConfig::default(),
        RelaxConfig {
            law: ReactionLaw::Thesis(ThesisSteps::default()),
            ..RelaxConfig::default()
        },
        RelaxConfig {
            coarse: Some(CoarseStart::FREE),
            ..RelaxConfig::default()
        },
    ]
}

#[test]
fn fixed_molecules_keep_their_bits_and_the_others_give_way() {
    for config in configs() {
        let before = heaps();
        let (report, after) = relaxed(before.clone(), config);
        assert!(report.start.overlaps > 100, "{report:?}");
        assert!(report.converged(), "{config:?}: {report:?}");
        assert_eq!(overlaps(&after), 0);
        assert_eq!(bits(&after)[..4], bits(&before)[..4]);
        assert_ne!(bits(&after)[4..], bits(&before)[4..]);
        assert!(after.members()[..4].iter().all(|member| member.fixed));
    }
}

#[test]
fn every_iteration_leaves_fixed_molecules_where_they_are() {
    let start = bits(&heaps())[..4].to_vec();
    let mut relaxer = Relaxer::new(heaps(), RelaxConfig::default()).unwrap();
    for _ in 0..40 {
        relaxer.step().unwrap();
        assert_eq!(bits(relaxer.crowd())[..4], start);
        let pushes = relaxer.pushes().unwrap();
        assert!(pushes[..4].iter().all(|push| *push == Push::default()));
    }
}

#[test]
fn a_search_over_all_atoms_leaves_them_too() {
    let mut relaxer = Relaxer::new(heaps(), RelaxConfig::default()).unwrap();
    relaxer.set_search(Some(Box::new(UniformGrid::new())));
    for _ in 0..40 {
        relaxer.step().unwrap();
    }
    assert_eq!(bits(relaxer.crowd())[..4], bits(&heaps())[..4]);
    assert_ne!(bits(relaxer.crowd())[4..], bits(&heaps())[4..]);
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let run = |threads| {
        let (_, crowd) = with_threads(threads, || relaxed(heaps(), RelaxConfig::default()));
        bits(&crowd)
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn a_coincident_molecule_leaves_a_fixed_one() {
    for config in configs() {
        let (report, crowd) = relaxed(rods(1, &[Vec3::ONE; 2]), config);
        assert!(report.converged(), "{config:?}: {report:?}");
        assert_eq!(crowd.members()[0].pose.position, Vec3::ONE);
        assert_eq!(overlaps(&crowd), 0);
    }
}

#[test]
fn a_molecule_between_two_fixed_ones_escapes() {
    // The gap of 0.15 nm is narrower than a rod of 0.2 nm.
    let gap = Vec3::Y * 0.175;
    let mut crowd = free_crowd(rod(5), &[Vec3::X * 0.01 + Vec3::Z * 0.02]);
    for position in [gap, -gap] {
        let pose = Pose::from_translation(position);
        let fixed = CrowdMember {
            pose,
            fixed: true,
            ..CrowdMember::default()
        };
        crowd.add_member(fixed).unwrap();
    }
    let (report, crowd) = relaxed(crowd, RelaxConfig::default());
    assert!(report.converged(), "{report:?}");
    assert_eq!(crowd.members()[1].pose.position, gap);
    assert_eq!(crowd.members()[2].pose.position, -gap);
}

#[test]
fn fixed_molecules_that_overlap_are_an_error_that_names_the_deepest_pair() {
    // Molecules 1 and 4 overlap by 0.05 nm, 2 and 3 by 0.12 nm, and 0 is free.
    let mut crowd = free_crowd(rod(1), &[Vec3::Y]);
    for (y, z) in [(1.0, 0.0), (3.0, 0.0), (3.0, 0.08), (1.15, 0.0)] {
        let member = CrowdMember {
            pose: Pose::from_translation(Vec3::new(0.0, y, z)),
            fixed: true,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    for coarse in [None, Some(CoarseStart::FREE)] {
        let config = RelaxConfig {
            coarse,
            ..RelaxConfig::default()
        };
        let Err(error) = Relaxer::new(crowd.clone(), config) else {
            panic!("fixed molecules overlap");
        };
        let RelaxError::FixedOverlap { molecules, depth } = error else {
            panic!("{error}");
        };
        assert_eq!(molecules, [2, 3]);
        assert!((depth - 0.12).abs() < 1.0e-5, "{depth}");
        let message = error.to_string();
        assert!(message.contains("molecules 2 and 3"), "{message}");
    }
}

#[test]
fn fixed_molecules_closer_than_the_clearance_are_at_rest() {
    let clearance = RelaxConfig::default().clearance;
    let mut crowd = free_crowd(rod(1), &[Vec3::Y * 5.0]);
    for y in [0.0, 0.2 + 0.3 * clearance] {
        let member = CrowdMember {
            pose: Pose::from_translation(Vec3::Y * y),
            fixed: true,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    let (report, _) = relaxed(crowd, RelaxConfig::default());
    assert_eq!((report.reason, report.iterations), (StopReason::AtRest, 0));
}

#[test]
fn fixed_molecules_out_of_their_placement_do_not_count() {
    let crowd = |fixed| {
        let mut crowd = Crowd::new();
        let template = crowd.add_template(rod(3));
        let shell = SphereShell::new(Vec3::ZERO, 3.0).unwrap();
        let compartment = crowd.add_compartment(Arc::new(shell));
        let placement = Placement {
            leaflet: Leaflet::Outer,
            depth: 0.0,
            up: Vec3::X,
            leeway: 0.1,
            tilt_leeway: 0.1,
        };
        let confinements = [
            Confinement::Surface(placement),
            Confinement::Inside { distance: 1.0 },
            Confinement::Outside { distance: 3.0 },
        ];
        // All of them are out of place here.
        for (confinement, x) in confinements.into_iter().zip([4.0, 5.0, 0.5]) {
            let placement = crowd.add_placement(compartment, confinement).unwrap();
            let member = CrowdMember {
                template,
                placement: Some(placement),
                pose: Pose::from_translation(Vec3::X * x),
                fixed,
            };
            crowd.add_member(member).unwrap();
        }
        crowd
    };
    let fixed = Relaxer::new(crowd(true), RelaxConfig::default()).unwrap();
    assert_eq!(fixed.status().out_of_place, 0);
    let (report, after) = relaxed(crowd(true), RelaxConfig::default());
    assert_eq!((report.reason, report.iterations), (StopReason::AtRest, 0));
    assert_eq!(bits(&after), bits(&crowd(true)));

    let free = Relaxer::new(crowd(false), RelaxConfig::default()).unwrap();
    assert_eq!(free.status().out_of_place, 3);
    let (report, after) = relaxed(crowd(false), RelaxConfig::default());
    assert!(report.converged(), "{report:?}");
    assert_eq!(out_of_place(&after), 0);
}
