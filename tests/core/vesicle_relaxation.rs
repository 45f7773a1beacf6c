//! Relaxation of small vesicles, with the status checked against brute force.

use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::common::thread_pool::with_threads;
use bevy_rapier_molecules::compartment::{
    Confinement, Leaflet, Placement, SphereShell, Surface, bilayer_depth, up_and_head,
};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::force::ThesisSteps;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::relax::{
    CoarseStart, CountedSpheres, ReactionLaw, RelaxConfig, RelaxError, RelaxReport, RelaxStatus,
    Relaxer, StopReason,
};
use bevy_rapier_molecules::scenes::{
    Vesicle, VesicleConfig, VesicleError, VesicleSize, VesicleStart, vesicle,
};
use bevy_rapier_molecules::search::{AutoGrid, BruteForce, PairBuffer, PairSearch};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

/// Atoms closer than this overlap, nm.
const TOLERANCE_NM: f32 = 0.2;

/// Tolerance of the relaxer beyond the leeways: a picometer and a milliradian, plus rounding.
const SLACK: f64 = 1.01e-3;

const SMALL: VesicleSize = VesicleSize::Counts {
    outer: 70,
    inner: 6,
    radius: 3.2,
};

fn popc() -> Arc<MoleculeTemplate> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules/popc.pdb");
    let template = load(path, &LoadOptions::default()).unwrap();
    Arc::new(template.with_uniform_radius(TOLERANCE_NM / 2.0).unwrap())
}

fn small_vesicle(seed: u64) -> Vesicle {
    let config = VesicleConfig {
        size: SMALL,
        seed,
        ..VesicleConfig::default()
    };
    vesicle(popc(), &config).unwrap()
}

fn uniform_vesicle(seed: u64) -> Vesicle {
    let config = VesicleConfig {
        size: SMALL,
        start: VesicleStart::Uniform,
        seed,
        ..VesicleConfig::default()
    };
    vesicle(popc(), &config).unwrap()
}

fn relax(seed: u64, config: RelaxConfig) -> (RelaxReport, Crowd) {
    let mut relaxer = Relaxer::new(small_vesicle(seed).crowd, config).unwrap();
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    (report, relaxer.into_crowd())
}

fn placement_of<'a>(crowd: &'a Crowd, member: &CrowdMember) -> (&'a dyn Surface, &'a Placement) {
    let (surface, confinement) = crowd.confinement_of(member).unwrap();
    (surface, confinement.placement().unwrap())
}

fn set_leeway(leeway: f32) -> impl Fn(&mut Confinement) {
    move |confinement| confinement.placement_mut().unwrap().leeway = leeway
}

/// The atoms of a crowd.
fn spheres_of(crowd: &Crowd) -> SphereSet {
    SphereSet::from_molecules(crowd.instances()).unwrap()
}

/// Number of overlaps and maximum penetration by brute force.
fn overlaps_by_brute_force(crowd: &Crowd) -> (u64, f32) {
    let spheres = spheres_of(crowd);
    let mut pairs = PairBuffer::new();
    BruteForce.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
    let deepest = pairs
        .iter()
        .map(|pair| {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let distance = spheres.center(a).distance(spheres.center(b));
            spheres.radius(a) + spheres.radius(b) - distance
        })
        .fold(0.0, f32::max);
    (pairs.len() as u64, deepest)
}

/// Number of lipids beyond their leeways, computed in 64 bits.
fn out_of_place_by_hand(crowd: &Crowd, radius: f32) -> u64 {
    let outside = crowd.members().iter().filter(|member| {
        let (_, placement) = placement_of(crowd, member);
        let side = f64::from(placement.leaflet.sign());
        let position = member.pose.position.as_dvec3();
        let height = position.length() - f64::from(radius) - side * f64::from(placement.depth);
        let up = (member.pose.rotation * placement.up).as_dvec3();
        let cosine = side * up.normalize().dot(position.normalize());
        let tilt = cosine.clamp(-1.0, 1.0).acos();
        height.abs() > f64::from(placement.leeway) + SLACK
            || tilt > f64::from(placement.tilt_leeway) + SLACK
    });
    outside.count() as u64
}

