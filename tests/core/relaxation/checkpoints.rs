//! Relaxations that are interrupted, saved, read and resumed: nothing may change.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{Confinement, SphereShell};
use bevy_rapier_molecules::crowd::{Crowd, CrowdJoint, CrowdMember, JointLimits};
use bevy_rapier_molecules::force::Projection;
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{
    CheckpointError, CoarseStart, ReactionLaw, RelaxCheckpoint, RelaxConfig, RelaxError, Relaxer,
};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::fixtures::bits;
use crate::common::thread_pool::with_threads;

/// Kicks that follow each other soon.
fn config() -> RelaxConfig {
    let law = ReactionLaw::Projection(Projection {
        fade_iterations: 6,
        kick_after: 4,
        ..Projection::default()
    });
    RelaxConfig {
        law,
        max_iterations: 120,
        ..RelaxConfig::default()
    }
}

/// The template of a rod.
fn rod() -> Arc<MoleculeTemplate> {
    let spheres: Vec<(Vec3, f32)> = (0..4).map(|k| (Vec3::X * 0.3 * k as f32, 0.2)).collect();
    Arc::new(MoleculeTemplate::coarse("rod", &spheres).unwrap())
}

/// Random rods in a cube with this edge, nm. Two are fixed.
fn random_rods(count: usize, edge: f32) -> Vec<CrowdMember> {
    let mut random = Pcg64Mcg::seed_from_u64(4);
    let member = |index| {
        let [x, y, z, a, b, c] = [(); 6].map(|()| random.random::<f32>());
        let is_fixed = index < 2;
        let position = if is_fixed {
            Vec3::splat(1.5 + index as f32)
        } else {
            Vec3::new(x, y, z) * edge
        };
        CrowdMember {
            pose: Pose::new(position, Quat::from_scaled_axis(6.0 * Vec3::new(a, b, c))),
            fixed: is_fixed,
            ..CrowdMember::default()
        }
    };
    (0..count).map(member).collect()
}

/// Rods that have space around them.
fn rods(count: usize) -> Crowd {
    let mut crowd = Crowd::new();
    crowd.add_template(rod());
    for member in random_rods(count, 7.0) {
        crowd.add_member(member).unwrap();
    }
    crowd
}

/// Rods inside of a sphere that is too small.
fn confined_rods(count: usize) -> Crowd {
    let mut crowd = Crowd::new();
    crowd.add_template(rod());
    let center = Vec3::splat(2.0);
    let sphere = crowd.add_compartment(Arc::new(SphereShell::new(center, 2.0).unwrap()));
    let inside = Confinement::Inside { distance: 0.4 };
    let inside = crowd.add_placement(sphere, inside).unwrap();
    for member in random_rods(count, 4.0) {
        let placement = Some(inside);
        let member = CrowdMember {
            placement,
            ..member
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

/// Rods in a periodic box that is too small, some of which are joined.
fn joined_rods(count: usize) -> Crowd {
    let mut crowd = Crowd::new();
    crowd.add_template(rod());
    crowd.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(4.0)).unwrap()));
    for member in random_rods(count, 4.0) {
        crowd.add_member(member).unwrap();
    }
    for first in (10..60).step_by(2) {
        let joint = CrowdJoint {
            members: [first, first + 1],
            frames: [0.8, -0.8].map(|x| Pose::from_translation(Vec3::X * x)),
            limits: JointLimits {
                gap: 0.05,
                ..JointLimits::default()
            },
        };
        crowd.add_joint(joint).unwrap();
    }
    crowd
}

/// A checkpoint after it was written and read.
fn copied(checkpoint: &RelaxCheckpoint) -> RelaxCheckpoint {
    let mut bytes = Vec::new();
    checkpoint.write(&mut bytes).unwrap();
    let read = RelaxCheckpoint::read(&bytes[..]).unwrap();
    assert_eq!(read, *checkpoint);
    read
}

fn run(relaxer: &mut Relaxer) -> u32 {
    relaxer
        .run(|_| ControlFlow::Continue(()))
        .unwrap()
        .iterations
}

/// Compares a run that is interrupted after each of some iterations with one that is not.
fn check_interrupted(crowd: &Crowd, config: RelaxConfig, at: &[u32]) -> Relaxer {
    let mut whole = Relaxer::new(crowd.clone(), config).unwrap();
    let iterations = run(&mut whole);
    assert!(iterations > *at.last().unwrap(), "{iterations}");
    for threads in [1, 3] {
        with_threads(threads, || {
            let mut relaxer = Relaxer::new(crowd.clone(), config).unwrap();
            for &at in at {
                let reached = relaxer.run(|relaxer| match relaxer.iterations() == at {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                });
                assert_eq!(reached.unwrap().iterations, at);
                let status = relaxer.status();
                let checkpoint = copied(&relaxer.checkpoint());
                assert_eq!(checkpoint.iterations(), at);
                // The poses of the crowd do not matter.
                relaxer = Relaxer::resume(crowd.clone(), config, &checkpoint).unwrap();
                assert_eq!(relaxer.status(), status, "after {at}");
                assert_eq!(relaxer.start_status(), whole.start_status());
            }
            assert_eq!(run(&mut relaxer), iterations);
            assert!(
                bits(relaxer.crowd()) == bits(whole.crowd()),
                "{threads} threads"
            );
            assert_eq!(relaxer.pushes().unwrap(), whole.pushes().unwrap());
            assert_eq!(relaxer.status(), whole.status());
            assert_eq!(relaxer.is_stalled(), whole.is_stalled());
        });
    }
    whole
}

