//! Neighboring cells.
//!
//! Every cell is compared with itself and the following half of its neighbors, so that each
//! pair of cells is compared once. Cells are numbered x fastest: three adjacent cells are one
//! run of spheres, and the half shell is five runs.

use std::ops::Range;

use super::layout::GridLayout;
use super::sorted_spheres::SortedSpheres;

/// Offsets in (y, z) of the four following rows.
pub(crate) const FOLLOWING_ROWS: [(i32, i32); 4] = [(1, 0), (-1, 1), (0, 1), (1, 1)];

/// Largest number of runs of a cell: five rows, each split in two where a folded grid wraps.
const MAX_RUNS: usize = 10;

/// Sorted cells, divided into tasks.
#[derive(Clone, Copy)]
pub(in crate::search) struct CellWalk<'a> {
    pub(in crate::search) sorted: &'a SortedSpheres,
    /// First sphere of each cell of the layout, followed by the end of the last cell.
    pub(in crate::search) cell_start: &'a [u32],
    pub(in crate::search) layout: GridLayout,
    /// Approximate number of spheres per task.
    pub(in crate::search) per_task: usize,
}

impl CellWalk<'_> {
    /// First sphere of all cells, and the end.
    pub(in crate::search) fn spheres(&self) -> [usize; 2] {
        [self.cell_start.first(), self.cell_start.last()].map(|k| k.map_or(0, |&k| k as usize))
    }

    /// Number of tasks: depends on the scene only, not on the number of threads.
    pub(in crate::search) fn tasks(&self) -> usize {
        let [first, end] = self.spheres();
        (end - first).div_ceil(self.per_task)
    }

    /// Calls `visit` for every non-empty cell of `task` with its spheres and the runs that they
    /// are compared with. The first run starts with the cell itself.
    pub(in crate::search) fn for_each_cell(
        &self,
        task: usize,
        mut visit: impl FnMut(Range<usize>, &Runs),
    ) {
        let cell_start = self.cell_start;
        let row_cells = self.layout.cells[0] as usize;
        for row in self.rows_of(task) {
            let first = row * row_cells;
            if cell_start[first] == cell_start[first + row_cells] {
                continue;
            }
            let following = self.following_rows(row);
            for cx in 0..row_cells {
                let cell = &cell_start[first + cx..first + cx + 2];
                if cell[0] < cell[1] {
                    let runs = self.runs(first, cx, &following);
                    visit(cell[0] as usize..cell[1] as usize, &runs);
                }
            }
        }
    }

    /// Rows of cells that belong to `task`: whole rows, about `per_task` spheres.
    pub(super) fn rows_of(&self, task: usize) -> Range<usize> {
        let row_cells = self.layout.cells[0] as usize;
        let rows = self.layout.row_count();
        let [first, _] = self.spheres();
        let row_at = |sphere: usize| {
            let (mut low, mut high) = (0, rows);
            while low < high {
                let middle = low.midpoint(high);
                if (self.cell_start[middle * row_cells] as usize) < first + sphere {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let start = if task == 0 {
            0
        } else {
            row_at(task * self.per_task)
        };
        let end = if task + 1 == self.tasks() {
            rows
        } else {
            row_at((task + 1) * self.per_task)
        };
        start..end
    }

    /// First cells of the four rows that follow `row`.
    pub(super) fn following_rows(&self, row: usize) -> [usize; 4] {
        let [nx, ny, nz] = self.layout.cells.map(|n| n as i32);
        let (cy, cz) = (row as i32 % ny, row as i32 / ny);
        FOLLOWING_ROWS.map(|(dy, dz)| {
            // A plain grid has a border without spheres, so that its rows never wrap.
            let (y, z) = ((cy + dy).rem_euclid(ny), (cz + dz).rem_euclid(nz));
            (y as usize + ny as usize * z as usize) * nx as usize
        })
    }

    /// The runs of a cell, starting with the one of the cell itself.
    #[inline(always)]
    pub(super) fn runs(&self, first: usize, cx: usize, following: &[usize; 4]) -> Runs {
        let cell_start = self.cell_start;
        let row_cells = self.layout.cells[0] as usize;
        let mut runs = Runs::new();
        let mut add = |from: usize, to: usize| runs.add(cell_start[from], cell_start[to]);
        let at_start = cx == 0;
        let at_end = cx + 1 == row_cells;
        if at_end {
            add(first + cx, first + row_cells);
            add(first, first + 1);
        } else {
            add(first + cx, first + cx + 2);
        }
        for &row in following {
            if at_start {
                add(row + row_cells - 1, row + row_cells);
                add(row, row + 2);
            } else if at_end {
                add(row, row + 1);
                add(row + cx - 1, row + row_cells);
            } else {
                add(row + cx - 1, row + cx + 2);
            }
        }
        runs
    }
}

/// Up to `N` runs of spheres that a cell is compared with.
#[derive(Clone, Copy)]
pub(in crate::search) struct Runs<const N: usize = MAX_RUNS> {
    runs: [(u32, u32); N],
    pub(in crate::search) len: usize,
}

impl<const N: usize> Runs<N> {
    #[inline(always)]
    pub(in crate::search) fn new() -> Self {
        Self {
            runs: [(0, 0); N],
            len: 0,
        }
    }

    #[inline(always)]
    pub(in crate::search) fn add(&mut self, from: u32, to: u32) {
        self.runs[self.len] = (from, to);
        self.len += 1;
    }

    #[inline(always)]
    pub(in crate::search) fn iter(&self) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        self.runs[..self.len]
            .iter()
            .map(|&(from, to)| (from as usize, to as usize))
    }

    /// Number of spheres in all runs.
    #[inline(always)]
    pub(in crate::search) fn total(&self) -> usize {
        self.iter().map(|(from, to)| to - from).sum()
    }
}
