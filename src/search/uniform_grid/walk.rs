//! The walk over neighbouring cells.
//!
//! Each sphere meets the rest of its own cell and the *following* half of the 26
//! neighbours; the other half meets it from their side. Cells are numbered x
//! fastest, so that three cells side by side are one run of spheres, and the half
//! shell is five runs: the rest of the own row, and the rows (+1, 0), (−1, +1),
//! (0, +1) and (+1, +1) in (y, z).

use super::layout::GridLayout;
#[cfg(target_arch = "x86_64")]
use super::scan::Avx2;
use super::scan::{Columns, Comparison, Instructions, Query, Scalar, scan_run};
use super::sort::SortedSpheres;
use crate::search::Pair;

/// Spheres that one task walks, about.
const SPHERES_PER_TASK: usize = 4096;

/// Offsets in (y, z) of the four following rows.
const FOLLOWING_ROWS: [(i32, i32); 4] = [(1, 0), (-1, 1), (0, 1), (1, 1)];

/// Most runs of a cell: four rows, each in two pieces where a folded grid wraps,
/// and one piece more for the own row.
const MAX_RUNS: usize = 9;

/// How far spheres reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// All pairs have the same reach; its square, nm².
    Same { squared: f32 },
    /// Sum of the radii plus the margin, nm.
    Mixed { margin: f32 },
}

impl Reach {
    pub(super) fn is_mixed(self) -> bool {
        matches!(self, Self::Mixed { .. })
    }
}

/// A sorted grid, ready to be walked by several tasks at once.
pub(super) struct Walk<'a> {
    pub(super) sorted: &'a SortedSpheres,
    pub(super) layout: GridLayout,
    pub(super) reach: Reach,
    pub(super) instructions: Instructions,
}

