//! Grids for molecules of different sizes.

use glam::Vec3;

use super::types::GpuMoleculeLevel;
use crate::gpu::shader_constants::MAX_MOLECULE_LEVELS;

/// Minimum number of cells along an axis: the three cells around a point are distinct.
const MIN_CELLS: u32 = 4;

/// Maximum number of cells per molecule, unless there are few molecules.
const CELLS_PER_MOLECULE: u32 = 4;

/// Factor by which cells are wider than the longest reach, so that rounding the inverse of the
/// width does not make them narrower.
const CELL_SLACK: f32 = 1.0 + 4.0 * f32::EPSILON;

/// The sizes of molecules: each level has the molecules of at least half its largest radius, the
/// last one also all smaller ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    /// Largest radius (nm) and number of molecules of each level, the largest molecules first.
    levels: Vec<(f32, u32)>,
}

impl Sizes {
    /// The levels of molecules with these radii, nm.
    pub fn new(radii: &[f32]) -> Self {
        let mut sorted = radii.to_vec();
        sorted.sort_unstable_by(|one, other| other.total_cmp(one));
        let mut sizes = Self::default();
        for radius in sorted {
            let full = sizes.levels.len() == MAX_MOLECULE_LEVELS;
            match sizes.levels.last_mut() {
                Some((largest, count)) if full || 2.0 * radius >= *largest => *count += 1,
                _ => sizes.levels.push((radius, 1)),
            }
        }
        sizes
    }

    /// The level of a molecule with this radius, nm.
    pub fn level(&self, radius: f32) -> u32 {
        let larger = |&(largest, _): &(f32, u32)| radius <= largest;
        self.levels.partition_point(larger).saturating_sub(1) as u32
    }

    /// Number of levels.
    pub fn count(&self) -> usize {
        self.levels.len()
    }

    /// Maximum number of cells of all levels.
    pub fn max_cells(&self) -> u32 {
        let cells = self.levels.iter().map(|&(_, count)| max_cells(count));
        cells.fold(0, u32::saturating_add)
    }

    /// The grids of all levels for molecules within a box of these edges (nm), and the number of
    /// their cells. Molecules of a level look for larger ones, so that cells are as wide as the
    /// longest reach of two molecules of the largest radius.
    pub fn grids(&self, edges: Vec3, reach: f32) -> ([GpuMoleculeLevel; MAX_MOLECULE_LEVELS], u32) {
        let mut grids = [GpuMoleculeLevel::default(); MAX_MOLECULE_LEVELS];
        let mut first_cell = 0;
        for (grid, &(radius, count)) in grids.iter_mut().zip(&self.levels) {
            let width = (2.0 * radius + reach) * CELL_SLACK;
            let wanted = edges.to_array().map(|edge| {
                // Saturates.
                let cells = (edge / width).ceil() as u32;
                cells.clamp(MIN_CELLS, 1 << 20).next_power_of_two()
            });
            let cells = limited(wanted, max_cells(count));
            *grid = GpuMoleculeLevel {
                mask: cells.map(|cells| cells - 1),
                first_cell,
                per_nm: 1.0 / width,
                ..GpuMoleculeLevel::default()
            };
            first_cell += cells.iter().product::<u32>();
        }
        (grids, first_cell)
    }
}

/// Maximum number of cells of a level with `count` molecules.
fn max_cells(count: u32) -> u32 {
    let wanted = count.min(1 << 24) * CELLS_PER_MOLECULE;
    wanted.next_power_of_two().max(MIN_CELLS.pow(3))
}

/// Halves the longest axis until there are at most `max` cells.
fn limited(mut cells: [u32; 3], max: u32) -> [u32; 3] {
    let total = |cells: &[u32; 3]| cells.iter().map(|&cells| u64::from(cells)).product::<u64>();
    while total(&cells) > u64::from(max) {
        let Some(longest) = cells.iter_mut().max() else {
            break;
        };
        *longest /= 2;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn molecules_are_at_least_half_as_large_as_the_largest_of_their_level() {
        let radii = [5.0, 2.6, 2.5, 2.4, 1.3, 1.0, 0.1, 0.04];
        let sizes = Sizes::new(&radii);
        let levels = radii.map(|radius| sizes.level(radius));
        assert_eq!(levels, [0, 0, 0, 1, 1, 2, 3, 4]);
        assert_eq!(sizes.count(), 5);
    }

    #[test]
    fn the_last_level_has_all_that_are_smaller() {
        let radii: Vec<f32> = (0..20).map(|k| 0.4_f32.powi(k)).collect();
        let sizes = Sizes::new(&radii);
        assert_eq!(sizes.count(), MAX_MOLECULE_LEVELS);
        assert_eq!(sizes.level(radii[19]), MAX_MOLECULE_LEVELS as u32 - 1);
    }

    #[test]
    fn grids_fit_and_cells_are_as_wide_as_the_reach() {
        let radii: Vec<f32> = (0..1000).map(|k| 0.1 + 0.01 * (k % 300) as f32).collect();
        let sizes = Sizes::new(&radii);
        for edges in [
            Vec3::ZERO,
            Vec3::new(1.0e9, 3.0, 0.0),
            Vec3::splat(20.0),
            Vec3::new(f32::MAX, f32::MAX, 1.0),
        ] {
            let (grids, cells) = sizes.grids(edges, 0.02);
            assert!(cells <= sizes.max_cells());
            let mut next = 0;
            for (grid, (radius, _)) in grids.iter().zip(&sizes.levels) {
                assert!(1.0 / f64::from(grid.per_nm) >= f64::from(2.0 * radius + 0.02));
                assert_eq!(grid.first_cell, next);
                assert!(grid.mask.iter().all(|mask| *mask >= 3));
                next += grid.mask.iter().map(|mask| mask + 1).product::<u32>();
            }
            assert_eq!(next, cells);
        }
    }
}
