//! Parallel, stable counting sort of the spheres by cell.
//!
//! 1. each chunk of spheres computes its cells and counts them per *slab*, a run of
//!    consecutive cells;
//! 2. a prefix sum over slabs and chunks gives each chunk its range in each slab;
//! 3. each chunk writes its indices to the slabs, in ascending order;
//! 4. each slab sorts its indices by cell, by another counting sort;
//! 5. centers, radii and owners are gathered by index.
//!
//! Chunks and slabs depend on the scene only, and spheres of one cell are in ascending order,
//! so that the result does not depend on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::layout::GridLayout;
use super::simd::{Columns, MAX_LANES};
use crate::bucket_sort::{BucketSort, ScatterTarget};
use crate::search::SearchError;
use crate::spheres::{CHUNK, SphereSet};

/// Largest number of slabs: few enough that their write positions stay in the cache.
const MAX_SLABS: usize = 256;

/// Maps spheres to cells.
pub(in crate::search) trait CellMap: Sync {
    /// Number of cells.
    fn cell_count(&self) -> usize;

    /// Writes the cells of the spheres in `range`.
    fn write_cells(&self, spheres: &SphereSet, range: Range<usize>, cells: &mut [u32]);
}

impl CellMap for GridLayout {
    fn cell_count(&self) -> usize {
        self.cell_count()
    }

    fn write_cells(&self, spheres: &SphereSet, range: Range<usize>, cells: &mut [u32]) {
        let centers = [&spheres.x, &spheres.y, &spheres.z].map(|axis| &axis[range.clone()]);
        self.write_cells(centers, cells);
    }
}

/// A sphere and its cell.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    cell: u32,
    index: u32,
}

/// The spheres of a [`SphereSet`], sorted by cell.
///
/// The arrays have [`MAX_LANES`] spare entries, so that a vector can be loaded from any sphere.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct SortedSpheres {
    /// The spheres, without radii if all pairs have the same reach.
    pub(in crate::search) spheres: SphereSet,
    /// Index of each sphere in its set.
    pub(in crate::search) index: Vec<u32>,
    /// First sphere of each cell, followed by the number of spheres.
    pub(in crate::search) cell_start: Vec<u32>,
    cell_of: Vec<u32>,
    slab_order: Vec<Member>,
    slabs: BucketSort,
}

impl SortedSpheres {
    /// Number of spheres.
    pub(in crate::search) fn len(&self) -> usize {
        self.slab_order.len()
    }

    /// Number of spheres of each cell.
    pub(in crate::search) fn cell_counts(&self) -> impl Iterator<Item = u32> {
        self.cell_start.windows(2).map(|cell| cell[1] - cell[0])
    }

    /// Number of comparisons within cells, more or less: the sum of the squared numbers of
    /// spheres per cell.
    ///
    /// # Errors
    /// [`SearchError::TooCrowded`] with the longest `reach` (nm) if there are more than `max`.
    pub(in crate::search) fn check_crowding(
        &self,
        max: u64,
        reach: f32,
    ) -> Result<u64, SearchError> {
        const CELLS_PER_TASK: usize = 64 * 1024;
        let cells = self.cell_start.len().saturating_sub(1);
        let tasks = (0..cells.div_ceil(CELLS_PER_TASK)).into_par_iter();
        let sums = tasks.map(|task| {
            let first = task * CELLS_PER_TASK;
            let last = (first + CELLS_PER_TASK + 1).min(self.cell_start.len());
            let cells = self.cell_start[first..last].windows(2);
            cells
                .map(|cell| u64::from(cell[1] - cell[0]).pow(2))
                .sum::<u64>()
        });
        let comparisons = sums.sum();
        if comparisons > max {
            return Err(self.too_crowded(reach));
        }
        Ok(comparisons)
    }

    /// The error for the first of the fullest cells.
    pub(in crate::search) fn too_crowded(&self, reach: f32) -> SearchError {
        let spheres = self.cell_counts().max().unwrap_or(0);
        let cell = self.cell_counts().position(|count| count == spheres);
        let first = self.cell_start[cell.unwrap_or(0)];
        SearchError::TooCrowded {
            sphere: self.index[first as usize],
            spheres,
            reach,
        }
    }

