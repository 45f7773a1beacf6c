//! [`slimmed`]: conformers made slim enough for the density of a membrane.
//!
//! Rigid lipids with bent chains jam long before the density of a real membrane, where lipids bend
//! around each other. So bends are taken out in advance, no more than needed:
//!
//! 1. Bonds are found by distance. Single bonds outside of rings with other heavy atoms on both
//!    sides can turn; bonds to carbonyl carbons of esters and amides and double bonds cannot.
//! 2. The width is the root mean square distance of the atoms from the axis through their center.
//! 3. One or two random bonds turn by a random angle, or the whole molecule tilts a little. It stays
//!    so if the molecule is slimmer, and if the atoms that a turn moves are at least 0.2 nm from
//!    those four or more bonds away, or no closer than before in sum.
//! 4. This repeats until the molecule is slim enough, or for a number of tries.
//!
//! Bond lengths, bond angles, rings, double bonds and chirality stay what they are.

use glam::{DQuat, DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::molecule::{Atom, Element, MoleculeTemplate, TemplateError, bonds};

/// Tries of one conformer. Most lipids need less, a few come to their limit.
const MAX_TRIES: u32 = 8_000;

/// Least distance of atoms that are four or more bonds apart, nm, unless they are closer already.
const LEAST_DISTANCE: f64 = 0.2;

/// Share of the tries that tilt the molecule instead of turning a bond.
const TILT_SHARE: f64 = 0.1;

/// Most bonds from one that turns to another that turns with it, in the order of their atoms.
const MAX_STEP: usize = 6;

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
    /// Its atoms; those beyond the second one turn.
    atoms: [usize; 2],
    /// Atoms beyond the second one: the smaller part of the molecule.
    turning: Vec<usize>,
    /// Pairs of a turning and another atom that are four or more bonds apart.
    distant: Vec<[u32; 2]>,
}

/// A molecule with bonds that turn.
struct Flexible {
    points: Vec<DVec3>,
    up: DVec3,
    bonds: Vec<TurningBond>,
    squared_width: f64,
    /// The points after a try.
    next: Vec<DVec3>,
}

impl Flexible {
    fn new(template: &MoleculeTemplate, up: Vec3) -> Self {
        let partners = bonds(template);
        let points: Vec<DVec3> = template.positions().iter().map(|p| p.as_dvec3()).collect();
        let up = up.as_dvec3().normalize_or(DVec3::Z);
        Self {
            squared_width: squared_width(&points, up),
            bonds: turning_bonds(&partners, template.elements()),
            up,
            next: points.clone(),
            points,
        }
    }

    /// Turns one or two bonds or tilts the molecule, if that makes it slimmer.
    fn try_move(&mut self, random: &mut Pcg64Mcg) {
        self.next.copy_from_slice(&self.points);
        let mut turned = 0..0;
        if self.bonds.is_empty() || random.random::<f64>() < TILT_SHARE {
            let (x, y) = self.up.any_orthonormal_pair();
            let tilt = DQuat::from_scaled_axis((x * normal(random) + y * normal(random)) * TILT);
            for point in &mut self.next {
                *point = tilt * *point;
            }
        } else {
            // Two bonds nearby that turn in opposite directions shift a chain sideways.
            let angle = normal(random) * TURNS[random.random_range(0..TURNS.len())];
            let first = random.random_range(0..self.bonds.len());
            let other = first + random.random_range(0..=MAX_STEP);
            turned = first..(other + 1).min(self.bonds.len());
            self.turn(first, angle);
            if turned.len() > 1 {
                let back = if random.random() { -angle } else { angle };
                self.turn(turned.end - 1, back);
            }
        }
        let squared_width = squared_width(&self.next, self.up);
        if squared_width >= self.squared_width {
            return;
        }
        let mut ends = turned.clone().take(1).chain(turned.skip(1).last());
        let is_free = ends.all(|bond| {
            let distant = &self.bonds[bond].distant;
            closeness(&self.next, distant) <= closeness(&self.points, distant)
        });
        if is_free {
            self.squared_width = squared_width;
            std::mem::swap(&mut self.points, &mut self.next);
        }
    }

    /// Turns a bond of the next points.
    fn turn(&mut self, bond: usize, angle: f64) {
        let bond = &self.bonds[bond];
        let [from, to] = bond.atoms.map(|atom| self.next[atom]);
        if let Some(axis) = (to - from).try_normalize() {
            let turn = DQuat::from_axis_angle(axis, angle);
            for &atom in &bond.turning {
                self.next[atom] = to + turn * (self.next[atom] - to);
            }
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

/// Whether three bonds or fewer connect two atoms, for all pairs: row by row.
fn near_pairs(partners: &[Vec<u32>]) -> Vec<Vec<bool>> {
    let row = |atom: usize| {
        let mut is_near = vec![false; partners.len()];
        is_near[atom] = true;
        let mut last = vec![atom];
        for _ in 0..3 {
            let next = last.iter().flat_map(|atom| &partners[*atom]);
            let next: Vec<usize> = next.map(|partner| *partner as usize).collect();
            for &partner in &next {
                is_near[partner] = true;
            }
            last = next;
        }
        is_near
    };
    (0..partners.len()).map(row).collect()
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
    let is_near = near_pairs(partners);
    let mut turning = Vec::new();
    for a in 0..partners.len() {
        for b in partners[a].iter().map(|b| *b as usize) {
            if a < b
                && can_turn([a, b])
                && let Some(beyond) = atoms_beyond([a, b], partners)
            {
                // The smaller part turns.
                let (atoms, beyond) = if 2 * beyond.len() <= partners.len() {
                    ([a, b], Some(beyond))
                } else {
                    ([b, a], atoms_beyond([b, a], partners))
                };
                let bond = beyond.map(|beyond| TurningBond {
                    atoms,
                    distant: straddling_pairs(&beyond, &is_near),
                    turning: beyond,
                });
                turning.extend(bond);
            }
        }
    }
    turning
}

/// Pairs of an atom of a part and another one that are not near.
fn straddling_pairs(part: &[usize], is_near: &[Vec<bool>]) -> Vec<[u32; 2]> {
    let mut is_inside = vec![false; is_near.len()];
    for &atom in part {
        is_inside[atom] = true;
    }
    let mut pairs = Vec::new();
    for &atom in part {
        let others =
            (0..is_near.len()).filter(|other| !is_inside[*other] && !is_near[atom][*other]);
        pairs.extend(others.map(|other| [atom as u32, other as u32]));
    }
    pairs
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
