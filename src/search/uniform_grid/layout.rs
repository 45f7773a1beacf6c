//! Division of space into cells.

use glam::{DVec3, Vec3};

use crate::search::GridCell;

/// Cells are wider than the longest reach by this factor.
///
/// Two spheres in reach must never be two cells apart, whatever the rounding of their cell
/// coordinates. With at most [`MAX_PLAIN_CELLS`] cells per axis, a difference, a product and a
/// sum round each coordinate by at most 2 × 4096 × 2⁻²⁴ cells: 0.00098 of a cell in total,
/// half of what this factor allows.
pub(in crate::search) const WIDENING: f32 = 1.002;

/// Largest number of cells along an axis that 32-bit cell coordinates resolve.
const MAX_PLAIN_CELLS: u32 = 4096;

/// Largest number of cells per sphere, four bytes each.
///
/// Values of one, two and three took the same time on a million atoms of a vesicle at 0.34 nm.
const CELLS_PER_SPHERE: usize = 2;

/// Number of cells that any grid may have.
const MIN_CELLS: usize = 4096;

/// How much wider than necessary cells may become before the grid is folded instead.
///
/// A vesicle of four million atoms at 0.2 nm needs slightly more than 2, and sorts faster this
/// way than folded. Larger shells were not measured.
const MAX_COARSENING: f32 = 3.0;

/// Offset of the bounding box in a plain grid, in cells: one cell of border, and half a cell so
/// that rounding cannot move a sphere into the border.
pub(crate) const PLAIN_SHIFT: f32 = 1.5;

/// Smallest number of cells along an axis of a folded grid: with fewer, a cell would have the
/// same neighbor on both sides.
const MIN_FOLDED_CELLS: u32 = 4;

/// Maps world positions to cells.
///
/// A *plain* grid covers the bounding box of the spheres, with a border of empty cells so that
/// no walk needs a bounds check. If that is too large (a thin shell, a molecule a kilometer
/// away), the grid is *folded*: it repeats itself in space, cell coordinates are taken modulo
/// its size, and distant spheres may share a cell. The exact distance test rejects them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GridLayout {
    /// Cells along each axis, including the border.
    pub(crate) cells: [u32; 3],
    /// Whether the grid repeats itself; `cells` are powers of two then.
    pub(crate) folded: bool,
    /// Corner of the bounding box, nm. A folded grid starts at the origin instead.
    pub(crate) low: Vec3,
    /// Cells per nm.
    pub(crate) per_nm: f32,
}

impl GridLayout {
    /// A grid for `count` spheres with centers between `low` and `high` and a longest reach of
    /// `reach` nm.
    pub(crate) fn fit(low: Vec3, high: Vec3, reach: f32, count: usize) -> Self {
        let budget = Self::max_cells(count) as f64;
        let size = (high.as_dvec3() - low.as_dvec3()).max(DVec3::ZERO);
        let narrowest = f64::from(reach) * f64::from(WIDENING);
        let mut width = narrowest;
        // Widen the cells until the budget is met; the border makes this nonlinear.
        for _ in 0..8 {
            let plain = plain_cells(size, width);
            let excess = plain.x * plain.y * plain.z / budget;
            if excess <= 1.0 && plain.max_element() <= f64::from(MAX_PLAIN_CELLS) {
                return Self {
                    cells: [plain.x as u32, plain.y as u32, plain.z as u32],
                    folded: false,
                    low,
                    per_nm: (1.0 / width) as f32,
                };
            }
            width *= excess.max(1.0).cbrt() * 1.01;
            if width > narrowest * f64::from(MAX_COARSENING) {
                break;
            }
        }
        Self {
            cells: folded_cells(size / narrowest, budget),
            folded: true,
            low,
            per_nm: (1.0 / narrowest) as f32,
        }
    }

    /// A folded grid for `count` spheres that may move anywhere, with centers between `low` and
    /// `high` at present and a longest reach of `reach` nm.
    #[cfg(feature = "gpu")]
    pub(crate) fn fit_anywhere(low: Vec3, high: Vec3, reach: f32, count: usize) -> Self {
        let narrowest = f64::from(reach) * f64::from(WIDENING);
        let size = (high.as_dvec3() - low.as_dvec3()) / narrowest;
        // Piled-up spheres spread out: at least one cell per sphere.
        let extent = size.max(DVec3::splat((count as f64).cbrt()));
        Self {
            cells: folded_cells(extent, Self::max_cells(count) as f64),
            folded: true,
            low,
            per_nm: (1.0 / narrowest) as f32,
        }
    }