    /// The spheres as columns.
    pub(in crate::search) fn columns(&self) -> Columns<'_> {
        Columns::new(&self.spheres, &self.index)
    }

    /// Replaces the index of each sphere by the one that `indices` has for it.
    pub(in crate::search) fn rename(&mut self, indices: &[u32]) {
        let count = self.len();
        self.index[..count].par_chunks_mut(CHUNK).for_each(|chunk| {
            for index in chunk {
                *index = indices[*index as usize];
            }
        });
    }

    /// Sorts `spheres` by their cells.
    pub(in crate::search) fn sort(
        &mut self,
        spheres: &SphereSet,
        layout: &impl CellMap,
        with_radii: bool,
    ) {
        let cells = layout.cell_count();
        // A power of two, so that the slab of a cell is a shift.
        let slab_cells = cells.div_ceil(MAX_SLABS).next_power_of_two();
        let slabs = cells.div_ceil(slab_cells);
        let chunks = spheres.len().div_ceil(CHUNK);
        self.resize(spheres.len(), cells);
        self.slabs.reserve(MAX_SLABS, chunks);
        self.bin(spheres, layout, slab_cells, slabs);
        self.sort_slabs(slab_cells);
        let index = &self.index[..spheres.len()];
        gather_spheres(&mut self.spheres, spheres, index, MAX_LANES, with_radii);
    }

    fn resize(&mut self, spheres: usize, cells: usize) {
        grow(&mut self.index, spheres + MAX_LANES);
        grow(&mut self.cell_of, spheres);
        grow(&mut self.slab_order, spheres);
        // Capacity for the largest grid, so that an expanding scene does not allocate in every
        // step. Memory that is not touched costs nothing.
        let capacity = GridLayout::max_cells(spheres) + 1;
        self.cell_start
            .reserve_exact(capacity.saturating_sub(self.cell_start.len()));
        self.cell_start.resize(cells + 1, 0);
    }

    /// Steps 1 to 3: the cell of each sphere, and indices to slabs.
    fn bin(&mut self, spheres: &SphereSet, layout: &impl CellMap, slab_cells: usize, slabs: usize) {
        let shift = slab_cells.trailing_zeros();
        let chunks = self.cell_of.par_chunks_mut(CHUNK).enumerate();
        self.slabs.count(slabs, chunks, |(chunk, cells), counts| {
            let start = chunk * CHUNK;
            layout.write_cells(spheres, start..start + cells.len(), cells);
            for &mut cell in cells {
                counts[(cell >> shift) as usize] += 1;
            }
        });
        let chunks = self.cell_of.par_chunks(CHUNK).enumerate();
        // SAFETY: the same chunks push one member for each cell that they counted.
        unsafe {
            self.slabs
                .scatter(&mut self.slab_order, chunks, |(chunk, cells), writer| {
                    for (k, &cell) in cells.iter().enumerate() {
                        let index = (chunk * CHUNK + k) as u32;
                        writer.push((cell >> shift) as usize, Member { cell, index });
                    }
                });
        }
    }

    /// Step 4: indices to cells, inside each slab.
    fn sort_slabs(&mut self, slab_cells: usize) {
        let count = self.slab_order.len();
        let slab_starts = self.slabs.starts();
        let index = ScatterTarget::new(&mut self.index);
        let slab_order = &self.slab_order;
        let cells = self.cell_start.len() - 1;
        self.cell_start[cells] = count as u32;
        self.cell_start[..cells]
            .par_chunks_mut(slab_cells)
            .enumerate()
            .for_each(|(slab, starts)| {
                let first_cell = (slab * slab_cells) as u32;
                let range = slab_starts[slab] as usize..slab_starts[slab + 1] as usize;
                let members = &slab_order[range];
                starts.fill(0);
                for member in members {
                    starts[(member.cell - first_cell) as usize] += 1;
                }
                let mut sum = slab_starts[slab];
                for start in starts.iter_mut() {
                    sum += *start;
                    *start = sum;
                }
                // Backwards, so that the entry of each cell ends at its first sphere.
                for member in members.iter().rev() {
                    let start = &mut starts[(member.cell - first_cell) as usize];
                    *start -= 1;
                    // SAFETY: the prefix sum gives each sphere its own place inside the range of
                    // its slab.
                    unsafe { index.write(*start as usize, member.index) };
                }
            });
    }
}

/// Step 5: copies the spheres of `source` with these indices, followed by `padding` entries, and
/// their radii if requested.
///
/// Reads are random, writes sequential. Scattering all columns in step 4 made the sort of a
/// million atoms about a tenth slower; gathering them in one loop made no difference.
pub(in crate::search) fn gather_spheres(
    target: &mut SphereSet,
    source: &SphereSet,
    index: &[u32],
    padding: usize,
    with_radii: bool,
) {
    fn column<T: Copy + Default + Send + Sync>(
        (target, source): (&mut Vec<T>, &[T]),
        index: &[u32],
        padding: usize,
    ) {
        grow(target, index.len() + padding);
        gather(&mut target[..index.len()], source, index);
    }
    column((&mut target.x, &source.x), index, padding);
    column((&mut target.y, &source.y), index, padding);
    column((&mut target.z, &source.z), index, padding);
    column((&mut target.owner, &source.owner), index, padding);
    if with_radii {
        column((&mut target.radius, &source.radius), index, padding);
    } else {
        target.radius.clear();
    }
}

/// `target[k] = source[index[k]]`.
pub(in crate::search) fn gather<T: Copy + Send + Sync>(
    target: &mut [T],
    source: &[T],
    index: &[u32],
) {
    target
        .par_chunks_mut(CHUNK)
        .zip(index.par_chunks(CHUNK))
        .for_each(|(target, index)| {
            for (value, &from) in target.iter_mut().zip(index) {
                *value = source[from as usize];
            }
        });
}

/// Resizes to the exact length: scenes rarely grow, and doubling would waste memory.
fn grow<T: Copy + Default>(values: &mut Vec<T>, length: usize) {
    if length > values.len() {
        values.reserve_exact(length - values.len());
    }
    values.resize(length, T::default());
}
