//! Guesses where the membrane is from the hydrophobic surface of a protein.
//!
//! 1. Each amino acid has a hydrophobicity (Kyte and Doolittle, 1982) and a direction of its side
//!    chain. Buried residues do not count: those with many neighbors, and, for a given axis, those
//!    with side chains toward the axis, such as the inner side of a barrel.
//! 2. For a direction, a histogram over heights has the sums over residues. The hydrophobicity
//!    inside a slab minus that outside is its score, times the mean square cosine between
//!    direction and backbone inside: strands and helices cross the membrane.
//! 3. The best slab over directions on a half sphere is refined by directions near it.

use std::collections::HashMap;

use glam::{IVec3, Vec3};

use crate::fibonacci_sphere::direction;
use crate::molecule::{MoleculeTemplate, Residue};

/// Fewest residues of a guess. A single helix through a membrane has about 20.
pub(super) const MIN_RESIDUES: usize = 15;

/// Hydropathy of the amino acids by J. Kyte and R. F. Doolittle, 1982.
const HYDROPATHY: [(&str, f32); 20] = [
    ("ALA", 1.8),
    ("ARG", -4.5),
    ("ASN", -3.5),
    ("ASP", -3.5),
    ("CYS", 2.5),
    ("GLN", -3.5),
    ("GLU", -3.5),
    ("GLY", -0.4),
    ("HIS", -3.2),
    ("ILE", 4.5),
    ("LEU", 3.8),
    ("LYS", -3.9),
    ("MET", 1.9),
    ("PHE", 2.8),
    ("PRO", -1.6),
    ("SER", -0.8),
    ("THR", -0.7),
    ("TRP", -0.9),
    ("TYR", -1.3),
    ("VAL", 4.2),
];

/// Half thicknesses of the scanned slabs, nm; about 1.3 nm, half the hydrophobic core of a
/// membrane. The mean of three makes soft edges.
const HALF_THICKNESSES: [f32; 3] = [1.1, 1.3, 1.5];

/// Half thickness beyond which residues are outside the membrane, nm.
const CORE: f32 = 1.3;

/// Distance of CA atoms that are neighbors, nm.
const NEIGHBOR_DISTANCE: f32 = 1.0;

/// Most neighbors of a residue on the surface. Strands of a barrel have up to 20, the core of a
/// globular protein more than 25.
const MAX_SURFACE_NEIGHBORS: usize = 24;

/// Longest distance from a CA atom to the fourth next, nm: a stretched chain has 1.45.
const MAX_FOUR_RESIDUES: f32 = 1.5;

/// Height of a bin of the histogram, nm.
const BIN: f32 = 0.05;

/// Bins on either side of the center; residues beyond 100 nm count in the last ones.
const HALF_BINS: i32 = 2000;

/// Directions of the first scan, on a half sphere: 6° apart.
const DIRECTIONS: u32 = 500;

/// Cones of the refinement, radian, and directions in each.
const CONES: [f32; 4] = [0.1, 0.05, 0.025, 0.0125];
const CONE_DIRECTIONS: u32 = 24;

/// A residue with its CA atom.
pub(super) struct SurfaceResidue {
    /// CA atom in the body frame, nm.
    position: Vec3,
    /// Unit vector from CA to CB; zero for glycine.
    side_chain: Vec3,
    /// Unit vector along the backbone; zero at ends.
    backbone: Vec3,
    /// Hydropathy; zero if the residue is buried.
    hydropathy: f32,
}

/// A slab of a body, `2 × 1.3` nm thick.
#[derive(Clone, Copy)]
pub(super) struct Slab {
    /// Unit normal in the body frame.
    pub normal: Vec3,
    /// Height of the mid-plane along the normal above the body's origin, nm.
    pub height: f32,
}

fn hydropathy(residue: &Residue) -> Option<f32> {
    // Selenomethionine replaces methionine in many crystals.
    let name = match residue.name.as_str() {
        "MSE" => "MET",
        name => name,
    };
    let entry = HYDROPATHY.iter().find(|(known, _)| *known == name);
    entry.map(|(_, value)| *value)
}

/// The amino acids of a template that have a CA atom.
pub(super) fn surface_residues(template: &MoleculeTemplate) -> Vec<SurfaceResidue> {
    let beta: HashMap<u32, Vec3> = (0..template.atom_count())
        .filter(|&atom| template.atom_names()[atom] == "CB")
        .map(|atom| (template.residue_indices()[atom], template.positions()[atom]))
        .collect();
    let mut chains = Vec::new();
    let mut residues = Vec::new();
    for atom in 0..template.atom_count() {
        let residue = template.residue_of(atom);
        if template.atom_names()[atom] != "CA" {
            continue;
        }
        let Some(hydropathy) = hydropathy(residue) else {
            continue;
        };
        let position = template.positions()[atom];
        let beta = beta.get(&template.residue_indices()[atom]);
        chains.push(&residue.chain);
        residues.push(SurfaceResidue {
            position,
            side_chain: beta.map_or(Vec3::ZERO, |beta| (beta - position).normalize_or_zero()),
            backbone: Vec3::ZERO,
            hydropathy,
        });
    }
    for middle in 2..residues.len().saturating_sub(2) {
        let [from, to] = [middle - 2, middle + 2];
        let along = residues[to].position - residues[from].position;
        if chains[from] == chains[to] && along.length() < MAX_FOUR_RESIDUES {
            residues[middle].backbone = along.normalize_or_zero();
        }
    }
    bury(&mut residues);
    residues
}