impl Walk<'_> {
    /// Number of tasks: fixed by the scene, not by the number of threads.
    pub(super) fn tasks(&self) -> usize {
        self.sorted.len().div_ceil(SPHERES_PER_TASK)
    }

    /// Appends the pairs of one task to `list`.
    pub(super) fn list(&self, task: usize, list: &mut Vec<Pair>) {
        let index = &self.sorted.index[..];
        self.visit(task, |one, at, mut mask| {
            while mask != 0 {
                let other = at + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                list.push(Pair::new(index[one], index[other]));
            }
        });
    }

    /// Counts the pairs of one task.
    pub(super) fn count(&self, task: usize) -> u64 {
        let mut count = 0;
        self.visit(task, |_, _, mask| count += u64::from(mask.count_ones()));
        count
    }

    /// Calls `hit(sphere, start, mask)` for every eight spheres that hold a partner.
    fn visit(&self, task: usize, hit: impl FnMut(usize, usize, u32)) {
        match (self.instructions, self.reach.is_mixed()) {
            (Instructions::Scalar, false) => self.visit_with::<Scalar, false>(task, hit),
            (Instructions::Scalar, true) => self.visit_with::<Scalar, true>(task, hit),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx2, mixed) => {
                // SAFETY: `Instructions::Avx2` exists only where it was detected.
                unsafe {
                    if mixed {
                        self.visit_avx2::<true>(task, hit);
                    } else {
                        self.visit_avx2::<false>(task, hit);
                    }
                }
            }
        }
    }

    /// # Safety
    /// The processor has AVX2 and BMI1.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn visit_avx2<const MIXED: bool>(
        &self,
        task: usize,
        hit: impl FnMut(usize, usize, u32),
    ) {
        self.visit_with::<Avx2, MIXED>(task, hit);
    }

    #[inline(always)]
    fn visit_with<C: Comparison, const MIXED: bool>(
        &self,
        task: usize,
        mut hit: impl FnMut(usize, usize, u32),
    ) {
        let sorted = self.sorted;
        let columns = Columns {
            x: &sorted.x,
            y: &sorted.y,
            z: &sorted.z,
            radius: &sorted.radius,
            owner: &sorted.owner,
        };
        let cell_start = &sorted.cell_start[..];
        let row_cells = self.layout.cells[0] as usize;
        for row in self.rows_of(task) {
            let first = row * row_cells;
            if cell_start[first] == cell_start[first + row_cells] {
                continue;
            }
            let following = self.following_rows(row);
            for cx in 0..row_cells {
                let cell = first + cx;
                let (start, end) = (cell_start[cell] as usize, cell_start[cell + 1] as usize);
                if start == end {
                    continue;
                }
                let (own_end, runs, run_count) = self.runs(first, cx, &following);
                for one in start..end {
                    let query = self.query::<MIXED>(one);
                    // SAFETY: runs end at the last sphere, and `visit` chose `C`.
                    unsafe {
                        scan_run::<C, MIXED>(&columns, &query, (one + 1, own_end), |at, mask| {
                            hit(one, at, mask);
                        });
                        for &(from, to) in &runs[..run_count] {
                            let run = (from as usize, to as usize);
                            scan_run::<C, MIXED>(&columns, &query, run, |at, mask| {
                                hit(one, at, mask);
                            });
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn query<const MIXED: bool>(&self, one: usize) -> Query {
        let sorted = self.sorted;
        Query {
            x: sorted.x[one],
            y: sorted.y[one],
            z: sorted.z[one],
            owner: sorted.owner[one],
            reach: match self.reach {
                Reach::Same { squared } => squared,
                Reach::Mixed { margin } => sorted.radius[one] + margin,
            },
        }
    }

    /// Rows of cells whose spheres belong to `task`: whole rows, about
    /// [`SPHERES_PER_TASK`] spheres.
    fn rows_of(&self, task: usize) -> std::ops::Range<usize> {
        let row_cells = self.layout.cells[0] as usize;
        let rows = self.layout.row_count();
        let row_at = |sphere: usize| {
            let (mut low, mut high) = (0, rows);
            while low < high {
                let middle = low.midpoint(high);
                if (self.sorted.cell_start[middle * row_cells] as usize) < sphere {
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
            row_at(task * SPHERES_PER_TASK)
        };
        let end = if task + 1 == self.tasks() {
            rows
        } else {
            row_at((task + 1) * SPHERES_PER_TASK)
        };
        start..end
    }

    /// First cells of the four rows that follow `row`.
    fn following_rows(&self, row: usize) -> [usize; 4] {
        let [nx, ny, nz] = self.layout.cells.map(|n| n as i32);
        let (cy, cz) = (row as i32 % ny, row as i32 / ny);
        FOLLOWING_ROWS.map(|(dy, dz)| {
            // A plain grid has a border, so that spheres never sit in the outermost
            // rows and the remainder changes nothing there.
            let (y, z) = ((cy + dy).rem_euclid(ny), (cz + dz).rem_euclid(nz));
            (y as usize + ny as usize * z as usize) * nx as usize
        })
    }

    /// Where the own row's run ends, and the other runs of a cell.
    #[inline(always)]
    fn runs(
        &self,
        first: usize,
        cx: usize,
        following: &[usize; 4],
    ) -> (usize, [(u32, u32); MAX_RUNS], usize) {
        let cell_start = &self.sorted.cell_start[..];
        let row_cells = self.layout.cells[0] as usize;
        let mut runs = [(0, 0); MAX_RUNS];
        let mut count = 0;
        let mut add = |from: usize, to: usize| {
            runs[count] = (cell_start[from], cell_start[to]);
            count += 1;
        };
        let at_start = cx == 0;
        let at_end = cx + 1 == row_cells;
        let own_end = if at_end {
            add(first, first + 1);
            cell_start[first + row_cells]
        } else {
            cell_start[first + cx + 2]
        };
        for &row in following {
            let (mut from, mut to) = (row + cx.saturating_sub(1), row + cx + 2);
            if at_start {
                from = row;
                add(row + row_cells - 1, row + row_cells);
            } else if at_end {
                to = row + row_cells;
                add(row, row + 1);
            }
            add(from, to);
        }
        (own_end as usize, runs, count)
    }
}
