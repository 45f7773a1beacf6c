//! [`slimmed`]: conformers made slim enough for the density of a membrane.
//!
//! Rigid lipids with bent chains jam long before the density of a real membrane, where lipids bend
//! around each other. So bends are taken out in advance, no more than needed:
//!
//! 1. Bonds are found by distance. Single bonds outside of rings with other heavy atoms on both
//!    sides can turn; bonds to carbonyl carbons of esters and amides and double bonds cannot.
//! 2. The width is the root mean square distance of the atoms from the axis through their center.
//! 3. A random bond turns by a random angle, or the whole molecule tilts a little. It stays so if
//!    the molecule is slimmer, and if atoms four or more bonds apart are not closer than before or
//!    at least 0.2 nm apart.
//! 4. This repeats until the molecule is slim enough, or for a number of tries.
//!
//! Bond lengths, bond angles, rings, double bonds and chirality stay what they are.

use glam::{DQuat, DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::molecule::{Atom, Element, MoleculeTemplate, TemplateError, bonds};

/// Tries of one conformer. Half of the lipids need less than 500, a few come to their limit.
const MAX_TRIES: u32 = 4_000;

/// Least distance of atoms that are four or more bonds apart, nm, unless they are closer already.
const LEAST_DISTANCE: f64 = 0.2;

/// Share of the tries that tilt the molecule instead of turning a bond.
const TILT_SHARE: f64 = 0.1;

/// Standard deviation of a tilt, radian.
const TILT: f64 = 0.05;

/// Standard deviations of turns, radian: small ones for adjustment, large ones for the step from
/// one staggered position to another.
const TURNS: [f64; 4] = [0.05, 0.2, 0.8, 2.0];

/// Root mean square distance of the atoms from the axis along `up`, nm.
pub(super) fn width(template: &MoleculeTemplate, up: Vec3) -> f64 {
    let positions = template.positions().iter();
    let points: Vec<DVec3> = positions.map(|point| point.as_dvec3()).collect();
    squared_width(&points, up.as_dvec3()).sqrt()
}

/// The molecule with its bonds turned until its [`width`] along `up` (a unit vector) is at most
/// `target` nm, or as close to it as the tries of `seed` come.
pub(super) fn slimmed(
    template: &MoleculeTemplate,
    up: Vec3,
    target: f64,
    seed: u64,
) -> Result<MoleculeTemplate, TemplateError> {
    let mut molecule = Flexible::new(template, up);
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    for _ in 0..MAX_TRIES {
        if molecule.squared_width <= target * target {
            break;
        }
        molecule.try_move(&mut random);
    }
    let atoms = molecule.points.iter().enumerate().map(|(k, point)| Atom {
        position: point.as_vec3(),
        radius: template.radii()[k],
        element: template.elements()[k],
        name: template.atom_names()[k].clone(),
        residue: template.residue_indices()[k],
    });
    MoleculeTemplate::new(
        template.name(),
        atoms.collect(),
        template.residues().to_vec(),
    )
}

/// Mean square distance of points from the axis along `up` through their center.
fn squared_width(points: &[DVec3], up: DVec3) -> f64 {
    let count = points.len().max(1) as f64;
    let center = points.iter().sum::<DVec3>() / count;
    let across = |point: &DVec3| (*point - center).reject_from_normalized(up);
    points
        .iter()
        .map(|p| across(p).length_squared())
        .sum::<f64>()
        / count
}

/// A bond that can turn.
struct TurningBond {
    /// Its atoms; the second one and those beyond it turn.
    atoms: [usize; 2],
    /// Atoms beyond the second one: the smaller part of the molecule.
    turning: Vec<usize>,
}

/// A molecule with bonds that turn.
struct Flexible {
    points: Vec<DVec3>,
    up: DVec3,
    bonds: Vec<TurningBond>,
    /// Pairs of atoms that are four or more bonds apart.
    distant: Vec<[u32; 2]>,
    squared_width: f64,
    closeness: f64,
    /// The points after a try.
    next: Vec<DVec3>,
}

impl Flexible {
    fn new(template: &MoleculeTemplate, up: Vec3) -> Self {
        let partners = bonds(template);
        let points: Vec<DVec3> = template.positions().iter().map(|p| p.as_dvec3()).collect();
        let distant = distant_pairs(&partners);
        let up = up.as_dvec3().normalize_or(DVec3::Z);
        Self {
            squared_width: squared_width(&points, up),
            closeness: closeness(&points, &distant),
            bonds: turning_bonds(&partners, template.elements()),
            up,
            distant,
            next: points.clone(),
            points,
        }
    }

    /// Turns a bond or tilts the molecule, if that makes it slimmer.
    fn try_move(&mut self, random: &mut Pcg64Mcg) {
        self.next.copy_from_slice(&self.points);
        if self.bonds.is_empty() || random.random::<f64>() < TILT_SHARE {
            let (x, y) = self.up.any_orthonormal_pair();
            let tilt = DQuat::from_scaled_axis((x * normal(random) + y * normal(random)) * TILT);
            for point in &mut self.next {
                *point = tilt * *point;
            }
        } else {
            let bond = &self.bonds[random.random_range(0..self.bonds.len())];
            let angle = normal(random) * TURNS[random.random_range(0..TURNS.len())];
            let [from, to] = bond.atoms.map(|atom| self.points[atom]);
            let Some(axis) = (to - from).try_normalize() else {
                return;
            };
            let turn = DQuat::from_axis_angle(axis, angle);
            for &atom in &bond.turning {
                self.next[atom] = to + turn * (self.points[atom] - to);
            }
        }
        let squared_width = squared_width(&self.next, self.up);
        if squared_width >= self.squared_width {
            return;
        }
        let closeness = closeness(&self.next, &self.distant);
        if closeness <= self.closeness {
            (self.squared_width, self.closeness) = (squared_width, closeness);
            std::mem::swap(&mut self.points, &mut self.next);
        }
    }
}

/// A number with mean 0 and standard deviation 1, almost normally distributed.
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let sum: f64 = (0..3).map(|_| random.random::<f64>()).sum();
    2.0 * (sum - 1.5)
}

