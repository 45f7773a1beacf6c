//! Joints of a crowd: validation, geometry, and what the relaxer does with them.

use std::sync::Arc;

use bevy_rapier_molecules::backend::{Backend, DeviceError};
use bevy_rapier_molecules::crowd::{Crowd, CrowdJoint, CrowdMember, JointLimits};
use bevy_rapier_molecules::force::{Projection, ThesisSteps};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{
    CoarseStart, DeviceScene, ReactionLaw, RelaxConfig, RelaxError, Relaxer,
};
use glam::{Quat, Vec3};

use super::fixtures::{state_by_hand, strained};
use crate::relaxation::fixtures::relaxed;

/// Two rods of different mass, 6 nm apart, with a joint between their ends.
fn pair(poses: [Pose; 2], limits: JointLimits) -> Crowd {
    let mut crowd = Crowd::new();
    for (radius, pose) in [1.0, 0.7].into_iter().zip(poses) {
        let balls = [-1.0, 0.0, 1.0].map(|z| (Vec3::Z * z, radius));
        let rod = MoleculeTemplate::coarse("rod", &balls).unwrap();
        let template = crowd.add_template(Arc::new(rod));
        let member = CrowdMember {
            template,
            pose,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    let frames = [
        Pose::new(Vec3::Z * 2.2, Quat::from_rotation_z(0.4)),
        Pose::new(Vec3::Z * -2.2, Quat::IDENTITY),
    ];
    let joint = CrowdJoint {
        members: [0, 1],
        frames,
        limits,
    };
    crowd.add_joint(joint).unwrap();
    crowd
}

fn crooked() -> [Pose; 2] {
    [
        Pose::new(Vec3::ZERO, Quat::from_rotation_x(0.3)),
        Pose::new(
            Vec3::new(1.0, -2.0, 6.0),
            Quat::from_rotation_y(1.1) * Quat::from_rotation_z(2.0),
        ),
    ]
}

/// The laws; the thesis's needs larger steps to come to rest in time.
fn laws() -> [ReactionLaw; 2] {
    let steps = ThesisSteps {
        force: 2.0e-3,
        ..ThesisSteps::default()
    };
    [
        ReactionLaw::Projection(Projection::default()),
        ReactionLaw::Thesis(steps),
    ]
}

#[test]
fn states_are_those_of_vectors_in_double_precision() {
    for turn in 0..50 {
        let angle = turn as f32;
        let poses = [
            Pose::new(Vec3::splat(angle), Quat::from_rotation_x(1.3 * angle)),
            Pose::new(
                Vec3::splat(angle) + Vec3::Y,
                Quat::from_rotation_z(0.9 * angle) * Quat::from_rotation_y(0.7 * angle),
            ),
        ];
        let crowd = pair(poses, JointLimits::default());
        let joint = &crowd.joints()[0];
        let state = crowd.state_of(joint);
        let [gap, bend, twist] = state_by_hand(&crowd, joint);
        assert!((f64::from(state.gap) - gap).abs() < 2.0e-5, "{turn}");
        assert!((f64::from(state.bend) - bend).abs() < 1.0e-5, "{turn}");
        let difference = (f64::from(state.twist) - twist).abs();
        let around = (difference - std::f64::consts::TAU).abs();
        assert!(difference.min(around) < 1.0e-4, "{turn}: {difference}");
    }
}

#[test]
fn each_limit_is_reached_with_both_laws() {
    let free = JointLimits {
        gap: 100.0,
        ..JointLimits::default()
    };
    let limits = [
        JointLimits { gap: 0.3, ..free },
        JointLimits { bend: 0.2, ..free },
        JointLimits { twist: 0.1, ..free },
        JointLimits {
            gap: 0.3,
            bend: 0.2,
            twist: 0.1,
            ..JointLimits::default()
        },
    ];
    for law in laws() {
        for limits in limits {
            let config = RelaxConfig {
                law,
                ..RelaxConfig::default()
            };
            let crowd = pair(crooked(), limits);
            assert_eq!(strained(&crowd), 1, "{limits:?}");
            let (report, crowd) = relaxed(crowd, config);
            assert_eq!(report.start.strained_joints, 1);
            assert!(report.converged(), "{law:?}, {limits:?}: {report:?}");
            assert_eq!((report.end.strained_joints, strained(&crowd)), (0, 0));
        }
    }
}

#[test]
fn a_joint_within_its_limits_moves_nothing() {
    let limits = JointLimits {
        gap: 100.0,
        ..JointLimits::default()
    };
    let crowd = pair(crooked(), limits);
    let mut relaxer = Relaxer::new(crowd.clone(), RelaxConfig::default()).unwrap();
    assert!(relaxer.status().is_at_rest());
    relaxer.step().unwrap();
    assert_eq!(relaxer.crowd().members(), crowd.members());
}

#[test]
fn joints_reach_across_a_periodic_box() {
    let limits = JointLimits {
        gap: 0.3,
        bend: 0.2,
        twist: 0.3,
        ..JointLimits::default()
    };
    let poses = [
        Pose::new(Vec3::new(5.0, 5.0, 19.0), Quat::IDENTITY),
        Pose::new(Vec3::new(5.5, 4.5, 4.5), Quat::from_rotation_x(0.5)),
    ];
    let mut crowd = pair(poses, limits);
    crowd.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(20.0)).unwrap()));
    let start: Vec<Vec3> = crowd
        .members()
        .iter()
        .map(|one| one.pose.position)
        .collect();
    let (report, crowd) = relaxed(crowd, RelaxConfig::default());
    assert!(
        report.start.strained_joints == 1 && report.converged(),
        "{report:?}"
    );
    assert_eq!(strained(&crowd), 0);
    for (member, start) in crowd.members().iter().zip(start) {
        let moved = member.pose.position.distance(start);
        assert!(moved < 3.0, "{moved} nm: not to the other side of the box");
    }
}

