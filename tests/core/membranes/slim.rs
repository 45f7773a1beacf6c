//! Slim conformers: narrower, with the same chemistry.

use std::sync::Arc;

use bevy_rapier_molecules::membrane::{Conformer, Species};
use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue};
use glam::{DVec3, Vec3};

use super::fixtures::{lipid, popc, rod};
use crate::common::thread_pool::with_threads;

/// Rounding of a rebuilt template, nm.
const ROUNDING: f64 = 2.0e-6;

/// Length below which two atoms are bonded, nm, other than P-O: that of C-C and some more.
fn max_bond(pair: [Element; 2]) -> f64 {
    match pair.iter().filter(|one| **one == Element::H).count() {
        0 => 0.175,
        1 => 0.125,
        _ => 0.0,
    }
}

/// Bonded atoms of each atom.
fn bonds(template: &MoleculeTemplate) -> Vec<Vec<usize>> {
    let elements = template.elements();
    let count = template.atom_count();
    let is_bonded = |a: usize, b: usize| {
        a != b && distance(template, a, b) < max_bond([elements[a], elements[b]])
    };
    let of = |a: usize| (0..count).filter(|b| is_bonded(a, *b)).collect();
    (0..count).map(of).collect()
}

fn distance(template: &MoleculeTemplate, a: usize, b: usize) -> f64 {
    let [a, b] = [a, b].map(|index| template.positions()[index].as_dvec3());
    a.distance(b)
}

/// Root mean square distance from the axis, nm.
fn width(conformer: &Conformer) -> f64 {
    let up = conformer.up.as_dvec3();
    let points: Vec<DVec3> = conformer
        .template
        .positions()
        .iter()
        .map(|point| point.as_dvec3())
        .collect();
    let center = points.iter().sum::<DVec3>() / points.len() as f64;
    let across = points
        .iter()
        .map(|p| (*p - center).reject_from(up).length_squared());
    (across.sum::<f64>() / points.len() as f64).sqrt()
}

/// Three times the volume that four atoms span, with a sign.
fn volume(template: &MoleculeTemplate, atoms: [usize; 4]) -> f64 {
    let [a, b, c, d] = atoms.map(|index| template.positions()[index].as_dvec3());
    (b - a).cross(c - a).dot(d - a)
}

#[test]
fn lipids_become_as_slim_as_their_area_needs() {
    for (name, area, slim) in [("popc", 0.65, 9), ("pope", 0.58, 3), ("dppc", 0.63, 12)] {
        let before = lipid(name, area);
        let after = before.clone().slimmed().unwrap();
        assert_eq!(after.conformers().len(), before.conformers().len());
        let target = 0.32 * f64::from(area).sqrt();
        let mut reached = 0;
        for (before, after) in before.conformers().iter().zip(after.conformers()) {
            assert!(width(after) <= width(before) + ROUNDING, "{name}");
            reached += u32::from(width(after) <= target + ROUNDING);
            assert_eq!(after.up, before.up);
            assert_eq!(after.template.radii(), before.template.radii());
            assert_eq!(after.template.atom_names(), before.template.atom_names());
        }
        // Those at the limit of tries are almost slim.
        assert!(reached >= slim, "{name}: {reached} of 16");
        let widest = after.conformers().iter().map(width).fold(0.0, f64::max);
        assert!(widest < 1.2 * target, "{name}: {widest} {target}");
    }
}

#[test]
fn bonds_angles_and_chirality_are_kept() {
    let before = popc();
    let after = before.clone().slimmed().unwrap();
    for (before, after) in before.conformers().iter().zip(after.conformers()) {
        let (before, after) = (&before.template, &after.template);
        let bonds = bonds(before);
        let mut centers = 0;
        for (atom, partners) in bonds.iter().enumerate() {
            for &one in partners {
                let apart = distance(before, atom, one) - distance(after, atom, one);
                assert!(apart.abs() < ROUNDING, "bond {atom}-{one}: {apart}");
                for &other in partners {
                    let apart = distance(before, one, other) - distance(after, one, other);
                    assert!(
                        apart.abs() < ROUNDING,
                        "angle {one}-{atom}-{other}: {apart}"
                    );
                }
            }
            // The volume keeps its sign and size: mirror images are excluded.
            if let [a, b, c, d] = partners[..] {
                let apart = volume(before, [a, b, c, d]) - volume(after, [a, b, c, d]);
                assert!(apart.abs() < 1.0e-6, "{apart}");
                centers += 1;
            }
        }
        assert!(centers > 30, "{centers} tetrahedral atoms");
    }
}