    /// Largest number of cells of any grid for `count` spheres.
    pub(crate) fn max_cells(count: usize) -> usize {
        // Cell indices have 32 bits.
        (count.saturating_mul(CELLS_PER_SPHERE)).clamp(MIN_CELLS, u32::MAX as usize)
    }

    /// Total number of cells.
    pub(crate) fn cell_count(&self) -> usize {
        self.cells.iter().map(|&n| n as usize).product()
    }

    /// Number of rows of cells along x.
    pub(crate) fn row_count(&self) -> usize {
        self.cells[1] as usize * self.cells[2] as usize
    }

    /// Writes the cell of each point (nm): x fastest, then y, then z.
    pub(crate) fn write_cells(&self, [x, y, z]: [&[f32]; 3], cells: &mut [u32]) {
        let points = x.iter().zip(y).zip(z);
        let flat = |[cx, cy, cz]: [u32; 3]| cx + self.cells[0] * (cy + self.cells[1] * cz);
        // Separate loops, so that the one for plain grids is vectorized.
        if self.folded {
            for (cell, ((&x, &y), &z)) in cells.iter_mut().zip(points) {
                *cell = flat([
                    self.folded_coordinate(x, 0),
                    self.folded_coordinate(y, 1),
                    self.folded_coordinate(z, 2),
                ]);
            }
        } else {
            // Never negative, so that truncation equals the floor.
            let along =
                |value: f32, low: f32| ((value - low) * self.per_nm + PLAIN_SHIFT) as i32 as u32;
            for (cell, ((&x, &y), &z)) in cells.iter_mut().zip(points) {
                *cell = flat([
                    along(x, self.low.x),
                    along(y, self.low.y),
                    along(z, self.low.z),
                ]);
            }
        }
    }

    /// First cell of a row.
    #[inline]
    pub(crate) fn row_start(&self, cy: u32, cz: u32) -> u32 {
        self.cells[0] * (cy + self.cells[1] * cz)
    }

    /// Cells along each axis that contain the points within `reach` nm of `center` (nm).
    ///
    /// The cell of a coordinate is monotonic, whatever the rounding, so that the cells of both ends
    /// bound the range.
    #[inline]
    pub(crate) fn cells_within(&self, center: [f32; 3], reach: f32) -> [CellRange; 3] {
        [0, 1, 2].map(|k| {
            let ends = [center[k] - reach, center[k] + reach];
            let size = self.cells[k];
            let [first, last] = if self.folded {
                ends.map(|end| self.folded_coordinate(end, k))
            } else {
                // There are no spheres beyond the border.
                let cell = |end: f32| ((end - self.low[k]) * self.per_nm + PLAIN_SHIFT) as i32;
                ends.map(|end| cell(end).clamp(0, size as i32 - 1) as u32)
            };
            let apart = if last >= first {
                last - first
            } else {
                last + size - first
            };
            CellRange {
                first,
                count: apart + 1,
                size,
            }
        })
    }

    /// The cell around a point (nm), unfolded.
    pub(crate) fn cell_around(&self, point: Vec3) -> GridCell {
        let (origin, shift) = if self.folded {
            (DVec3::ZERO, 0.0)
        } else {
            (self.low.as_dvec3(), f64::from(PLAIN_SHIFT))
        };
        let per_nm = f64::from(self.per_nm);
        let number = ((point.as_dvec3() - origin) * per_nm + shift).floor();
        GridCell {
            number: number.as_ivec3(),
            low: ((number - shift) / per_nm + origin).as_vec3(),
            width: 1.0 / self.per_nm,
        }
    }

    /// Cell coordinate modulo the size of the grid.
    ///
    /// It starts at the world origin: the product of two 32-bit floats is exact in 64 bits, while
    /// a difference from a distant corner would not resolve nearby cells. Coordinates beyond the
    /// range of `i64` share one cell; different 32-bit floats are further apart than any reach
    /// there.
    #[inline]
    fn folded_coordinate(&self, value: f32, axis: usize) -> u32 {
        let cell = (f64::from(value) * f64::from(self.per_nm)).floor();
        (cell as i64 & i64::from(self.cells[axis] - 1)) as u32
    }
}

/// Consecutive cells along an axis; those of a folded grid may wrap around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CellRange {
    first: u32,
    count: u32,
    size: u32,
}

impl CellRange {
    /// The cells.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = u32> {
        (self.first..self.first + self.count).map(move |cell| {
            if cell >= self.size {
                cell - self.size
            } else {
                cell
            }
        })
    }

    /// The cells as one or two runs (first, end).
    #[inline]
    pub(crate) fn runs(self) -> impl Iterator<Item = (u32, u32)> {
        let end = self.first + self.count;
        let wraps = end > self.size;
        let before = (self.first, end.min(self.size));
        std::iter::once(before).chain(wraps.then(|| (0, end - self.size)))
    }
}