#[test]
fn an_interrupted_run_ends_with_the_same_bits() {
    // Before the first, around the first kicks, and later.
    let at = [0, 1, 2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 31, 77];
    let whole = check_interrupted(&confined_rods(250), config(), &at);
    assert!(whole.status().overlaps > 0, "too few rods to be kicked");
    check_interrupted(&joined_rods(400), config(), &at);
}

#[test]
fn a_run_that_comes_to_rest_is_resumed_at_rest() {
    let crowd = rods(120);
    let config = RelaxConfig::default();
    check_interrupted(&crowd, config, &[3]);
    let mut relaxer = Relaxer::new(crowd.clone(), config).unwrap();
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    assert!(report.converged());
    let checkpoint = copied(&relaxer.checkpoint());
    let mut resumed = Relaxer::resume(crowd, config, &checkpoint).unwrap();
    let again = resumed.run(|_| ControlFlow::Continue(())).unwrap();
    assert!(again.converged());
    assert_eq!(again.iterations, report.iterations);
    assert_eq!((again.start, again.end), (report.start, report.end));
    assert!(again.stages.total() > report.stages.total(), "times add up");
}

#[test]
fn a_coarse_start_is_resumed() {
    let coarse = CoarseStart {
        proxies: 2,
        radius_scale: 1.0,
        iterations: 12,
    };
    let config = RelaxConfig {
        coarse: Some(coarse),
        ..config()
    };
    let crowd = confined_rods(250);
    // While it lasts, at its end and after it.
    check_interrupted(&crowd, config, &[0, 3, 11, 12, 13, 40]);
    let mut relaxer = Relaxer::new(crowd.clone(), config).unwrap();
    relaxer.step().unwrap();
    assert!(relaxer.is_coarse());
    let resumed = Relaxer::resume(crowd, config, &copied(&relaxer.checkpoint())).unwrap();
    assert!(resumed.is_coarse());
}

#[test]
fn a_stall_is_resumed() {
    let config = RelaxConfig {
        stall_window: 40,
        max_iterations: 5_000,
        ..config()
    };
    let crowd = confined_rods(250);
    let whole = check_interrupted(&crowd, config, &[5, 20]);
    assert!(whole.is_stalled());
}

#[test]
fn local_motion_is_resumed() {
    let law = ReactionLaw::Projection(Projection {
        center_weight: 0.0,
        kick_after: 0,
        ..Projection::default()
    });
    let config = RelaxConfig { law, ..config() };
    let crowd = rods(200);
    let mut whole = Relaxer::new(crowd.clone(), config).unwrap();
    whole.set_local_motion(true);
    for _ in 0..20 {
        whole.step().unwrap();
    }
    let checkpoint = copied(&whole.checkpoint());
    let mut resumed = Relaxer::resume(crowd, config, &checkpoint).unwrap();
    for _ in 0..20 {
        assert_eq!(whole.step().unwrap(), resumed.step().unwrap());
    }
    assert!(bits(whole.crowd()) == bits(resumed.crowd()));
}

#[test]
fn limits_of_time_and_iterations_may_differ() {
    let crowd = confined_rods(250);
    let first = RelaxConfig {
        max_iterations: 10,
        ..config()
    };
    let mut relaxer = Relaxer::new(crowd.clone(), first).unwrap();
    assert_eq!(run(&mut relaxer), 10);
    let mut resumed = Relaxer::resume(crowd.clone(), config(), &relaxer.checkpoint()).unwrap();
    let mut whole = Relaxer::new(crowd, config()).unwrap();
    assert_eq!(run(&mut resumed), run(&mut whole));
    assert!(bits(resumed.crowd()) == bits(whole.crowd()));
}

