//! Fibers after a relaxation: statistics, limits, overlaps, confinement, determinism.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{Confinement, SphereShell};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::fiber::{Interior, RandomWalk, worm_like_mean_square};
use bevy_rapier_molecules::relax::RelaxConfig;
use glam::Vec3;

use super::fixtures::{dna, limited, path_of, strained, walk};
use crate::common::thread_pool::with_threads;
use crate::relaxation::fixtures::{bits, out_of_place, overlaps, relaxed};

/// Windows of up to 20 links (87 nm) of 10 chains of 3.6 µm: each contains 400 or more independent
/// ones, whose squared distances scatter by about 40 %, so that the standard error of the mean is
/// 2 %, and 5 % is more than twice as much. Windows of 46 links (200 nm) scatter by more than 5 % of
/// theory for 10 chains, and whole chains by about 26 % (√(2/3) / √10): their means are compared with
/// the standard errors over the 10 chains, of which 3.5 are exceeded in 1 of 150 cases (Student's t
/// with 9 degrees of freedom).
#[test]
fn relaxed_fibers_keep_the_statistics_of_worm_like_chains() {
    let link = dna();
    let links = 830;
    let windows = [5, 10, 20, 46, links as usize];
    let mut squares: [Vec<f64>; 5] = Default::default();
    for seed in 0..10 {
        let path = walk(&link, links, seed).path(None).unwrap();
        let mut crowd = Crowd::new();
        limited(&link, path.clone()).add_to(&mut crowd).unwrap();
        let (report, crowd) = relaxed(crowd, RelaxConfig::default());
        assert!(
            report.start.overlaps > 500 && report.converged(),
            "{report:?}"
        );
        assert_eq!(strained(&crowd), 0);
        let after = path_of(&link, &crowd, false);
        let stretch = after.contour_length() / path.contour_length();
        assert!((stretch - 1.0).abs() < 0.05, "{stretch}");
        for (squares, window) in squares.iter_mut().zip(windows) {
            let square = after.mean_squared_distance(window).unwrap();
            let before = path.mean_squared_distance(window).unwrap();
            assert!(
                (square / before - 1.0).abs() < 0.05,
                "{window}: {square}, {before}"
            );
            squares.push(square);
        }
    }
    for (squares, window) in squares.iter().zip(windows) {
        let expected = worm_like_mean_square(50.0, window as f64 * f64::from(link.rise()));
        let mean = squares.iter().sum::<f64>() / 10.0;
        let scatter: f64 = squares.iter().map(|square| (square - mean).powi(2)).sum();
        let standard_error = (scatter / 9.0 / 10.0).sqrt();
        let error = mean - expected;
        let bound = if window <= 20 {
            0.05 * expected
        } else {
            3.5 * standard_error
        };
        assert!(
            error.abs() < bound,
            "{window} links: {mean} nm², expected {expected} nm²"
        );
    }
}

#[test]
fn a_small_fiber_has_no_overlaps_by_brute_force() {
    let link = dna();
    for seed in 0..2 {
        let path = walk(&link, 12, seed).path(None).unwrap();
        let mut crowd = Crowd::new();
        limited(&link, path).add_to(&mut crowd).unwrap();
        assert!(overlaps(&crowd) > 0);
        let (report, crowd) = relaxed(crowd, RelaxConfig::default());
        assert!(report.converged(), "{report:?}");
        assert_eq!((overlaps(&crowd), strained(&crowd)), (0, 0));
    }
}

#[test]
fn closed_fibers_stay_closed() {
    let link = dna();
    for links in [30, 60] {
        let walk = RandomWalk {
            is_closed: true,
            ..walk(&link, links, 5)
        };
        let mut crowd = Crowd::new();
        let fiber = limited(&link, walk.path(None).unwrap());
        fiber.add_to(&mut crowd).unwrap();
        assert_eq!(crowd.joints().len(), links as usize);
        assert_eq!(crowd.joints()[links as usize - 1].members, [links - 1, 0]);
        let (report, crowd) = relaxed(crowd, RelaxConfig::default());
        assert!(report.converged(), "{links}: {report:?}");
        assert_eq!(strained(&crowd), 0);
        let after = path_of(&link, &crowd, true).contour_length();
        let stretch = after / (f64::from(links) * f64::from(link.rise()));
        assert!((stretch - 1.0).abs() < 0.05, "{links}: {stretch}");
    }
}

/// A fiber in a sphere of 32 nm diameter, between balls.
fn crowded_sphere() -> Crowd {
    let link = dna();
    let sphere = Arc::new(SphereShell::new(Vec3::ZERO, 16.0).unwrap());
    let inside = Interior {
        surface: &*sphere,
        clearance: link.radius(),
    };
    let path = walk(&link, 30, 2).path(Some(&inside)).unwrap();
    let mut fiber = limited(&link, path);
    let mut crowd = Crowd::new();
    let compartment = crowd.add_compartment(sphere.clone());
    let whole = Confinement::WholeInside { clearance: 0.0 };
    fiber.placement = Some(crowd.add_placement(compartment, whole).unwrap());
    fiber.add_to(&mut crowd).unwrap();
    let ball =
        bevy_rapier_molecules::molecule::MoleculeTemplate::coarse("ball", &[(Vec3::ZERO, 1.0)]);
    let template = crowd.add_template(Arc::new(ball.unwrap()));
    for ball in 0..60 {
        let angle = 2.4 * ball as f32;
        let height = 0.3 * ball as f32 - 9.0;
        let position = Vec3::new(5.0 * angle.cos(), 5.0 * angle.sin(), height);
        let pose = bevy_rapier_molecules::pose::Pose::from_translation(position);
        let member = CrowdMember {
            template,
            pose,
            placement: fiber.placement,
            fixed: false,
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

#[test]
fn confined_fibers_stay_inside_with_every_atom() {
    let (report, crowd) = relaxed(crowded_sphere(), RelaxConfig::default());
    assert!(
        report.start.overlaps > 50 && report.converged(),
        "{report:?}"
    );
    assert_eq!(
        (overlaps(&crowd), out_of_place(&crowd), strained(&crowd)),
        (0, 0, 0)
    );
    let atoms = crowd.instances().flat_map(|(template, pose)| {
        let atoms = template.positions().iter().zip(template.radii());
        atoms.map(move |(atom, radius)| pose.transform_point(*atom).length() + radius)
    });
    let furthest = atoms.fold(0.0, f32::max);
    assert!(furthest < 16.0 + 1.1e-3, "{furthest} nm");
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let run = |threads| {
        let config = RelaxConfig {
            max_iterations: 40,
            ..RelaxConfig::default()
        };
        let (_, crowd) = with_threads(threads, || relaxed(crowded_sphere(), config));
        bits(&crowd)
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn a_fixed_link_in_a_fiber_stays() {
    let link = dna();
    let path = walk(&link, 15, 4).path(None).unwrap();
    let fiber = limited(&link, path);
    let mut free = Crowd::new();
    fiber.add_to(&mut free).unwrap();
    let mut crowd = Crowd::new();
    crowd.add_template(link.template().clone());
    for (index, member) in free.members().iter().enumerate() {
        let fixed = index == 7;
        crowd.add_member(CrowdMember { fixed, ..*member }).unwrap();
    }
    for joint in free.joints() {
        crowd.add_joint(*joint).unwrap();
    }
    let (report, after) = relaxed(crowd, RelaxConfig::default());
    assert!(report.converged(), "{report:?}");
    assert_eq!(after.members()[7].pose, free.members()[7].pose);
    assert_eq!((overlaps(&after), strained(&after)), (0, 0));
}
