//! A hash grid over the atoms of one molecule, compared with [`LocalGrid`] by this bench.
//!
//! The second grid of Turk (*Interactive Collision Detection for Molecular Graphics*, 1989):
//! cells as wide as those of [`LocalGrid`], but stored in an array of buckets that a hash function
//! selects. It needs no bounding box, and memory only for the atoms.
//!
//! Cells may share a bucket. Each atom stores its cell, so a query of a cell visits only its own
//! atoms, each once.
//!
//! [`LocalGrid`]: bevy_rapier_molecules::molecule::LocalGrid

use std::ops::ControlFlow;

use bevy_rapier_molecules::molecule::GridAtom;
use glam::{IVec3, Vec3};

/// Width of a cell in units of the largest radius, as in `LocalGrid`.
const CELL_WIDTH: f32 = 2.25;

/// Largest cell coordinate: the sum of two fits into 32 bits.
const MAX_CELL: i32 = 1 << 29;

/// Odd numbers with well-mixed bits, one per axis.
const HASH_FACTORS: [u32; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];

/// A hash grid over the atoms of one molecule, in its body frame.
pub struct HashedGrid {
    cell_width: f32,
    max_radius: f32,
    /// Number of unused bits of a hash.
    shift: u32,
    /// Index of the first atom of each bucket, and the number of atoms at the end.
    starts: Vec<u32>,
    /// Atoms with their cells, sorted by bucket.
    atoms: Vec<(IVec3, GridAtom)>,
}

impl HashedGrid {
    /// Sorts atoms into as many buckets as there are atoms, rounded up to a power of two.
    ///
    /// Positions (nm) must be finite and radii (nm) positive.
    pub fn new(positions: &[Vec3], radii: &[f32]) -> Self {
        let max_radius = radii.iter().copied().fold(0.0, f32::max);
        let buckets = positions.len().clamp(2, 1 << 30).next_power_of_two();
        let mut grid = Self {
            cell_width: (CELL_WIDTH * max_radius).max(f32::MIN_POSITIVE),
            max_radius,
            shift: u32::BITS - buckets.ilog2(),
            starts: vec![0; buckets + 1],
            atoms: Vec::new(),
        };
        let atoms = positions.iter().zip(radii).zip(0..);
        let atoms = atoms.map(|((&center, &radius), index)| {
            let atom = GridAtom {
                center,
                radius,
                index,
            };
            (grid.cell_at(center), atom)
        });
        grid.atoms = atoms.collect();
        let shift = grid.shift;
        grid.atoms
            .sort_by_cached_key(|(cell, atom)| (bucket(*cell, shift), atom.index));
        for (cell, _) in &grid.atoms {
            grid.starts[bucket(*cell, shift) + 1] += 1;
        }
        for k in 0..buckets {
            grid.starts[k + 1] += grid.starts[k];
        }
        grid
    }

    /// Visits every atom that touches or overlaps the ball at `center` with `radius`, both in the
    /// body frame, nm, until `visit` breaks: the same atoms as `LocalGrid::visit_touching`.
    #[inline]
    pub fn visit_touching<B>(
        &self,
        center: Vec3,
        radius: f32,
        mut visit: impl FnMut(&GridAtom) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let reach = radius + self.max_radius;
        // Rounding must not hide an atom at the face of a cell.
        let reach = Vec3::splat(reach) + center.abs() * (4.0 * f32::EPSILON);
        let (low, high) = (self.cell_at(center - reach), self.cell_at(center + reach));
        let cells = (high - low).as_dvec3() + 1.0;
        // NaN and infinity take the slow path, where they touch nothing.
        let few = cells.element_product() <= self.atoms.len().max(27) as f64;
        if !(few && center.is_finite()) {
            for (_, atom) in &self.atoms {
                if touches(atom, center, radius) {
                    visit(atom)?;
                }
            }
            return ControlFlow::Continue(());
        }
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let cell = IVec3::new(x, y, z);
                    for (own_cell, atom) in self.bucket_of(cell) {
                        if *own_cell == cell && touches(atom, center, radius) {
                            visit(atom)?;
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Mean number of atoms in the bucket of an atom, Turk's measure of quality.
    pub fn mean_occupancy(&self) -> f64 {
        let squares = self.starts.windows(2).map(|pair| {
            let count = f64::from(pair[1] - pair[0]);
            count * count
        });
        squares.sum::<f64>() / (self.atoms.len() as f64).max(1.0)
    }

    #[inline]
    fn bucket_of(&self, cell: IVec3) -> &[(IVec3, GridAtom)] {
        let bucket = bucket(cell, self.shift);
        let [first, next] = [self.starts[bucket], self.starts[bucket + 1]];
        &self.atoms[first as usize..next as usize]
    }

    /// The cell of a point; saturates far away.
    #[inline]
    fn cell_at(&self, point: Vec3) -> IVec3 {
        let cell = (point / self.cell_width).floor().as_ivec3();
        cell.clamp(IVec3::splat(-MAX_CELL), IVec3::splat(MAX_CELL))
    }
}

#[inline]
fn touches(atom: &GridAtom, center: Vec3, radius: f32) -> bool {
    let sum = atom.radius + radius;
    sum >= 0.0 && atom.center.distance_squared(center) <= sum * sum
}

#[inline]
fn bucket(cell: IVec3, shift: u32) -> usize {
    let [x, y, z] = cell.to_array().map(|k| k as u32);
    let [a, b, c] = HASH_FACTORS;
    let mixed = x.wrapping_mul(a) ^ y.wrapping_mul(b) ^ z.wrapping_mul(c);
    // The upper bits of a product are mixed best.
    (mixed.wrapping_mul(a) >> shift) as usize
}