#[test]
fn a_fixed_link_stays_and_the_other_comes() {
    for law in laws() {
        let limits = JointLimits {
            gap: 0.2,
            bend: 0.3,
            twist: 0.2,
            ..JointLimits::default()
        };
        let free = pair(crooked(), limits);
        let mut crowd = Crowd::new();
        for template in free.templates() {
            crowd.add_template(template.clone());
        }
        for (index, member) in free.members().iter().enumerate() {
            let fixed = index == 0;
            crowd.add_member(CrowdMember { fixed, ..*member }).unwrap();
        }
        crowd.add_joint(free.joints()[0]).unwrap();
        let config = RelaxConfig {
            law,
            ..RelaxConfig::default()
        };
        let (report, after) = relaxed(crowd, config);
        assert!(report.converged(), "{law:?}: {report:?}");
        assert_eq!(after.members()[0].pose, free.members()[0].pose);
        assert_eq!(strained(&after), 0);
    }
}

#[test]
fn a_strained_joint_of_two_fixed_molecules_is_an_error() {
    let free = pair(crooked(), JointLimits::default());
    let mut crowd = Crowd::new();
    for template in free.templates() {
        crowd.add_template(template.clone());
    }
    for member in free.members() {
        let fixed = CrowdMember {
            fixed: true,
            ..*member
        };
        crowd.add_member(fixed).unwrap();
    }
    crowd.add_joint(free.joints()[0]).unwrap();
    let Err(error) = Relaxer::new(crowd, RelaxConfig::default()) else {
        panic!("the joint is strained");
    };
    assert_eq!(error, RelaxError::FixedJoint { molecules: [0, 1] });
    assert_eq!(
        error.to_string(),
        "molecules 0 and 1 are fixed but their joint exceeds its limits: move or free one of them"
    );
}

#[test]
fn a_crowd_with_joints_is_relaxed_on_the_cpu_without_a_coarse_start() {
    let limits = JointLimits {
        gap: 0.2,
        ..JointLimits::default()
    };
    let crowd = pair(crooked(), limits);
    let config = RelaxConfig {
        coarse: Some(CoarseStart::FREE),
        ..RelaxConfig::default()
    };
    let create = |_: &DeviceScene<'_>| Err(DeviceError::FeatureDisabled);
    let relaxer = Relaxer::with_device_relaxer(crowd, config, create).unwrap();
    assert_eq!(relaxer.backend(), Backend::Cpu);
    let reason = DeviceError::Unsupported { feature: "a joint" };
    assert_eq!(relaxer.device_error(), Some(&reason));
    assert!(!relaxer.is_coarse() && !relaxer.status().is_at_rest());
}

#[test]
fn invalid_joints_are_errors() {
    let mut crowd = pair(crooked(), JointLimits::default());
    let joint = crowd.joints()[0];
    let limits = |limits| CrowdJoint { limits, ..joint };
    let cases = [
        (
            CrowdJoint {
                members: [0, 2],
                ..joint
            },
            "there is no molecule 2 in the crowd: it has 2; add it first",
        ),
        (
            CrowdJoint {
                members: [1, 1],
                ..joint
            },
            "a joint connects molecule 1 with itself",
        ),
        (
            CrowdJoint {
                frames: [Pose::IDENTITY, Pose::from_translation(Vec3::NAN)],
                ..joint
            },
            "the frame of a joint in molecule 1 needs a finite position and a unit rotation, not [NaN, NaN, NaN] nm and [0, 0, 0, 1]",
        ),
        (
            limits(JointLimits {
                gap: -1.0,
                ..JointLimits::default()
            }),
            "the gap of a joint must be finite and not negative, but is -1",
        ),
        (
            limits(JointLimits {
                twist: f32::INFINITY,
                ..JointLimits::default()
            }),
            "the twist of a joint must be finite and not negative, but is inf",
        ),
    ];
    for (joint, sentence) in cases {
        assert_eq!(crowd.add_joint(joint).unwrap_err().to_string(), sentence);
    }
    assert_eq!(crowd.joints().len(), 1);
}
