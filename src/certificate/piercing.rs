//! Finds the rings that bonds of other molecules pass through.
//!
//! 1. A ball around each ring and around each bond;
//! 2. a search for balls of different molecules that overlap, with images;
//! 3. for a ring and a bond, the bond is tested against the triangles from the center of the ring to
//!    its bonds, in 64 bits.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use glam::DVec3;
use rayon::prelude::*;

use super::rings::BondsAndRings;
use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::search::{AutoGrid, PairSearch, PeriodicSearch, SearchError};
use crate::spheres::SphereSet;

/// Added to the radius of balls, nm: more than the rounding of their centers.
const BALL_MARGIN_NM: f32 = 1.0e-3;

/// Number of rings, and the pierced ones.
pub(super) struct PiercedRings {
    pub(super) rings: usize,
    /// The molecule of each pierced ring, and of the first bond through it.
    pub(super) pierced: Vec<[usize; 2]>,
}

/// The world positions (nm) of a ring or bond, and its molecule.
struct Outline {
    molecule: usize,
    atoms: Vec<DVec3>,
}

impl Outline {
    fn center(&self) -> DVec3 {
        self.atoms.iter().sum::<DVec3>() / self.atoms.len() as f64
    }

    fn add_ball(&self, balls: &mut SphereSet) -> Result<(), SearchError> {
        let center = self.center();
        let distances = self.atoms.iter().map(|atom| atom.distance(center));
        let radius = distances.fold(0.0, f64::max) as f32 + BALL_MARGIN_NM;
        balls.push(center.as_vec3(), radius, self.molecule as u32)?;
        Ok(())
    }
}

/// Finds the pierced rings of the first `own` molecules. The bonds are those of all molecules.
pub(super) fn find_pierced(
    molecules: &[(&MoleculeTemplate, Pose)],
    own: usize,
    periodic: Option<PeriodicBox>,
) -> Result<PiercedRings, SearchError> {
    // Once for each template.
    let mut numbers = HashMap::new();
    let mut templates = Vec::new();
    let mut template_of = Vec::with_capacity(molecules.len());
    for (template, _) in molecules {
        let number = numbers.entry(ptr::from_ref(*template)).or_insert_with(|| {
            templates.push(*template);
            templates.len() - 1
        });
        template_of.push(*number);
    }
    let found: Vec<BondsAndRings> = templates
        .par_iter()
        .map(|template| BondsAndRings::of(template))
        .collect();
    let found = |molecule: usize| &found[template_of[molecule]];
    let outline = |molecule: usize, atoms: &[u32]| {
        let (template, pose) = &molecules[molecule];
        let place = |&atom: &u32| pose.transform_point(template.positions()[atom as usize]);
        Outline {
            molecule,
            atoms: atoms.iter().map(|atom| place(atom).as_dvec3()).collect(),
        }
    };
    let mut outlines: Vec<Outline> = Vec::new();
    for molecule in 0..own {
        let rings = found(molecule).rings.iter();
        outlines.extend(rings.map(|ring| outline(molecule, ring)));
    }
    let rings = outlines.len();
    let mut pierced = Vec::new();
    if rings > 0 {
        for molecule in 0..molecules.len() {
            let bonds = found(molecule).bonds.iter();
            outlines.extend(bonds.map(|bond| outline(molecule, bond)));
        }
        let mut balls = SphereSet::new();
        for outline in &outlines {
            outline.add_ball(&mut balls)?;
        }
        pierced = pierced_pairs(&outlines, rings, &balls, periodic)?;
    }
    pierced.sort_unstable();
    pierced.dedup_by_key(|[ring, _]| *ring);
    let molecule = |outline: u32| outlines[outline as usize].molecule;
    Ok(PiercedRings {
        rings,
        pierced: pierced.iter().map(|pair| pair.map(molecule)).collect(),
    })
}

