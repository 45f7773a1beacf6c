//! Motions among several molecules.

use bevy_rapier_molecules::docking::{
    CONTACT_TOLERANCE_NM, DockingGroup, DockingMolecule, DockingPair, ResponseMode, RigidMotion,
};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::docking::fixtures::{ball, molecule, random_motion, random_pose, smallest_gap};

/// A ligand, and a group of two more of them and a lipid, without overlaps.
fn random_group<'a>(
    ligand: &'a DockingMolecule,
    lipid: &'a DockingMolecule,
    random: &mut Pcg64,
) -> DockingGroup<'a> {
    loop {
        let mut pose = || random_pose(random, 1.8);
        let others = vec![(lipid, pose()), (ligand, pose()), (ligand, pose())];
        let group = DockingGroup::new(ligand, pose(), others);
        if smallest_gap_of_all(&group) > 1.0e-4 {
            return group;
        }
    }
}

/// Smallest gap of any two molecules by brute force, nm.
fn smallest_gap_of_all(group: &DockingGroup) -> f64 {
    let mut molecules = group.others.clone();
    molecules.push((group.moving, group.pose));
    let mut smallest = f64::INFINITY;
    for (index, (one, pose)) in molecules.iter().enumerate() {
        for (other, other_pose) in &molecules[index + 1..] {
            smallest = smallest.min(smallest_gap(one, pose, other, other_pose));
        }
    }
    smallest
}

/// A random motion towards one of the others.
fn motion_towards(group: &DockingGroup, other: usize, random: &mut Pcg64) -> RigidMotion {
    let towards = group.others[other].1.position - group.pose.position;
    let motion = random_motion(random);
    RigidMotion {
        translation: towards + motion.translation.clamp_length_max(0.3),
        ..motion
    }
}

#[test]
fn stop_ends_at_the_first_of_the_contacts_with_all_molecules() {
    let (ligand, lipid) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let mut random = Pcg64::seed_from_u64(21);
    let mut hits = [0; 4];
    for turn in 0..150 {
        let group = random_group(&ligand, &lipid, &mut random);
        let motion = motion_towards(&group, turn % 3, &mut random);
        let report = group.respond(ResponseMode::Stop, &motion).unwrap();
        // The shortest sweep past each of the others alone.
        let alone = group.others.iter().map(|(other, other_pose)| {
            let pair = DockingPair::new(&ligand, group.pose, other, *other_pose);
            pair.sweep(&motion).unwrap().fraction
        });
        let first = alone.fold(1.0, f64::min);
        assert_eq!(report.pose, motion.pose_at(&group.pose, first));
        assert_eq!(report.blocked, first < 1.0);
        let poses: Vec<Pose> = group.others.iter().map(|(_, pose)| *pose).collect();
        assert_eq!(report.other_poses, poses);
        for contact in &report.contacts {
            assert_eq!(contact.molecules[0], 0);
            assert!(contact.atoms.gap <= 1.2 * CONTACT_TOLERANCE_NM);
            hits[contact.molecules[1]] += 1;
        }
        let end = DockingGroup {
            pose: report.pose,
            ..group
        };
        let gap = smallest_gap_of_all(&end);
        assert!(gap > 0.0, "{gap}");
        assert!(!report.blocked || gap < 1.2 * f64::from(CONTACT_TOLERANCE_NM));
    }
    assert!(hits[1..].iter().all(|hits| *hits > 3), "{hits:?}");
}

#[test]
fn slide_and_push_overlap_no_molecule() {
    let (ligand, lipid) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let mut random = Pcg64::seed_from_u64(22);
    let (mut pushed, mut chains) = (0, 0);
    for turn in 0..150 {
        let group = random_group(&ligand, &lipid, &mut random);
        let motion = motion_towards(&group, turn % 3, &mut random);
        let mode = [ResponseMode::Slide, ResponseMode::Push][turn % 2];
        let report = group.respond(mode, &motion).unwrap();
        let mut end = group.clone();
        end.pose = report.pose;
        let mut moved = Vec::new();
        for ((_, pose), reached) in end.others.iter_mut().zip(&report.other_poses) {
            moved.push(pose.position.distance(reached.position) > 0.0);
            assert_eq!(pose.rotation, reached.rotation);
            *pose = *reached;
        }
        let gap = smallest_gap_of_all(&end);
        assert!(gap > 0.0, "{mode:?} {gap}");
        if mode == ResponseMode::Slide {
            assert!(!moved.contains(&true));
        }
        let moved = moved.iter().filter(|moved| **moved).count();
        pushed += usize::from(moved > 0);
        chains += usize::from(moved > 1);
    }
    assert!(pushed > 10 && chains > 1, "{pushed} {chains}");
}

#[test]
fn balls_in_a_row_push_each_other() {
    let one = ball(0.1);
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    let group = DockingGroup::new(&one, at(-0.5), vec![(&one, at(0.0)), (&one, at(0.5))]);
    let motion = RigidMotion::translation(Vec3::X * 1.3);
    let report = group.respond(ResponseMode::Push, &motion).unwrap();
    // 0.3 nm are free. Two equal balls share the next 0.6 nm, three the remaining 0.4 nm.
    let places = [report.pose, report.other_poses[0], report.other_poses[1]];
    let expected = [
        -0.5 + 0.3 + 0.3 + 0.4 / 3.0,
        0.3 + 0.4 / 3.0,
        0.5 + 0.4 / 3.0,
    ];
    let mut momentum = 0.0;
    for ((pose, expected), start) in places.iter().zip(expected).zip([-0.5, 0.0, 0.5]) {
        let x = pose.position.x;
        assert!((x - expected).abs() < 0.015, "{places:?}");
        momentum += x - start;
    }
    assert!((momentum - 1.3).abs() < 1.0e-3, "{momentum}");
    // The first one is fixed to a wall that nothing pushes.
    let slid = group.respond(ResponseMode::Slide, &motion).unwrap();
    assert!(slid.blocked && slid.pose.position.x < -0.2);
}

#[test]
fn nearest_free_pose_overlaps_no_molecule() {
    let (ligand, lipid) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    let mut group = DockingGroup::new(
        &ligand,
        at(0.4),
        vec![(&lipid, at(0.0)), (&ligand, at(0.5)), (&lipid, at(1.2))],
    );
    let free = group.nearest_free_pose().unwrap();
    let others = group.others.clone();
    for (other, pose) in &others {
        assert!(smallest_gap(&ligand, &free, other, pose) > 0.0);
    }
    let distance = free.position.distance(group.pose.position);
    assert!(distance > 0.1 && distance < 2.0, "{distance}");
    // A free pose stays.
    group.pose = free;
    assert_eq!(group.nearest_free_pose().unwrap(), free);
}