/// Sets the hydropathy of residues with many neighbors to zero.
fn bury(residues: &mut [SurfaceResidue]) {
    let cell = |point: Vec3| (point / NEIGHBOR_DISTANCE).floor().as_ivec3();
    let mut cells: HashMap<IVec3, Vec<Vec3>> = HashMap::new();
    for residue in residues.iter() {
        let here = cells.entry(cell(residue.position)).or_default();
        here.push(residue.position);
    }
    for residue in residues {
        let center = cell(residue.position);
        let near = (0..27).filter_map(|n| {
            let offset = IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
            cells.get(&(center + offset))
        });
        let is_near = |point: &&Vec3| point.distance(residue.position) < NEIGHBOR_DISTANCE;
        // The residue itself is no neighbor.
        let neighbors = near.flatten().filter(is_near).count() - 1;
        if neighbors > MAX_SURFACE_NEIGHBORS {
            residue.hydropathy = 0.0;
        }
    }
}

/// The slab with the highest score. Its normal points to the side with more residues beyond it.
pub(super) fn most_hydrophobic_slab(residues: &[SurfaceResidue]) -> Slab {
    let sum: Vec3 = residues.iter().map(|residue| residue.position).sum();
    let center = sum / residues.len().max(1) as f32;
    let mut histogram = Histogram::default();
    let mut best = Slab {
        normal: Vec3::Z,
        height: center.z,
    };
    let mut best_score = f32::NEG_INFINITY;
    let mut improve = |normal: Vec3, best: &mut Slab| {
        histogram.fill(residues, center, normal);
        let (score, height) = histogram.best_height();
        if score > best_score {
            best_score = score;
            *best = Slab {
                normal,
                height: height + center.dot(normal),
            };
        }
    };
    for index in 0..DIRECTIONS {
        improve(direction(index, 2 * DIRECTIONS), &mut best);
    }
    for cone in CONES {
        let axis = best.normal;
        let (x, y) = axis.any_orthonormal_pair();
        for index in 0..CONE_DIRECTIONS {
            // The upper half of a sphere, flattened, covers a disc.
            let place = direction(index, 2 * CONE_DIRECTIONS) * cone;
            improve((axis + x * place.x + y * place.y).normalize(), &mut best);
        }
    }
    let beyond = |sign: f32| {
        let heights = residues.iter().map(|one| one.position.dot(best.normal));
        let outside = heights.filter(|height| sign * (height - best.height) > CORE);
        outside.count()
    };
    if beyond(-1.0) > beyond(1.0) {
        best.normal = -best.normal;
        best.height = -best.height;
    }
    best
}

/// Sums over the residues below each height, along one direction.
#[derive(Default)]
struct Histogram {
    /// Hydropathy of the residues that face outward, square cosines of backbones, and numbers of
    /// backbones, from the lowest bin up to and including each.
    sums: Vec<Vec3>,
    /// Lowest bin with a residue, and the one after the highest.
    range: [i32; 2],
}

impl Histogram {
    fn fill(&mut self, residues: &[SurfaceResidue], center: Vec3, normal: Vec3) {
        self.range = [HALF_BINS, -HALF_BINS];
        let bin_of = |position: Vec3| {
            let height = (position - center).dot(normal);
            ((height / BIN).floor() as i32).clamp(-HALF_BINS, HALF_BINS - 1)
        };
        for residue in residues {
            let bin = bin_of(residue.position);
            self.range = [self.range[0].min(bin), self.range[1].max(bin + 1)];
        }
        self.sums.clear();
        let bins = (self.range[1] - self.range[0]).max(0) as usize;
        self.sums.resize(bins, Vec3::ZERO);
        for residue in residues {
            let from_center = residue.position - center;
            let outward = from_center
                .reject_from_normalized(normal)
                .normalize_or_zero();
            let facing = residue.side_chain.dot(outward).max(0.0);
            let steepness = residue.backbone.dot(normal).powi(2);
            let has_backbone = residue.backbone.length_squared();
            let bin = (bin_of(residue.position) - self.range[0]) as usize;
            self.sums[bin] += Vec3::new(residue.hydropathy * facing, steepness, has_backbone);
        }
        for bin in 1..bins {
            self.sums[bin] = self.sums[bin] + self.sums[bin - 1];
        }
    }

    /// The sums over bins below `bin`.
    fn below(&self, bin: i32) -> Vec3 {
        let count = (bin - self.range[0]).min(self.sums.len() as i32);
        if count > 0 {
            self.sums[count as usize - 1]
        } else {
            Vec3::ZERO
        }
    }

    /// The score of the best slab, and the height of its mid-plane above the center.
    fn best_height(&self) -> (f32, f32) {
        let all = self.below(self.range[1]);
        let mut best = (f32::NEG_INFINITY, 0.0);
        for bin in self.range[0]..=self.range[1] {
            let scores = HALF_THICKNESSES.map(|half| {
                let reach = (half / BIN).round() as i32;
                let inside = self.below(bin + reach) - self.below(bin - reach);
                let steepness = inside.y / inside.z.max(1.0);
                (2.0 * inside.x - all.x) * steepness
            });
            let score = scores.iter().sum();
            if score > best.0 {
                best = (score, bin as f32 * BIN);
            }
        }
        best
    }
}