fn assert_status_matches(crowd: &Crowd, status: &RelaxStatus) {
    let (overlaps, deepest) = overlaps_by_brute_force(crowd);
    assert_eq!(status.overlaps, overlaps);
    assert!((status.max_penetration_nm - deepest).abs() < 1e-5);
    assert_eq!(status.out_of_place, out_of_place_by_hand(crowd, 3.2));
}

#[test]
fn a_small_vesicle_comes_to_rest_without_overlaps() {
    for seed in 1..=3 {
        let (report, crowd) = relax(seed, RelaxConfig::default());
        assert!(report.start.overlaps > 1_000, "{report:?}");
        assert!(report.converged(), "seed {seed}: {report:?}");
        assert_eq!(overlaps_by_brute_force(&crowd), (0, 0.0));
        assert_eq!(out_of_place_by_hand(&crowd, 3.2), 0);
    }
}

#[test]
fn a_uniform_start_comes_to_rest_without_overlaps() {
    for seed in 1..=3 {
        let crowd = uniform_vesicle(seed).crowd;
        let mut relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert!(report.start.overlaps > 1_000, "{report:?}");
        assert!(report.converged(), "seed {seed}: {report:?}");
        assert_eq!(overlaps_by_brute_force(relaxer.crowd()), (0, 0.0));
        assert_eq!(out_of_place_by_hand(relaxer.crowd(), 3.2), 0);
    }
}

/// A patch of both leaflets of a vesicle of a million lipids, 1.23 nm² each, in the direction of
/// `toward`. There, positions are rounded to 1.5·10⁻⁵ nm.
fn patch_of_a_huge_vesicle(lipids: u32, toward: Vec3) -> Crowd {
    let radius = 224.0;
    let lipid = popc();
    let (up, head) = up_and_head(&lipid);
    let depth = bilayer_depth(&lipid);
    let shell = SphereShell::new(Vec3::ZERO, radius).unwrap();
    let mut crowd = Crowd::new();
    let template = crowd.add_template(lipid);
    let compartment = crowd.add_compartment(Arc::new(shell));
    let (u, v) = toward.any_orthonormal_pair();
    for leaflet in [Leaflet::Outer, Leaflet::Inner] {
        let placement = Placement {
            leaflet,
            depth,
            up,
            leeway: 0.2,
            tilt_leeway: 0.4,
        };
        let index = crowd.add_placement(compartment, placement).unwrap();
        let heads = radius + leaflet.sign() * (depth + head);
        for k in 0..lipids {
            let turn = 2.4 * k as f32 + leaflet.sign();
            let away = (1.23 * (k as f32 + 0.5) / std::f32::consts::PI).sqrt() / heads;
            let direction = toward + (u * turn.cos() + v * turn.sin()) * away;
            let position = direction.normalize() * (radius + placement.offset());
            let member = CrowdMember {
                template,
                placement: Some(index),
                pose: placement.upright_pose(&shell, position, 7.0 * k as f32),
                ..CrowdMember::default()
            };
            crowd.add_member(member).unwrap();
        }
    }
    crowd
}

#[test]
fn a_patch_of_a_huge_vesicle_comes_to_rest() {
    for toward in [Vec3::X, Vec3::new(-0.6, 0.64, 0.48)] {
        let crowd = patch_of_a_huge_vesicle(60, toward);
        let mut relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert!(report.start.overlaps > 1_000, "{report:?}");
        assert!(report.converged(), "{report:?}");
        assert_eq!(overlaps_by_brute_force(relaxer.crowd()), (0, 0.0));
        assert_eq!(out_of_place_by_hand(relaxer.crowd(), 224.0), 0);
    }
}

