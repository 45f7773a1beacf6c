//! Overlapping pairs of atoms.

use bevy_rapier_molecules::docking::{DockingMolecule, is_free, overlapping_atoms};
use bevy_rapier_molecules::pose::Pose;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::docking::fixtures::{atoms, gaps, ligand_and_receptor, molecule, random_pose};

/// Gaps closer to zero may be found or not, nm: poses are rounded.
const ROUNDING_NM: f64 = 2.0e-6;

/// Compares the overlaps with brute force and returns their number.
fn check(a: &DockingMolecule, pose_a: &Pose, b: &DockingMolecule, pose_b: &Pose) -> usize {
    let found = overlapping_atoms(a, pose_a, b, pose_b);
    assert!(found.is_sorted_by_key(|pair| (pair.a, pair.b)));
    assert_eq!(is_free(a, pose_a, b, pose_b), found.is_empty());
    let (one, other) = (atoms(a, pose_a), atoms(b, pose_b));
    let mut rest = found.iter().peekable();
    for (a, b, gap) in gaps(&one, &other) {
        let pair = rest.next_if(|pair| (pair.a, pair.b) == (a, b));
        if gap.abs() > ROUNDING_NM {
            assert_eq!(pair.is_some(), gap < 0.0, "atoms {a} and {b}, gap {gap}");
        }
        if let Some(pair) = pair {
            assert!((f64::from(pair.gap) - gap).abs() < ROUNDING_NM);
        }
    }
    assert!(rest.next().is_none());
    found.len()
}

#[test]
fn ligand_overlaps_agree_with_brute_force() {
    let (ligand, receptor) = ligand_and_receptor();
    let mut random = Pcg64::seed_from_u64(1);
    let (mut overlapping, mut free) = (0, 0);
    for turn in 0..10_000 {
        let pose = random_pose(&mut random, 3.0);
        let other = if turn % 2 == 0 {
            Pose::IDENTITY
        } else {
            random_pose(&mut random, 1.0)
        };
        let found = if turn % 3 == 0 {
            check(&receptor, &other, &ligand, &pose)
        } else {
            check(&ligand, &pose, &receptor, &other)
        };
        if found > 0 {
            overlapping += 1;
        } else {
            free += 1;
        }
    }
    assert!(overlapping > 1000 && free > 1000, "{overlapping} {free}");
}

#[test]
fn protein_overlaps_agree_with_brute_force() {
    let (one, other) = (molecule("1ubq.cif"), molecule("dhfr.pdb"));
    let mut random = Pcg64::seed_from_u64(2);
    let mut overlapping = 0;
    for _ in 0..60 {
        let pose = random_pose(&mut random, 4.0);
        overlapping += usize::from(check(&one, &pose, &other, &Pose::IDENTITY) > 0);
    }
    assert!(overlapping > 10, "{overlapping}");
}