/// Cells along each axis of a grid that covers `size`, with its border.
fn plain_cells(size: DVec3, width: f64) -> DVec3 {
    // Half a cell in front (see PLAIN_SHIFT) and a border of one cell on both sides.
    (size / width + 0.5).floor() + 3.0
}

/// Powers of two with a product of at most `budget`, in proportion to the extent of each axis.
fn folded_cells(extent_in_cells: DVec3, budget: f64) -> [u32; 3] {
    let mut cells = [MIN_FOLDED_CELLS; 3];
    loop {
        let crowding =
            DVec3::from_array([0, 1, 2].map(|k| extent_in_cells[k] / f64::from(cells[k])));
        let product: f64 = cells.iter().map(|&n| f64::from(n)).product();
        if product * 2.0 > budget || crowding.max_element() <= 1.0 {
            return cells;
        }
        cells[crowding.max_position()] *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl GridLayout {
        fn cell_of(&self, x: f32, y: f32, z: f32) -> u32 {
            let mut cell = [0];
            self.write_cells([&[x], &[y], &[z]], &mut cell);
            cell[0]
        }
    }

    fn assert_neighbors(layout: &GridLayout, a: f32, b: f32, zero: f32) {
        let [nx, ..] = layout.cells;
        let (ca, cb) = (
            layout.cell_of(a, zero, zero) % nx,
            layout.cell_of(b, zero, zero) % nx,
        );
        let apart = ca.abs_diff(cb);
        assert!(
            apart <= 1 || (layout.folded && apart == nx - 1),
            "{a} and {b} are {apart} of {nx} cells apart"
        );
    }

    #[test]
    fn points_in_reach_are_never_two_cells_apart() {
        let reach = 0.34_f32;
        for (low, high, count) in [
            (0.0, 10.0, 10_000_000),
            (-700.0, 680.0, 100_000_000),
            (1.0e6, 1.0e6 + 50.0, 100_000),
            (-1.0, 1.0e12, 1000),
        ] {
            let layout = GridLayout::fit(Vec3::splat(low), Vec3::splat(high), reach, count);
            assert!(layout.cell_count() <= MIN_CELLS.max(2 * count));
            let mut x = low;
            for k in 0..20_000 {
                x = (x + 0.017 * (k % 7) as f32).min(high);
                for other in [(x + reach).min(high), (x - reach).max(low)] {
                    // Far from the origin the sum is rounded and may be out of reach.
                    if (f64::from(x) - f64::from(other)).abs() <= f64::from(reach) {
                        assert_neighbors(&layout, x, other, low);
                    }
                }
            }
        }
    }

    #[test]
    fn the_cell_around_a_point_contains_it() {
        for high in [5.0_f32, 1.0e9] {
            let layout = GridLayout::fit(Vec3::splat(-2.0), Vec3::splat(high), 0.3, 1000);
            let [nx, ny, _] = layout.cells;
            for k in 0..100 {
                let point = Vec3::new(-2.0 + 0.07 * k as f32, 0.01 * k as f32, 4.0);
                let cell = layout.cell_around(point);
                let inside = (point - cell.low) / cell.width;
                assert!(inside.min_element() > -1e-3 && inside.max_element() < 1.001);
                if !layout.folded {
                    let n = cell.number.as_uvec3();
                    let flat = n.x + nx * (n.y + ny * n.z);
                    assert_eq!(flat, layout.cell_of(point.x, point.y, point.z));
                }
            }
        }
    }

    #[test]
    fn the_border_of_a_plain_grid_stays_empty() {
        for high in [0.0_f32, 0.1, 0.5, 3.0, 17.77] {
            let layout = GridLayout::fit(Vec3::ZERO, Vec3::splat(high), 0.5, 1_000_000);
            assert!(!layout.folded);
            for x in [0.0, high] {
                let cell = layout.cell_of(x, 0.0, 0.0) % layout.cells[0];
                assert!(
                    cell >= 1 && cell + 1 < layout.cells[0],
                    "{x} of {high}: {cell}"
                );
            }
        }
    }

    #[test]
    fn a_scene_a_kilometer_wide_gets_a_small_folded_grid() {
        let layout = GridLayout::fit(Vec3::ZERO, Vec3::splat(1.0e12), 0.3, 10_000);
        assert!(layout.folded);
        assert!(layout.cell_count() <= 20_000);
        assert!(layout.cells.iter().all(|&n| n.is_power_of_two() && n >= 4));
    }
}