/// In the last iterations most lipids stand still, and their contacts are not searched again.
#[test]
fn overlaps_are_counted_right_in_every_iteration() {
    let mut relaxer = Relaxer::new(small_vesicle(2).crowd, RelaxConfig::default()).unwrap();
    let mut search = AutoGrid::new();
    let report = relaxer
        .run(|relaxer| {
            let spheres = spheres_of(relaxer.crowd());
            let overlaps = search.count_pairs(&spheres, 0.0).unwrap();
            assert_eq!(relaxer.status().overlaps, overlaps);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(report.converged(), "{report:?}");
}

#[test]
fn lipids_stay_in_their_leaflets() {
    let (_, crowd) = relax(1, RelaxConfig::default());
    for member in crowd.members() {
        let (shell, placement) = placement_of(&crowd, member);
        let height = shell.signed_distance(member.pose.position);
        assert_eq!(height > 0.0, placement.leaflet == Leaflet::Outer);
    }
}

#[test]
fn all_lipids_are_separated_by_the_clearance() {
    let config = RelaxConfig {
        clearance: 0.004,
        ..RelaxConfig::default()
    };
    let (report, crowd) = relax(1, config);
    assert!(report.converged(), "{report:?}");
    let spheres = spheres_of(&crowd);
    // Slightly less than the clearance because of rounding.
    assert_eq!(BruteForce.count_pairs(&spheres, 0.003_99).unwrap(), 0);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let poses = |threads, seed| {
        let config = RelaxConfig {
            max_iterations: 40,
            ..RelaxConfig::default()
        };
        let (_, crowd) = with_threads(threads, || relax(seed, config));
        let bits = crowd.members().iter().map(|member| {
            let (p, r) = (member.pose.position, member.pose.rotation);
            [p.x, p.y, p.z, r.x, r.y, r.z, r.w].map(f32::to_bits)
        });
        bits.collect::<Vec<_>>()
    };
    let one = poses(1, 1);
    assert_eq!(one, poses(2, 1));
    assert_eq!(one, poses(3, 1));
    assert_eq!(one, poses(8, 1));
    assert_ne!(one, poses(1, 2));
}

#[test]
fn the_thesis_law_reduces_overlaps() {
    let config = RelaxConfig {
        law: ReactionLaw::Thesis(ThesisSteps::default()),
        max_iterations: 60,
        ..RelaxConfig::default()
    };
    let (report, crowd) = relax(1, config);
    assert!(
        report.end.overlaps * 2 < report.start.overlaps,
        "{report:?}"
    );
    assert_status_matches(&crowd, &report.end);
}

/// The scene and the start of the thesis (algorithm 4.2), at a density that its law can solve.
#[test]
fn the_law_of_the_thesis_brings_a_vesicle_to_rest() {
    for seed in 1..=2 {
        let config = VesicleConfig {
            size: VesicleSize::Density {
                lipids: 300,
                area_per_lipid: 2.0,
            },
            start: VesicleStart::Uniform,
            seed,
            ..VesicleConfig::default()
        };
        let Vesicle { crowd, radius, .. } = vesicle(popc(), &config).unwrap();
        let config = RelaxConfig {
            law: ReactionLaw::Thesis(ThesisSteps::default()),
            ..RelaxConfig::default()
        };
        let mut relaxer = Relaxer::new(crowd, config).unwrap();
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert!(report.start.overlaps > 10_000, "{report:?}");
        assert!(report.converged(), "seed {seed}: {report:?}");
        assert_eq!(overlaps_by_brute_force(relaxer.crowd()), (0, 0.0));
        assert_eq!(out_of_place_by_hand(relaxer.crowd(), radius), 0);
    }
}

#[test]
fn an_interrupted_run_reports_its_last_poses() {
    let mut relaxer = Relaxer::new(small_vesicle(1).crowd, RelaxConfig::default()).unwrap();
    let report = relaxer
        .run(|relaxer| {
            if relaxer.iterations() == 5 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!(report.reason, StopReason::Interrupted);
    assert!(!report.converged());
    assert_eq!(report.iterations, 5);
    assert_eq!(report.end, relaxer.status());
    assert!(report.end.overlaps > 0);
    assert_status_matches(relaxer.crowd(), &report.end);
}

#[test]
fn an_interrupted_run_continues_where_it_stopped() {
    let mut relaxer = Relaxer::new(small_vesicle(1).crowd, RelaxConfig::default()).unwrap();
    let mut stops = 0;
    while relaxer
        .run(|_| {
            stops += 1;
            if stops % 10 == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap()
        .reason
        == StopReason::Interrupted
    {}
    let (uninterrupted, crowd) = relax(1, RelaxConfig::default());
    assert_eq!(relaxer.iterations(), uninterrupted.iterations);
    assert_eq!(relaxer.crowd().members(), crowd.members());
}

#[test]
fn leeways_change_without_restarting_the_coarse_start() {
    let config = RelaxConfig {
        coarse: Some(CoarseStart::PLACED),
        ..RelaxConfig::default()
    };
    let mut relaxer = Relaxer::new(small_vesicle(1).crowd, config).unwrap();
    assert_eq!(relaxer.status().spheres, CountedSpheres::Proxies);
    relaxer.step().unwrap();
    relaxer.update_placements(set_leeway(0.1)).unwrap();
    assert!(relaxer.is_coarse() && relaxer.iterations() == 1);
    while relaxer.is_coarse() {
        relaxer.step().unwrap();
    }
    let iterations = relaxer.iterations();
    assert!(iterations <= CoarseStart::PLACED.iterations);
    let poses = relaxer.crowd().members().to_vec();
    relaxer.update_placements(set_leeway(0.01)).unwrap();
    assert!(!relaxer.is_coarse());
    assert_eq!(relaxer.iterations(), iterations);
    assert_eq!(relaxer.crowd().members(), poses);
    assert_eq!(relaxer.status().spheres, CountedSpheres::Atoms);
    assert_status_matches(relaxer.crowd(), &relaxer.status());
    let error = relaxer.update_placements(set_leeway(-1.0));
    assert!(matches!(error, Err(RelaxError::Placement(_))), "{error:?}");
    assert_eq!(
        relaxer.crowd().placements()[0]
            .confinement
            .placement()
            .unwrap()
            .leeway,
        0.01
    );
    relaxer.step().unwrap();
    assert_eq!(relaxer.iterations(), iterations + 1);
}

#[test]
fn zero_iterations_leave_the_poses_unchanged() {
    let config = RelaxConfig {
        max_iterations: 0,
        ..RelaxConfig::default()
    };
    let (report, crowd) = relax(1, config);
    assert_eq!(report.reason, StopReason::MaxIterations);
    assert_eq!(report.start, report.end);
    assert_eq!(crowd.members(), small_vesicle(1).crowd.members());
    assert_status_matches(&crowd, &report.end);
}

#[test]
fn lipids_are_split_between_the_leaflets_by_area() {
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids: 620,
            area_per_lipid: 1.23,
        },
        ..VesicleConfig::default()
    };
    let Vesicle {
        crowd,
        outer,
        inner,
        radius,
        head_distance,
        ..
    } = vesicle(popc(), &config).unwrap();
    assert_eq!(outer + inner, 620);
    assert_eq!(crowd.members().len(), 620);
    assert!(outer.abs_diff(500) <= 5, "{outer}");
    assert!((radius - 5.2).abs() < 0.05, "{radius}");
    for (count, sign) in [(outer, 1.0), (inner, -1.0)] {
        let heads = f64::from(radius) + sign * f64::from(head_distance);
        let area = 4.0 * PI * heads * heads / f64::from(count);
        assert!((area - 1.23).abs() < 0.01, "{area}");
    }
}

#[test]
fn lipids_start_upright_at_the_depth_of_their_leaflet() {
    for vesicle in [small_vesicle(1), uniform_vesicle(1)] {
        let Vesicle { crowd, radius, .. } = vesicle;
        for member in crowd.members() {
            let (shell, placement) = placement_of(&crowd, member);
            let height = member.pose.position.length() - radius;
            let expected = placement.leaflet.sign() * placement.depth;
            assert!((height - expected).abs() < 1.0e-3, "{height} {expected}");
            let tilt = placement.deviation(shell, &member.pose).tilt;
            assert!(tilt < 1.0e-3, "{tilt}");
        }
    }
}

/// Directions of the lipids of the outer leaflet from the center.
fn outer_directions(vesicle: &Vesicle) -> Vec<Vec3> {
    let outer = &vesicle.crowd.members()[..vesicle.outer as usize];
    outer
        .iter()
        .map(|lipid| lipid.pose.position.normalize())
        .collect()
}

/// Distance of each direction to its nearest neighbor, in units of 1 / √count: the smallest.
fn smallest_spacing(directions: &[Vec3]) -> f32 {
    let nearest = directions.iter().enumerate().map(|(k, one)| {
        let others = directions.iter().enumerate().filter(|(j, _)| *j != k);
        let distances = others.map(|(_, other)| one.distance(*other));
        distances.fold(f32::INFINITY, f32::min)
    });
    nearest.fold(f32::INFINITY, f32::min) * (directions.len() as f32).sqrt()
}

#[test]
fn an_even_start_spreads_the_lipids_and_a_uniform_one_does_not() {
    for seed in 1..=5 {
        let (even, uniform) = (small_vesicle(seed), uniform_vesicle(seed));
        // 3.8 in a hexagonal lattice.
        let spacing = smallest_spacing(&outer_directions(&even));
        assert!(spacing > 2.8, "{spacing}");
        let spacing = smallest_spacing(&outer_directions(&uniform));
        assert!(spacing < 1.0, "{spacing}");
        let overlaps = |vesicle: &Vesicle| overlaps_by_brute_force(&vesicle.crowd).0;
        assert!(2 * overlaps(&even) < overlaps(&uniform));
    }
}

#[test]
fn an_even_start_depends_on_the_seed_and_is_rotated_in_each_leaflet() {
    let size = VesicleSize::Counts {
        outer: 60,
        inner: 60,
        radius: 5.2,
    };
    let directions = |seed| {
        let config = VesicleConfig {
            size,
            seed,
            ..VesicleConfig::default()
        };
        let crowd = vesicle(popc(), &config).unwrap().crowd;
        let members = crowd.members().iter();
        members
            .map(|lipid| lipid.pose.position.normalize())
            .collect::<Vec<_>>()
    };
    let one = directions(1);
    assert_eq!(one, directions(1));
    // No spiral lies on another one.
    let farthest = |places: &[Vec3], others: &[Vec3]| {
        let nearest = places.iter().map(|place| {
            let distances = others.iter().map(|other| other.distance(*place));
            distances.fold(f32::INFINITY, f32::min)
        });
        nearest.fold(0.0, f32::max)
    };
    assert!(farthest(&one[..60], &one[60..]) > 0.1);
    assert!(farthest(&one[..60], &directions(2)[..60]) > 0.1);
    // Neighbors in the crowd are not neighbors on the spiral.
    let turns = one[..60]
        .windows(2)
        .filter(|pair| pair[0].dot(pair[1]) < 0.0);
    assert!(turns.count() > 15);
}

#[test]
fn invalid_vesicles_are_errors() {
    let build = |size| {
        let config = VesicleConfig {
            size,
            ..VesicleConfig::default()
        };
        vesicle(popc(), &config).unwrap_err()
    };
    let counts = |outer, inner, radius| VesicleSize::Counts {
        outer,
        inner,
        radius,
    };
    assert_eq!(build(counts(0, 0, 5.2)), VesicleError::NoLipids);
    for radius in [-1.0, 0.0, f32::NAN, f32::INFINITY] {
        let error = build(counts(10, 0, radius));
        assert!(matches!(error, VesicleError::Compartment(_)), "{error}");
    }
    let error = build(counts(10, 1, 1.0));
    assert!(matches!(error, VesicleError::TooSmall { .. }), "{error}");
    for area_per_lipid in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let error = build(VesicleSize::Density {
            lipids: 620,
            area_per_lipid,
        });
        assert!(matches!(error, VesicleError::BadArea { .. }), "{error}");
    }
}