#[test]
fn double_bonds_and_esters_stay_planar() {
    let before = popc();
    let after = before.clone().slimmed().unwrap();
    for (before, after) in before.conformers().iter().zip(after.conformers()) {
        let bonds = bonds(&before.template);
        let elements = before.template.elements();
        let is_planar = |atom: usize| elements[atom] == Element::C && bonds[atom].len() == 3;
        let mut found = [0; 2];
        for a in (0..bonds.len()).filter(|atom| is_planar(*atom)) {
            for &b in &bonds[a] {
                let is_double = is_planar(b);
                let is_ester = elements[b] == Element::O && bonds[b].len() == 2;
                if !(is_double || is_ester) {
                    continue;
                }
                found[usize::from(is_ester)] += 1;
                // A turn about the bond would change the distances of the atoms next to it.
                for &from in bonds[a].iter().filter(|one| **one != b) {
                    for &to in bonds[b].iter().filter(|one| **one != a) {
                        let length = |c: &Conformer| distance(&c.template, from, to);
                        let apart = length(before) - length(after);
                        assert!(apart.abs() < ROUNDING, "{from}-{a}-{b}-{to}: {apart}");
                    }
                }
            }
        }
        // One double bond, seen from both ends, and two esters.
        assert_eq!(found, [2, 2]);
    }
}

#[test]
fn atoms_of_a_conformer_do_not_come_too_close() {
    for name in ["popc", "pope", "dppc"] {
        let before = lipid(name, 0.6);
        let after = before.clone().slimmed().unwrap();
        for (before, after) in before.conformers().iter().zip(after.conformers()) {
            let bonds = bonds(&before.template);
            // Atoms within three bonds.
            let mut near: Vec<Vec<usize>> = (0..bonds.len()).map(|atom| vec![atom]).collect();
            for list in &mut near {
                for _ in 0..3 {
                    let next: Vec<usize> =
                        list.iter().flat_map(|one| &bonds[*one]).copied().collect();
                    list.extend(next);
                    list.sort_unstable();
                    list.dedup();
                }
            }
            let closeness = |template: &MoleculeTemplate| {
                let mut sum = 0.0;
                for (a, near) in near.iter().enumerate() {
                    for b in (0..a).filter(|b| !near.contains(b)) {
                        sum += (0.2 - distance(template, a, b)).max(0.0).powi(2);
                    }
                }
                sum
            };
            let [was, is] = [before, after].map(|one| closeness(&one.template));
            assert!(is <= was + 1.0e-9, "{name}: {was} → {is} nm²");
        }
    }
}

#[test]
fn slim_conformers_are_not_changed() {
    let cholesterol = lipid("cholesterol", 0.38);
    assert_eq!(cholesterol.clone().slimmed().unwrap(), cholesterol);
    let slim = popc().slimmed().unwrap();
    let again = slim.clone().slimmed().unwrap();
    let target = 0.32 * 0.65_f64.sqrt();
    for (slim, again) in slim.conformers().iter().zip(again.conformers()) {
        if width(slim) < target - ROUNDING {
            assert_eq!(slim, again);
        }
    }
}

#[test]
fn slimming_does_not_depend_on_the_number_of_threads() {
    let one = with_threads(1, || popc().slimmed().unwrap());
    for threads in [2, 3] {
        assert_eq!(with_threads(threads, || popc().slimmed().unwrap()), one);
    }
    // Nor on the other conformers.
    let first = popc().take(3).slimmed().unwrap();
    assert_eq!(first.conformers(), &one.conformers()[..3]);
}

#[test]
fn molecules_without_bonds_that_turn_only_tilt() {
    let atom = |element, position| Atom {
        position,
        radius: 0.1,
        element,
        name: "A".into(),
        residue: 0,
    };
    // Far apart, coincident, and alone.
    for positions in [
        vec![Vec3::ZERO, Vec3::X * 3.0, Vec3::Z],
        vec![Vec3::ZERO; 4],
        vec![Vec3::ZERO],
    ] {
        let atoms = positions.iter().map(|at| atom(Element::C, *at)).collect();
        let template = MoleculeTemplate::new("odd", atoms, vec![Residue::default()]).unwrap();
        let conformer = Conformer {
            template: Arc::new(template),
            up: Vec3::Z,
            depth: 1.0,
            head_height: 0.5,
        };
        let before = Species::from_conformers("odd", vec![conformer], 0.5).unwrap();
        let after = before.clone().slimmed().unwrap();
        let [before, after] = [&before, &after].map(|species| &species.conformers()[0]);
        for a in 0..positions.len() {
            for b in 0..a {
                let [before, after] = [before, after].map(|one| distance(&one.template, a, b));
                assert!((before - after).abs() < ROUNDING);
            }
        }
    }
    // A straight rod is slim.
    let rod = rod("rod", 10, 0.5);
    assert_eq!(rod.clone().slimmed().unwrap(), rod);
}