#[test]
fn other_molecules_and_configs_are_rejected() {
    let crowd = rods(30);
    let checkpoint = Relaxer::new(crowd.clone(), config()).unwrap().checkpoint();
    let error = |crowd: Crowd, config| match Relaxer::resume(crowd, config, &checkpoint) {
        Err(RelaxError::Checkpoint(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("no error"),
    };
    let fewer = CheckpointError::OtherMolecules {
        saved: 30,
        molecules: 29,
    };
    assert_eq!(error(rods(29), config()), fewer);
    let mut freed = Crowd::new();
    freed.add_template(crowd.templates()[0].clone());
    for member in crowd.members() {
        let fixed = false;
        freed.add_member(CrowdMember { fixed, ..*member }).unwrap();
    }
    let mut wider = Crowd::new();
    wider.add_template(Arc::new(
        MoleculeTemplate::coarse("rod", &[(Vec3::ZERO, 0.3)]).unwrap(),
    ));
    for member in crowd.members() {
        wider.add_member(*member).unwrap();
    }
    let mut periodic = crowd.clone();
    periodic.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(4.0)).unwrap()));
    for other in [freed, wider, periodic] {
        let error = error(other, config());
        let is_foreign = matches!(error, CheckpointError::OtherMolecules { .. });
        assert!(is_foreign, "{error}");
    }
    let [law, clearance, window, coarse] = [
        RelaxConfig {
            law: ReactionLaw::default(),
            ..config()
        },
        RelaxConfig {
            clearance: 0.0,
            ..config()
        },
        RelaxConfig {
            stall_window: 1,
            ..config()
        },
        RelaxConfig {
            coarse: Some(CoarseStart::FREE),
            ..config()
        },
    ];
    for other in [law, clearance, window, coarse] {
        assert_eq!(error(crowd.clone(), other), CheckpointError::OtherConfig);
    }
}

fn bytes_of(checkpoint: &RelaxCheckpoint) -> Vec<u8> {
    let mut bytes = Vec::new();
    checkpoint.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn damaged_files_are_rejected() {
    let mut relaxer = Relaxer::new(rods(30), config()).unwrap();
    relaxer.set_local_motion(true);
    relaxer.step().unwrap();
    let bytes = bytes_of(&relaxer.checkpoint().with_origin(7));
    assert_eq!(RelaxCheckpoint::read(&bytes[..]).unwrap().origin, 7);
    for length in 0..bytes.len() {
        let error = RelaxCheckpoint::read(&bytes[..length]).unwrap_err();
        let is_known = match error {
            CheckpointError::NotACheckpoint => length < 8,
            CheckpointError::Truncated { .. } => length >= 8,
            _ => false,
        };
        assert!(is_known, "{length} bytes: {error}");
    }
    for position in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[position] ^= 0x10;
        // Never read as another state.
        let error = RelaxCheckpoint::read(&changed[..]).unwrap_err();
        match (position, error) {
            (0..8, CheckpointError::NotACheckpoint)
            | (8..12, CheckpointError::Version { supported: 1, .. }) => {}
            (0..12, error) => panic!("{position}: {error}"),
            (_, CheckpointError::Damaged { .. } | CheckpointError::Truncated { .. }) => {}
            (_, error) => panic!("{position}: {error}"),
        }
    }
    let longer = [&bytes[..], &[0]].concat();
    let error = RelaxCheckpoint::read(&longer[..]).unwrap_err();
    assert_eq!(error.to_string(), "it is damaged: it goes on after its end");
    for other in [&b"data_model"[..], &[0xff; 400]] {
        let error = RelaxCheckpoint::read(other).unwrap_err();
        assert_eq!(error, CheckpointError::NotACheckpoint);
    }
}

#[test]
fn counts_in_a_file_do_not_reserve_memory() {
    let bytes = bytes_of(&Relaxer::new(rods(3), config()).unwrap().checkpoint());
    for position in 0..bytes.len() - 4 {
        let mut changed = bytes.clone();
        changed[position..position + 4].copy_from_slice(&[0xff; 4]);
        assert!(RelaxCheckpoint::read(&changed[..]).is_err() || changed == bytes);
    }
}

#[test]
fn files_are_replaced_by_whole_ones() {
    let folder = std::env::temp_dir().join(format!("checkpoints-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("state");
    let mut relaxer = Relaxer::new(rods(30), config()).unwrap();
    for _ in 0..2 {
        let checkpoint = relaxer.checkpoint();
        checkpoint.save(&path).unwrap();
        assert_eq!(RelaxCheckpoint::load(&path).unwrap(), checkpoint);
        relaxer.step().unwrap();
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let bytes = std::fs::metadata(&path).unwrap().len();
    // A header, 56 bytes a molecule and the checksum.
    assert!((56 * 30..56 * 30 + 200).contains(&bytes), "{bytes}");
    for missing in [folder.join("nowhere/state"), folder.clone()] {
        let error = relaxer.checkpoint().save(missing).unwrap_err();
        assert!(matches!(error, CheckpointError::Io(_)), "{error}");
    }
    let error = RelaxCheckpoint::load(folder.join("nothing")).unwrap_err();
    assert!(matches!(error, CheckpointError::Io(_)), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
