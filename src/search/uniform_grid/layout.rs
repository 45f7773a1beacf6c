//! How space is cut into cells.

use glam::{DVec3, Vec3};

use crate::search::GridCell;

/// Cells are wider than the longest reach by this factor.
///
/// Two spheres in reach must never be two cells apart, whatever rounding did to
/// their cell coordinates. With at most [`MAX_PLAIN_CELLS`] cells an axis, a
/// difference, a product and a sum round each of the two by at most 2 × 4096 × 2⁻²⁴:
/// 0.00098 of a cell in all, half of what this leaves.
pub(in crate::search) const WIDENING: f32 = 1.002;

/// Most cells along an axis for which 32-bit floats tell cells apart well enough.
const MAX_PLAIN_CELLS: u32 = 4096;

/// Cells that the grid may have for each sphere; four bytes each.
///
/// One, two and three were timed on a million atoms of a vesicle at 0.34 nm and did
/// not differ beyond the noise.
const CELLS_PER_SPHERE: usize = 2;

/// Cells that the grid may have in any case.
const MIN_CELLS: usize = 4096;

/// How much wider than needed cells may become before the grid is folded instead.
///
/// A vesicle of four million atoms at 0.2 nm needs a little over 2, and sorts faster
/// so than folded. Larger shells were not measured.
const MAX_COARSENING: f32 = 3.0;

/// Where the bounding box starts in a plain grid, in cells: one cell of border, and
/// half a cell more so that rounding cannot push a sphere into the border.
pub(crate) const PLAIN_SHIFT: f32 = 1.5;

/// Fewest cells along an axis of a folded grid: with fewer, a cell would meet the
/// same neighbor on both sides.
const MIN_FOLDED_CELLS: u32 = 4;

/// Maps world positions to cells.
///
/// Usually the grid covers the bounding box of the spheres, with a border of empty
/// cells so that no walk needs a bounds check. A box too large for that (a thin
/// shell, a molecule a kilometer away) is *folded*: the grid repeats itself in
/// space, cell coordinates are taken modulo its size, and spheres far apart may
/// share a cell. The exact distance test keeps that from mattering.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GridLayout {
    /// Cells along each axis, border included.
    pub(crate) cells: [u32; 3],
    /// Whether the grid repeats itself; then `cells` are powers of two.
    pub(crate) folded: bool,
    /// Corner of the bounding box, nm. A folded grid starts at the origin instead.
    pub(crate) low: Vec3,
    /// Cells per nm.
    pub(crate) per_nm: f32,
}

impl GridLayout {
    /// A grid for `count` spheres with centers between `low` and `high`, none of
    /// which reaches further than `reach` nm.
    pub(crate) fn fit(low: Vec3, high: Vec3, reach: f32, count: usize) -> Self {
        let budget = Self::most_cells(count) as f64;
        let size = (high.as_dvec3() - low.as_dvec3()).max(DVec3::ZERO);
        let narrowest = f64::from(reach) * f64::from(WIDENING);
        let mut width = narrowest;
        // A few rounds of widening towards the budget; the border makes it nonlinear.
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

    /// A folded grid for `count` spheres that go wherever they like, now with centers
    /// between `low` and `high`, none of which reaches further than `reach` nm.
    #[cfg(feature = "gpu")]
    pub(crate) fn fit_anywhere(low: Vec3, high: Vec3, reach: f32, count: usize) -> Self {
        let narrowest = f64::from(reach) * f64::from(WIDENING);
        let size = (high.as_dvec3() - low.as_dvec3()) / narrowest;
        // A heap spreads out: at least a cell for each sphere.
        let extent = size.max(DVec3::splat((count as f64).cbrt()));
        Self {
            cells: folded_cells(extent, Self::most_cells(count) as f64),
            folded: true,
            low,
            per_nm: (1.0 / narrowest) as f32,
        }
    }

    /// Most cells that a grid of `count` spheres ever has.
    pub(crate) fn most_cells(count: usize) -> usize {
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
        // One loop for each kind of grid, so that the usual one is vectorized.
        if self.folded {
            for (cell, ((&x, &y), &z)) in cells.iter_mut().zip(points) {
                *cell = flat(self.folded_coordinates(Vec3::new(x, y, z)));
            }
        } else {
            // Never negative, so that truncation is the floor.
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

    /// First cell of a row among all cells.
    #[inline]
    pub(crate) fn row_start(&self, cy: u32, cz: u32) -> u32 {
        self.cells[0] * (cy + self.cells[1] * cz)
    }

    /// Cells along each axis that points no further than `reach` nm from `center` (nm) are
    /// in. The cell of a coordinate never decreases as the coordinate grows, whatever
    /// rounding does, so that those of both ends bound it.
    #[inline]
    pub(crate) fn cells_within(&self, center: [f32; 3], reach: f32) -> [CellRange; 3] {
        [0, 1, 2].map(|k| {
            let ends = [center[k] - reach, center[k] + reach];
            let size = self.cells[k];
            let [first, last] = if self.folded {
                ends.map(|end| self.folded_coordinate(end, k))
            } else {
                // Beyond the border there is nobody.
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

    /// Cell coordinates modulo the size of the grid.
    ///
    /// Measured from the origin of the world: the product of two 32-bit floats is
    /// exact in 64 bits, while a difference from a corner far away would not tell
    /// nearby cells apart. Beyond what an `i64` holds, all is one cell, and two
    /// different 32-bit floats are further apart than any reach.
    fn folded_coordinates(&self, point: Vec3) -> [u32; 3] {
        [0, 1, 2].map(|k| self.folded_coordinate(point[k], k))
    }

    #[inline]
    fn folded_coordinate(&self, value: f32, axis: usize) -> u32 {
        let cell = (f64::from(value) * f64::from(self.per_nm)).floor();
        (cell as i64 & i64::from(self.cells[axis] - 1)) as u32
    }
}

/// Some cells along an axis, one after the other; those of a folded grid may go round its
/// end.
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

    /// The cells as one or two runs, each with its end.
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
    // Half a cell in front (see PLAIN_SHIFT) and a whole one of border on both sides.
    (size / width + 0.5).floor() + 3.0
}

/// Powers of two with a product within `budget`, shared out by the extent of each axis.
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
                    // Far from the origin the sum is rounded, and may be out of reach.
                    if (f64::from(x) - f64::from(other)).abs() <= f64::from(reach) {
                        assert_neighbors(&layout, x, other, low);
                    }
                }
            }
        }
    }

    #[test]
    fn the_cell_around_a_point_holds_it() {
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
