//! Edits of crowds with joints: which joints stay, and that the new ones are kept.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::crowd::{Crowd, CrowdJoint, CrowdMember, JointLimits};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{CrowdEdit, RelaxConfig, Relaxer};
use bevy_rapier_molecules::search::BruteForce;
use glam::{DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Radius of the links, nm.
const RADIUS: f32 = 0.5;

/// From a link to the next one, nm.
const RISE: f32 = 1.1;

/// Largest gap of a joint, nm.
const GAP: f32 = 0.05;

/// Limits count as kept up to this, nm: the slack of the relaxer with rounding.
const SLACK: f64 = 1.1e-3;

fn link(position: Vec3) -> CrowdMember {
    CrowdMember {
        pose: Pose::from_translation(position),
        ..CrowdMember::default()
    }
}

fn joint(first: u32, second: u32) -> CrowdJoint {
    CrowdJoint {
        members: [first, second],
        frames: [0.5, -0.5].map(|side| Pose::from_translation(Vec3::Z * side * RISE)),
        limits: JointLimits {
            gap: GAP,
            ..JointLimits::default()
        },
    }
}

/// A straight fiber of balls along z.
fn fiber(links: u32) -> Crowd {
    let mut crowd = Crowd::new();
    let ball = MoleculeTemplate::coarse("ball", &[(Vec3::ZERO, RADIUS)]).unwrap();
    crowd.add_template(Arc::new(ball));
    for index in 0..links {
        let member = link(Vec3::Z * RISE * index as f32);
        crowd.add_member(member).unwrap();
    }
    for index in 1..links {
        crowd.add_joint(joint(index - 1, index)).unwrap();
    }
    crowd
}

fn relaxer(crowd: Crowd) -> Relaxer {
    Relaxer::new(crowd, RelaxConfig::default()).unwrap()
}

fn run(relaxer: &mut Relaxer) {
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    assert!(report.converged(), "{report:?}");
}

/// The largest gap of all joints and the deepest overlap, in 64 bits, nm.
fn gap_and_overlap(crowd: &Crowd) -> (f64, f64) {
    let members = crowd.members();
    let gap = |joint: &CrowdJoint| {
        let [first, second] = [0, 1].map(|side| {
            let (pose, frame) = (
                &members[joint.members[side] as usize].pose,
                &joint.frames[side],
            );
            let anchor: DVec3 = pose.rotation.as_dquat() * frame.position.as_dvec3();
            anchor + pose.position.as_dvec3()
        });
        first.distance(second)
    };
    let mut overlap: f64 = 0.0;
    for (index, first) in members.iter().enumerate() {
        for second in &members[index + 1..] {
            let between = first.pose.position.as_dvec3() - second.pose.position.as_dvec3();
            overlap = overlap.max(2.0 * f64::from(RADIUS) - between.length());
        }
    }
    (crowd.joints().iter().map(gap).fold(0.0, f64::max), overlap)
}

fn check(relaxer: &Relaxer) {
    let (gap, overlap) = gap_and_overlap(relaxer.crowd());
    assert!(gap <= f64::from(GAP) + SLACK, "{gap} nm");
    assert_eq!(overlap, 0.0);
}

fn members_of(crowd: &Crowd) -> Vec<[u32; 2]> {
    crowd.joints().iter().map(|joint| joint.members).collect()
}

#[test]
fn joints_of_removed_molecules_go_and_the_others_are_renumbered() {
    let mut relaxer = relaxer(fiber(10));
    let edit = CrowdEdit {
        removed: vec![3, 9],
        ..CrowdEdit::default()
    };
    let indices = relaxer.edit(&edit).unwrap();
    assert_eq!((indices[3], indices[4], indices[9]), (None, Some(3), None));
    // 0-1-2, then 4 to 8 one place further down.
    let expected = [[0, 1], [1, 2], [3, 4], [4, 5], [5, 6], [6, 7]];
    assert_eq!(members_of(relaxer.crowd()), expected);
    assert!(relaxer.status().is_at_rest());
}

#[test]
fn added_joints_use_the_indices_after_the_edit_and_are_kept() {
    for local in [false, true] {
        let mut relaxer = relaxer(fiber(8));
        relaxer.set_local_motion(local);
        // A link further on, which is the eighth of eight: it has to be pulled back.
        let added = link(Vec3::new(0.0, 3.0, 9.0 * RISE));
        let edit = CrowdEdit {
            removed: vec![0],
            added: vec![added],
            joints: vec![joint(6, 7)],
            ..CrowdEdit::default()
        };
        relaxer.edit(&edit).unwrap();
        assert_eq!(members_of(relaxer.crowd()).last(), Some(&[6, 7]));
        assert_eq!(relaxer.status().strained_joints, 1);
        assert_eq!(relaxer.status().overlaps, 0);
        run(&mut relaxer);
        check(&relaxer);
    }
}

#[test]
fn strained_joints_move_their_molecules_when_only_some_molecules_move() {
    let mut relaxer = relaxer(fiber(12));
    relaxer.set_local_motion(true);
    let far = Pose::from_translation(Vec3::new(1.5, 0.0, RISE * 5.0));
    let edit = CrowdEdit {
        poses: vec![(5, far)],
        ..CrowdEdit::default()
    };
    relaxer.edit(&edit).unwrap();
    assert_eq!(relaxer.status().strained_joints, 2);
    // No atoms overlap: only the joints tell which molecules move.
    assert_eq!(relaxer.status().overlaps, 0);
    let before = relaxer.crowd().members().to_vec();
    relaxer.step().unwrap();
    let members = relaxer.crowd().members().iter().zip(&before);
    let moved = members.map(|(now, before)| now.pose != before.pose);
    let moved: Vec<usize> = (0..)
        .zip(moved)
        .filter_map(|(k, moved)| moved.then_some(k))
        .collect();
    assert_eq!(moved, [4, 5, 6]);
    run(&mut relaxer);
    check(&relaxer);
}

#[test]
fn edited_crowds_relax_as_new_ones_do() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    for round in 0..10 {
        let mut edited = relaxer(fiber(20));
        edited.set_local_motion(round % 2 > 0);
        let mut place = || Vec3::from_array([(); 3].map(|()| 12.0 * random.random::<f32>()));
        let removed = [round, 19 - round / 2];
        let edit = CrowdEdit {
            removed: removed.to_vec(),
            added: vec![link(place()), link(place())],
            poses: vec![(10, Pose::from_translation(place()))],
            joints: vec![joint(17, 18), joint(18, 19)],
            ..CrowdEdit::default()
        };
        let joints = edited.crowd().joints().to_vec();
        let indices = edited.edit(&edit).unwrap();
        let kept = joints.iter().filter_map(|joint| {
            let [first, second] = joint.members.map(|member| indices[member as usize]);
            Some([first?, second?])
        });
        let expected: Vec<[u32; 2]> = kept.chain([[17, 18], [18, 19]]).collect();
        assert_eq!(members_of(edited.crowd()), expected);
        let searched = relaxer(edited.crowd().clone());
        let strained = searched.status().strained_joints;
        assert_eq!(edited.status().strained_joints, strained, "round {round}");
        assert!(strained > 0);
        run(&mut edited);
        check(&edited);
    }
}

