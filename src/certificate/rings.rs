//! Rings of covalent bonds, and when no bond can pass through one.
//!
//! # Pierced rings
//!
//! A ring with the atoms V₁ … Vₙ around its center M (their mean) spans the triangles (M, Vₖ, Vₖ₊₁).
//! A bond of another molecule pierces the ring if it crosses one of the triangles. A molecule that
//! threads a ring has to cross any surface that the ring spans, so it has a bond that does.
//!
//! # Least distance without pierced rings
//!
//! Let all atoms of different molecules be at least *d* apart, ρ be the largest distance of an atom
//! of the ring from M, and ℓ the length of a bond AB of another molecule. **If ρ² + (ℓ/2)² < d²,
//! the bond does not pierce the ring.**
//!
//! 1. Every point P of the triangles is within ρ of an atom of the ring. In a triangle (M, V, W),
//!    the points that are at least as close to V as to W are a convex polygon. Its corners are V,
//!    the middle of VW, where the bisector of V and W meets the side MV or MW, and maybe M. The
//!    distance from V is a convex function, so it is largest at a corner. It is zero at V, half of
//!    |VW| ≤ |MV| + |MW| ≤ 2ρ in the middle, at most ρ at M and at a point of MV. At a point Q of MW
//!    on the bisector |QV| = |QW| ≤ |MW| ≤ ρ.
//! 2. Let AB cross a triangle in P = A + t (B − A). By Stewart's theorem, for any atom V of the
//!    ring, |PV|² = (1 − t) |AV|² + t |BV|² − t (1 − t) ℓ² ≥ d² − ℓ²/4.
//! 3. With the atom V of 1, ρ² ≥ |PV|² ≥ d² − ℓ²/4.
//!
//! The condition is sharp: a bond along the axis of a regular planar ring, with its middle in the
//! center, has the distance √(ρ² + ℓ²/4) from all atoms of the ring.
//!
//! For d = 0.2 nm:
//!
//! | ring | ρ, nm | bonds that cannot pierce it |
//! |---|---|---|
//! | five atoms, sides up to 0.154 nm | ≤ 0.131 | shorter than 0.302 nm |
//! | six atoms, aromatic, sides of 0.14 nm | 0.140 | shorter than 0.285 nm |
//! | six atoms, chair, sides of 0.154 nm | 0.1475 | shorter than 0.270 nm |
//! | six atoms, any shape with ρ up to 0.155 nm | 0.155 | shorter than 0.252 nm |
//! | seven atoms, planar, sides of 0.154 nm | 0.1775 | shorter than 0.184 nm |
//! | eight atoms, planar, sides of 0.154 nm | 0.201 | none |
//!
//! The longest bonds of lipids and proteins are S–S with 0.205 nm, C–S with 0.182 nm and P–O with
//! 0.16 nm. At 0.2 nm, no bond pierces a ring of five or six atoms, no bond except S–S a ring of
//! seven. For rings of eight atoms and more there is no such proof. [`certify`](super::certify)
//! tests all rings of up to [`MAX_RING_ATOMS`] atoms at any distance. It does not test larger ones,
//! such as macrocycles.

use std::collections::{BTreeSet, VecDeque};

use crate::molecule::{MoleculeTemplate, bonds};

/// Largest number of atoms of a ring.
pub const MAX_RING_ATOMS: usize = 8;

/// Bonds and rings of a molecule, as indices of its atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BondsAndRings {
    /// The bonds, each once, the smaller index first, sorted.
    pub bonds: Vec<[u32; 2]>,
    /// The atoms of each ring in the order of its bonds. A bond that is in several rings counts for
    /// the smallest of them.
    pub rings: Vec<Vec<u32>>,
}

impl BondsAndRings {
    /// The bonds of a molecule, by the distances of its atoms, and its rings of up to
    /// [`MAX_RING_ATOMS`] atoms.
    #[must_use]
    pub fn of(molecule: &MoleculeTemplate) -> Self {
        let partners = bonds(molecule);
        let mut rings = Vec::new();
        let mut known = BTreeSet::new();
        let mut search = RingSearch::new(partners.len());
        let mut list = Vec::new();
        for (a, others) in (0..).zip(&partners) {
            for &b in others.iter().filter(|&&b| b > a) {
                list.push([a, b]);
                let Some(ring) = search.smallest_ring(&partners, a, b) else {
                    continue;
                };
                let mut sorted = ring.clone();
                sorted.sort_unstable();
                if known.insert(sorted) {
                    rings.push(ring);
                }
            }
        }
        Self { bonds: list, rings }
    }
}

/// Breadth-first search for the smallest ring of a bond. Reuses its memory.
struct RingSearch {
    /// The previous atom on the path to each visited atom.
    previous: Vec<Option<u32>>,
    visited: Vec<u32>,
    queue: VecDeque<(u32, usize)>,
}

impl RingSearch {
    fn new(atoms: usize) -> Self {
        Self {
            previous: vec![None; atoms],
            visited: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    /// The shortest path from `a` to `b` without their bond, if it has at most [`MAX_RING_ATOMS`]
    /// atoms.
    fn smallest_ring(&mut self, partners: &[Vec<u32>], a: u32, b: u32) -> Option<Vec<u32>> {
        self.queue.clear();
        for atom in self.visited.drain(..) {
            self.previous[atom as usize] = None;
        }
        self.visit(a, a, 1);
        while let Some((atom, atoms)) = self.queue.pop_front() {
            if atoms == MAX_RING_ATOMS {
                return None;
            }
            for &next in &partners[atom as usize] {
                let is_bond = atom == a && next == b;
                if is_bond || self.previous[next as usize].is_some() {
                    continue;
                }
                self.visit(next, atom, atoms + 1);
                if next == b {
                    return Some(self.path_to(b));
                }
            }
        }
        None
    }

    fn visit(&mut self, atom: u32, from: u32, atoms: usize) {
        self.previous[atom as usize] = Some(from);
        self.visited.push(atom);
        self.queue.push_back((atom, atoms));
    }

    /// The atoms from `last` back to the first one.
    fn path_to(&self, last: u32) -> Vec<u32> {
        let mut path = vec![last];
        let mut atom = last;
        while let Some(previous) = self.previous[atom as usize].filter(|&from| from != atom) {
            path.push(previous);
            atom = previous;
        }
        path
    }
}