/// How much closer than allowed distant atoms are: the sum of squares, nm².
fn closeness(points: &[DVec3], distant: &[[u32; 2]]) -> f64 {
    let excess = |&[a, b]: &[u32; 2]| {
        let squared = points[a as usize].distance_squared(points[b as usize]);
        if squared < LEAST_DISTANCE * LEAST_DISTANCE {
            (LEAST_DISTANCE - squared.sqrt()).powi(2)
        } else {
            0.0
        }
    };
    distant.iter().map(excess).sum()
}

/// All pairs of atoms that no chain of three bonds connects.
fn distant_pairs(partners: &[Vec<u32>]) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    let mut is_near = vec![false; partners.len()];
    for atom in 0..partners.len() as u32 {
        let mut near = vec![atom];
        is_near[atom as usize] = true;
        let mut start = 0;
        for _ in 0..3 {
            let end = near.len();
            for at in start..end {
                for &partner in &partners[near[at] as usize] {
                    if !std::mem::replace(&mut is_near[partner as usize], true) {
                        near.push(partner);
                    }
                }
            }
            start = end;
        }
        let others = (0..atom).filter(|other| !is_near[*other as usize]);
        pairs.extend(others.map(|other| [other, atom]));
        for one in near {
            is_near[one as usize] = false;
        }
    }
    pairs
}

/// The bonds that can turn.
fn turning_bonds(partners: &[Vec<u32>], elements: &[Element]) -> Vec<TurningBond> {
    let is_heavy = |atom: usize| elements[atom] != Element::H;
    let is_planar = |atom: usize| elements[atom] == Element::C && partners[atom].len() < 4;
    let has_heavy_partner_other_than = |atom: usize, other: usize| {
        let mut others = partners[atom].iter().map(|one| *one as usize);
        others.any(|one| one != other && is_heavy(one))
    };
    let can_turn = |[a, b]: [usize; 2]| {
        let is_stiff = |one: usize, other: usize| {
            // Ester and amide bonds are stiff, and so are double bonds.
            is_planar(one)
                && (is_planar(other) || is_ester_or_amide(one, other, partners, elements))
        };
        is_heavy(a)
            && is_heavy(b)
            && has_heavy_partner_other_than(a, b)
            && has_heavy_partner_other_than(b, a)
            && !is_stiff(a, b)
            && !is_stiff(b, a)
    };
    let mut turning = Vec::new();
    for a in 0..partners.len() {
        for b in partners[a].iter().map(|b| *b as usize) {
            if a < b
                && can_turn([a, b])
                && let Some(beyond) = atoms_beyond([a, b], partners)
            {
                let is_smaller = 2 * beyond.len() <= partners.len();
                let bond = if is_smaller { [a, b] } else { [b, a] };
                // Not in a ring from the other side either.
                let beyond = if is_smaller {
                    Some(beyond)
                } else {
                    atoms_beyond(bond, partners)
                };
                turning.extend(beyond.map(|beyond| TurningBond {
                    atoms: bond,
                    turning: beyond,
                }));
            }
        }
    }
    turning
}

/// Whether `other` is the oxygen or nitrogen of an ester or amide bond of the planar carbon
/// `carbon`.
fn is_ester_or_amide(
    carbon: usize,
    other: usize,
    partners: &[Vec<u32>],
    elements: &[Element],
) -> bool {
    let is_end_oxygen = |&one: &u32| {
        let one = one as usize;
        elements[one] == Element::O && one != other && partners[one].len() == 1
    };
    [Element::O, Element::N].contains(&elements[other])
        && partners[carbon].iter().any(is_end_oxygen)
}

/// The atoms that the second atom of a bond connects to without the first; none if the bond is in
/// a ring.
fn atoms_beyond([first, second]: [usize; 2], partners: &[Vec<u32>]) -> Option<Vec<usize>> {
    let mut is_known = vec![false; partners.len()];
    (is_known[first], is_known[second]) = (true, true);
    let mut beyond = Vec::new();
    let mut next = vec![second];
    while let Some(atom) = next.pop() {
        for partner in partners[atom].iter().map(|one| *one as usize) {
            if partner == first && atom != second {
                return None;
            }
            if !std::mem::replace(&mut is_known[partner], true) {
                beyond.push(partner);
                next.push(partner);
            }
        }
    }
    Some(beyond)
}