#[test]
fn a_failed_edit_leaves_the_joints() {
    let mut periodic = fiber(10);
    periodic.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(40.0)).unwrap()));
    let [mut edited, mut untouched] = [periodic.clone(), periodic].map(relaxer);
    let stretch = CrowdEdit {
        poses: vec![(9, Pose::from_translation(Vec3::Z * 13.0))],
        ..CrowdEdit::default()
    };
    edited.edit(&stretch).unwrap();
    untouched.edit(&stretch).unwrap();
    let joints = edited.crowd().joints().to_vec();
    let failing = |joint: CrowdJoint| CrowdEdit {
        removed: vec![0],
        joints: vec![joint],
        ..CrowdEdit::default()
    };
    let turned = CrowdJoint {
        frames: [Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)); 2],
        ..joint(0, 1)
    };
    let cases = [
        (
            failing(joint(3, 9)),
            "there is no molecule 9 in the crowd: it has 9; add it first",
        ),
        (
            failing(joint(3, 3)),
            "a joint connects molecule 3 with itself",
        ),
        (
            failing(turned),
            "the frame of a joint in molecule 0 needs a finite position and a unit rotation, \
             not [0, 0, 0] nm and [0, 0, 0, 2]",
        ),
    ];
    for (edit, expected) in cases {
        let error = edited.edit(&edit).unwrap_err().to_string();
        assert_eq!(error, expected);
        assert_eq!(edited.crowd().joints(), joints);
    }
    // An error that is found only after the members were replaced: this search has no images.
    for relaxer in [&mut edited, &mut untouched] {
        relaxer.set_search(Some(Box::new(BruteForce)));
    }
    let shorter = CrowdEdit {
        removed: vec![4],
        ..CrowdEdit::default()
    };
    let error = edited.edit(&shorter).unwrap_err().to_string();
    assert!(error.contains("periodic"), "{error}");
    assert_eq!(edited.crowd().joints(), joints);
    for relaxer in [&mut edited, &mut untouched] {
        relaxer.set_search(None);
        run(relaxer);
        check(relaxer);
    }
    let members = edited.crowd().members().iter();
    for (one, other) in members.zip(untouched.crowd().members()) {
        assert!(one.pose.position.distance(other.pose.position) < 1.0e-4);
    }
}