/// All pairs of a ring and a bond through it, by index; the first `rings` outlines are rings.
fn pierced_pairs(
    outlines: &[Outline],
    rings: usize,
    balls: &SphereSet,
    periodic: Option<PeriodicBox>,
) -> Result<Vec<[u32; 2]>, SearchError> {
    let pierced = Mutex::new(Vec::new());
    // `b` is moved by `shift`.
    let test = |a: u32, b: u32, shift: DVec3| {
        let is_ring = |index: u32| (index as usize) < rings;
        // Rings come first.
        if is_ring(a) && !is_ring(b) {
            let bond = &outlines[b as usize].atoms;
            if pierces(&outlines[a as usize], bond[0] + shift, bond[1] + shift) {
                let mut pierced = pierced.lock().unwrap_or_else(PoisonError::into_inner);
                pierced.push([a, b]);
            }
        }
    };
    let mut grid = AutoGrid::new();
    match periodic {
        Some(periodic) => {
            PeriodicSearch::new(&mut grid, periodic).visit_pairs(balls, 0.0, &|pairs, _| {
                for pair in pairs {
                    test(pair.a, pair.b, periodic.exact_shift(pair.image));
                }
            })?;
        }
        None => {
            grid.visit_pairs(balls, 0.0, &|pairs, _| {
                for pair in pairs {
                    test(pair.a, pair.b, DVec3::ZERO);
                }
            })?;
        }
    }
    Ok(pierced.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Whether the segment between two points crosses a triangle from the center of the ring to one of
/// its bonds.
fn pierces(ring: &Outline, from: DVec3, to: DVec3) -> bool {
    let center = ring.center();
    let next = ring.atoms.iter().cycle().skip(1);
    let mut sides = ring.atoms.iter().zip(next);
    sides.any(|(&a, &b)| crosses_triangle(from, to, [center, a, b]))
}

/// Whether a segment crosses a triangle, borders included; false if it lies in its plane.
///
/// The segment crosses the plane if its ends are on different sides, and the line crosses the
/// triangle if it passes all three edges in the same sense: the volumes of the tetrahedra of the
/// segment and each edge have the same sign.
fn crosses_triangle(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let normal = (b - a).cross(c - a);
    let [before, after] = [from, to].map(|end| normal.dot(end - a));
    if before * after > 0.0 || before == after {
        return false;
    }
    let line = to - from;
    let volume = |p: DVec3, q: DVec3| line.dot((p - from).cross(q - from));
    let volumes = [volume(a, b), volume(b, c), volume(c, a)];
    volumes.iter().all(|&v| v >= 0.0) || volumes.iter().all(|&v| v <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A regular ring in the plane z = 0.
    fn ring(atoms: u32, radius: f64) -> Outline {
        let angle = std::f64::consts::TAU / f64::from(atoms);
        let atom = |k: u32| {
            DVec3::new(
                (f64::from(k) * angle).cos(),
                (f64::from(k) * angle).sin(),
                0.0,
            )
        };
        Outline {
            molecule: 0,
            atoms: (0..atoms).map(|k| radius * atom(k)).collect(),
        }
    }

    #[test]
    fn segments_through_the_ring_pierce_it_and_those_beside_it_do_not() {
        let six = ring(6, 0.14);
        let along = |x: f64, y: f64, low: f64, high: f64| {
            pierces(&six, DVec3::new(x, y, low), DVec3::new(x, y, high))
        };
        assert!(along(0.0, 0.0, -0.1, 0.1) && along(0.0, 0.0, 0.1, -0.1));
        assert!(along(0.12, 0.01, -0.1, 0.1));
        assert!(!along(0.0, 0.0, 0.01, 0.2) && !along(0.0, 0.0, -0.2, -0.01));
        // Beside a corner, and beside the middle of a side.
        assert!(!along(0.141, 0.0, -0.1, 0.1));
        assert!(!along(0.0, 0.1213, -0.1, 0.1) && along(0.0, 0.1211, -0.1, 0.1));
        // In the plane.
        assert!(!pierces(&six, DVec3::X, -DVec3::X));
        // Slanted.
        assert!(pierces(
            &six,
            DVec3::new(-0.1, 0.0, -0.1),
            DVec3::new(0.1, 0.05, 0.1)
        ));
    }

    /// No bond that crosses the ring has all its distances above the bound of the theorem, and the
    /// bound is sharp.
    #[test]
    fn bonds_through_a_ring_are_as_close_to_it_as_the_bound_says() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        let mut pierced = 0;
        for k in 0..200_000 {
            let mut ring = ring(4 + k % 5, 0.15);
            for atom in &mut ring.atoms {
                *atom += DVec3::from_array([0; 3].map(|_| random.random_range(-0.05..0.05)));
            }
            let mut end = || DVec3::from_array([0; 3].map(|_| random.random_range(-0.25..0.25)));
            let (from, to) = (end(), end());
            if !pierces(&ring, from, to) {
                continue;
            }
            pierced += 1;
            let center = ring.center();
            let radius = ring.atoms.iter().map(|atom| atom.distance(center));
            let radius = radius.fold(0.0, f64::max);
            let bound = (radius.powi(2) + from.distance_squared(to) / 4.0).sqrt();
            let distances = ring
                .atoms
                .iter()
                .map(|atom| atom.distance(from).min(atom.distance(to)));
            let least = distances.fold(f64::INFINITY, f64::min);
            assert!(least <= bound + 1.0e-12, "{least} {bound}");
        }
        assert!(pierced > 5_000, "{pierced}");
        let six = ring(6, 0.14);
        let half = DVec3::Z * 0.075;
        let bound = (0.14_f64.powi(2) + 0.075_f64.powi(2)).sqrt();
        assert!(pierces(&six, -half, half));
        assert!(
            six.atoms
                .iter()
                .all(|atom| (atom.distance(half) - bound).abs() < 1.0e-12)
        );
    }
}
