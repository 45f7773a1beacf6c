//! Cells over the atoms of one molecule, found by hashing.
//!
//! Turk's other grid (*Interactive Collision Detection for Molecular Graphics*, 1989): cells
//! as wide as those of [`LocalGrid`](super::LocalGrid), but instead of all cells of a box
//! there is one array of buckets, and a hash function says in which bucket a cell is. It
//! needs no box and no borders, and memory only for atoms, however far apart they are.
//!
//! Several cells may share a bucket. Each atom knows its cell, so that a look into a cell
//! sees its own atoms only, and none twice.

use std::ops::ControlFlow;

use glam::{IVec3, Vec3};

use super::GridAtom;
use super::local_grid::cell_width;

/// Largest cell number along an axis: sums of two still fit into 32 bits.
const MOST_CELL: i32 = 1 << 29;

/// Odd numbers with well mixed bits, one for each axis.
const HASH: [u32; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];

/// Cells over the atoms of one molecule, in its body frame, found by hashing.
#[derive(Clone, Debug)]
pub struct HashedLocalGrid {
    cell: f32,
    largest_radius: f32,
    /// Number of bits of a hash that are not used.
    shift: u32,
    /// First atom of each bucket, and one past the last atom at the end.
    starts: Vec<u32>,
    /// Sorted by bucket, each with its cell.
    atoms: Vec<(IVec3, GridAtom)>,
}

impl HashedLocalGrid {
    /// Sorts atoms with `positions` and `radii`, nm, into as many buckets as there are atoms,
    /// rounded up to a power of two.
    ///
    /// Positions must be finite and radii positive. No atoms make a grid that finds nothing.
    #[must_use]
    pub fn new(positions: &[Vec3], radii: &[f32]) -> Self {
        let largest_radius = radii.iter().copied().fold(0.0, f32::max);
        let buckets = positions.len().clamp(2, 1 << 30).next_power_of_two();
        let mut grid = Self {
            cell: cell_width(largest_radius),
            largest_radius,
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
        // Stable: inside a bucket atoms keep their order.
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

    /// Visits every atom that touches or overlaps the ball at `center` with `radius`, both in
    /// the body frame, nm, until `visit` breaks: the same atoms as
    /// [`LocalGrid::visit_touching`](super::LocalGrid::visit_touching), in another order.
    #[inline]
    pub fn visit_touching<B>(
        &self,
        center: Vec3,
        radius: f32,
        mut visit: impl FnMut(&GridAtom) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let reach = radius + self.largest_radius;
        // Rounding must not hide an atom at the face of a cell.
        let reach = Vec3::splat(reach) + center.abs() * (4.0 * f32::EPSILON);
        let (low, high) = (self.cell_at(center - reach), self.cell_at(center + reach));
        let cells = (high - low).as_dvec3() + 1.0;
        // Also what is not a number ends here, and touches nothing.
        let few = cells.element_product() <= self.atoms.len().max(27) as f64;
        if !(few && center.is_finite()) {
            for (_, atom) in &self.atoms {
                if atom.touches(center, radius) {
                    visit(atom)?;
                }
            }
            return ControlFlow::Continue(());
        }
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let cell = IVec3::new(x, y, z);
                    for (own, atom) in self.bucket_of(cell) {
                        if *own == cell && atom.touches(center, radius) {
                            visit(atom)?;
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Mean number of atoms in the bucket of an atom: Turk's measure of how well it works.
    #[must_use]
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

    /// The cell of a point. Saturates far away.
    #[inline]
    fn cell_at(&self, point: Vec3) -> IVec3 {
        let cell = (point / self.cell).floor().as_ivec3();
        cell.clamp(IVec3::splat(-MOST_CELL), IVec3::splat(MOST_CELL))
    }
}

#[inline]
fn bucket(cell: IVec3, shift: u32) -> usize {
    let [x, y, z] = cell.to_array().map(|k| k as u32);
    let [a, b, c] = HASH;
    let mixed = x.wrapping_mul(a) ^ y.wrapping_mul(b) ^ z.wrapping_mul(c);
    // The upper bits of a product are the good ones.
    (mixed.wrapping_mul(a) >> shift) as usize
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::super::LocalGrid;
    use super::super::local_grid::tests::{CUBES, on_cell_faces, point, seen, touching};
    use super::*;

    fn hashed(grid: &HashedLocalGrid, center: Vec3, radius: f32) -> Vec<u32> {
        seen(|visitor| grid.visit_touching(center, radius, visitor))
    }

    #[test]
    fn finds_what_the_full_grid_finds() {
        let mut random = Pcg64::seed_from_u64(17);
        for (count, side) in CUBES {
            for offset in [0.0, 1000.0] {
                let offset = Vec3::splat(offset);
                let positions: Vec<Vec3> = (0..count)
                    .map(|_| offset + point(&mut random, side))
                    .collect();
                let radii: Vec<f32> = (0..count).map(|_| random.random_range(0.05..0.2)).collect();
                let all = LocalGrid::new(&positions, &radii);
                let few = HashedLocalGrid::new(&positions, &radii);
                for query in 0..200 {
                    let center = offset + point(&mut random, 1.3 * side);
                    let radius = [0.0, -0.05, 0.12, 0.25, 1.5, 100.0][query % 6];
                    assert_eq!(
                        hashed(&few, center, radius),
                        touching(&all, center, radius),
                        "{count} atoms, ball of {radius} nm at {center}"
                    );
                }
            }
        }
    }

    #[test]
    fn atoms_on_cell_faces_and_coincident_atoms_are_found_once() {
        let positions = on_cell_faces();
        let radii = vec![0.1; positions.len()];
        let (all, few) = (
            LocalGrid::new(&positions, &radii),
            HashedLocalGrid::new(&positions, &radii),
        );
        for &center in &positions {
            assert_eq!(hashed(&few, center, 0.1251), touching(&all, center, 0.1251));
        }
    }

    #[test]
    fn nothing_far_apart_and_not_finite_do_no_harm() {
        let empty = HashedLocalGrid::new(&[], &[]);
        assert!(hashed(&empty, Vec3::ZERO, 1.0).is_empty());
        assert_eq!(empty.mean_occupancy(), 0.0);
        let far = HashedLocalGrid::new(&[Vec3::splat(-1.0e5), Vec3::splat(1.0e5)], &[0.1, 0.1]);
        assert_eq!(hashed(&far, Vec3::splat(1.0e5), 0.1), [1]);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            assert!(hashed(&far, Vec3::splat(bad), 0.1).is_empty());
        }
        assert!(hashed(&far, Vec3::ZERO, f32::NAN).is_empty());
        assert_eq!(hashed(&far, Vec3::ZERO, f32::MAX.sqrt() / 2.0), [0, 1]);
    }
}
