//! The relaxer with degenerate crowds, invalid parameters, and changes between iterations.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::carbons::{free_crowd, rod};
use bevy_rapier_molecules::compartment::{Leaflet, Placement, PlacementError, SphereShell};
use bevy_rapier_molecules::crowd::{Crowd, CrowdError, CrowdMember};
use bevy_rapier_molecules::force::{Projection, ThesisSteps};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{ReactionLaw, RelaxConfig, RelaxError, Relaxer, StopReason};
use bevy_rapier_molecules::search::UniformGrid;
use glam::Vec3;

fn relaxer(crowd: Crowd, law: ReactionLaw) -> Result<Relaxer, RelaxError> {
    let config = RelaxConfig {
        law,
        ..RelaxConfig::default()
    };
    Relaxer::new(crowd, config)
}

fn run(relaxer: &mut Relaxer) -> StopReason {
    relaxer.run(|_| ControlFlow::Continue(())).unwrap().reason
}

#[test]
fn an_empty_crowd_is_at_rest() {
    let mut empty = relaxer(Crowd::new(), ReactionLaw::default()).unwrap();
    assert_eq!(run(&mut empty), StopReason::AtRest);
}

#[test]
fn coincident_molecules_are_pushed_apart() {
    for atoms in [1, 2, 5] {
        for law in [
            ReactionLaw::default(),
            ReactionLaw::Thesis(ThesisSteps::default()),
        ] {
            let start = free_crowd(rod(atoms), &[Vec3::ONE; 6]);
            let mut relaxer = relaxer(start, law).unwrap();
            assert!(relaxer.status().overlaps >= 15);
            assert_eq!(run(&mut relaxer), StopReason::AtRest, "{atoms} {law:?}");
            assert_eq!(relaxer.status().overlaps, 0);
        }
    }
}

#[test]
fn simd_and_scalar_searches_relax_to_the_same_bits() {
    // A golden-angle spiral over growing shells, far from any lattice.
    let heap: Vec<Vec3> = (0..300)
        .map(|k| {
            let (turn, height) = (2.4 * k as f32, (k as f32 + 0.5) / 150.0 - 1.0);
            let around = (1.0 - height * height).sqrt();
            Vec3::new(around * turn.cos(), around * turn.sin(), height) * (k as f32 / 300.0).cbrt()
        })
        .collect();
    let relaxed = |search: UniformGrid| {
        let mut relaxer = relaxer(free_crowd(rod(12), &heap), ReactionLaw::default()).unwrap();
        relaxer.set_search(Some(Box::new(search)));
        for _ in 0..60 {
            relaxer.step().unwrap();
        }
        relaxer.crowd().members().to_vec()
    };
    let scalar = relaxed(UniformGrid::scalar());
    assert_ne!(scalar[0].pose.position, heap[0]);
    assert_eq!(relaxed(UniformGrid::new()), scalar);
}

#[test]
fn a_diverging_step_stops_the_run_and_leaves_the_poses_unchanged() {
    let start = free_crowd(
        rod(3),
        &[Vec3::ZERO, Vec3::new(0.02, 0.05, 0.0), Vec3::Z * 0.08],
    );
    for steps in [
        ThesisSteps {
            torque: 1.0e25,
            ..ThesisSteps::default()
        },
        ThesisSteps {
            force: 1.0e36,
            ..ThesisSteps::default()
        },
    ] {
        let mut relaxer = relaxer(start.clone(), ReactionLaw::Thesis(steps)).unwrap();
        assert_eq!(run(&mut relaxer), StopReason::Diverged);
        assert_eq!(relaxer.crowd().members(), start.members());
        assert!(matches!(
            relaxer.step(),
            Err(RelaxError::Diverged { iteration: 0, .. })
        ));
    }
}

#[test]
fn errors_name_the_invalid_parameter() {
    let pair = || free_crowd(rod(2), &[Vec3::ZERO, Vec3::Y * 0.1]);
    let projection = Projection::default();
    for (name, parameters) in [
        (
            "momentum",
            Projection {
                momentum: 1.0,
                ..projection
            },
        ),
        (
            "max_shift",
            Projection {
                max_shift: -0.1,
                ..projection
            },
        ),
        (
            "max_turn",
            Projection {
                max_turn: f32::INFINITY,
                ..projection
            },
        ),
        (
            "spring",
            Projection {
                spring: f32::NAN,
                ..projection
            },
        ),
    ] {
        match relaxer(pair(), ReactionLaw::Projection(parameters)) {
            Err(RelaxError::Parameter(error)) => assert_eq!(error.name, name),
            _ => panic!("{name} was accepted"),
        }
    }
    let steps = ThesisSteps {
        torque: f32::NAN,
        ..ThesisSteps::default()
    };
    assert!(matches!(
        relaxer(pair(), ReactionLaw::Thesis(steps)),
        Err(RelaxError::Parameter(error)) if error.name == "torque"
    ));
    let config = RelaxConfig {
        clearance: -1.0,
        ..RelaxConfig::default()
    };
    assert!(matches!(
        Relaxer::new(pair(), config),
        Err(RelaxError::BadClearance { .. })
    ));
}

#[test]
fn invalid_placements_and_members_are_errors() {
    let mut crowd = Crowd::new();
    let shell = SphereShell::new(Vec3::ZERO, 2.0).unwrap();
    let compartment = crowd.add_compartment(Arc::new(shell));
    let good = Placement {
        leaflet: Leaflet::Outer,
        depth: 0.5,
        up: Vec3::Y,
        leeway: 0.1,
        tilt_leeway: 0.1,
    };
    let depth = Placement {
        depth: f32::NAN,
        ..good
    };
    assert!(matches!(
        crowd.add_placement(compartment, depth),
        Err(CrowdError::Placement(PlacementError::BadDepth { .. }))
    ));
    let up = Placement {
        up: Vec3::ZERO,
        ..good
    };
    assert!(crowd.add_placement(compartment, up).is_err());
    let leeway = Placement {
        leeway: -0.1,
        ..good
    };
    assert!(crowd.add_placement(compartment, leeway).is_err());
    assert!(crowd.add_placement(compartment + 1, good).is_err());

    let member = CrowdMember {
        pose: Pose::IDENTITY,
        ..CrowdMember::default()
    };
    assert!(matches!(
        crowd.add_member(member),
        Err(CrowdError::UnknownIndex {
            what: "template",
            ..
        })
    ));
    crowd.add_template(rod(1));
    let not_finite = Pose::from_translation(Vec3::NAN);
    assert!(matches!(
        crowd.add_member(CrowdMember {
            pose: not_finite,
            ..member
        }),
        Err(CrowdError::BadPose { molecule: 0, .. })
    ));
}

#[test]
fn a_stall_is_detected_across_interrupted_runs_and_single_steps() {
    // Springs hold two molecules in the same place.
    let mut crowd = Crowd::new();
    let template = crowd.add_template(rod(1));
    let shell = SphereShell::new(Vec3::ZERO, 0.01).unwrap();
    let compartment = crowd.add_compartment(Arc::new(shell));
    let placement = Placement {
        leaflet: Leaflet::Outer,
        depth: 0.0,
        up: Vec3::Y,
        leeway: 0.0,
        tilt_leeway: 4.0,
    };
    let placement = crowd.add_placement(compartment, placement).unwrap();
    for position in [Vec3::X * 0.01, Vec3::X * -0.01] {
        let member = CrowdMember {
            template,
            placement: Some(placement),
            pose: Pose::from_translation(position),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    let config = RelaxConfig {
        stall_window: 50,
        ..RelaxConfig::default()
    };
    let mut relaxer = Relaxer::new(crowd, config).unwrap();
    assert!(!relaxer.warnings().is_empty());
    for _ in 0..30 {
        relaxer.step().unwrap();
    }
    assert!(!relaxer.is_stalled());
    let until = relaxer.iterations() + 10;
    let report = relaxer
        .run(|relaxer| match relaxer.iterations() < until {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })
        .unwrap();
    assert_eq!(report.reason, StopReason::Interrupted);
    assert_eq!(run(&mut relaxer), StopReason::Stalled);
    assert!(relaxer.iterations() < 70);
}

#[test]
fn a_crowd_at_rest_has_converged_even_if_the_caller_stops() {
    let start = free_crowd(rod(2), &[Vec3::ZERO, Vec3::Y]);
    let mut relaxer = relaxer(start, ReactionLaw::default()).unwrap();
    let report = relaxer.run(|_| ControlFlow::Break(())).unwrap();
    assert!(report.converged());
}

#[test]
fn the_law_can_change_between_iterations() {
    let positions: Vec<Vec3> = (0..6).map(|k| Vec3::Y * 0.05 * k as f32).collect();
    let mut changed = relaxer(free_crowd(rod(5), &positions), ReactionLaw::default()).unwrap();
    for _ in 0..3 {
        changed.step().unwrap();
    }
    let (before, iterations) = (changed.crowd().members().to_vec(), changed.iterations());
    let frozen = ReactionLaw::Thesis(ThesisSteps {
        force: 0.0,
        torque: 0.0,
        spring_force: 0.0,
        spring_torque: 0.0,
    });
    let config = RelaxConfig {
        law: frozen,
        ..RelaxConfig::default()
    };
    changed.set_config(config).unwrap();
    changed.step().unwrap();
    assert_eq!(changed.crowd().members(), before);
    assert_eq!(changed.iterations(), iterations + 1);
    changed.set_config(RelaxConfig::default()).unwrap();
    assert_eq!(run(&mut changed), StopReason::AtRest);
}

#[test]
fn an_invalid_config_changes_nothing() {
    let mut relaxer = relaxer(free_crowd(rod(2), &[Vec3::ZERO]), ReactionLaw::default()).unwrap();
    let invalid = RelaxConfig {
        clearance: -1.0,
        ..RelaxConfig::default()
    };
    let error = relaxer.set_config(invalid).unwrap_err();
    assert_eq!(error, RelaxError::BadClearance { clearance: -1.0 });
    assert_eq!(*relaxer.config(), RelaxConfig::default());
}

#[test]
fn penetrations_are_reported_per_molecule() {
    // The first and the last overlap by 0.05 nm.
    let positions = [Vec3::ZERO, Vec3::Z * 5.0, Vec3::Y * 0.15];
    let mut relaxer = relaxer(free_crowd(rod(1), &positions), ReactionLaw::default()).unwrap();
    let depths = relaxer.penetrations().unwrap();
    assert!((depths[0] - 0.05).abs() < 1e-6, "{depths:?}");
    assert_eq!(depths[0], depths[2]);
    assert_eq!(depths[1], 0.0);
    run(&mut relaxer);
    assert_eq!(relaxer.penetrations().unwrap(), [0.0; 3]);
}
